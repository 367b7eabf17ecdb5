package filetool_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestListLinks: List says of a link what Stat says, and what Read then finds.
func TestListLinks(t *testing.T) {
	d := newHarness(t, map[string]string{
		"sub/a.txt": "x", "sub/rel": "-> a.txt", "sub/abs": "-> $R/sub/a.txt", "sub/chain": "-> abs",
		"sub/dir": "-> ..",
		"sub/out": "-> ../../S", "sub/far": "-> /etc/passwd", "sub/none": "-> nowhere", "sub/loop": "-> loop",
	})
	d.holds(t, "List", []want{{
		"text",
		args{"path": "sub"},
		"sub/\n  a.txt\n  abs -> sub/a.txt\n  chain -> sub/a.txt\n  dir -> .\n  far -> (outside)\n" +
			"  loop -> (loop)\n  none -> (dangling)\n  out -> (outside)\n  rel -> sub/a.txt",
	}})
	_, res := d.call(t, "List", args{"path": "sub"})
	for _, e := range structured(t, res)["entries"].([]any) {
		entry := e.(map[string]any)
		_, res := d.call(t, "Stat", args{"path": entry["path"]})
		stat := structured(t, res)
		for _, key := range []string{"path", "type", "link_target", "link_state"} {
			if diff := cmp.Diff(stat[key], entry[key]); diff != "" {
				t.Errorf("%s %s (-Stat +List):\n%s", entry["path"], key, diff)
			}
		}
	}
}
