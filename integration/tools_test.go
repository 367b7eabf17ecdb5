package integration_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/internal/filetool"
	"github.com/toolhost/toolhost/internal/imagetool"
	"github.com/toolhost/toolhost/internal/patchtool"
	"github.com/toolhost/toolhost/internal/shelltool"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

var update = flag.Bool("update", false, "write the snapshots of tool definitions")

// lists are the tools of all servers, with all flags that add some. Of a default list every
// model pays for the size on every turn, so it is held smaller.
func lists() []list {
	return []list{
		{"mcp-files", filetool.App(), nil, 8 << 10},
		{"mcp-files-write", filetool.App(), []string{"--write"}, 11_000}, // about 10,050
		{"mcp-patch", patchtool.App(), nil, 8 << 10},
		{"mcp-shell", shelltool.App(), nil, 8 << 10},
		{"mcp-image", imagetool.App(), []string{"--provider", "openai"}, 8 << 10},
		{"mcp-image-sketch", imagetool.App(), []string{"--provider", "sketch"}, 8 << 10},
	}
}

type list struct {
	name  string
	app   toolkit.App
	flags []string
	most  int // bytes of tools/list
}

// definitions returns the tools of a server as it serves them.
func definitions(t *testing.T, a toolkit.App, flags ...string) (raw []byte, tools []map[string]any) {
	t.Helper()
	var out, errs bytes.Buffer
	std := toolkit.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}
	if code := a.Run(t.Context(), append(flags, "tools", "--json"), std); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), &tools); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), tools
}

func TestToolSnapshots(t *testing.T) {
	for _, l := range lists() {
		t.Run(l.name, func(t *testing.T) {
			got, _ := definitions(t, l.app, l.flags...)
			file := filepath.Join("testdata", "tools", l.name+".json")
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("the definitions changed; if they should: go test ./integration -run Snapshots -update\n%s", diff)
			}
		})
	}
}

func TestToolsHaveWhatEveryToolMustHave(t *testing.T) {
	name := regexp.MustCompile(`^[A-Za-z0-9_]{1,24}$`)
	seen := map[string]string{}
	for _, l := range lists() {
		a := l.app
		_, tools := definitions(t, a, l.flags...)
		if len(tools) == 0 {
			t.Errorf("%s has no tools", a.Name)
		}
		for _, tool := range tools {
			n, _ := tool["name"].(string)
			if !name.MatchString(n) || seen[n] != "" && seen[n] != a.Name {
				t.Errorf("%s: the name %q is unfit, or taken by %s", a.Name, n, seen[n])
			}
			seen[n] = a.Name
			if d, _ := tool["description"].(string); d == "" || len(strings.Fields(d)) > 60 {
				t.Errorf("%s: a description has 1 to 60 words", n)
			}
			hints, _ := tool["annotations"].(map[string]any)
			for _, key := range []string{"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
				if _, ok := hints[key]; !ok {
					t.Errorf("%s: the annotation %s is missing", n, key)
				}
			}
			for _, key := range []string{"inputSchema", "outputSchema"} {
				if schema, ok := tool[key]; ok {
					for _, breach := range unportable(n+"."+key, schema, true) {
						t.Error(breach)
					}
				}
			}
		}
	}
}

// portableKeys are the schema keywords that every model provider understands.
var portableKeys = []string{"type", "description", "properties", "required", "items", "enum", "minimum", "maximum"}

// unportable lists what some model provider or client would refuse in a schema.
func unportable(at string, schema any, top bool) (breaches []string) {
	s, ok := schema.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("%s: a schema is an object, got %v", at, schema)}
	}
	for key := range s {
		if !slices.Contains(portableKeys, key) {
			breaches = append(breaches, fmt.Sprintf("%s: keyword %s", at, key))
		}
	}
	kind, ok := s["type"].(string)
	if !ok || top && kind != "object" {
		breaches = append(breaches, fmt.Sprintf("%s: type is %v", at, s["type"]))
	}
	if _, ok := s["enum"]; ok && kind != "string" {
		breaches = append(breaches, at+": an enum of "+kind+"s")
	}
	if kind == "array" {
		breaches = append(breaches, unportable(at+"[]", s["items"], false)...)
	}
	if props, ok := s["properties"].(map[string]any); ok {
		for name, p := range props {
			if m, _ := p.(map[string]any); m["description"] == nil {
				breaches = append(breaches, fmt.Sprintf("%s.%s has no description", at, name))
			}
			breaches = append(breaches, unportable(at+"."+name, p, false)...)
		}
	}
	return breaches
}

func TestUnportableSchemasAreFound(t *testing.T) {
	for _, bad := range []string{
		`true`,
		`{"type":"string"}`,
		`{"type":"object","properties":{"a":true}}`,
		`{"type":"object","properties":{"a":{"type":"string"}}}`,
		`{"type":"object","properties":{"a":{"type":["string","null"],"description":"x"}}}`,
		`{"type":"object","properties":{"a":{"type":"array","description":"x"}}}`,
		`{"type":"object","properties":{"a":{"type":"integer","enum":[1],"description":"x"}}}`,
		`{"type":"object","anyOf":[]}`,
	} {
		var schema any
		if err := json.Unmarshal([]byte(bad), &schema); err != nil {
			t.Fatal(err)
		}
		if len(unportable("x", schema, true)) == 0 {
			t.Errorf("%s was not found", bad)
		}
	}
}

func TestToolListsAreSmall(t *testing.T) {
	for _, l := range lists() {
		_, tools := definitions(t, l.app, l.flags...)
		wire, err := json.Marshal(map[string]any{"tools": tools})
		if err != nil {
			t.Fatal(err)
		}
		const envelope = 100 // id, result type, cache fields
		if n := len(wire) + envelope; n > l.most {
			t.Errorf("%s: tools/list has about %d bytes, want at most %d", l.name, n, l.most)
		} else {
			t.Logf("%s: tools/list has about %d bytes", l.name, n)
		}
	}
}

// What clients decide by: which tools change files, and which calls may be repeated.
func TestWritingToolsSaySo(t *testing.T) {
	_, tools := definitions(t, filetool.App(), "--write")
	for _, tool := range tools {
		name := tool["name"].(string)
		writes := name == "Write" || name == "Edit"
		hints := tool["annotations"].(map[string]any)
		got := []any{hints["readOnlyHint"], hints["destructiveHint"], hints["idempotentHint"], hints["openWorldHint"]}
		if want := []any{!writes, writes, name != "Edit", false}; !slices.Equal(got, want) {
			t.Errorf("%s: read-only, destructive, idempotent, open world are %v, want %v", name, got, want)
		}
	}
}
