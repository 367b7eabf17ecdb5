package toolkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

type actFunc = func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error)

func TestFailuresAreResults(t *testing.T) {
	tests := []struct {
		name    string
		act     actFunc
		want    string
		secret  string // must not reach the client
		logged  string
		wantErr bool
	}{
		{"visible", func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error) {
			return "", fmt.Errorf("inner /etc/secret: %w", toolkit.Errorf("try the other door"))
		}, "try the other door", "/etc/secret", "", true},
		{"visible with a cause", func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error) {
			return "", toolkit.Because(errors.New("open /etc/secret"), "the door is locked")
		}, "the door is locked", "/etc/secret", "", true},
		{"plain", func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error) {
			return "", errors.New("open /etc/secret")
		}, "internal error in probe (id ", "/etc/secret", "/etc/secret", true},
		{"panic", func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error) {
			panic("at the /etc/secret")
		}, "internal error in probe (id ", "/etc/secret", "server_test.go", true},
		{"bytes that are not UTF-8", func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error) {
			return "caf\xe9 \ufffd", nil
		}, `caf\xe9 ` + "\ufffd", "", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, log := newServer(t, toolkit.Options{}, tt.act)
			cs := connect(t, s, nil)
			got, isError := call(t, cs, `{"name":"n"}`)
			if isError != tt.wantErr {
				t.Errorf("isError = %v", isError)
			}
			mustContain(t, got, tt.want)
			if tt.secret != "" && strings.Contains(got, tt.secret) {
				t.Errorf("%q shows %q", got, tt.secret)
			}
			mustContain(t, log.String(), tt.logged)
			if again, _ := call(t, cs, `{}`); !strings.Contains(again, "name is missing") {
				t.Errorf("the server does not live on: %q", again)
			}
		})
	}
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := probe(func(ctx context.Context, _ kitchen, _ approval.Grant, _ toolkit.Progress) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		})
		tool.Deadline = 3 * time.Second
		s, err := toolkit.NewServer(toolkit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := toolkit.Add(s, tool); err != nil {
			t.Fatal(err)
		}
		cs := connect(t, s, nil)
		start := time.Now()
		got, isError := call(t, cs, `{"name":"n"}`)
		if took := time.Since(start); took != 3*time.Second || !isError {
			t.Errorf("ended after %s, isError %v", took, isError)
		}
		mustContain(t, got, "probe took longer than 3s and was stopped: ask for less")
	})
}

func TestConcurrencyLimitQueues(t *testing.T) {
	var now, most atomic.Int32
	s, _ := newServer(t, toolkit.Options{Concurrent: 2}, func(context.Context, kitchen, approval.Grant, toolkit.Progress) (string, error) {
		defer now.Add(-1)
		for n := now.Add(1); ; {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		time.Sleep(2 * time.Millisecond)
		return "ok", nil
	})
	cs := connect(t, s, nil)
	errs := make(chan error)
	for range 40 {
		go func() {
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "probe", Arguments: map[string]any{"name": "n"}})
			if err == nil && res.IsError {
				err = errors.New("isError")
			}
			errs <- err
		}()
	}
	for range 40 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if most.Load() != 2 {
		t.Errorf("%d calls ran at once, want 2", most.Load())
	}
}

func TestProgressKeepsAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newServer(t, toolkit.Options{}, func(_ context.Context, _ kitchen, _ approval.Grant, report toolkit.Progress) (string, error) {
			report(1, 2, "half way")
			time.Sleep(13 * time.Second)
			return "done", nil
		})
		var seen []float64
		cs := connect(t, s, &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			seen = append(seen, req.Params.Progress)
			if req.Params.Message != "half way" || req.Params.Total != 2 {
				t.Errorf("got %+v", req.Params)
			}
		}})
		params := &mcp.CallToolParams{Name: "probe", Arguments: map[string]any{"name": "n"}}
		params.SetProgressToken("p")
		if _, err := cs.CallTool(t.Context(), params); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(seen) < 4 { // at once, and every 4 s
			t.Fatalf("%d notifications in 13 s: %v", len(seen), seen)
		}
		for i := 1; i < len(seen); i++ {
			if seen[i] <= seen[i-1] {
				t.Errorf("progress does not rise: %v", seen)
			}
		}
	})
}

func TestCancelEndsTheWork(t *testing.T) {
	begun, stopped := make(chan struct{}), make(chan struct{})
	s, _ := newServer(t, toolkit.Options{}, func(ctx context.Context, _ kitchen, _ approval.Grant, _ toolkit.Progress) (string, error) {
		close(begun)
		<-ctx.Done()
		close(stopped)
		return "", ctx.Err()
	})
	cs := connect(t, s, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	if _, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "probe", Arguments: map[string]any{"name": "n"}}); err == nil {
		t.Error("the cancelled call succeeded")
	}
	select {
	case <-stopped:
	case <-time.After(20 * time.Second):
		t.Error("the work goes on after its cancellation")
	}
}

func TestUnknownTool(t *testing.T) {
	s, _ := newServer(t, toolkit.Options{}, nil)
	s.MCP().AddTool(&mcp.Tool{Name: "round", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			t.Error("a tool registered round the wrapper ran")
			return nil, nil
		})
	cs := connect(t, s, nil)
	for _, name := range []string{"nope", "round", "PROBE", "a\nb"} {
		_, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: name})
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%q: got %v, want a protocol error -32602", name, err)
			continue
		}
		mustContain(t, wire.Message, "unknown tool", "there are: probe")
		if strings.Contains(wire.Message, "\n") {
			t.Errorf("the name forges a line: %q", wire.Message)
		}
	}
}

func TestNames(t *testing.T) {
	tests := []struct {
		name    string
		names   toolkit.Names
		want    []string
		wantErr string
	}{
		{"as they are", toolkit.Names{}, []string{"probe"}, ""},
		{"prefixed", toolkit.Names{Prefix: "my_"}, []string{"my_probe"}, ""},
		{"renamed", toolkit.Names{Rename: map[string]string{"probe": "look"}}, []string{"look"}, ""},
		{"chosen by shown name", toolkit.Names{Rename: map[string]string{"probe": "look"}, Only: []string{"look"}}, []string{"look"}, ""},
		{"left out", toolkit.Names{Only: []string{"other"}}, nil, ""},
		{"bad prefix", toolkit.Names{Prefix: "my-"}, nil, `tool prefix "my-"`},
		{"bad name", toolkit.Names{Rename: map[string]string{"probe": "a b"}}, nil, `tool name "a b"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := toolkit.NewServer(toolkit.Options{Names: tt.names})
			if tt.wantErr != "" {
				if err == nil {
					t.Fatal("accepted")
				}
				mustContain(t, err.Error(), tt.wantErr)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := toolkit.Add(s, probe(nil)); err != nil {
				t.Fatal(err)
			}
			tools, err := s.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, tool := range tools {
				got = append(got, tool.Name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDefinitionsAreChecked(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*toolkit.Definition)
	}{
		{"name too long", func(d *toolkit.Definition) { d.Name = strings.Repeat("a", 25) }},
		{"name with a dash", func(d *toolkit.Definition) { d.Name = "a-b" }},
		{"no title", func(d *toolkit.Definition) { d.Title = "" }},
		{"long description", func(d *toolkit.Definition) { d.Description = strings.Repeat("word ", 61) }},
		{"undescribed parameter", func(d *toolkit.Definition) { d.Params[0].Description = "" }},
		{"alias of two parameters", func(d *toolkit.Definition) { d.Params[1].Aliases = []string{"title"} }},
		{"enum of integers", func(d *toolkit.Definition) { d.Params[2].Enum = []string{"1"} }},
		{"output that is no object", func(d *toolkit.Definition) { d.Output = json.RawMessage(`{"type":"array"}`) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := toolkit.NewServer(toolkit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			tool := probe(nil)
			tt.spoil(&tool.Definition)
			if toolkit.Add(s, tool) == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestAnnotationsAreAllSent(t *testing.T) {
	s, _ := newServer(t, toolkit.Options{}, nil)
	tools, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(tools[0].Annotations)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"destructiveHint":true,"idempotentHint":false,"openWorldHint":true,"readOnlyHint":false,"title":"Probe"}`
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
