package imagetool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// A made is what a provider made, and where it lies.
type made struct {
	*provider.Result
	files    []string // of each picture; "" where it could not be saved
	found    bool     // in the directory: who made it is not known any more
	took     time.Duration
	warnings []string
}

func (m *made) unsaved() bool {
	for _, f := range m.files {
		if f == "" {
			return true
		}
	}
	return false
}

// make has the provider make the pictures of a job, and saves them.
func (t *toolset) make(ctx context.Context, j *job) (*made, error) {
	p, err := t.source.get()
	if err != nil {
		return nil, err
	}
	t.jobs.note(j, "generating")
	result, err := p.Generate(ctx, j.order.Request, func(e provider.Event) { t.note(j, e) })
	if err != nil {
		return nil, t.rescue(j, err)
	}
	tidy(result, max(j.order.N, 1))
	m := &made{Result: result, took: time.Since(j.begun), warnings: append(j.order.warnings[:len(j.order.warnings):len(j.order.warnings)], result.Warnings...)}
	for i, picture := range result.Images {
		file, err := t.store.save(pictureID(j.id, i), j.order.name, j.begun, picture)
		if err != nil {
			m.warnings = append(m.warnings, fmt.Sprintf("the picture could not be saved (%s): it is in memory only, to be read as image://%s for %d minutes", reason(err), pictureID(j.id, i), int(unsavedFor.Minutes())))
		}
		m.files = append(m.files, file)
	}
	if err := t.store.prune(j.id); err != nil && !m.unsaved() {
		m.warnings = append(m.warnings, "old pictures could not be removed ("+reason(err)+")")
	}
	return m, nil
}

func (t *toolset) note(j *job, e provider.Event) {
	switch e.Phase {
	case provider.PartialImage:
		t.jobs.note(j, fmt.Sprintf("partial %d of %d", e.Index+1, max(j.order.Partials, e.Index+1)))
	case provider.Generating:
		t.jobs.note(j, "generating")
	default:
		t.jobs.note(j, toolkit.Inline(e.Text))
	}
}

// rescue saves the last partial picture of work that broke off: it may have been paid for.
func (t *toolset) rescue(j *job, err error) error {
	var e *provider.Error
	if !errors.As(err, &e) || e.Partial == nil {
		return err
	}
	file, saving := t.store.save(j.id, "partial", j.begun, *e.Partial)
	if saving != nil {
		return err
	}
	return &brokenOff{e, file}
}

// A brokenOff is an error that left a part of a picture behind.
type brokenOff struct {
	cause *provider.Error
	file  string
}

func (e *brokenOff) Error() string { return e.cause.Error() }
func (e *brokenOff) Unwrap() error { return e.cause }

// Visible says where the part lies.
func (e *brokenOff) Visible() string {
	return e.cause.Visible() + "\nThe last partial picture was saved: " + toolkit.Inline(e.file)
}

// What a provider says of a picture is another's text, of any length. In characters.
const (
	maxWord    = 100
	maxWarning = 1000
)

// tidy bounds what a provider answered: n pictures, which are as many as were asked for and
// as ids are made for, and texts that are harmless to print.
func tidy(r *provider.Result, n int) {
	if len(r.Images) > n {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the provider made %d pictures where %d would do; the others were left out", len(r.Images), n))
		r.Images = r.Images[:n:n]
	}
	r.RevisedPrompt = harmless(r.RevisedPrompt, maxPrompt)
	for _, text := range []*string{&r.Model, &r.Quality, &r.Background} {
		*text = harmless(*text, maxWord)
	}
	for i, w := range r.Warnings {
		r.Warnings[i] = harmless(w, maxWarning)
	}
}

// harmless returns text of most characters at most, without control characters but for tabs
// and the ends of lines.
func harmless(text string, most int) string {
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most-1]) + "\u2026"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return utf8.RuneError
		}
		return r
	}, text)
}
