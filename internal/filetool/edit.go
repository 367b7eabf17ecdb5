package filetool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/filetool/edit"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// The keys under which clients send the parts of an edit.
var (
	oldKeys = []string{"old_string", "oldString", "old_str", "oldStr", "oldText", "old_text"}
	newKeys = []string{"new_string", "newString", "new_str", "newStr", "newText", "new_text"}
	allKeys = []string{"replace_all", "replaceAll", "all_occurrences", "allOccurrences"}
)

const editExample = `[{"old_string": "a = 1", "new_string": "a = 2"}]`

var editDefinition = toolkit.Definition{
	Effect: approval.WriteFiles,
	Name:   "Edit",
	Title:  "Edit a file",
	Description: "Replaces text in a file below the roots: old_string, copied from a read without the line numbers, " +
		"by new_string. It must be there once, unless replace_all is set. Line ends and encoding stay. " +
		"Returns a diff. If an edit does not fit, nothing is changed.",
	Params: []toolkit.Param{
		writtenParam,
		{
			Name: "old_string", Type: toolkit.String, Verbatim: true, Example: `"a = 1"`, Aliases: oldKeys[1:],
			Description: "Text to replace; empty for a new or empty file.",
		},
		{
			Name: "new_string", Type: toolkit.String, Verbatim: true, Example: `"a = 2"`, Aliases: newKeys[1:],
			Description: "Text to put there.",
		},
		{
			Name: "replace_all", Type: toolkit.Boolean, Example: "true", Aliases: allKeys[1:],
			Description: "Replace it wherever it is.",
		},
		{
			Name: "edits", Type: toolkit.Array, Items: toolkit.Object, Example: editExample,
			Description: "Instead: several {old_string, new_string, replace_all}, made in order, all or none.",
			Aliases:     []string{"changes", "replacements"},
		},
		shaParam,
	},
	Hints: toolkit.Hints{ClosedWorld: true},
}

// addEdit registers Edit.
func addEdit(s *toolkit.Server, w writer) error {
	return toolkit.Add(s, toolkit.Tool[editIn, *changePlan, changeOut]{
		Definition: editDefinition, Plan: w.planEdit, Run: runChange, Render: renderEdit,
	})
}

type editIn struct {
	Path  string    `json:"file_path"`
	Old   *string   `json:"old_string"`
	New   *string   `json:"new_string"`
	All   bool      `json:"replace_all"`
	Edits []rawEdit `json:"edits"`
	SHA   string    `json:"expected_sha"`
}

// A rawEdit is an element of edits, as it came.
type rawEdit map[string]json.RawMessage

func (w writer) planEdit(ctx context.Context, call *toolkit.Call, in editIn) (*changePlan, approval.Action, error) {
	edits, err := in.edits()
	if err != nil {
		return nil, approval.Action{}, err
	}
	sha, err := shaPrefix(in.SHA)
	if err != nil {
		return nil, approval.Action{}, err
	}
	return w.plan(ctx, call, changeRequest{
		path: in.Path, sha: sha, creates: edits[0].Old == "", dirs: true, shows: true, verb: "edit",
		make: func(ctx context.Context, old []byte) ([]byte, int, error) { return edit.Apply(ctx, old, edits) },
	})
}

// edits returns the edits of a call, of which there is at least one.
func (in editIn) edits() ([]edit.Edit, error) {
	filled := func(s *string) bool { return s != nil && *s != "" }
	switch {
	case len(in.Edits) > 0 && (filled(in.Old) || filled(in.New)):
		return nil, toolkit.Errorf("old_string and edits both say what to change: give only one of them")
	case len(in.Edits) > 0:
		return decodeEdits(in.Edits, in.All)
	case in.Old == nil && in.New == nil:
		return nil, toolkit.Errorf("old_string and new_string are missing: give both, or edits, for example {\"edits\": %s}", editExample)
	case in.Old == nil:
		return nil, toolkit.Errorf(`old_string is missing: give the text to replace; "" stands for the content of a new file`)
	case in.New == nil:
		return nil, toolkit.Errorf(`new_string is missing: give the new text; "" removes the old one`)
	}
	return []edit.Edit{{Old: *in.Old, New: *in.New, All: in.All}}, nil
}

// decodeEdits reads the elements of edits, as tolerantly as arguments are read.
func decodeEdits(raw []rawEdit, all bool) ([]edit.Edit, error) {
	edits := make([]edit.Edit, len(raw))
	for i, r := range raw {
		e, err := r.decode(all)
		if err != nil {
			return nil, toolkit.Because(err, "edits: number %d %v, for example %s", i+1, err, editExample)
		}
		edits[i] = e
	}
	return edits, nil
}

func (r rawEdit) decode(all bool) (e edit.Edit, err error) {
	for key := range r {
		if !slices.Contains(slices.Concat(oldKeys, newKeys, allKeys), key) {
			return e, fmt.Errorf("has the key %s, want old_string, new_string and replace_all", toolkit.Inline(key[:min(len(key), 80)]))
		}
	}
	if e.Old, err = r.text(oldKeys); err != nil {
		return e, err
	}
	if e.New, err = r.text(newKeys); err != nil {
		return e, err
	}
	e.All, err = r.flag(allKeys, all)
	return e, err
}

// find returns the value under the first of keys that is there, and "" if none is. Two that
// differ are no edit.
func (r rawEdit) find(keys []string) (json.RawMessage, error) {
	var found json.RawMessage
	for _, k := range keys {
		v, ok := r[k]
		if !ok || string(v) == "null" {
			continue
		}
		if found != nil && !bytes.Equal(found, v) {
			return nil, fmt.Errorf("has %s and %s, which differ: give only %s", keys[0], k, keys[0])
		}
		found = v
	}
	return found, nil
}

func (r rawEdit) text(keys []string) (string, error) {
	v, err := r.find(keys)
	switch {
	case err != nil:
		return "", err
	case len(v) == 0:
		return "", fmt.Errorf("lacks %s: give it as a string", keys[0])
	case v[0] != '"' && strings.ContainsAny(string(v[:1]), "{[tf"):
		return "", fmt.Errorf("has another %s than a string", keys[0])
	case v[0] != '"':
		return string(v), nil // a number is taken as it is written
	}
	var s string
	err = json.Unmarshal(v, &s)
	return s, err
}

func (r rawEdit) flag(keys []string, otherwise bool) (bool, error) {
	v, err := r.find(keys)
	if err != nil {
		return false, err
	}
	switch strings.ToLower(strings.Trim(string(v), `"`)) {
	case "":
		return otherwise, nil
	case "true", "1", "yes":
		return true, nil
	case "false", "0", "no", "null":
		return false, nil
	}
	return false, fmt.Errorf("has a %s that is not true or false", keys[0])
}

func renderEdit(o changeOut, b toolkit.Budget) toolkit.Result {
	if o.created {
		return toolkit.Result{Text: o.headline(plural(countLines(o.new), "line"))}
	}
	text := o.headline(plural(o.places, "replacement"))
	if diff := o.diff(b.Text - len(text) - 1); diff != "" {
		text += "\n" + diff
	}
	return toolkit.Result{Text: text}
}
