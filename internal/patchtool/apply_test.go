package patchtool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	hunk     = "@@\n-one\n+two\n"
	envelope = "*** Begin Patch\n*** Update File: a\n" + hunk + "*** End Patch\n"
	unified  = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n"
)

var update = args{"type": "update_file", "path": "a", "diff": hunk}

func TestForms(t *testing.T) {
	const updated = "completed\nUpdated file: a (4 -> 4 bytes)"
	for name, c := range map[string]struct {
		args args
		want string
	}{
		"patch":                  {args{"patch": envelope}, updated},
		"input":                  {args{"input": envelope}, updated},
		"patchText":              {args{"patchText": envelope}, updated},
		"path beside a patch":    {args{"patch": envelope, "path": "a"}, updated},
		"diff alone":             {args{"diff": envelope}, updated},
		"unified":                {args{"patch": unified}, updated},
		"unified in diff":        {args{"diff": unified}, updated},
		"operation":              {args{"operation": update}, updated},
		"operation in a string":  {args{"operation": `{"type": "update_file", "path": "a", "diff": "@@\n-one\n+two\n"}`}, updated},
		"flat":                   {update, updated},
		"flat by patch":          {args{"type": "update_file", "path": "a", "patch": hunk}, updated},
		"flat with empty others": {args{"type": "update_file", "path": "a", "diff": hunk, "patch": "", "operations": nil}, updated},
		"operations of one":      {args{"operations": []any{update}}, updated},
		"an array of one":        {args{"operation": update, "operations": []any{}}, updated},
		"an envelope in diff":    {args{"type": "update_file", "path": "a", "diff": envelope}, updated},
		"several": {
			args{"operations": []any{
				args{"type": "create_file", "path": "d/n", "diff": "+x\n"},
				update,
				args{"type": "delete_file", "path": "b"},
				args{"type": "update_file", "path": "c", "diff": hunk, "move_to": "e"},
			}},
			"completed\nCreated file: d/n (2 bytes)\nUpdated file: a (4 -> 4 bytes)\nDeleted file: b\nMoved file: c -> e",
		},
		"in a fence": {
			args{"patch": "```diff\n" + envelope + "```\n"},
			"completed\nWarning: ignored: text outside \"*** Begin Patch\" and \"*** End Patch\"\nUpdated file: a (4 -> 4 bytes)",
		},
		"no change": {args{"patch": "*** Begin Patch\n*** Update File: a\n@@\n one\n*** End Patch"}, "completed\nNo changes: a"},
		"loosely": {
			args{"operation": args{"type": "update_file", "path": "a", "diff": "@@\n-  one\n+two\n"}},
			updated + "\n  hunk 1 at line 1: matched but for white space at both ends of lines (fuzz 100)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, map[string]string{"a": "one\n", "b": "one\n", "c": "one\n"}, nil)
			text, refused := h.call(t, c.args)
			if refused || text != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

func TestFormsThatAreRefused(t *testing.T) {
	h := newHarness(t, map[string]string{"a": "one\n"}, nil)
	before := h.tree(t)
	for name, c := range map[string]struct {
		args args
		want string
	}{
		"nothing":                {args{}, "empty_patch: nothing was given: send patch"},
		"two forms":              {args{"patch": envelope, "operation": update}, "invalid_operation: patch and operation were given"},
		"patch and diff":         {args{"patch": envelope, "diff": envelope}, "invalid_operation: diff and patch were given"},
		"flat and patch":         {args{"patch": envelope, "type": "update_file", "path": "a", "diff": hunk}, "invalid_operation: type and patch were given"},
		"no type":                {args{"path": "a", "diff": hunk}, "invalid_operation: type is missing"},
		"unknown type":           {args{"type": "move_file", "path": "a"}, "invalid_operation: unknown type"},
		"no path":                {args{"type": "delete_file"}, "invalid_operation: the operation has no path"},
		"a path of numbers":      {args{"operation": args{"type": "delete_file", "path": 5}}, "invalid_operation: operation 1: path: want a string"},
		"twice":                  {args{"operation": args{"type": "delete_file", "path": "a", "file_path": "b"}}, "invalid_operation: operation 1: path is given twice"},
		"move_to beside a patch": {args{"patch": envelope, "move_to": "b"}, "invalid_operation: move_to stands with type and path"},
		"a member misspelt":      {args{"operation": args{"type": "update_file", "path": "a", "dif": hunk, "move_to": "b"}}, "invalid_operation: operation 1: unknown member \"dif\""},
		"no operations":          {args{"operations": []any{}}, "empty_patch: "},
		"too large":              {args{"patch": envelope + strings.Repeat("x", 10<<20)}, "too_large: the patch has 10485"},
		"too large in all": {
			args{"operations": []any{update, args{"type": "create_file", "path": "n", "diff": "+" + strings.Repeat("x", 10<<20)}}},
			"too_large: ",
		},
		"too large together": {
			args{"operations": []any{
				args{"type": "create_file", "path": "n", "diff": "+" + strings.Repeat("x", 6<<20)},
				args{"type": "create_file", "path": "m", "diff": "+" + strings.Repeat("x", 6<<20)},
			}},
			"too_large: the diffs have more than 10485760 bytes",
		},
		"the second": {
			args{"operations": []any{update, args{"type": "delete_file", "path": "none"}}},
			"file_not_found: none does not exist",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text, refused := h.call(t, c.args)
			if !refused || !strings.HasPrefix(text, c.want) || !strings.HasSuffix(text, "\nNo files were changed.") {
				t.Errorf("got %q, want %q", text, c.want)
			}
			if diff := cmp.Diff(before, h.tree(t)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDryRun(t *testing.T) {
	h := newHarness(t, map[string]string{"a": "one\n", "b": "one\n", "c": "one\n"}, nil)
	before := h.tree(t)
	text, refused := h.call(t, args{"dry_run": true, "patch": "*** Begin Patch\n*** Update File: a\n" + hunk +
		"*** Add File: d/n\n+x\n*** Delete File: b\n*** Update File: c\n*** Move to: e\n*** End Patch"})
	want := "dry run: the patch fits; nothing was changed\nWould update file: a (4 -> 4 bytes)\n" +
		"Would create file: d/n (2 bytes)\nWould delete file: b\nWould move file: c -> e"
	if refused || text != want {
		t.Errorf("got %q, want %q", text, want)
	}
	if diff := cmp.Diff(before, h.tree(t)); diff != "" {
		t.Error(diff)
	}
}

func TestTenMiBOfPatch(t *testing.T) {
	h := newHarness(t, nil, nil)
	const head, tail = "*** Begin Patch\n*** Add File: n\n", "*** End Patch\n"
	line := "+" + strings.Repeat("x", 98) + "\n"
	body := strings.Repeat(line, (10<<20-len(head)-len(tail))/len(line))
	text, refused := h.call(t, args{"patch": head + body + tail})
	if want := fmt.Sprintf("completed\nCreated file: n (%d bytes)", len(body)/len(line)*(len(line)-1)); refused || text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

// What does not fit into the budget is counted.
func TestManyFiles(t *testing.T) {
	h := newHarness(t, nil, nil)
	var p strings.Builder
	p.WriteString("*** Begin Patch\n")
	for i := range 1500 {
		fmt.Fprintf(&p, "*** Add File: some/directory/with/a/long/name/file-%04d.txt\n+x\n", i)
	}
	p.WriteString("*** End Patch\n")
	text, refused := h.call(t, args{"patch": p.String()})
	last := text[strings.LastIndexByte(text, '\n')+1:]
	if refused || len(text) > 48<<10 || !strings.HasPrefix(text, "completed\nCreated file: ") ||
		!strings.Contains(last, "of 1500 files are shown") {
		t.Errorf("%d bytes, the last line is %q", len(text), last)
	}
	if n := len(h.tree(t)); n != 1500 {
		t.Errorf("%d files", n)
	}
}

// Names cannot forge lines.
func TestNamesAreEscaped(t *testing.T) {
	h := newHarness(t, nil, nil)
	text, refused := h.call(t, args{"operation": args{"type": "create_file", "path": "a\nDeleted file: b", "diff": "+x\n"}})
	if refused || text != `completed
Created file: a\nDeleted file: b (2 bytes)` {
		t.Errorf("got %q", text)
	}
}

// Another word for dry_run that a model may choose changes nothing either.
func TestDryIsADryRun(t *testing.T) {
	h := newHarness(t, map[string]string{"a": "one\n"}, nil)
	before := h.tree(t)
	for _, word := range []string{"dry", "dryRun", "dryrun", "dry_run"} {
		text, isError := h.call(t, args{"patch": envelope, word: true})
		if isError || !strings.HasPrefix(text, "dry run:") {
			t.Errorf("%s: %s", word, text)
		}
	}
	if diff := cmp.Diff(before, h.tree(t)); diff != "" {
		t.Error(diff)
	}
}
