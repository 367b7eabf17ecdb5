package filetool_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/internal/filetool"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// secret is the content of everything outside the root.
const secret = "TOP SECRET"

// A harness is a root with files, a place outside it, and a server of the root.
type harness struct {
	top, root string
	client    *mcp.ClientSession
}

// newHarness makes the files, name by name with their content; a name that ends in / is a
// directory, content that starts with "-> " makes a link.
func newHarness(t *testing.T, files map[string]string, flags ...string) *harness {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	h := &harness{top: top, root: filepath.Join(top, "R")}
	must(t, os.Mkdir(h.root, 0o755))
	must(t, os.WriteFile(filepath.Join(top, "S"), []byte(secret), 0o644))
	must(t, os.Mkdir(filepath.Join(top, "out"), 0o755))
	must(t, os.WriteFile(filepath.Join(top, "out", "passwd"), []byte(secret), 0o644))
	for name, content := range files {
		h.put(t, name, content)
	}
	h.client = start(t, append([]string{"--root", h.root}, flags...)...)
	return h
}

func (h *harness) put(t *testing.T, name, content string) {
	t.Helper()
	p := filepath.Join(h.root, name)
	must(t, os.MkdirAll(filepath.Dir(p), 0o755))
	target, isLink := strings.CutPrefix(content, "-> ")
	switch {
	case strings.HasSuffix(name, "/"):
		must(t, os.MkdirAll(p, 0o755))
	case isLink:
		must(t, os.Symlink(strings.ReplaceAll(target, "$R", h.root), p))
	default:
		must(t, os.WriteFile(p, []byte(content), 0o644))
	}
}

// start runs the program over pipes and returns a client of it.
func start(t *testing.T, flags ...string) *mcp.ClientSession {
	t.Helper()
	return serve(t, mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil), nil, flags...)
}

// serve runs the program over pipes for a client, and connects it.
func serve(t *testing.T, client *mcp.Client, o *mcp.ClientSessionOptions, flags ...string) *mcp.ClientSession {
	t.Helper()
	in, feed := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan int, 1)
	var errs bytes.Buffer
	go func() {
		ended <- filetool.App().Run(t.Context(), flags, toolkit.Streams{In: in, Out: out, Err: &errs})
		out.Close()
	}()
	cs, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: answers, Writer: feed}, o)
	must(t, err)
	t.Cleanup(func() {
		cs.Close()
		feed.Close()
		if code := <-ended; code != 0 {
			t.Errorf("exit code %d: %s", code, errs.String())
		}
	})
	return cs
}

type args map[string]any

// call calls a tool and returns its text; no result may ever hold the secret.
func (h *harness) call(t *testing.T, tool string, a args) (text string, res *mcp.CallToolResult) {
	t.Helper()
	res, err := h.client.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: a})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, a, err)
	}
	for _, c := range res.Content {
		if tc, ok := c.(*mcp.TextContent); ok {
			text += tc.Text
		}
	}
	if strings.Contains(text, secret) {
		t.Fatalf("%s %v leaked: %s", tool, a, text)
	}
	return text, res
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
