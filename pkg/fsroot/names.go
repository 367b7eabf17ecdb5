package fsroot

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// maxListed bounds how many names of a directory are looked at to mend or explain a miss.
const maxListed = 20_000

// spelling returns how the thing called name is spelled in dir. On volumes that fold
// names, a policy must see the name that is stored, not the one that was asked for.
func spelling(dir *os.Root, name string, is fs.FileInfo) string {
	names := namesIn(dir)
	if slices.Contains(names, name) {
		return name
	}
	isIt := func(other string) bool {
		info, err := dir.Lstat(other)
		return err == nil && os.SameFile(info, is)
	}
	for _, other := range names {
		if folded(other) == folded(name) && isIt(other) {
			return other
		}
	}
	// A short name such as PROGRA~1 has nothing in common with the stored one.
	if i := slices.IndexFunc(names, isIt); i >= 0 && strings.Contains(name, "~") {
		return names[i]
	}
	return name
}

func namesIn(dir *os.Root) []string {
	f, err := dir.Open(".")
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxListed)
	return names
}

func (r *Root) names(rel string) []string {
	d, err := r.OpenDir(rel)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxListed)
	return names
}

// respell returns rel with each name that does not exist replaced by the one that differs
// from it only in Unicode form: what a Mac stores as "e" and an accent, a model writes as
// one letter.
func (r *Root) respell(rel string) (string, bool) {
	if norm.NFC.IsNormalString(rel) && norm.NFD.IsNormalString(rel) && isASCII(rel) {
		return "", false
	}
	real := "."
	for name := range strings.SplitSeq(rel, "/") {
		next := path.Join(real, name)
		if _, err := r.stat(next, false); err != nil {
			other, ok := sameForm(r.names(real), name)
			if !ok {
				return "", false
			}
			next = path.Join(real, other)
		}
		real = next
	}
	return real, true
}

func sameForm(names []string, name string) (string, bool) {
	want := norm.NFC.String(name)
	i := slices.IndexFunc(names, func(n string) bool { return norm.NFC.String(n) == want })
	if i < 0 {
		return "", false
	}
	return names[i], true
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

// maxSimilar is how many similar names an error offers.
const maxSimilar = 3

// similar returns paths that rel may have meant: the names nearest to the first component
// that does not exist.
func (r *Root) similar(rel string) []string {
	dir := "."
	for name := range strings.SplitSeq(rel, "/") {
		next := path.Join(dir, name)
		if _, err := r.stat(next, false); err == nil {
			dir = next
			continue
		}
		near := Nearest(r.names(dir), name)
		for i := range near {
			near[i] = path.Join(dir, near[i])
		}
		return near
	}
	return nil
}

type scored struct {
	name string
	cost int
}

// Nearest returns up to three of names that want may have meant, the likeliest first.
func Nearest(names []string, want string) []string {
	var found []scored
	for _, n := range names {
		if cost, ok := distance(n, want); ok {
			found = append(found, scored{n, cost})
		}
	}
	slices.SortFunc(found, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), strings.Compare(a.name, b.name))
	})
	var near []string
	for _, s := range found[:min(len(found), maxSimilar)] {
		near = append(near, s.name)
	}
	return near
}

// distance rates how far name is from want, or says that it is not similar: another case,
// some letters wrong, another ending, or one the start of the other.
func distance(name, want string) (cost int, ok bool) {
	a, b := folded(name), folded(want)
	if a == b {
		return 0, true
	}
	most := max(1, min(len(a), len(b))/3)
	switch apart := max(len(a)-len(b), len(b)-len(a)); {
	case apart > most:
	case len(a) > longName || len(b) > longName:
		if d := differing(a, b); d <= most {
			return d, true
		}
	case sortedRunes(a) == sortedRunes(b):
		return 1, true
	default:
		if d := edits([]rune(a), []rune(b)); d <= most {
			return d, true
		}
	}
	stemA, stemB := strings.TrimSuffix(a, path.Ext(a)), strings.TrimSuffix(b, path.Ext(b))
	switch {
	case stemA == stemB:
		return 100, true
	case len(stemB) >= 3 && strings.HasPrefix(a, stemB), len(stemA) >= 3 && strings.HasPrefix(b, stemA):
		return 200, true
	}
	return 0, false
}

// longName is from which length on names are only compared from their ends: a directory of
// 20,000 long names must not cost seconds.
const longName = 64

// differing is how many bytes lie between what a and b have in common at either end.
func differing(a, b string) int {
	shorter, longer := min(len(a), len(b)), max(len(a), len(b))
	head := 0
	for head < shorter && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < shorter-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return longer - head - tail
}

// sortedRunes is the same for names that differ only in the order of letters.
func sortedRunes(s string) string {
	runes := []rune(s)
	slices.Sort(runes)
	return string(runes)
}

// edits is the Levenshtein distance, with a row for b.
func edits(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, ra := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, rb := range b {
			replace := diagonal
			if ra != rb {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
