package patchtool

import (
	"context"
	"strings"
	"time"

	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// lockWait is how long doctor waits for a lock.
const lockWait = 2 * time.Second

// doctor looks at the roots, and whether they can be locked.
func doctor(c *cli.Context) []toolkit.Finding {
	set := operatorRoots(c)
	if set.Empty() {
		return []toolkit.Finding{{
			What: "roots", Text: "none is configured; only clients that declare roots are served",
			Hint: "mcp-patch --root DIR",
		}}
	}
	var out []toolkit.Finding
	for _, r := range set.Roots() {
		out = append(out, inspect(c.Context, r, c.String("state-dir")))
	}
	return out
}

func inspect(ctx context.Context, r *fsroot.Root, state string) toolkit.Finding {
	f := toolkit.Finding{What: "root " + r.Dir()}
	dir, err := r.OpenDir(".")
	if err != nil {
		f.Text, f.Hint = err.Error(), "give an existing directory that this user may read and write"
		return f
	}
	dir.Close()
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	tx, err := fsroot.Begin(ctx, state, r)
	if err != nil {
		f.Text, f.Hint = err.Error(), "give a directory that this user may write, outside the roots: --state-dir DIR"
		return f
	}
	defer tx.End()
	if trouble := tx.Trouble(); len(trouble) > 0 {
		f.Text = strings.Join(trouble, "; ")
		return f
	}
	f.OK, f.Text = true, "can be read and locked"
	return f
}
