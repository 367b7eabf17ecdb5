package approval

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// YAML as policies use it: one document of plain mappings, sequences and scalars. What two readers
// could understand in two ways is refused: anchors, aliases, merge keys, tags, keys given twice.

// A Problem is one thing that is wrong with a policy file, or that looks so.
type Problem struct {
	Line int    // in the file, from 1; 0 where it belongs to no line
	Text string // what is wrong and how to mend it
}

// String returns the problem with its line.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.Text
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Text)
}

// Problems are all that is wrong with a file, in its order.
type Problems []Problem

// Error returns one line a problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// maxProblems bounds what is said of one file.
const maxProblems = 50

// A reader reads a YAML file and gathers what is wrong with it.
type reader struct{ problems Problems }

func (r *reader) addf(n *yaml.Node, format string, args ...any) {
	p := Problem{Text: fmt.Sprintf(format, args...)}
	if n != nil {
		p.Line = n.Line
	}
	if len(r.problems) < maxProblems && !slices.Contains(r.problems, p) {
		r.problems = append(r.problems, p)
	}
}

// err returns the problems by line, or nil.
func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), strings.Compare(a.Text, b.Text))
	})
	return r.problems
}

var yamlError = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// document returns the one document in data, or nil with a problem.
func (r *reader) document(data []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) || err == nil && len(doc.Content) == 0 {
		r.addf(nil, "the file is empty")
		return nil
	}
	if err != nil {
		r.broken(err)
		return nil
	}
	switch err := dec.Decode(&more); {
	case err == nil:
		r.addf(&more, "a second document begins here: keep all in one, without --- between")
		return nil
	case !errors.Is(err, io.EOF):
		r.broken(err)
		return nil
	}
	r.plain(doc.Content[0])
	if len(r.problems) > 0 {
		return nil
	}
	return doc.Content[0]
}

// broken adds an error of the YAML library.
func (r *reader) broken(err error) {
	at := &yaml.Node{}
	text := err.Error()
	if m := yamlError.FindStringSubmatch(text); m != nil {
		at.Line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	r.addf(at, "no valid YAML: %s", text)
}

// plain refuses what n holds beyond plain mappings, sequences and scalars of the core schema.
func (r *reader) plain(n *yaml.Node) {
	switch {
	case n.Kind == yaml.AliasNode:
		r.addf(n, "alias *%s: write out what it stands for", n.Value)
		return
	case n.Anchor != "":
		r.addf(n, "anchor &%s: leave it out, and write out what its aliases stand for", n.Anchor)
	case !core(n):
		r.addf(n, "tag %s: leave it out; text in quotes is text", n.ShortTag())
	}
	if n.Kind == yaml.MappingNode {
		r.keys(n)
	}
	for _, c := range n.Content {
		r.plain(c)
	}
}

// core reports whether n is of a kind that JSON has. What looks like a date is text.
func core(n *yaml.Node) bool {
	switch n.ShortTag() {
	case "!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!merge":
		return true
	case "!!timestamp":
		return n.Style&yaml.TaggedStyle == 0
	}
	return false
}

// keys refuses merge keys, keys that are no text, and keys given twice.
func (r *reader) keys(n *yaml.Node) {
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		switch line, twice := first[k.Value]; {
		case k.Kind != yaml.ScalarNode || isNull(k):
			r.addf(k, "a key that is no text: write it in quotes")
		case k.ShortTag() == "!!merge":
			r.addf(k, "merge key <<: write out what it merges")
		case twice:
			r.addf(k, "key %q is given twice, first in line %d: keep one", k.Value, line)
		default:
			first[k.Value] = k.Line
		}
	}
}

func isNull(n *yaml.Node) bool { return n.ShortTag() == "!!null" }

// A mapping is one of the file, by key; keys whose values are missing are left out.
type mapping struct {
	at     *yaml.Node
	what   string // for problems, such as "rule secrets"
	values map[string]*yaml.Node
}

// mapping reads n, which may have the known keys. It is false where n is none.
func (r *reader) mapping(n *yaml.Node, what string, known ...string) (m mapping, ok bool) {
	if n.Kind != yaml.MappingNode {
		r.addf(n, "%s: want a mapping with %s", what, strings.Join(known, ", "))
		return m, false
	}
	m = mapping{n, what, map[string]*yaml.Node{}}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case !slices.Contains(known, k.Value):
			r.unknown(k, what, known)
		case isNull(v):
			r.addf(k, "%s: %s has no value: give one, or leave the key out", what, k.Value)
		default:
			m.values[k.Value] = v
		}
	}
	return m, true
}

func (r *reader) unknown(k *yaml.Node, what string, known []string) {
	for _, name := range known {
		if strings.EqualFold(name, k.Value) {
			r.addf(k, "%s: unknown key %q: write %s, in small letters", what, k.Value, name)
			return
		}
	}
	r.addf(k, "%s: unknown key %q: there are %s", what, k.Value, strings.Join(known, ", "))
}

// require adds a problem for each name that is missing.
func (r *reader) require(m mapping, hints map[string]string) {
	for name, hint := range hints {
		if m.values[name] == nil && !hasKey(m.at, name) {
			r.addf(m.at, "%s: %s is missing: add %s", m.what, name, hint)
		}
	}
}

func hasKey(n *yaml.Node, name string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return true
		}
	}
	return false
}

// text reads a scalar that is text.
func (r *reader) text(n *yaml.Node, what string) (string, bool) {
	if n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!str" || n.ShortTag() == "!!timestamp") {
		return n.Value, true
	}
	if n.Kind == yaml.ScalarNode && !isNull(n) {
		r.addf(n, "%s: want text, not %s: write it in quotes", what, n.Value)
	} else {
		r.addf(n, "%s: want text", what)
	}
	return "", false
}

// choice reads one of words.
func (r *reader) choice(n *yaml.Node, what string, words ...string) string {
	s, ok := r.text(n, what)
	if !ok || slices.Contains(words, s) {
		return s
	}
	if low := strings.ToLower(s); slices.Contains(words, low) {
		r.addf(n, "%s: %q: write it in small letters: %s", what, s, low)
	} else {
		r.addf(n, "%s: %q: want %s", what, s, strings.Join(words, ", "))
	}
	return ""
}

// items returns the elements of a sequence that has at least least of them, and no null.
func (r *reader) items(n *yaml.Node, what string, least int) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		r.addf(n, "%s: want a list, such as [a, b]", what)
		return nil
	}
	if len(n.Content) < least {
		r.addf(n, "%s: the list is empty: add to it, or leave the key out", what)
	}
	var out []*yaml.Node
	for _, c := range n.Content {
		if isNull(c) {
			r.addf(c, "%s: an entry without a value: fill it in, or take its dash away", what)
			continue
		}
		out = append(out, c)
	}
	return out
}

// texts reads a list of texts that are not empty.
func (r *reader) texts(n *yaml.Node, what string) (out []string) {
	for _, c := range r.items(n, what, 1) {
		s, ok := r.text(c, what)
		if ok && s == "" {
			r.addf(c, "%s: an empty text matches nothing: leave it out", what)
			continue
		}
		if ok {
			out = append(out, s)
		}
	}
	return out
}

// integer reads a whole number from least to most.
func (r *reader) integer(n *yaml.Node, what string, least, most int) int {
	var v int
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Decode(&v) != nil || v < least || v > most {
		r.addf(n, "%s: want a whole number from %d to %d", what, least, most)
	}
	return v
}

// boolean reads true or false.
func (r *reader) boolean(n *yaml.Node, what string) (v bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Decode(&v) != nil {
		r.addf(n, "%s: want true or false", what)
	}
	return v
}

// value returns n as encoding/json would have it: numbers are [json.Number].
func (r *reader) value(n *yaml.Node, what string) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = r.value(n.Content[i+1], what)
		}
		return m
	case yaml.SequenceNode:
		s := []any{}
		for _, c := range n.Content {
			s = append(s, r.value(c, what))
		}
		return s
	}
	return r.scalar(n, what)
}

func (r *reader) scalar(n *yaml.Node, what string) any {
	var v any
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return r.boolean(n, what)
	case "!!int", "!!float":
		if err := n.Decode(&v); err != nil {
			r.addf(n, "%s: %s is no number: write text in quotes", what, n.Value)
			return nil
		}
		return r.number(n, v, what)
	}
	return n.Value
}

func (r *reader) number(n *yaml.Node, v any, what string) any {
	f, isFloat := v.(float64)
	if !isFloat {
		return json.Number(fmt.Sprint(v))
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		r.addf(n, "%s: %s: arguments of calls are finite numbers only", what, n.Value)
		return nil
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}
