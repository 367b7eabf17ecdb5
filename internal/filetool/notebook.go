package filetool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// How much of a notebook's outputs is shown, in letters: they are often longer than all
// the rest.
const outputLetters = 2000

// A notebook is what we use of nbformat 4.
type notebook struct {
	Cells []struct {
		Type    string   `json:"cell_type"`
		Source  text     `json:"source"`
		Outputs []output `json:"outputs"`
	} `json:"cells"`
	Format int `json:"nbformat"`
}

// An output is what a cell printed or showed.
type output struct {
	Text      text                       `json:"text"`
	Data      map[string]json.RawMessage `json:"data"`
	Name      string                     `json:"ename"`
	Value     string                     `json:"evalue"`
	Traceback []string                   `json:"traceback"`
}

// A text is a string, or a list of them to be put together.
type text string

// UnmarshalJSON takes both forms.
func (t *text) UnmarshalJSON(raw []byte) error {
	var lines []string
	if err := json.Unmarshal(raw, &lines); err == nil {
		*t = text(strings.Join(lines, ""))
		return nil
	}
	return json.Unmarshal(raw, (*string)(t))
}

// flatten returns the cells of a notebook and their outputs as text; ok is false if data
// is no notebook of a format that we know.
func flatten(data []byte) (flat []byte, cells int, ok bool) {
	var nb notebook
	if json.Unmarshal(data, &nb) != nil || nb.Format < 4 {
		return nil, 0, false
	}
	var b bytes.Buffer
	for i, c := range nb.Cells {
		fmt.Fprintf(&b, "[cell %d, %s]\n", i+1, c.Type)
		writeBlock(&b, string(c.Source))
		for _, o := range c.Outputs {
			fmt.Fprintf(&b, "[output of cell %d]\n", i+1)
			writeBlock(&b, cutLetters(o.String()))
		}
	}
	return b.Bytes(), len(nb.Cells), true
}

func writeBlock(b *bytes.Buffer, s string) {
	b.WriteString(s)
	if s != "" && !strings.HasSuffix(s, "\n") {
		b.WriteByte('\n')
	}
}

// String returns the form of the output that a reader gets most of.
func (o output) String() string {
	switch {
	case o.Name != "" || o.Value != "":
		return o.Name + ": " + o.Value + "\n" + strings.Join(o.Traceback, "\n")
	case o.Text != "":
		return string(o.Text)
	}
	var plain text
	if json.Unmarshal(o.Data["text/plain"], &plain) == nil && plain != "" {
		return string(plain) + o.others("text/plain")
	}
	return strings.TrimPrefix(o.others(), "\n")
}

// others names the types of an output that are not shown.
func (o output) others(shown ...string) string {
	var types []string
	for t := range o.Data {
		if !slices.Contains(shown, t) {
			types = append(types, t)
		}
	}
	if len(types) == 0 {
		return ""
	}
	slices.Sort(types)
	return "\n[also as " + strings.Join(types, ", ") + ", not shown]"
}

func cutLetters(s string) string {
	if utf8.RuneCountInString(s) <= outputLetters {
		return s
	}
	runes := []rune(s)
	return fmt.Sprintf("%s\n[+%s]", string(runes[:outputLetters]), plural(len(runes)-outputLetters, "char"))
}
