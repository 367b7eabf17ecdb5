package toolkit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/pkg/approval"
)

// maxPrompt is the longest question that a person is asked, in characters. More cannot be read in
// the dialogs of clients, and what is cut there would be approved unseen.
const maxPrompt = 4000

// promptOf returns the question whether a may happen: all that is about to be done, from the
// bytes that are hashed for the approval, and why it is asked. Nothing in it can pass for one of
// its own lines: what comes from the call stands indented or within a line.
//
// A change that is too long to be shown is named by its paths, its size and its hash. Where
// anything else is too long, the call is refused: the error says so.
func promptOf(who approval.Caller, a approval.Action, v approval.Verdict) (string, error) {
	if a.Unshown == "" {
		if text, ok := compose(who, a, v, true); ok {
			return text, nil
		}
	}
	if hasDiff(a) {
		if text, ok := compose(who, a, v, false); ok {
			return text, nil
		}
	}
	why := fmt.Sprintf("a person would have to approve it and cannot be shown all of it: it takes more than %d characters; do it in several smaller calls", maxPrompt)
	return "", &approval.DeniedError{Tool: a.Tool, Verdict: approval.Verdict{Rule: v.Rule, Reason: why}}
}

// hasDiff reports whether a changes files by what its summary shows below its first line.
func hasDiff(a approval.Action) bool {
	return a.Shell == nil && len(a.Paths) > 0 && (a.Unshown != "" || strings.Contains(strings.TrimSpace(a.Summary), "\n"))
}

// compose returns a question, and whether it is short enough.
func compose(who approval.Caller, a approval.Action, v approval.Verdict, diff bool) (text string, ok bool) {
	var p prompt
	p.title(a)
	p.shell(a.Shell)
	p.field("programs in that", strings.Join(programs(v), ", "))
	p.files(a.Paths)
	switch {
	case hasDiff(a) && !diff:
		p.digest(a)
	case a.Shell != nil: // the rest of its summary are the commands, which are shown
		first, _, _ := strings.Cut(a.Summary, "\n")
		p.field("what it does", first)
	case a.Summary != "":
		p.block("what it does", a.Summary)
	}
	if a.Shell == nil && !hasDiff(a) {
		p.block("arguments", readable(a.Args))
	}
	p.field("asked by", who.Principal+" over "+who.Transport)
	p.field("rule", v.Rule)
	p.field("why it asks", v.Reason)
	if p.escapes > 0 {
		fmt.Fprintf(&p.b, "%d of the characters are written as \\t, \\n, \\u{...} or \\x{...}: they cannot be seen, look like others, or put others in another order.\n", p.escapes)
	}
	text = strings.TrimSuffix(p.b.String(), "\n")
	return text, !p.over && utf8.RuneCountInString(text) <= maxPrompt
}

// A prompt is a question in the making.
type prompt struct {
	b       strings.Builder
	escapes int
	over    bool // it is too long for certain, and does not grow any more
}

func (p *prompt) title(a approval.Action) {
	p.line("May this run?", fmt.Sprintf("%s (%s)", a.Tool, cmp.Or(string(a.Effect), "whatever it does")))
	if a.Count > 1 {
		p.field("how many", fmt.Sprint(a.Count))
	}
}

func (p *prompt) shell(s *approval.Shell) {
	if s == nil {
		return
	}
	p.field("directory", s.Dir)
	p.field("image", strings.TrimSpace(s.Image+" "+s.ImageID))
	if s.Image == "" && s.ImageID == "" {
		p.field("image", "none: on this machine itself, as the user of this server")
	}
	p.field("user", s.User)
	p.field("profile", s.Profile)
	p.field("network", s.Network)
	for _, m := range s.Mounts {
		p.field("mount", m)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		p.field("environment", name+"="+s.Env[name])
	}
	for i, c := range s.Commands {
		name := "command"
		if len(s.Commands) > 1 {
			name = fmt.Sprintf("command %d of %d", i+1, len(s.Commands))
		}
		p.block(strings.TrimSpace(name+" for "+s.Dialect), c)
	}
	if s.Stdin != nil {
		p.block("standard input", *s.Stdin)
	}
}

// programs are what the policy found that the commands would run, each once.
func programs(v approval.Verdict) (names []string) {
	for _, part := range v.Commands {
		if len(part.Argv) == 0 {
			continue
		}
		name := part.Argv[0]
		if part.Within != "" {
			name += " (within " + part.Within + ")"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (p *prompt) files(paths []approval.Path) {
	for _, f := range paths {
		p.field(cmp.Or(string(f.Access), "touch"), strings.TrimSuffix(f.Root, "/")+"/"+f.Rel)
	}
}

// digest stands for a change that is too long.
func (p *prompt) digest(a approval.Action) {
	first, diff, _ := strings.Cut(a.Summary, "\n")
	p.block("what it does", first)
	if a.Unshown != "" {
		p.field("The change is too long to be shown here", a.Unshown)
		return
	}
	added, removed := linesIn(diff)
	fmt.Fprintf(&p.b, "The change is too long to be shown here: %d lines added, %d removed, a diff of %d bytes with SHA-256 %x\n",
		added, removed, len(diff), sha256.Sum256([]byte(diff)))
}

// full reports whether there is no room for s, so that nobody waits for megabytes to be written
// that are then not shown.
func (p *prompt) full(s string) bool {
	p.over = p.over || p.b.Len()+len(s) > utf8.UTFMax*maxPrompt
	return p.over
}

// field adds a line for a value, unless that is empty.
func (p *prompt) field(name, value string) { p.line(p.name(name)+":", value) }

func (p *prompt) line(label, value string) {
	if value == "" || p.full(value) {
		return
	}
	text, n := visibly(value)
	lines := strings.Count(text, "\n")
	p.escapes += n + lines
	fmt.Fprintf(&p.b, "%s %s\n", label, strings.ReplaceAll(text, "\n", `\n`))
}

// name makes a name that tools and policies chose fit to begin a line.
func (p *prompt) name(s string) string {
	text, n := visibly(s)
	p.escapes += n
	return strings.ReplaceAll(text, "\n", `\n`)
}

// block adds text with its length, each line indented, and numbered where there are several. Many
// empty lines in a row become one that is not written as the others are.
func (p *prompt) block(name, text string) {
	if p.full(text) {
		return
	}
	shown, n := visibly(text)
	p.escapes += n
	unit := "bytes"
	if len(text) == 1 {
		unit = "byte"
	}
	fmt.Fprintf(&p.b, "%s, %d %s:\n", p.name(name), len(text), unit)
	lines := strings.Split(shown, "\n")
	if len(lines) == 1 {
		fmt.Fprintf(&p.b, "    %s\n", shown)
		return
	}
	width := len(fmt.Sprint(len(lines)))
	for i := 0; i < len(lines); i++ {
		if n := emptyLines(lines[i:]); n > maxEmpty {
			fmt.Fprintf(&p.b, "  %*d to %d: %d lines without anything to be seen\n", width, i+1, i+n, n)
			i += n - 1
			continue
		}
		fmt.Fprintf(&p.b, "  %*d | %s\n", width, i+1, lines[i])
	}
}

// maxEmpty is how many lines may be empty in a row. More could push what follows out of a dialog.
const maxEmpty = 2

// emptyLines is how many lines at the start hold nothing but blanks.
func emptyLines(lines []string) (n int) {
	for n < len(lines) && strings.Trim(lines[n], " ") == "" {
		n++
	}
	return n
}

// readable returns JSON as a person would write it, where encoding for the web has escaped <, >
// and &; what is no JSON comes back as it is.
func readable(raw json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if dec.Decode(&v) != nil || enc.Encode(v) != nil {
		return string(raw)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
