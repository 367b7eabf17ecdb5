package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"unicode"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

const (
	minSecret  = 6      // shorter keys are words like none, which people give to servers at home
	maxMessage = 1000   // characters of what a server says
	maxPrompt  = 32_000 // characters of a prompt, as much as the API takes
)

// A scrubber takes the key out of what a server says; some repeat the request's headers.
type scrubber struct{ replacer *strings.Replacer }

func newScrubber(key string) scrubber {
	if len(key) < minSecret {
		return scrubber{strings.NewReplacer()}
	}
	quoted, _ := json.Marshal(key) // a string
	return scrubber{strings.NewReplacer(
		key, "[key]", url.QueryEscape(key), "[key]", url.PathEscape(key), "[key]", strings.Trim(string(quoted), `"`), "[key]",
	)}
}

func (s scrubber) line(text string) string { return oneLine(s.replacer.Replace(text), maxMessage) }

// prompt keeps line breaks and tabs, unlike line.
func (s scrubber) prompt(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s.replacer.Replace(text))
	if runes := []rune(text); len(runes) > maxPrompt {
		return string(runes[:maxPrompt-1]) + "…"
	}
	return text
}

// error makes e fit to be shown and logged.
func (s scrubber) error(e *provider.Error) *provider.Error {
	e.Message, e.Param, e.Stage = s.line(e.Message), s.line(e.Param), s.line(e.Stage)
	for i, c := range e.Categories {
		e.Categories[i] = s.line(c)
	}
	if e.Err != nil && !errors.Is(e.Err, context.Canceled) && !errors.Is(e.Err, context.DeadlineExceeded) {
		e.Err = errors.New(s.line(e.Err.Error()))
	}
	return e
}
