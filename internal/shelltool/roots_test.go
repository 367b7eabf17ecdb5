//lint:file-ignore SA1019 clients before 2026-07-28 have roots, and the SDK marks all of them as deprecated

package shelltool_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// A client's roots narrow the operator's; when they change, so does the sandbox.
func TestClientRoots(t *testing.T) {
	top := realTemp(t)
	sub, other := filepath.Join(top, "sub"), filepath.Join(top, "other")
	must(t, os.Mkdir(sub, 0o755))
	must(t, os.Mkdir(other, 0o755))
	e := &fakeEngine{}
	url := serve(t, newServer(t, e, toolkit.Options{}, "--http=x", "--root="+top))
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	client.AddRoots(&mcp.Root{URI: "file://" + filepath.ToSlash(sub)})
	hc := &http.Client{Transport: &http.Transport{}}
	cs, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: hc}, &mcp.ClientSessionOptions{ProtocolVersion: legacy})
	must(t, err)
	defer hc.CloseIdleConnections()
	defer cs.Close()
	call(t, cs, "shell", args{"command": "ls"})
	call(t, cs, "shell", args{"command": "ls"})
	if boxes := e.sandboxes(); len(boxes) != 1 || boxes[0].config.Mounts[0].Source != sub {
		t.Fatalf("%d sandboxes, mounts %v", len(boxes), boxes[0].config.Mounts)
	}
	client.RemoveRoots("file://" + filepath.ToSlash(sub))
	client.AddRoots(&mcp.Root{URI: "file://" + filepath.ToSlash(other)})
	eventually(t, "the new roots hold", func() bool {
		got := call(t, cs, "shell", args{"command": "ls"})
		boxes := e.sandboxes()
		last := boxes[len(boxes)-1].config.Mounts
		return len(last) == 1 && last[0].Source == other && strings.Contains(got.text, "the environment was restarted: other directories are mounted now")
	})
	eventually(t, "the one before has ended", func() bool { return e.open() == 1 })
}
