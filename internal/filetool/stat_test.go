package filetool_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestStat holds what Stat tells, in both forms: each is complete (servers PR 3588,
// hermes-agent PR 7118).
func TestStat(t *testing.T) {
	d := newHarness(t, map[string]string{
		"a.txt": "one\r\ntwo", "d/": "", "rel": "-> a.txt", "abs": "-> $R/d", "out": "-> ../S", "none": "-> nowhere",
		"loop": "-> loop",
		"bin":  "\x00", "latin": "\xfc\n", "x\ny": "",
	})
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	must(t, os.Chtimes(d.root+"/a.txt", when, when))
	type facts = map[string]any
	tests := []struct {
		path string
		want facts
	}{
		{
			"a.txt",
			facts{
				"type": "regular file", "size": 8.0, "mode": "0644", "modified": "2026-01-02T03:04:05Z",
				"mime": "text/plain", "encoding": "utf-8", "eol": "crlf", "lines": 2.0,
			},
		},
		{"d", facts{"type": "directory", "mode": "0755"}},
		{"rel", facts{"type": "link", "link_target": "a.txt", "link_state": "ok", "lines": 2.0}},
		{"abs", facts{"type": "link", "link_target": "d", "link_state": "ok"}},
		{"out", facts{"type": "link", "link_target": nil, "link_state": "outside", "mime": nil, "lines": nil}},
		{"none", facts{"type": "link", "link_target": nil, "link_state": "dangling"}},
		{"loop", facts{"type": "link", "link_target": nil, "link_state": "loop"}},
		{"bin", facts{"encoding": "binary", "mime": "application/octet-stream", "lines": nil, "eol": nil}},
		{"latin", facts{"encoding": "8-bit (not utf-8)", "lines": 1.0}},
		{"x\ny", facts{"path": `x\ny`, "lines": 0.0}},
		{d.root + "/a.txt", facts{"path": d.root + "/a.txt", "root": d.root}},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			text, res := d.call(t, "Stat", args{"path": tt.path})
			got := structured(t, res)
			for key, want := range tt.want {
				if diff := cmp.Diff(want, got[key]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", key, diff)
				}
			}
			want := fmt.Sprintf("%x", sha256.Sum256([]byte("one\r\ntwo")))
			if sum, ok := got["sha256"]; ok && tt.want["type"] == "regular file" && sum != want {
				t.Errorf("hash %v", sum)
			}
			for key, value := range got {
				if s, ok := value.(string); ok && !strings.Contains(text, s) {
					t.Errorf("the text lacks %s %q: %s", key, s, text)
				}
			}
			if strings.Contains(text, "..") || strings.Count(text, "\n") > 12 {
				t.Errorf("text: %s", text)
			}
		})
	}
}

func structured(t *testing.T, res *mcp.CallToolResult) map[string]any {
	t.Helper()
	return plain(t, res.StructuredContent)
}

// plain returns v as JSON has it.
func plain(t *testing.T, v any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(v)
	must(t, err)
	var got map[string]any
	must(t, json.Unmarshal(raw, &got))
	return got
}

// TestStatRoots: without a path Stat lists the roots (servers#3752).
func TestStatRoots(t *testing.T) {
	d := newHarness(t, nil)
	for _, a := range []args{nil, {}, {"path": ""}, {"path": nil}} {
		text, res := d.call(t, "Stat", a)
		if text != "allowed roots:\n"+d.root || !cmp.Equal(structured(t, res)["roots"], []any{d.root}) {
			t.Errorf("%v: %s", a, text)
		}
	}
	none := &harness{client: start(t)}
	if text, res := none.call(t, "Stat", nil); !res.IsError || !strings.Contains(text, "--root") {
		t.Errorf("without roots: %s", text)
	}
}

// TestStatRefuses: what lies outside looks the same whether it exists or not.
func TestStatRefuses(t *testing.T) {
	d := newHarness(t, map[string]string{"dirlink": "-> ../out"})
	for _, pair := range [][2]string{
		{"../S", "../T"},
		{"dirlink/passwd", "dirlink/nobody"},
		{d.top + "/S", d.top + "/T"},
	} {
		a, resA := d.call(t, "Stat", args{"path": pair[0]})
		b, resB := d.call(t, "Stat", args{"path": pair[1]})
		if !resA.IsError || !resB.IsError || strings.ReplaceAll(a, pair[0], "") != strings.ReplaceAll(b, pair[1], "") {
			t.Errorf("%s\n%s", a, b)
		}
	}
}

// TestResources: files are resources with the same confinement.
func TestResources(t *testing.T) {
	d := newHarness(t, map[string]string{
		"a b.txt": "one\n", "empty": "", "bin": "\x00\x01", "link": "-> ../S", "latin": "\xfc",
	})
	templates, err := d.client.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 1 {
		t.Fatalf("templates: %+v, %v", templates, err)
	}
	tests := []struct {
		uri  string
		want *mcp.ResourceContents
	}{
		{"file://" + d.root + "/a%20b.txt", &mcp.ResourceContents{MIMEType: "text/plain", Text: "one\n"}},
		{"file://" + d.root + "/latin", &mcp.ResourceContents{MIMEType: "text/plain", Text: "\u00fc"}},
		{"file://" + d.root + "/empty", &mcp.ResourceContents{MIMEType: "text/plain", Blob: []byte{}}},
		{"file://" + d.root + "/bin", &mcp.ResourceContents{MIMEType: "application/octet-stream", Blob: []byte{0, 1}}},
		{"file://" + d.root + "/none", nil},
		{"file://" + d.root + "/link", nil},
		{"file://" + d.root + "/%2e%2e/S", nil},
		{"file://" + d.top + "/S", nil},
		{"file:///etc/passwd", nil},
		{"file://" + d.root, nil},
	}
	for _, tt := range tests {
		res, err := d.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: tt.uri})
		if tt.want == nil {
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v, %v", tt.uri, res, err)
			}
			continue
		}
		if err != nil || len(res.Contents) != 1 {
			t.Errorf("%s: %v", tt.uri, err)
			continue
		}
		tt.want.URI = tt.uri
		if diff := cmp.Diff(tt.want, res.Contents[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.uri, diff)
		}
	}
}

// TestApproval: what asks is not read where nobody can be asked.
func TestApproval(t *testing.T) {
	d := newHarness(t, map[string]string{"a.txt": "content"}, "--require-approval", "always")
	for _, tool := range []string{"Read", "Stat"} {
		if text, res := d.call(t, tool, args{"path": "a.txt"}); !res.IsError || strings.Contains(text, "content") {
			t.Errorf("%s: %s", tool, text)
		}
	}
	uri := "file://" + d.root + "/a.txt"
	if _, err := d.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
		t.Error("the resource was read")
	}
}
