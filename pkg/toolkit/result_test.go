package toolkit_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// rendering returns a client of a server whose probe renders as r.
func rendering(t *testing.T, o toolkit.Options, output string, r toolkit.Result) *mcp.ClientSession {
	t.Helper()
	tool := probe(nil)
	if output != "" {
		tool.Output = json.RawMessage(output)
	}
	tool.Render = func(string, toolkit.Budget) toolkit.Result { return r }
	s, err := toolkit.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := toolkit.Add(s, tool); err != nil {
		t.Fatal(err)
	}
	return connect(t, s, nil)
}

func TestTextIsCutToTheBudget(t *testing.T) {
	long := strings.Repeat("zwölf Boxkämpfer\n", 1000)
	got, _ := call(t, rendering(t, toolkit.Options{MaxOutput: 2000}, "", toolkit.Result{Text: long}), `{"name":"n","odd":1}`)
	if len(got) > 2000 || !utf8.ValidString(got) {
		t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
	}
	mustContain(t, got, "[cut: the first 1", " of 19000 bytes are shown]\n[warning: unknown argument odd")
}

func TestStructuredResults(t *testing.T) {
	const schema = `{"type":"object","properties":{"html":{"type":"string","description":"text"}}}`
	cs := rendering(t, toolkit.Options{}, schema, toolkit.Result{Text: "x", Structured: map[string]string{"html": "<b>&amp;</b>"}})
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "probe", Arguments: json.RawMessage(`{"name":"n","odd":1}`)})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"html":     "<b>&amp;</b>",
		"warnings": []any{"unknown argument odd ignored; there are: name, note, count, ratio, loud, tags, sizes, extra, mode"},
	}
	if diff := cmp.Diff(want, res.StructuredContent); diff != "" {
		t.Error(diff)
	}
	tools, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(tools.Tools[0].OutputSchema)
	mustContain(t, string(b), `"warnings":{`)
}

func TestWholeResultIsBounded(t *testing.T) {
	big := &mcp.ImageContent{MIMEType: "image/png", Data: make([]byte, 800_000)}
	cs := rendering(t, toolkit.Options{}, "", toolkit.Result{Text: "picture", Media: []mcp.Content{big}})
	got, isError := call(t, cs, `{"name":"n"}`)
	if !isError {
		t.Error("a result over the budget was sent")
	}
	mustContain(t, got, "at most 900000 are sent: ask for less")
	small := &mcp.ImageContent{MIMEType: "image/png", Data: make([]byte, 600_000)}
	if got, isError := call(t, rendering(t, toolkit.Options{}, "", toolkit.Result{Text: "picture", Media: []mcp.Content{small}}), `{"name":"n"}`); isError {
		t.Errorf("a result within the budget was refused: %s", got)
	}
}

// The SDK writes into results and their _meta; a result that two calls share would be a data race.
func TestResultsAreNotShared(t *testing.T) {
	shared := toolkit.Result{Text: "same", Structured: map[string]string{"k": "v"}}
	cs := rendering(t, toolkit.Options{}, `{"type":"object","properties":{"k":{"type":"string","description":"k"}}}`, shared)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "probe", Arguments: json.RawMessage(`{"name":"n","odd":1}`)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestInline(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "src/größe (1) [id].go", "src/größe (1) [id].go"},
		{"newline", "a\nb:1:forged", `a\nb:1:forged`},
		{"escape sequence", "a\x1b[2J", `a\x1b[2J`},
		{"right-to-left override", "a\u202etxt.exe", `a\u202etxt.exe`},
		{"zero width", "a\u200bb", `a\u200bb`},
		{"line separator", "a\u2028b", `a\u2028b`},
		{"not UTF-8", "caf\xe9", `caf\xe9`},
		{"real replacement character", "a\ufffdb", "a\ufffdb"},
		{"backslash", `a\nb`, `a\nb`},
		{"C1 control", "a\u0085b", `a\u0085b`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := toolkit.Inline(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestResources(t *testing.T) {
	var planned []string
	s, log := newServer(t, toolkit.Options{}, nil)
	toolkit.AddResources(s, toolkit.ResourceTemplate[string]{
		Name: "Read", Title: "File", Description: "A file.", URITemplate: "file:///{+path}",
		Plan: func(_ context.Context, _ *toolkit.Call, uri string) (string, approval.Action, error) {
			planned = append(planned, uri)
			if strings.HasSuffix(uri, "missing") {
				return "", approval.Action{}, toolkit.ErrNoResource
			}
			if strings.HasSuffix(uri, "unknown-effect") {
				return uri, approval.Action{}, nil
			}
			return uri, approval.Action{Effect: approval.ReadFiles}, nil
		},
		Run: func(_ context.Context, uri string, _ approval.Grant) ([]*mcp.ResourceContents, error) {
			if strings.HasSuffix(uri, "panic") {
				panic("/etc/secret")
			}
			return []*mcp.ResourceContents{{URI: uri, Text: "content"}}, nil
		},
	})
	cs := connect(t, s, nil)
	tests := []struct{ uri, want, wantErr string }{
		{"file:///a/b%20c.txt", "content", ""},
		{"file:///missing", "", "Resource not found"},
		{"file:///unknown-effect", "", "Read is denied: it would have to be approved, and nobody is asked about resources"},
		{"file:///panic", "", "internal error"},
		{"http://elsewhere/x", "", "Resource not found"},
	}
	for _, tt := range tests {
		t.Run(tt.uri, func(t *testing.T) {
			res, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: tt.uri})
			if tt.wantErr != "" {
				if err == nil {
					t.Fatal("no error")
				}
				mustContain(t, err.Error(), tt.wantErr)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if res.Contents[0].Text != tt.want || res.CacheScope != "private" {
				t.Errorf("got %+v, cache scope %s", res.Contents[0], res.CacheScope)
			}
		})
	}
	mustContain(t, log.String(), "/etc/secret")
}
