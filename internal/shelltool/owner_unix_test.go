//go:build unix

package shelltool_test

import (
	"os"
	"testing"

	"github.com/toolhost/toolhost/pkg/approval"
)

// Root over the files of somebody else reaches further than they let it.
func TestRootOverAnothersFiles(t *testing.T) {
	root := realTemp(t)
	if os.Geteuid() == 0 {
		must(t, os.Chown(root, 1000, 1000))
	}
	for user, want := range map[string]approval.Effect{
		"0": approval.RunCommands, "root": approval.RunCommands, "0:1000": approval.RunCommands, "00": approval.RunCommands,
		"1000": approval.RunContained, "nobody": approval.RunContained, "10": approval.RunContained,
	} {
		rules := &recorder{decision: approval.Allow}
		newHarness(t, &fakeEngine{}, rules, "--root="+root, "--user="+user).shell(t, "ls")
		if got := rules.last().Effect; got != want {
			t.Errorf("--user %s: %s, want %s", user, got, want)
		}
	}
}
