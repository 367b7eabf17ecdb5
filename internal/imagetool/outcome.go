package imagetool

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// An outcome is what a call ends with, if not with an error: a picture, or a job.
type outcome struct {
	form     form
	show     string
	provider string
	job      string
	order    order
	made     *made // nil while the job goes on
}

// A form is how results are written.
type form string

// The forms.
const (
	formMCP    form = "mcp"
	formOpenAI form = "openai"
)

// formHeader is the HTTP header by which a caller chooses a form, where the operator leaves it
// to the caller.
const formHeader = "X-Toolhost-Result-Format"

var errForm = errors.New("want mcp or openai")

func parseForm(text string) (form, error) {
	switch f := form(strings.ToLower(strings.TrimSpace(text))); f {
	case formMCP, formOpenAI:
		return f, nil
	}
	return formMCP, errForm
}

// formOf returns the form for a caller.
func (t *toolset) formOf(call *toolkit.Call) (form, error) {
	given := call.Header(formHeader)
	if end := strings.IndexAny(given, ",;"); end >= 0 { // what stands behind the first value is no other form
		given = given[:end]
	}
	given = strings.TrimSpace(given)
	if t.settings.form != "" || given == "" || strings.EqualFold(given, "auto") {
		return cmp.Or(t.settings.form, formMCP), nil
	}
	f, err := parseForm(given)
	if err != nil {
		return f, toolkit.Errorf("the header %s: got %q, want mcp or openai. Nothing was done", formHeader, toolkit.Cut(given, 80))
	}
	return f, nil
}

func (o outcome) render(b toolkit.Budget) toolkit.Result {
	if o.form == formOpenAI {
		return toolkit.Result{Structured: o.answer()} // whole makes text of it
	}
	return o.mcp(b)
}

// fromStore is what is left of a job that is not in memory any more.
func (t *toolset) fromStore(p *imagePlan, out outcome) (outcome, error) {
	out.job = p.job
	var m *made
	for i := range defaultMaxN {
		file, data, err := t.store.find(pictureID(p.job, i))
		if err != nil {
			break
		}
		picture, err := provider.Identify(data)
		if err != nil {
			return out, toolkit.Because(err, "job_id: the file of %s is no picture any more", p.job)
		}
		if m == nil {
			m = &made{Result: &provider.Result{Created: time.Now()}, found: true}
		}
		m.Images, m.files = append(m.Images, picture), append(m.files, file)
	}
	if m == nil {
		return out, toolkit.Errorf("job_id: there is no job %s here: it ended long ago and left no picture, or the server was started again. Ask for the picture anew", p.job)
	}
	out.made = m
	return out, nil
}

// A storedPicture is a picture by its id, from memory or from the directory.
type storedPicture struct {
	data []byte
	mime string
	text string // how far it is, where there is no picture yet
}

// stored returns the picture of an id.
func (t *toolset) stored(id string) (p storedPicture, err error) {
	if !idForm.MatchString(id) {
		return p, errNoPicture
	}
	if p, ok := t.jobs.picture(id); ok {
		return p, nil
	}
	_, data, err := t.store.find(id)
	if err != nil {
		return p, err
	}
	picture, err := provider.Identify(data)
	if err != nil {
		return p, err
	}
	return storedPicture{data: data, mime: picture.Format.MIME()}, nil
}

// picture returns what is in memory of an id.
func (js *jobs) picture(id string) (p storedPicture, ok bool) {
	js.mu.Lock()
	defer js.mu.Unlock()
	j := js.byID[id[:16]]
	if j == nil {
		return p, false
	}
	select {
	case <-j.done:
	default:
		return storedPicture{text: "in progress: " + j.text + "; read it again later, or call " + toolName + " with job_id " + j.id}, true
	}
	if j.err != nil {
		text, _ := toolkit.VisibleText(j.err)
		return storedPicture{text: "failed: " + text}, true
	}
	for i, one := range j.made.Images {
		if pictureID(j.id, i) == id {
			return storedPicture{data: one.Data, mime: one.Format.MIME()}, true
		}
	}
	return p, false
}

// reason says in a word why something was not saved, without the path.
func reason(err error) string {
	var system syscall.Errno
	switch {
	case errors.Is(err, errNoDir):
		return errNoDir.Error()
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, os.ErrPermission):
		return "permission denied"
	case errors.As(err, &system):
		return system.Error()
	}
	return "the output directory cannot be used"
}
