package imagetool

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// An answer is the one block of text in the form openai: the object from which a gateway makes
// an image_generation_call. It reads the strings at the top, the first seven; a model reads all.
type answer struct {
	Result        string       `json:"result,omitempty"` // base64
	RevisedPrompt string       `json:"revised_prompt"`   // never empty
	OutputFormat  string       `json:"output_format,omitempty"`
	Size          string       `json:"size,omitempty"`
	Quality       string       `json:"quality,omitempty"`
	Background    string       `json:"background,omitempty"`
	Action        string       `json:"action,omitempty"`
	Status        string       `json:"status"` // completed or failed
	ID            string       `json:"id,omitempty"`
	Path          string       `json:"path,omitempty"`
	Error         *answerError `json:"error,omitempty"`
	Usage         *answerUsage `json:"usage,omitempty"`
	Warnings      []string     `json:"warnings,omitempty"`
}

type answerError struct {
	Code       string   `json:"code"`
	Message    string   `json:"message"`
	Param      string   `json:"param,omitempty"`
	RetryAfter float64  `json:"retry_after_s,omitempty"`
	Stage      string   `json:"moderation_stage,omitempty"`
	Categories []string `json:"moderation_categories,omitempty"`
}

type answerUsage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Total  int64 `json:"total_tokens"`
}

// noPrompt stands for a prompt that nobody knows.
const noPrompt = "(no prompt)"

// answer is what came of a call that went well.
func (o *outcome) answer() *answer {
	m, picture := o.made, o.made.Images[0]
	a := &answer{
		Result: base64.StdEncoding.EncodeToString(picture.Data), Status: "completed",
		RevisedPrompt: cmp.Or(m.RevisedPrompt, o.order.Prompt, noPrompt),
		OutputFormat:  string(picture.Format), Size: picture.Size.String(),
		Quality:    cmp.Or(m.Quality, o.order.Quality, "auto"),
		Background: cmp.Or(m.Background, o.order.Background, "auto"),
		Action:     cmp.Or(string(o.order.Action), string(provider.Generate)),
		ID:         o.job, Path: m.files[0], Warnings: slices.Clone(m.warnings), // others have the same picture
	}
	if u := m.Usage; u.Total > 0 {
		a.Usage = &answerUsage{u.InputText + u.InputImage, u.Output, u.Total}
	}
	return a
}

// whole makes one block of JSON of any outcome, for callers who want that form.
func (t *toolset) whole(call *toolkit.Call, o toolkit.Outcome) (toolkit.Result, bool) {
	if f, _ := t.formOf(call); f != formOpenAI {
		return toolkit.Result{}, false
	}
	a, ok := o.Result.Structured.(*answer)
	if !ok {
		a = &answer{Status: "failed", RevisedPrompt: promptIn(o.Arguments), Error: explain(o)}
	}
	a.Warnings = append(a.Warnings, o.Warnings...)
	return toolkit.Result{Text: encode(a), IsError: o.Result.IsError}, true
}

// promptIn returns the prompt of arguments that may be anything.
func promptIn(args json.RawMessage) string {
	var in map[string]any
	_ = json.Unmarshal(args, &in) // else there is no prompt
	prompt, _ := in["prompt"].(string)
	if strings.TrimSpace(prompt) == "" {
		return noPrompt
	}
	return toolkit.Cut(prompt, 4*maxPrompt)
}

func explain(o toolkit.Outcome) *answerError {
	e := &answerError{Code: "invalid_request", Message: o.Result.Text}
	var (
		upstream *provider.Error
		denied   *approval.DeniedError
	)
	_, visible := toolkit.VisibleText(o.Err)
	switch {
	case errors.As(o.Err, &upstream):
		e.Code, e.Param = string(upstream.Code), upstream.Param
		e.RetryAfter, e.Stage, e.Categories = upstream.RetryAfter.Seconds(), upstream.Stage, upstream.Categories
	case errors.As(o.Err, &denied):
		e.Code = "denied"
	case !visible && strings.HasPrefix(o.Result.Text, "internal error"):
		e.Code = "internal_error"
	case !visible:
		e.Code = "cancelled"
	}
	return e
}

// encode writes plain data, without the escapes for HTML.
func encode(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("encode %T: %v", v, err))
	}
	return strings.TrimSuffix(b.String(), "\n")
}
