package filetool

import (
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// doctor looks at the roots; nothing else is needed.
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
	}
	return out
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
