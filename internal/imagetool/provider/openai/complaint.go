package openai

import (
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strings"
	"unicode"
)

// A complaint is what a server says about an error, in whichever form it says it.
type complaint struct {
	message, code, kind, param string
	inner                      string   // a second code, of Azure
	stage                      string   // of moderation
	categories                 []string // of moderation
}

// kinds returns codes and type in lower case.
func (c complaint) kinds() []string {
	return []string{strings.ToLower(c.code), strings.ToLower(c.inner), strings.ToLower(c.kind)}
}

// The forms of an error's body, each of which somebody sends:
//
//	{"error": {"message", "type", "param", "code", "moderation_details", "innererror"}}   OpenAI, Azure
//	{"error": "text"}                                                                     local servers
//	{"detail": "text"}, {"detail": [{"loc", "msg", "type"}]}                              FastAPI
//	{"title", "detail", "validation": [{"location", "message", "code"}]}                  RFC 9457
//	{"message", "code"}                                                                   gateways
type errorBody struct {
	Error      json.RawMessage `json:"error"`
	Detail     json.RawMessage `json:"detail"`
	Validation json.RawMessage `json:"validation"`
	Title      loose           `json:"title"`
	errorObject
}

type errorObject struct {
	Message    loose `json:"message"`
	Code       loose `json:"code"`
	Type       loose `json:"type"`
	Param      loose `json:"param"`
	Moderation struct {
		Stage      loose           `json:"moderation_stage"`
		Categories json.RawMessage `json:"categories"`
	} `json:"moderation_details"`
	Inner struct {
		Code    loose                      `json:"code"`
		Result  map[string]json.RawMessage `json:"content_filter_result"`
		Results map[string]json.RawMessage `json:"content_filter_results"`
	} `json:"innererror"`
}

// A fault is one entry of a list of what is wrong with a request.
type fault struct {
	Loc      []loose `json:"loc"`
	Location []loose `json:"location"`
	Msg      loose   `json:"msg"`
	Message  loose   `json:"message"`
}

// readComplaint understands what it can. A page of HTML is nobody's words.
func readComplaint(contentType string, body []byte) complaint {
	var b errorBody
	if json.Unmarshal(body, &b) != nil {
		if b.Error == nil && b.Detail == nil {
			return complaint{message: plainText(contentType, body)}
		}
	}
	c := b.complaint()
	var inner errorObject
	switch {
	case len(b.Error) > 0 && json.Unmarshal(b.Error, &inner) == nil && b.Error[0] == '{':
		c = inner.complaint()
	case len(b.Error) > 0:
		c.message = string(text(b.Error))
	}
	if c.message == "" {
		c.message = string(text(b.Detail))
	}
	for _, list := range []json.RawMessage{b.Detail, b.Validation} {
		c.addFaults(list)
	}
	if c.message == "" {
		c.message = string(b.Title)
	}
	return c
}

func (o errorObject) complaint() complaint {
	c := complaint{
		message: string(o.Message), code: string(o.Code), kind: string(o.Type), param: string(o.Param),
		inner: string(o.Inner.Code), stage: string(o.Moderation.Stage),
	}
	var names []string
	if json.Unmarshal(o.Moderation.Categories, &names) == nil {
		c.categories = names
	}
	for _, results := range []map[string]json.RawMessage{o.Inner.Result, o.Inner.Results} {
		for name, result := range results {
			var is struct{ Filtered bool }
			if json.Unmarshal(result, &is) == nil && is.Filtered {
				c.categories = append(c.categories, name)
			}
		}
	}
	slices.Sort(c.categories)
	return c
}

// addFaults adds what a list says to the message; a single entry names the parameter too.
func (c *complaint) addFaults(list json.RawMessage) {
	var faults []fault
	if json.Unmarshal(list, &faults) != nil {
		return
	}
	for _, f := range faults {
		at := f.where()
		says := strings.TrimSpace(string(f.Msg + f.Message))
		if at != "" {
			says = at + ": " + says
		}
		c.message = strings.TrimPrefix(c.message+"; "+says, "; ")
		if len(faults) == 1 && c.param == "" {
			c.param = at
		}
	}
}

// where returns the path to the field, without the part of the request that it is in.
func (f fault) where() string {
	var parts []string
	for _, l := range append(f.Loc, f.Location...) {
		parts = append(parts, string(l))
	}
	if len(parts) > 1 && (parts[0] == "body" || parts[0] == "request") {
		parts = parts[1:]
	}
	if len(parts) > 1 && parts[0] == "body" {
		parts = parts[1:]
	}
	return strings.Join(parts, ".")
}

// plainText returns a body that is meant to be read.
func plainText(contentType string, body []byte) string {
	media, _, _ := mime.ParseMediaType(contentType)
	if media != "" && media != "text/plain" && !strings.HasSuffix(media, "json") {
		return ""
	}
	if s := strings.TrimSpace(string(body)); !strings.HasPrefix(s, "<") {
		return s
	}
	return ""
}

// loose is a text where servers put numbers and nulls, too.
type loose string

// UnmarshalJSON never fails: an error's body is understood as far as it goes.
func (l *loose) UnmarshalJSON(data []byte) error {
	*l = text(data)
	return nil
}

// text returns a string's content, a number or boolean as written, and "" for all else.
func text(data json.RawMessage) loose {
	var v any
	if json.Unmarshal(data, &v) != nil {
		return ""
	}
	switch v := v.(type) {
	case string:
		return loose(v)
	case float64:
		return loose(data)
	case bool:
		return loose(fmt.Sprint(v))
	}
	return ""
}

// oneLine returns s without line breaks, control characters and those that turn the direction of text, at most limit characters long.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }), " ")
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return s
}
