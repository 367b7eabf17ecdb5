package filetool

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// How many results the searching tools give where no limit is, and at most.
const (
	globLimit   = 100
	grepLimit   = 250
	listLimit   = 500
	mostResults = 10_000
	farthest    = 1 << 30 // the greatest offset
)

// readDeadline bounds a call that reads one file. A search ends by itself in that time.
const readDeadline = 20 * time.Second

// readTime is how long Read reads: what it has by then is shown, well before the deadline.
const readTime = 15 * time.Second

// readOnly is what all tools here are.
var readOnly = toolkit.Hints{ReadOnly: true, NonDestructive: true, Idempotent: true, ClosedWorld: true}

// Parameters that the searching tools share.
var (
	pathParam = toolkit.Param{
		Name: "path", Type: toolkit.String, Example: `"src"`, Description: "Directory; default all roots.",
		Aliases: []string{
			"dir_path", "directory", "dir", "relative_path", "file_path", "dirPath", "target_directory", "root",
		},
	}
	offsetParam = toolkit.Param{
		Name: "offset", Type: toolkit.Integer, Min: toolkit.Bound(0), Max: toolkit.Bound(farthest),
		Example: "100", Description: "Results to skip.", Aliases: []string{"skip"},
	}
	sortParam = toolkit.Param{
		Name: "sort", Type: toolkit.String, Enum: []string{"path", "mtime"}, Example: `"mtime"`,
		Description: "mtime: newest first.", Aliases: []string{"sort_by", "sortBy", "order"},
	}
	ignoredParam = toolkit.Param{
		Name: "include_ignored", Type: toolkit.Boolean, Example: "true", Description: "Include ignored files.",
		Aliases: []string{"no_ignore", "includeIgnored", "noIgnore"},
	}
)

func headLimit(text string) toolkit.Param {
	return toolkit.Param{
		Name: "head_limit", Type: toolkit.Integer, Min: toolkit.Bound(0), Max: toolkit.Bound(mostResults),
		Example: "100", Description: text,
		Aliases: []string{"limit", "max_results", "maxResults", "max_count", "headLimit"},
	}
}

// A searchIn is the arguments that the searching tools share.
type searchIn struct {
	Path           string `json:"path"`
	HeadLimit      *int   `json:"head_limit"`
	Offset         int    `json:"offset"`
	Sort           string `json:"sort"`
	IncludeIgnored bool   `json:"include_ignored"`
}

// options returns what the engine takes. Without a limit, and for 0, the usual one holds.
func (in searchIn) options(usual int) search.Options {
	o := search.Options{
		Offset: in.Offset, Limit: usual, Newest: in.Sort == "mtime", IncludeIgnored: in.IncludeIgnored,
	}
	if in.HeadLimit != nil && *in.HeadLimit > 0 {
		o.Limit = *in.HeadLimit
	}
	return o
}

// notes says where an argument is taken as another: a search for nothing is a mistake.
func (in searchIn) notes(usual int) []string {
	if in.HeadLimit == nil || *in.HeadLimit > 0 {
		return nil
	}
	return []string{fmt.Sprintf("head_limit 0 is taken as the default, %d", usual)}
}

// splitGlobs splits a list at commas outside braces and brackets.
func splitGlobs(s string) []string {
	var out []string
	depth, from := 0, 0
	for i, r := range s {
		switch {
		case strings.ContainsRune("{[", r):
			depth++
		case strings.ContainsRune("}]", r):
			depth--
		case r == ',' && depth <= 0:
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	out = append(out, s[from:])
	kept := out[:0]
	for _, g := range out {
		if g = strings.TrimSpace(g); g != "" {
			kept = append(kept, g)
		}
	}
	return kept
}
