package filetool

import (
	"context"
	"strings"
	"time"

	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// doctor looks at the roots and, with --write, at what keeps writers apart; nothing else is
// needed.
func doctor(c *cli.Context) []toolkit.Finding {
	set := fsroot.NewSet(c.StringSlice("root")...)
	if set.Empty() {
		return []toolkit.Finding{{
			What: "roots", Text: "none is configured; only clients that declare roots are served",
			Hint: "mcp-files --root DIR",
		}}
	}
	var out []toolkit.Finding
	for _, r := range set.Roots() {
		out = append(out, inspect(r))
		if c.Bool("write") {
			out = append(out, inspectLock(c.Context, c.String("state-dir"), r))
		}
	}
	return out
}

// inspectLock takes the lock of a root, as a call that writes does.
func inspectLock(ctx context.Context, stateDir string, r *fsroot.Root) toolkit.Finding {
	f := toolkit.Finding{What: "changes below " + r.Dir()}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	tx, err := fsroot.Begin(ctx, stateDir, r)
	if err != nil {
		f.Text, f.Hint = err.Error(), "give --state-dir DIR, a directory that this user may write, the same to all servers that write"
		return f
	}
	defer tx.End()
	if trouble := tx.Trouble(); len(trouble) > 0 {
		f.Text = strings.Join(trouble, "; ")
		return f
	}
	f.OK, f.Text = true, "can be made by one server at a time"
	return f
}

func inspect(r *fsroot.Root) toolkit.Finding {
	f := toolkit.Finding{What: "root " + r.Dir()}
	dir, err := r.OpenDir(".")
	if err != nil {
		f.Text, f.Hint = err.Error(), "give an existing directory that this user may read"
		return f
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		f.Text, f.Hint = err.Error(), "give a directory that this user may list"
		return f
	}
	f.OK, f.Text = true, "can be read, "+plural(len(names), "entry")
	return f
}
