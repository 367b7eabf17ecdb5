package integration_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openaitest"
)

// imageKey is planted; it may be seen nowhere.
const imageKey = "sk-planted-2342-yxcvbn"

// buying starts mcp-image over HTTP, with a server that stands in for the provider and takes
// its time for the first answer.
func buying(t *testing.T, delay time.Duration, flags ...string) (at target, far *openaitest.Server) {
	t.Helper()
	far = openaitest.New(imageKey, openaitest.Step{Delay: delay})
	upstream := httptest.NewServer(far)
	t.Cleanup(upstream.Close)
	flags = append([]string{"--base-url", upstream.URL + "/v1", "--server-profile", "openai", "--output-dir", filepath.Join(t.TempDir(), "out")}, flags...)
	return target{URL: startHTTPEnv(t, []string{"OPENAI_API_KEY=" + imageKey}, binary(t, "cmd/mcp-image"), flags...)}, far
}

func imageStep(prompt string) step {
	return step{Do: "call", Tool: "image_generation", Args: map[string]any{"prompt": prompt, "size": "256x256"}}
}

// Clients of others get text, a picture and a link, and nothing structured; with the header
// of gateways one block of JSON.
func TestClientsGetPictures(t *testing.T) {
	eachTransport(t, func(t *testing.T, c client, http bool) {
		at := serve(t, http, binary(t, "cmd/mcp-image"), "--provider", "sketch", "--output-dir", filepath.Join(t.TempDir(), "out"))
		got := c.drive(t, scenario{target: at, Steps: []step{imageStep("a house")}})[0]
		text := got.text(t)
		var kinds []string
		for _, b := range got.Result.Content {
			kinds = append(kinds, b.Type)
		}
		want := "text image resource_link"
		if c.sdk == "@modelcontextprotocol/sdk-1.0.4" || c.sdk == "@modelcontextprotocol/sdk-1.11.4" {
			want = "text image" // they would refuse the result for the link
		}
		if k := strings.Join(kinds, " "); k != want || got.Result.StructuredContent != nil || !strings.Contains(text, "saved as ") {
			t.Errorf("got %s: %s", k, text)
		}
		if !http {
			return
		}
		at.Headers = map[string]string{"X-Toolhost-Result-Format": "openai"}
		got = c.drive(t, scenario{target: at, Steps: []step{imageStep("a house")}})[0]
		checkGatewayAnswer(t, got, "a house")
		at.Headers["X-Toolhost-Result-Format"] = "xml"
		if got = c.drive(t, scenario{target: at, Steps: []step{imageStep("a house")}})[0]; !got.Result.IsError || !strings.Contains(got.text(t), `got "xml", want mcp or openai`) {
			t.Errorf("an unknown form: %s", got.text(t))
		}
	})
}

func checkGatewayAnswer(t *testing.T, got line, prompt string) {
	t.Helper()
	var a struct {
		Result, Status string
		RevisedPrompt  string `json:"revised_prompt"`
		OutputFormat   string `json:"output_format"`
	}
	if err := json.Unmarshal([]byte(got.text(t)), &a); err != nil || len(got.Result.Content) != 1 {
		t.Fatalf("%d blocks, %v: %.300s", len(got.Result.Content), err, got.text(t))
	}
	data, err := base64.StdEncoding.DecodeString(a.Result)
	if err != nil {
		t.Fatal(err)
	}
	p, err := provider.Identify(data)
	if err != nil || string(p.Format) != a.OutputFormat || a.RevisedPrompt != prompt || a.Status != "completed" {
		t.Errorf("a picture %s %s, %v; and %q, %q", p.Format, p.Size, err, a.RevisedPrompt, a.Status)
	}
}

// A client that dies while its picture is made costs nothing twice: the next call for the same
// gets that picture.
func TestLostPictureIsCollected(t *testing.T) {
	eachTransport(t, func(t *testing.T, c client, http bool) {
		if !http {
			return // with its client such a server ends
		}
		at, far := buying(t, 3*time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cmd := c.command(ctx, t, scenario{target: at, Steps: []step{imageStep("a house")}})
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		defer cancel()
		waitForRequests(t, far, 1)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		got := c.drive(t, scenario{target: at, Steps: []step{imageStep("a house")}})[0]
		if text := got.text(t); got.Result.IsError || !strings.HasPrefix(text, "Made 1 picture") || strings.Contains(text, imageKey) {
			t.Errorf("the second call got %s", text)
		}
		if n := len(far.Requests()); n != 1 {
			t.Errorf("%d pictures were ordered", n)
		}
		select {
		case <-far.Gone():
			t.Error("the first order was broken off")
		default:
		}
	})
}

// A client that cancels its call stops the picture, which makes the provider stop as well.
// From 2026-07-28 on a client over HTTP cancels by closing the answer, which cannot be told
// from a lost connection: there the picture is made.
func TestCancelledPictureIsStopped(t *testing.T) {
	eachTransport(t, func(t *testing.T, c client, http bool) {
		if !http || c.modern {
			return
		}
		at, far := buying(t, time.Minute)
		s := imageStep("a house")
		s.CancelAfterMs = 500
		// The list keeps the client there: at its end it would drop the notification.
		if got := c.drive(t, scenario{target: at, Steps: []step{s, {Do: "list"}}})[0]; got.Error == nil {
			t.Errorf("the cancelled call returned %+v", got.Result)
		}
		select {
		case <-far.Gone():
		case <-time.After(patience):
			t.Error("the provider still works on it")
		}
	})
}

func waitForRequests(t *testing.T, far *openaitest.Server, n int) {
	t.Helper()
	for end := time.Now().Add(patience); len(far.Requests()) < n; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d requests came, want %d", len(far.Requests()), n)
		}
	}
}

// The resource of a picture is the file, byte for byte, over both transports; so it is for
// another server of the same directory.
func TestPictureResources(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	program := binary(t, "cmd/mcp-image")
	url := startHTTP(t, program, "--provider", "sketch", "--output-dir", out)
	for name, transport := range map[string]mcp.Transport{
		"http":  &mcp.StreamableClientTransport{Endpoint: url},
		"stdio": &mcp.CommandTransport{Command: exec.Command(program, "--provider", "sketch", "--output-dir", out)},
	} {
		t.Run(name, func(t *testing.T) {
			cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "image_generation", Arguments: map[string]any{"prompt": name, "size": "256x256"}})
			if err != nil || res.IsError {
				t.Fatalf("%v, %+v", err, res)
			}
			link := res.Content[2].(*mcp.ResourceLink)
			files, err := filepath.Glob(filepath.Join(out, "*", strings.TrimPrefix(link.URI, "image://")+".png"))
			if err != nil || len(files) != 1 {
				t.Fatalf("%d files of %s, %v", len(files), link.URI, err)
			}
			want, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			got, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: link.URI})
			if err != nil || !bytes.Equal(got.Contents[0].Blob, want) || got.Contents[0].MIMEType != "image/png" {
				t.Errorf("%v, the resource is not the file", err)
			}
			if _, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "image://aaaaaaaaaaaaaaaa"}); err == nil || !strings.Contains(err.Error(), "not found") {
				t.Errorf("an unknown one: %v", err)
			}
		})
	}
}

// The operator's choice of form goes before the caller's; a variable is as good as a flag.
func TestFormOfResults(t *testing.T) {
	for name, c := range map[string]struct{ flag, env, header, want string }{
		"neither":                     {"", "", "", "mcp"},
		"the caller's":                {"auto", "", "openai", "openai"},
		"the caller's, as the usual":  {"", "", "auto", "mcp"},
		"the flag against the caller": {"mcp", "", "openai", "mcp"},
		"the flag for gateways":       {"openai", "", "mcp", "openai"},
		"the environment":             {"", "openai", "", "openai"},
	} {
		t.Run(name, func(t *testing.T) {
			flags := []string{"--provider", "sketch", "--output-dir", filepath.Join(t.TempDir(), "out")}
			if c.flag != "" {
				flags = append(flags, "--result-format", c.flag)
			}
			url := startHTTPEnv(t, []string{"MCP_IMAGE_RESULT_FORMAT=" + c.env}, binary(t, "cmd/mcp-image"), flags...)
			asked := &http.Client{Transport: formHeader(c.header)}
			cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: asked}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "image_generation", Arguments: map[string]any{"prompt": "a house", "size": "64x64"}})
			if err != nil || res.IsError {
				t.Fatalf("%v, %+v", err, res)
			}
			got := "mcp"
			if text := res.Content[0].(*mcp.TextContent).Text; len(res.Content) == 1 && strings.HasPrefix(text, `{"result":"`) {
				got = "openai"
			}
			if got != c.want {
				t.Errorf("got %s in %d blocks, want %s", got, len(res.Content), c.want)
			}
		})
	}
}

// A formHeader is sent with each request.
type formHeader string

func (f formHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	if f != "" {
		r = r.Clone(r.Context())
		r.Header.Set("X-Toolhost-Result-Format", string(f))
	}
	return http.DefaultTransport.RoundTrip(r)
}
