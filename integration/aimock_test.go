package integration_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openai"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openaitest"
	"github.com/toolhost/toolhost/internal/testneed"
)

// aimockKey is planted; it may be seen nowhere.
const aimockKey = "sk-planted-0815-asdfgh"

// aimock starts an Images API that we did not write, with the fixtures, and returns its base URL.
func aimock(t *testing.T, fixtures any) string {
	t.Helper()
	script := testneed.Files(t, filepath.Join("clients", "node_modules", "@copilotkit", "aimock", "dist", "cli.js"), "make clients")
	data, err := json.Marshal(map[string]any{"fixtures": fixtures})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "fixtures.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node(t), script, "--port", "0", "--fixtures", file)
	cmd.Env = append(os.Environ(), compileCache())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said = append(said, lines.Text())
		if _, address, ok := strings.Cut(lines.Text(), "listening on "); ok {
			go func() {
				for lines.Scan() { // a full pipe would stop it
				}
			}()
			return strings.TrimSpace(address) + "/v1"
		}
	}
	t.Fatalf("aimock ended: %s", strings.Join(said, "\n"))
	return ""
}

// counting counts POSTs and asks aimock for a fault by a header.
type counting struct {
	http.Transport
	fault string // name of a kind of chaos; "" for none
	posts atomic.Int32
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.posts.Add(1)
	if c.fault != "" {
		r = r.Clone(r.Context())
		r.Header.Set("X-Aimock-Chaos-"+c.fault, "1")
	}
	return c.Transport.RoundTrip(r)
}

// TestAimock holds the provider against a server of others: pictures, moderation and faults,
// with one POST each, and two after a 429 that says when to come back.
func TestAimock(t *testing.T) {
	t.Parallel()
	png := openaitest.Picture(64, 64, "png", 0)
	image := func(name string) map[string]any { return map[string]any{"userMessage": name, "endpoint": "image"} }
	picture := map[string]any{"image": map[string]any{"b64Json": base64.StdEncoding.EncodeToString(png), "revisedPrompt": "a small house"}}
	fault := func(status int, code, message string) map[string]any {
		return map[string]any{"status": status, "error": map[string]any{"message": message + " " + aimockKey, "code": code}}
	}
	later := fault(429, "rate_limit_exceeded", "slow down")
	later["retryAfter"] = 1
	busy := image("busy once")
	busy["sequenceIndex"] = 0
	base := aimock(t, []any{
		map[string]any{"match": busy, "response": later},
		map[string]any{"match": image("busy once"), "response": picture},
		map[string]any{"match": image("busy always"), "response": later},
		map[string]any{"match": image("a house"), "response": picture},
		map[string]any{"match": image("blood"), "response": fault(400, "moderation_blocked", "Your request was rejected")},
		map[string]any{"match": image("no money"), "response": fault(429, "insufficient_quota", "You exceeded your current quota")},
	})
	input, err := provider.Identify(png)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		request provider.Request
		fault   string
		posts   int32
		code    provider.Code // "": a picture
		maybe   bool
	}{
		"picture":       {request: provider.Request{Prompt: "a house"}, posts: 1},
		"stream (B6)":   {request: provider.Request{Prompt: "a house", Partials: 2}, posts: 1},
		"edit":          {request: provider.Request{Prompt: "a house", Images: []provider.Picture{input}, Mask: &input}, posts: 1},
		"busy once":     {request: provider.Request{Prompt: "busy once"}, posts: 2},
		"busy always":   {request: provider.Request{Prompt: "busy always"}, posts: 2, code: provider.RateLimited},
		"moderation":    {request: provider.Request{Prompt: "blood"}, posts: 1, code: provider.ModerationBlocked},
		"quota":         {request: provider.Request{Prompt: "no money"}, posts: 1, code: provider.QuotaExceeded},
		"no fixture":    {request: provider.Request{Prompt: "unheard of"}, posts: 1, code: provider.InvalidRequest},
		"no prompt":     {request: provider.Request{}, posts: 1, code: provider.InvalidRequest},
		"rate limit":    {request: provider.Request{Prompt: "a house"}, fault: "Ratelimit", posts: 2, code: provider.RateLimited},
		"status 500":    {request: provider.Request{Prompt: "a house"}, fault: "Drop", posts: 1, code: provider.Unavailable, maybe: true},
		"broken JSON":   {request: provider.Request{Prompt: "a house"}, fault: "Malformed", posts: 1, code: provider.NoImage, maybe: true},
		"disconnection": {request: provider.Request{Prompt: "a house"}, fault: "Disconnect", posts: 1, code: provider.Unavailable, maybe: true},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			transport := &counting{fault: c.fault}
			p, err := openai.New(openai.Options{BaseURL: base, APIKey: aimockKey, Profile: "openai", Transport: transport})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			result, err := p.Generate(t.Context(), c.request, nil)
			if n := transport.posts.Load(); n != c.posts {
				t.Errorf("%d POSTs, want %d", n, c.posts)
			}
			if c.code == "" {
				if err != nil || string(result.Images[0].Data) != string(png) || result.RevisedPrompt != "a small house" {
					t.Errorf("got %+v, %v, want the picture", result, err)
				}
				return
			}
			var e *provider.Error
			if !errors.As(err, &e) || e.Code != c.code || e.MayHaveRun != c.maybe || strings.Contains(e.Visible(), aimockKey) {
				t.Errorf("got %#v, want %s", err, c.code)
			}
		})
	}
}
