package patchtool

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/pkg/patchapply"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

var params = []toolkit.Param{
	{
		Name: "patch", Type: toolkit.String, Aliases: []string{"input", "patchText", "patch_text"},
		Example:     `"*** Begin Patch\n*** Update File: a.txt\n@@\n-old\n+new\n*** End Patch"`,
		Description: "The patch, from *** Begin Patch to *** End Patch; a unified diff is taken too.",
	},
	{
		Name: "operation", Type: toolkit.Object,
		Example:     `{"type": "update_file", "path": "a.txt", "diff": "@@\n-old\n+new"}`,
		Description: "Instead of patch: {type: create_file, update_file or delete_file, path, diff, move_to}.",
	},
	{
		Name: "operations", Type: toolkit.Array, Items: toolkit.Object,
		Example:     `[{"type": "delete_file", "path": "a.txt"}]`,
		Description: "Instead of patch: several operations, all or none.",
	},
	{
		Name: "dry_run", Type: toolkit.Boolean, Aliases: []string{"dryRun", "dryrun", "dry"}, Example: "true",
		Description: "Say what would be done, and change nothing.",
	},
	{Name: "type", Type: toolkit.String, Hidden: true, Description: "Of an operation that stands alone."},
	{Name: "path", Type: toolkit.String, Hidden: true, Description: "Of an operation that stands alone."},
	{Name: "diff", Type: toolkit.String, Hidden: true, Description: "Of an operation that stands alone, or the patch."},
	{Name: "move_to", Type: toolkit.String, Hidden: true, Description: "Of an operation that stands alone."},
}

type applyIn struct {
	Patch      string           `json:"patch"`
	Operation  map[string]any   `json:"operation"`
	Operations []map[string]any `json:"operations"`
	DryRun     bool             `json:"dry_run"`
	Type       string           `json:"type"`
	Path       string           `json:"path"`
	Diff       string           `json:"diff"`
	MoveTo     string           `json:"move_to"`
}

// parse reads the patch, in whichever of its forms it came.
func (in applyIn) parse() (*patchapply.Patch, error) {
	ops, given, err := in.forms()
	switch {
	case err != nil:
		return nil, err
	case len(given) == 0:
		return nil, refuse(patchapply.EmptyPatch, "nothing was given: send patch, such as "+params[0].Example)
	case len(given) > 1:
		return nil, refuse(patchapply.InvalidOperation, strings.Join(given, " and ")+" were given: send one of them")
	}
	if ops != nil {
		return patchapply.ParseOperations(ops)
	}
	return patchapply.Parse([]byte(cmp.Or(in.Patch, in.Diff)))
}

// forms returns the operations, if any were given, and the names of the arguments by which
// the call says what to do.
func (in applyIn) forms() (ops []patchapply.Operation, given []string, err error) {
	// A path beside a whole patch repeats what stands in that.
	flat := in.Type != "" || in.Path != "" && in.Patch == ""
	switch {
	case flat && in.Type == "":
		return nil, nil, refuse(patchapply.InvalidOperation, "type is missing beside path: want create_file, update_file or delete_file; or send patch alone")
	case flat:
		given = append(given, "type")
		ops = append(ops, patchapply.Operation{Type: in.Type, Path: in.Path, Diff: cmp.Or(in.Diff, in.Patch), MoveTo: in.MoveTo})
	case in.MoveTo != "":
		return nil, nil, refuse(patchapply.InvalidOperation, "move_to stands with type and path, or in an operation; a patch has *** Move to: path")
	case in.Diff != "":
		given = append(given, "diff")
	}
	if in.Patch != "" && (!flat || in.Diff != "") {
		given = append(given, "patch")
	}
	if in.Operation != nil {
		given = append(given, "operation")
		in.Operations = append([]map[string]any{in.Operation}, in.Operations...)
	}
	if n := len(in.Operations); n > 1 || n == 1 && in.Operation == nil {
		given = append(given, "operations")
	}
	for i, fields := range in.Operations {
		op, err := operation(fields)
		if err != nil {
			return nil, nil, refuse(patchapply.InvalidOperation, fmt.Sprintf("operation %d: %v", i+1, err))
		}
		ops = append(ops, op)
	}
	return ops, given, nil
}

// beside are members that stand beside those of an operation in the Responses API, and say
// nothing about what to do.
var beside = []string{"call_id", "id", "status"}

// operation reads one operation. Members that it does not know are refused: one that was
// misspelt would else be left undone.
func operation(fields map[string]any) (op patchapply.Operation, err error) {
	known := map[string]*string{
		"type": &op.Type, "path": &op.Path, "file_path": &op.Path, "diff": &op.Diff, "patch": &op.Diff,
		"move_to": &op.MoveTo, "moveTo": &op.MoveTo,
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		to, value := known[key], fields[key]
		if value == nil || slices.Contains(beside, key) {
			continue
		}
		if to == nil {
			return op, fmt.Errorf("unknown member %q; there are: type, path, diff, move_to", key)
		}
		text, ok := value.(string)
		if !ok {
			return op, fmt.Errorf("%s: want a string", key)
		}
		if *to != "" && *to != text {
			return op, fmt.Errorf("%s is given twice, in different words", key)
		}
		*to = text
	}
	return op, nil
}

func refuse(c patchapply.Class, text string) error {
	return &patchapply.Error{Class: c, Text: text + ".\nNo files were changed."}
}
