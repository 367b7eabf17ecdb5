// Package edit changes what a file holds: pieces of text for others, or all of it.
//
// [Apply] makes edits as a model writes them, from what it was shown: in UTF-8, with \n at
// the ends of lines, without a byte order mark. They are found in the file however its
// lines end and whatever its letters are, and only the bytes that an edit changes are
// written: those round them stay as they are, also where they are no UTF-8. An edit that
// does not fit, or fits in several places, changes nothing, and its [Error] says why and
// where, for the model to mend it.
//
// [Rewrite] replaces the whole text and keeps what such a text cannot say. [Compare] shows what
// changed. All are functions of bytes: files, locks and policies are for those who call.
package edit

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/pkg/textfile"
)

// An Edit replaces text by another.
type Edit struct {
	Old string // what is there; "" only where there is nothing yet
	New string
	All bool // wherever it is; otherwise it must be in one place
}

// Apply makes the edits one after the other, each on the result of the one before, and
// returns the new content and how many places were replaced. On an error, which is an
// [*Error] or that of ctx, nothing is changed. The content itself never is.
func Apply(ctx context.Context, content []byte, edits []Edit) (changed []byte, places int, err error) {
	if k := unfit(content); k != 0 {
		return nil, 0, &Error{Kind: k}
	}
	for i, e := range edits {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		var n int
		content, n, err = e.apply(content)
		if e, ok := err.(*Error); ok {
			e.Number, e.Of = i+1, len(edits)
			return nil, 0, e
		}
		places += n
	}
	return content, places, nil
}

// unfit says why content cannot be edited: Read shows no text of it, or shows another.
func unfit(content []byte) Kind {
	switch kind := textfile.Sniff(content[:min(len(content), textfile.HeadSize)]); {
	case kind.Wide():
		return Wide
	case !kind.IsText():
		return Binary
	}
	return 0
}

func (e Edit) apply(content []byte) (changed []byte, places int, err error) {
	v := look(content, strings.HasPrefix(e.Old, string(textfile.UTF8BOM.BOM())))
	before, after := plain(e.Old), plain(e.New)
	switch {
	case before == "" && len(v.text) > 0:
		return nil, 0, &Error{Kind: NoOld}
	case before == after:
		return nil, 0, &Error{Kind: Same, detail: onlyEnds(e)}
	case before == "":
		return fill(content, e.New), 1, nil
	}
	hits := v.find(before, e.All)
	switch {
	case len(hits) == 0:
		return nil, 0, explain(v.text, e)
	case len(hits) > 1 && !e.All:
		return nil, 0, ambiguous(v.text, before, hits)
	}
	s := splicer{view: v, hits: hits, before: before, after: after, own: "\n"}
	switch {
	case textfile.DetectEOL(content) == textfile.CR:
		s.own = "\r"
	case strings.Contains(e.New, "\r\n"):
		s.own = "\r\n"
	}
	changed, err = s.splice()
	return changed, len(hits), err
}

// fill puts text into a file that has none: its content is nothing, or the mark.
func fill(content []byte, text string) []byte {
	if len(content) > 0 {
		text = strings.TrimPrefix(text, string(content))
	}
	return slices.Concat(content, []byte(text))
}

// plain returns text with its lines ended by \n, as files are shown.
func plain(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// Rewrite returns what a file that holds old is to hold when its text becomes text: with
// the byte order mark that it had, and its line ends if they were all \r\n and text has
// only \n.
func Rewrite(old []byte, text string) ([]byte, error) {
	if unfit(old) == Wide {
		return nil, &Error{Kind: Wide}
	}
	if unfit(old) == Binary {
		return []byte(text), nil
	}
	bom := textfile.UTF8BOM.BOM()
	if textfile.DetectEOL(old) == textfile.CRLF && !strings.Contains(text, "\r\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if bytes.HasPrefix(old, bom) && !strings.HasPrefix(text, string(bom)) {
		text = string(bom) + text
	}
	return []byte(text), nil
}
