package imagetool_test

import (
	"context"
	"flag"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/internal/imagetool"
	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openai"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openaitest"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// plantedKey is given to the provider; it may be seen nowhere.
const plantedKey = "sk-planted-4711-qwertz"

// A harness is a server with a root and an output directory, and a client of it.
type harness struct {
	root, out string
	client    *mcp.ClientSession
	server    *toolkit.Server
}

type args map[string]any

// An options is how a harness differs from the usual.
type options struct {
	provider provider.Provider // nil: as the flags say
	flags    []string          // "name=value"
	rules    approval.Evaluator
	client   *mcp.ClientOptions
}

func newHarness(t *testing.T, o options) *harness {
	t.Helper()
	for _, name := range []string{"OPENAI_API_KEY", "MCP_IMAGE_API_KEY"} {
		if os.Getenv(name) != plantedKey {
			t.Setenv(name, "")
		}
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	h := &harness{root: filepath.Join(top, "R"), out: filepath.Join(top, "pictures")}
	must(t, os.Mkdir(h.root, 0o755))
	a := imagetool.AppWith(o.provider)
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	for _, f := range append(a.Flags, &cli.StringSliceFlag{Name: "root"}) {
		must(t, f.Apply(set))
	}
	must(t, set.Set("root", h.root))
	must(t, set.Set("output-dir", h.out))
	for _, f := range o.flags {
		name, value, _ := strings.Cut(f, "=")
		must(t, set.Set(name, value))
	}
	s, err := toolkit.NewServer(toolkit.Options{Name: "test", Evaluator: o.rules})
	must(t, err)
	must(t, a.Setup(cli.NewContext(cli.NewApp(), set, nil), s))
	t.Cleanup(s.Close)
	client, end, err := s.Connect(t.Context(), o.client)
	must(t, err)
	t.Cleanup(end)
	h.client, h.server = client, s
	return h
}

// upstream is a harness of the provider openai, with a strict server that stands in for it.
func upstream(t *testing.T, steps []openaitest.Step, flags ...string) (*harness, *openaitest.Server) {
	t.Helper()
	t.Setenv("OPENAI_API_KEY", plantedKey)
	far := openaitest.New(plantedKey, steps...)
	s := httptest.NewServer(far)
	t.Cleanup(s.Close)
	flags = append([]string{"base-url=" + s.URL + "/v1", "server-profile=openai"}, flags...)
	return newHarness(t, options{flags: flags}), far
}

func (h *harness) call(t *testing.T, a args) *mcp.CallToolResult {
	t.Helper()
	return h.callIn(t, t.Context(), a)
}

func (h *harness) callIn(t *testing.T, ctx context.Context, a args) *mcp.CallToolResult {
	t.Helper()
	res, err := h.client.CallTool(ctx, &mcp.CallToolParams{Name: "image_generation", Arguments: a})
	must(t, err)
	return res
}

// textOf returns the first block, which must be text.
func textOf(t *testing.T, res *mcp.CallToolResult) string {
	t.Helper()
	if len(res.Content) == 0 {
		t.Fatal("the result is empty")
	}
	text, ok := res.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("the first block is %T", res.Content[0])
	}
	return text.Text
}

// saved returns the files of the output directory, by their path below it.
func (h *harness) saved(t *testing.T) map[string]fs.FileInfo {
	t.Helper()
	out := map[string]fs.FileInfo{}
	_ = filepath.WalkDir(h.out, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			info, err := e.Info()
			must(t, err)
			rel, err := filepath.Rel(h.out, p)
			must(t, err)
			out[filepath.ToSlash(rel)] = info
		}
		return nil
	})
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A fake is a provider with the rules of OpenAI's models that makes what a test wants.
type fake struct {
	*openai.Provider
	do   func(ctx context.Context, r provider.Request, report func(provider.Event)) (*provider.Result, error)
	mu   sync.Mutex
	seen []provider.Request

	now, most atomic.Int32 // requests at once
}

func newFake(t *testing.T) *fake {
	t.Helper()
	p, err := openai.New(openai.Options{})
	must(t, err)
	return &fake{Provider: p}
}

func (f *fake) Generate(ctx context.Context, r provider.Request, report func(provider.Event)) (*provider.Result, error) {
	f.mu.Lock()
	f.seen = append(f.seen, r)
	f.mu.Unlock()
	n := f.now.Add(1)
	defer f.now.Add(-1)
	for most := f.most.Load(); n > most && !f.most.CompareAndSwap(most, n); most = f.most.Load() {
	}
	if f.do != nil {
		return f.do(ctx, r, report)
	}
	return pictures(max(r.N, 1)), nil
}

func (f *fake) requests() []provider.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]provider.Request(nil), f.seen...)
}

// pictures returns n small ones.
func pictures(n int) *provider.Result {
	r := &provider.Result{Model: "gpt-image-2"}
	for i := range n {
		p, err := provider.Identify(openaitest.Picture(64, 48, "png", i))
		if err != nil { // ours
			panic(err)
		}
		r.Images = append(r.Images, p)
	}
	return r
}
