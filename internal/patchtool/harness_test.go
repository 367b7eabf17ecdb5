package patchtool_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/internal/patchtool"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// A harness is a root with files, and a server of it.
type harness struct {
	root   string
	client *mcp.ClientSession
}

// newHarness makes the files, and a server with rules; nil are the usual ones.
func newHarness(t *testing.T, files map[string]string, rules approval.Evaluator) *harness {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	h := &harness{root: filepath.Join(top, "R")}
	must(t, os.Mkdir(h.root, 0o755))
	for name, content := range files {
		p := filepath.Join(h.root, name)
		must(t, os.MkdirAll(filepath.Dir(p), 0o755))
		must(t, os.WriteFile(p, []byte(content), 0o644))
	}
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	must(t, (&cli.StringSliceFlag{Name: "root"}).Apply(set))
	must(t, (&cli.StringFlag{Name: "state-dir"}).Apply(set))
	must(t, set.Set("root", h.root))
	must(t, set.Set("state-dir", filepath.Join(top, "state")))
	s, err := toolkit.NewServer(toolkit.Options{Name: "test", Evaluator: rules})
	must(t, err)
	must(t, patchtool.App().Setup(cli.NewContext(cli.NewApp(), set, nil), s))
	client, end, err := s.Connect(t.Context(), nil)
	must(t, err)
	t.Cleanup(end)
	h.client = client
	return h
}

type args map[string]any

// call calls apply_patch and returns its text, and whether it was refused.
func (h *harness) call(t *testing.T, a args) (text string, refused bool) {
	t.Helper()
	res, err := h.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "apply_patch", Arguments: a})
	must(t, err)
	if len(res.Content) != 1 || res.StructuredContent != nil {
		t.Fatalf("want one block of text, got %+v", res)
	}
	return res.Content[0].(*mcp.TextContent).Text, res.IsError
}

// tree returns the files below the root.
func (h *harness) tree(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(h.root, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(p)
		out[filepath.ToSlash(strings.TrimPrefix(p, h.root+string(filepath.Separator)))] = string(content)
		return err
	}))
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
