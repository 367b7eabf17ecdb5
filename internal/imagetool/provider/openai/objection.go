package openai

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// How servers say that they do not know or want a field.
var unwanted = regexp.MustCompile(`(?i)unknown|unrecognized|unsupported|unexpected|\bextra\b|\bnot (?:be )?(?:supported|permitted|allowed|recognized)|\bnot support`)

// objection returns the one optional field of ours that a server refuses a request for, or
// "". Nothing was made then. A named parameter counts as it is; a message counts if it says
// that something is not wanted and names exactly one field.
func (q *query) objection(e *provider.Error) string {
	if e.Code != provider.InvalidRequest || e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity {
		return ""
	}
	if e.Param != "" {
		name, _, _ := strings.Cut(e.Param, "[")
		name = name[strings.LastIndexByte(name, '.')+1:]
		if _, ours := q.fields[name]; ours {
			return name
		}
		return ""
	}
	if !unwanted.MatchString(e.Message) {
		return ""
	}
	found := ""
	for name := range q.fields {
		if !named(e.Message, name) {
			continue
		}
		if found != "" {
			return ""
		}
		found = name
	}
	return found
}

// named reports whether text has name as a word of its own; n only in quotes.
func named(text, name string) bool {
	pattern := `(?:^|[^\w])` + regexp.QuoteMeta(name) + `(?:$|[^\w])`
	if name == "n" {
		pattern = "['\"`]n['\"`]"
	}
	return regexp.MustCompile(pattern).MatchString(text)
}

// together are fields that make no sense without each other.
var together = map[string]string{"width": "height", "height": "width", "stream": "partial_images", "partial_images": "stream"}

// leaveOut drops a field because of what the server said.
func (q *query) leaveOut(field, why string) {
	delete(q.fields, field)
	delete(q.fields, together[field])
	q.warn("the provider does not take %s, so it was left out: %s", field, why)
}
