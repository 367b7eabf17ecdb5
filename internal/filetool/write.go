package filetool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/filetool/edit"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/textfile"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// Parameters that Write and Edit share.
var (
	writtenParam = toolkit.Param{
		Name: "file_path", Type: toolkit.String, Required: true, Example: `"src/main.go"`,
		Description: "Relative to the root or absolute.",
		Aliases:     []string{"path", "filePath", "file", "filename", "uri", "relative_path", "target_file"},
	}
	shaParam = toolkit.Param{
		Name: "expected_sha", Type: toolkit.String, Example: `"9f86d081884c7d65"`,
		Description: "SHA-256 of what the file holds, or its first 16 digits; else it is refused.",
		Aliases:     []string{"expectedSha", "expected_sha256", "sha256", "sha"},
	}
)

var writeDefinition = toolkit.Definition{
	Effect: approval.WriteFiles,
	Name:   "Write",
	Title:  "Write a file",
	Description: "Creates or replaces a file below the roots, whole or not at all. Mode, owner and links stay; " +
		"so do a byte order mark and CRLF line ends where content has only LF.",
	Params: []toolkit.Param{
		writtenParam,
		{
			Name: "content", Type: toolkit.String, Required: true, Example: `"text\n"`, Description: "The whole text.",
			Aliases: []string{"contents", "text", "file_text", "file_content", "data"},
		},
		{
			Name: "create_dirs", Type: toolkit.Boolean, Example: "true", Description: "Make missing directories; default true.",
			Aliases: []string{"createDirs", "create_directories", "mkdir", "parents"},
		},
		shaParam,
	},
	Hints: toolkit.Hints{Idempotent: true, ClosedWorld: true},
}

// addWrite registers Write.
func addWrite(s *toolkit.Server, w writer) error {
	return toolkit.Add(s, toolkit.Tool[writeIn, *changePlan, changeOut]{
		Definition: writeDefinition, Plan: w.planWrite, Run: runChange, Render: renderWrite,
	})
}

type writeIn struct {
	Path    string `json:"file_path"`
	Content string `json:"content"`
	Dirs    *bool  `json:"create_dirs"`
	SHA     string `json:"expected_sha"`
}

func (w writer) planWrite(ctx context.Context, call *toolkit.Call, in writeIn) (*changePlan, approval.Action, error) {
	sha, err := shaPrefix(in.SHA)
	if err != nil {
		return nil, approval.Action{}, err
	}
	return w.plan(ctx, call, changeRequest{
		path: in.Path, sha: sha, creates: true, dirs: in.Dirs == nil || *in.Dirs, verb: "write",
		make: func(_ context.Context, old []byte) ([]byte, int, error) {
			content, err := edit.Rewrite(old, in.Content)
			return content, 0, err
		},
	})
}

func renderWrite(o changeOut, _ toolkit.Budget) toolkit.Result {
	text := o.headline(plural(countLines(o.new), "line"))
	for _, n := range o.kept() {
		text += "\n[" + n + "]"
	}
	return toolkit.Result{Text: text}
}

// kept says what the file has that content had not.
func (o changeOut) kept() (notes []string) {
	was := textfile.Sniff(o.old[:min(len(o.old), textfile.HeadSize)])
	if was.IsText() && textfile.DetectEOL(o.old) == textfile.CRLF && textfile.DetectEOL(o.new) == textfile.CRLF {
		notes = append(notes, "its lines end in CRLF, as before")
	}
	if was.IsText() && !utf8.Valid(o.old) && !ascii(o.new) {
		notes = append(notes, "it was not UTF-8 before; now it is")
	}
	return notes
}

func ascii(b []byte) bool {
	return bytes.IndexFunc(b, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

func countLines(content []byte) int {
	n := bytes.Count(content, []byte("\n"))
	if len(content) > 0 && !bytes.HasSuffix(content, []byte("\n")) {
		n++
	}
	return n
}

// headline is the first line of a result: what happened, in which file, and of which hash it
// is now.
func (o changeOut) headline(more string) string {
	sha := fmt.Sprintf("sha256 %x", sha256.Sum256(o.new))[:len("sha256 ")+16]
	if o.created {
		return fmt.Sprintf("Created %s: %s", o.name, strings.Join([]string{plural(len(o.new), "byte"), more, sha}, ", "))
	}
	if bytes.Equal(o.old, o.new) {
		return fmt.Sprintf("No changes: %s already holds these %s, %s", o.name, plural(len(o.new), "byte"), sha)
	}
	size := fmt.Sprintf("%s -> %s", thousands(len(o.old)), plural(len(o.new), "byte"))
	return fmt.Sprintf("Updated %s: %s", o.name, strings.Join([]string{size, more, sha}, ", "))
}
