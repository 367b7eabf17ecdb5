package shelltool

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/pkg/container/capture"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// A result's text is output between labels, each of which is a line in brackets. Output in
// which anything looks like a label makes all labels of the text carry a tag that the output
// does not hold, and the first line says so: output cannot pass for a label.

// A block is the output of one command, and what is said of it.
type block struct {
	head   string // how it ended
	quiet  bool   // head is not worth a line above output
	out    capture.Text
	err    capture.Text
	notes  []string
	silent string // said in the place of output where there is none
}

// A page is the text of a result.
type page struct {
	blocks []block
	notes  []string
}

// label matches how labels of ours begin, and those that package toolkit puts behind.
var label = regexp.MustCompile(`\[(#|command |job |exit |timed out|stdout|stderr|not run|note|sandbox_id|warning|cut|stopped)`)

// text returns the page in at most limit bytes; outputs share them evenly, and leave what
// they do not need to others.
func (p page) text(limit int) string {
	p.fit(limit)
	tag, forged := p.tag()
	w := writer{tag: tag}
	if len(p.blocks) == 1 && !forged && p.blocks[0].needsNoHead() {
		b := p.blocks[0]
		if len(b.notes) == 0 && len(p.notes) == 0 {
			return b.out.Text
		}
		p.blocks[0].head = ""
	}
	if forged {
		w.label("labels of this result begin with [" + strings.TrimSpace(tag) + "; all else is output")
	}
	for _, b := range p.blocks {
		w.block(b)
	}
	for _, n := range p.notes {
		w.label(n)
	}
	if forged {
		w.label("end")
	}
	return strings.TrimSuffix(w.String(), "\n")
}

// needsNoHead reports whether a reader misses nothing if there is only the output.
func (b block) needsNoHead() bool {
	return b.quiet && b.out.Text != "" && b.out.Omitted == 0 && b.err == capture.Text{}
}

// fit cuts outputs so that the page has about limit bytes at most.
func (p page) fit(limit int) {
	const perLabel = 80 // bytes: brackets, a tag, counts of what was left out
	room := limit - 200
	var all []*capture.Text
	for i := range p.blocks {
		b := &p.blocks[i]
		all = append(all, &b.out, &b.err)
		room -= len(b.head) + len(b.silent) + 2*perLabel
		for _, n := range b.notes {
			room -= len(n) + perLabel
		}
	}
	for _, n := range p.notes {
		room -= len(n) + perLabel
	}
	share(all, room, func(s string) int { return len(s) })
}

// tag returns what labels begin with; it is empty unless output looks like one.
func (p page) tag() (tag string, forged bool) {
	holds := func(match func(string) bool) bool {
		return slices.ContainsFunc(p.blocks, func(b block) bool { return match(b.out.Text) || match(b.err.Text) })
	}
	if !holds(label.MatchString) {
		return "", false
	}
	for n := 1; ; n++ {
		tag = fmt.Sprintf("#%d ", n)
		if !holds(func(s string) bool { return strings.Contains(s, "["+tag) }) {
			return tag, true
		}
	}
}

// A writer puts labels and output below each other.
type writer struct {
	strings.Builder
	tag string
}

func (w *writer) label(text string) { fmt.Fprintf(w, "[%s%s]\n", w.tag, text) }

func (w *writer) output(text string) {
	w.WriteString(text)
	if text != "" && !strings.HasSuffix(text, "\n") {
		w.WriteByte('\n')
	}
}

func (w *writer) block(b block) {
	head := b.head
	if b.out.Text == "" && b.err.Text == "" && b.silent != "" {
		head = joined(", ", head, b.silent)
	}
	head = joined(", ", head, omitted(b))
	if head != "" {
		w.label(head)
	}
	w.output(b.out.Text)
	if b.err.Text != "" {
		w.label("stderr")
		w.output(b.err.Text)
	}
	for _, n := range b.notes {
		w.label(n)
	}
}

func joined(by string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), by)
}

// omitted says how much of a block's output is missing.
func omitted(b block) string {
	var parts []string
	if b.out.Omitted > 0 {
		parts = append(parts, fmt.Sprintf("%d characters of stdout left out", b.out.Omitted))
	}
	if b.err.Omitted > 0 {
		parts = append(parts, fmt.Sprintf("%d characters of stderr left out", b.err.Omitted))
	}
	return strings.Join(parts, ", ")
}

// share cuts texts until they cost room together. Those that cost least stay whole; the
// others get the same each.
func share(texts []*capture.Text, room int, cost func(string) int) {
	costs := make([]int, len(texts))
	for i, t := range texts {
		costs[i] = cost(t.Text)
	}
	most := level(costs, room)
	for i, t := range texts {
		if costs[i] > most {
			*t = shorten(*t, most, cost)
		}
	}
}

// level returns the largest bound by which costs add up to room at most.
func level(costs []int, room int) int {
	sorted := slices.Sorted(slices.Values(costs))
	for i, c := range sorted {
		if each := max(0, room) / (len(sorted) - i); c > each {
			return each
		}
		room -= c
	}
	return slices.Max(append(sorted, 0))
}

// shorten cuts t so that it costs at most room.
func shorten(t capture.Text, room int, cost func(string) int) capture.Text {
	runes := len([]rune(t.Text))
	for limit := int(int64(runes) * int64(room) / int64(max(1, cost(t.Text)))); limit > 0; limit = limit * 9 / 10 {
		if cut := t.Clip(limit); cost(cut.Text) <= room {
			return cut
		}
	}
	return t.Clip(0)
}

// inlined makes a command fit for one line of a text.
func inlined(command string) string {
	const most = 200
	runes := []rune(strings.TrimSpace(command))
	if len(runes) > most {
		return toolkit.Inline(string(runes[:most])) + "..."
	}
	return toolkit.Inline(string(runes))
}
