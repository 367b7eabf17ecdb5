package filetool

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/textfile"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// An interruptible file stops being read when the call ends.
type interruptible struct {
	ctx context.Context
	f   *fsroot.File
}

// arm makes a read end that waits for data, as of some files below /proc, when the call
// ends. Ordinary files know no deadline and do not wait.
func (i interruptible) arm() (disarm func() bool) {
	return context.AfterFunc(i.ctx, func() { i.f.SetReadDeadline(time.Unix(1, 0)) })
}

// Read reads on from where the file stands.
func (i interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.ended(i.f.Read(p))
}

// ReadAt reads anywhere.
func (i interruptible) ReadAt(p []byte, off int64) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	return i.ended(i.f.ReadAt(p, off))
}

func (i interruptible) ended(n int, err error) (int, error) {
	if os.IsTimeout(err) {
		err = context.Cause(i.ctx)
	}
	return n, err
}

// A source is text to show lines of.
type source struct {
	r    io.Reader     // all of it, decoded
	kind textfile.Kind // of at
	at   io.ReaderAt   // the same, as in the file
	size int64         // of at; 0 where the system does not know, as below /proc
}

// A window is some lines of a text.
type window struct {
	lines   []shownLine
	total   int64 // lines of the text, -1 if not counted
	size    int64 // bytes of the text
	fromEnd bool  // the numbers are negative: the last line is -1
	stopped bool  // reading ended in the last line, of which there is more
}

type shownLine struct {
	number int64
	text   string
	rest   int64 // letters that text lacks
	open   bool  // there are more than these
}

// window returns up to limit lines from line from on, a negative one counted from the end.
func (s source) window(from, limit int64) (*window, error) {
	if from < 0 {
		return s.tail(-from, limit)
	}
	sc, g := s.scanner(math.MaxInt64)
	skipped, err := sc.Skip(from - 1)
	switch {
	case err != nil:
		return nil, err
	case g.shut:
		return nil, tooFar(from, skipped)
	case skipped < from-1 && skipped > 0:
		return nil, pastEnd(from, skipped)
	}
	w := &window{total: -1, size: s.size}
	ended, err := w.take(sc, g, limit, 0)
	switch {
	case err != nil:
		return nil, err
	case g.shut && len(w.lines) == 0:
		return nil, tooFar(from, skipped)
	case ended && len(w.lines) == 0 && from > 1 && skipped > 0:
		return nil, pastEnd(from, skipped)
	case ended:
		w.total = sc.Lines()
		return w, nil
	}
	return w, w.count(sc, g)
}

// scanner returns a scanner that gets so many bytes, and the gate that grants more.
func (s source) scanner(most int64) (*textfile.Scanner, *gate) {
	g := &gate{r: s.r, left: most}
	return textfile.NewScanner(g), g
}

// tooFar counts the line that reading ended in among the lines.
func tooFar(from, lines int64) error {
	return toolkit.Errorf("offset %d was not reached in time: it came to line %s; use a smaller offset",
		from, thousands(max(1, lines)))
}

func pastEnd(from, total int64) error {
	return toolkit.Errorf("offset %d is past the end: the file has %s; "+
		"use an offset from 1 to %d, or a negative one to count from the end", from, plural(total, "line"), total)
}

// take adds up to limit lines, numbered from base on; ended means that there are no more.
// It stops in a line that is too long to read, or where time runs out.
func (w *window) take(sc *textfile.Scanner, g *gate, limit, base int64) (ended bool, err error) {
	held := 0
	for int64(len(w.lines)) < limit && held < windowBytes && !g.shut {
		g.left = lineBytes
		line, err := sc.Next(lineLetters)
		if err == io.EOF {
			return !g.shut, nil
		}
		if err != nil {
			return false, err
		}
		held += len(line.Text) + lineCost
		w.lines = append(w.lines, shownLine{base + line.Number, showCR(textfile.Show(line.Text)), line.Rest, g.shut})
	}
	w.stopped = g.shut
	return false, nil
}

// count hits the total: to the end of files that are not large, else only whether the
// last line taken is the last. It stays unknown where that takes too much.
func (w *window) count(sc *textfile.Scanner, g *gate) error {
	most := int64(1)
	if w.size <= countedSize {
		most = countedSize
	}
	g.left = lineBytes
	n, err := sc.Skip(most)
	if err == nil && n < most && !g.shut {
		w.total = sc.Lines()
	}
	return err
}

// tail returns up to limit of the last n lines, from the first of them on.
func (s source) tail(n, limit int64) (*window, error) {
	if s.kind.Wide() || s.size == 0 {
		return s.tailFromStart(n, limit)
	}
	start, lines, err := textfile.Tail(s.at, s.size, n)
	if err != nil {
		return nil, err
	}
	w := &window{size: s.size, fromEnd: start > tailCounted}
	base := -lines - 1
	if !w.fromEnd {
		if base, err = textfile.NewScanner(io.NewSectionReader(s.at, 0, start)).Count(); err != nil {
			return nil, err
		}
	}
	end := io.Reader(io.NewSectionReader(s.at, start, s.size-start))
	if start == 0 {
		end = textfile.NewDecoder(end, s.kind.Encoding)
	}
	w.total = base + lines
	sc, g := source{r: end}.scanner(0)
	_, err = w.take(sc, g, limit, base)
	if err == nil && g.shut && len(w.lines) == 0 {
		err = context.DeadlineExceeded
	}
	return w, err
}

// tailFromStart counts the lines of what cannot be read backwards, and reads it again.
func (s source) tailFromStart(n, limit int64) (*window, error) {
	total, err := textfile.NewScanner(s.r).Count()
	if err != nil {
		return nil, err
	}
	const all = 1<<63 - 1
	s.r = textfile.NewDecoder(io.NewSectionReader(s.at, 0, all), s.kind.Encoding)
	return s.window(max(1, total-n+1), limit)
}

// render writes numbered lines as far as room reaches, and apart from them a last line
// that says what is missing and how to get it.
func (w *window) render(room int) (lines, mark string) {
	if len(w.lines) == 0 {
		return "[empty file]\n", ""
	}
	var b strings.Builder
	var last int64
	cut := false
	for i, l := range w.lines {
		if b.Len()+len(l.String()) > room-markRoom {
			if i > 0 {
				break
			}
			l = l.fit(room - markRoom)
		}
		b.WriteString(l.String())
		last, cut = l.number, cut || l.rest > 0 || l.open
	}
	if cut {
		b.WriteString(cutNote)
	}
	return b.String(), w.mark(last)
}

// cutNote says how to see what a page of lines cannot show.
const cutNote = "[for more of a cut line search this file with output_mode=content, -o=true " +
	"and a pattern such as .{0,200}WORD.{0,200}]\n"

// markRoom is kept for the last line, for [cutNote], and for warnings about arguments
// behind them.
const markRoom = 640

func (l shownLine) String() string {
	switch {
	case l.open && l.rest == 0:
		return fmt.Sprintf("%d\t%s ...[+more]\n", l.number, l.text)
	case l.open:
		return fmt.Sprintf("%d\t%s ...[+more than %s]\n", l.number, l.text, plural(l.rest, "char"))
	case l.rest > 0:
		return fmt.Sprintf("%d\t%s ...[+%s]\n", l.number, l.text, plural(l.rest, "char"))
	}
	return fmt.Sprintf("%d\t%s\n", l.number, l.text)
}

// fit cuts a line to about room bytes.
func (l shownLine) fit(room int) shownLine {
	n := max(0, min(len(l.text), room-60))
	for n > 0 && n < len(l.text) && !utf8.RuneStart(l.text[n]) {
		n--
	}
	l.rest += int64(utf8.RuneCountInString(l.text[n:]))
	l.text = l.text[:n]
	return l
}

// mark is the last line of a result that ends with the given line; none if it is all.
func (w *window) mark(last int64) string {
	part := "lines " + thousands(w.lines[0].number) + "-" + thousands(last)
	next := fmt.Sprintf("continue with offset=%d", last+1)
	switch {
	case w.stopped && last == w.lines[len(w.lines)-1].number:
		return fmt.Sprintf("[%s; reading stopped in line %s of the file%s: how many lines follow is unknown]\n",
			part, thousands(last), w.sizeText())
	case w.fromEnd && last == -1:
		return "[the end of a large file; lines are numbered from the end]\n"
	case w.fromEnd:
		return fmt.Sprintf("[lines are numbered from the end of a large file; %s]\n", next)
	case w.total < 0:
		return fmt.Sprintf("[%s; the file%s goes on; %s]\n", part, w.sizeText(), next)
	case w.lines[0].number == 1 && last == w.total:
		return ""
	case last == w.total:
		return fmt.Sprintf("[%s of %s]\n", part, thousands(w.total))
	default:
		return fmt.Sprintf("[%s of %s; %s]\n", part, thousands(w.total), next)
	}
}

// sizeText is the size in brackets; empty where the system does not know it.
func (w *window) sizeText() string {
	if w.size == 0 {
		return ""
	}
	return " (" + byteSize(w.size) + ")"
}
