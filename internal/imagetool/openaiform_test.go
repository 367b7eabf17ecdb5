package imagetool_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openaitest"
	"github.com/toolhost/toolhost/pkg/approval"
)

func today() string { return time.Now().UTC().Format("20060102") }

func mustTime(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	must(t, err)
	return at
}

// echoes are answers of a server that repeats the key that it was sent.
func echoes() []openaitest.Step {
	return []openaitest.Step{
		openaitest.JSON(400, `{"error":{"message":"no `+plantedKey+`","code":"moderation_blocked"}}`),
		openaitest.JSON(422, `{"detail":"no `+plantedKey+`"}`),
		openaitest.JSON(400, `{"error":"no `+plantedKey+`"}`),
		{Status: 502, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html>" + plantedKey + "</html>"},
		openaitest.JSON(401, `{"error":{"message":"Incorrect API key provided: `+plantedKey+`"}}`),
		openaitest.JSON(500, plantedKey),
		openaitest.JSON(200, `{"data":[],"note":"`+plantedKey+`"}`),
		openaitest.JSON(429, `{"error":{"message":"`+plantedKey+`","code":"insufficient_quota"}}`),
		{Cut: true},
	}
}

// A slots is what a gateway makes of a result.
type slots struct {
	result, revisedPrompt, action, background, format, quality, size string
}

// gateway reads a result as smg does: of each text block that is a JSON object first the
// member openai_response, then the object itself; the first string wins.
func gateway(t *testing.T, res *mcp.CallToolResult) (s slots, found int) {
	t.Helper()
	take := func(o map[string]any) {
		for to, keys := range map[*string][]string{
			&s.result: {"result", "image_base64", "b64_json"}, &s.revisedPrompt: {"revised_prompt"}, &s.action: {"action"},
			&s.background: {"background"}, &s.format: {"output_format"}, &s.quality: {"quality"}, &s.size: {"size"},
		} {
			for _, k := range keys {
				if text, ok := o[k].(string); ok && *to == "" {
					*to = text
				}
			}
		}
	}
	for _, c := range res.Content {
		text, ok := c.(*mcp.TextContent)
		var o map[string]any
		if !ok || json.Unmarshal([]byte(text.Text), &o) != nil {
			continue
		}
		found++
		if inner, ok := o["openai_response"].(map[string]any); ok {
			take(inner)
		}
		take(o)
	}
	return s, found
}

// contract is what every result in the form openai keeps.
func contract(t *testing.T, res *mcp.CallToolResult) slots {
	t.Helper()
	s, found := gateway(t, res)
	if len(res.Content) != 1 || found != 1 || res.StructuredContent != nil {
		t.Fatalf("%d blocks, %d of them JSON, structured %v", len(res.Content), found, res.StructuredContent)
	}
	text := textOf(t, res)
	if s.revisedPrompt == "" || strings.Contains(text, plantedKey) || strings.Contains(text, "openai_response") {
		t.Errorf("not as it must be: %.300s", text)
	}
	if res.IsError != (s.result == "") {
		t.Errorf("error %v with a picture of %d bytes: %.300s", res.IsError, len(s.result), text)
	}
	if s.result == "" {
		if !strings.Contains(text, `"error":{"code":"`) {
			t.Errorf("no error in %s", text)
		}
		return s
	}
	p, err := provider.Identify(decodeBase64(t, s.result))
	must(t, err)
	must(t, p.Check())
	if string(p.Format) != s.format || p.Size.String() != s.size || s.quality == "" || s.background == "" || s.action == "" {
		t.Errorf("the picture is %s %s, the text says %+v", p.Format, p.Size, slots{"", s.revisedPrompt, s.action, s.background, s.format, s.quality, s.size})
	}
	return s
}

// The contract with gateways, over every kind of outcome.
func TestGatewayContract(t *testing.T) {
	asked := args{"prompt": "a cat <&>", "output_format": "jpeg", "size": "512x512"}
	t.Run("pictures", func(t *testing.T) {
		h, far := upstream(t, nil, "result-format=openai", "soft-timeout=1ms")
		for name, c := range map[string]struct {
			args args
			want slots
		}{
			"plain":    {args{"prompt": "a cat <&>"}, slots{"", "a cat <&>", "generate", "opaque", "png", "medium", "1024x1024"}},
			"jpeg":     {asked, slots{"", "a cat <&>", "generate", "opaque", "jpeg", "medium", "512x512"}},
			"three":    {args{"prompt": "a cat", "n": 3, "quality": "hd", "background": "transparent"}, slots{"", "a cat", "generate", "transparent", "png", "high", "1024x1024"}},
			"an edit":  {args{"prompt": "a cat", "image": dataURL(64, 48, "png")}, slots{"", "a cat", "edit", "opaque", "png", "medium", "1024x1024"}},
			"odd keys": {args{"prompt": "a cat", "style": "vivid", "size": "300x300"}, slots{"", "a cat", "generate", "opaque", "png", "medium", "304x304"}},
		} {
			t.Run(name, func(t *testing.T) {
				res := h.call(t, c.args)
				got := contract(t, res)
				got.result = ""
				if got != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
				warned := strings.Contains(textOf(t, res), `"warnings":[`)
				if name == "odd keys" && (!strings.Contains(textOf(t, res), "unknown argument style") || !strings.Contains(textOf(t, res), "300x300 cannot be made")) {
					t.Errorf("a warning is missing in %.300s", textOf(t, res)[len(textOf(t, res))-300:])
				}
				if want := name == "three" || name == "odd keys"; warned != want {
					t.Errorf("warnings: %v, want %v", warned, want)
				}
			})
		}
		for _, r := range far.Requests() {
			if _, ok := r.Fields["n"]; ok {
				t.Error("more than one picture was asked for")
			}
		}
	})
	t.Run("answers of the server", func(t *testing.T) {
		h, _ := upstream(t, echoes(), "result-format=openai")
		for i := range echoes() {
			if s := contract(t, h.call(t, asked)); s.result != "" || s.revisedPrompt != "a cat <&>" {
				t.Errorf("answer %d: got %+v", i, s)
			}
		}
	})
	t.Run("bad arguments", func(t *testing.T) {
		h, far := upstream(t, nil, "result-format=openai")
		for _, a := range []args{{}, {"prompt": 7, "n": "x"}, {"prompt": "a cat", "n": 0}, {"prompt": "a cat", "size": "x"}, {"prompt": []int{1}}, {"job_id": "x"}, {"prompt": "a cat", "images": []string{"none.png"}}} {
			contract(t, h.call(t, a))
		}
		if n := len(far.Requests()); n != 0 {
			t.Errorf("%d requests were sent", n)
		}
	})
	t.Run("a denied call", func(t *testing.T) {
		h := newHarness(t, options{provider: newFake(t), flags: []string{"result-format=openai"}, rules: denying{}})
		res := h.call(t, asked)
		if s := contract(t, res); s.revisedPrompt != "a cat <&>" || !strings.Contains(textOf(t, res), `"code":"denied"`) {
			t.Errorf("got %s", textOf(t, res))
		}
	})
	t.Run("a panic", func(t *testing.T) {
		f := newFake(t)
		f.do = func(context.Context, provider.Request, func(provider.Event)) (*provider.Result, error) { panic("x") }
		h := newHarness(t, options{provider: f, flags: []string{"result-format=openai"}})
		res := h.call(t, asked)
		if contract(t, res); !strings.Contains(textOf(t, res), `"code":"internal_error"`) {
			t.Errorf("got %s", textOf(t, res))
		}
	})
	t.Run("a picture larger than results may be", func(t *testing.T) {
		h := newHarness(t, options{provider: making(t, noise(t, 1600, 1200, false)), flags: []string{"result-format=openai"}})
		if s := contract(t, h.call(t, asked)); s.size != "1600x1200" {
			t.Errorf("the size is %s", s.size)
		}
	})
}

// What a policy is told of a call: only what may cost money counts as bought.
func TestEffects(t *testing.T) {
	const job = "aaaaaaaaaaaaaaaa"
	for name, c := range map[string]struct {
		base string
		args args
		want approval.Effect
	}{
		"elsewhere":   {"https://images.example.com/v1", args{"prompt": "a house"}, approval.BuyPictures},
		"by a number": {"http://10.1.2.3/v1", args{"prompt": "a house"}, approval.BuyPictures},
		"collecting":  {"https://images.example.com/v1", args{"job_id": job}, approval.MakePictures},
		"at home":     {"http://127.0.0.1:8080/v1", args{"prompt": "a house"}, approval.MakePictures},
		"by name":     {"http://localhost:8080/v1", args{"prompt": "a house"}, approval.MakePictures},
		"a sketch":    {"", args{"prompt": "a house"}, approval.MakePictures},
	} {
		t.Run(name, func(t *testing.T) {
			var seen asked
			h := newHarness(t, options{provider: newFake(t), flags: []string{"base-url=" + c.base}, rules: &seen})
			h.call(t, c.args)
			if seen.effect != c.want {
				t.Errorf("the effect is %v, want %v", seen.effect, c.want)
			}
		})
	}
}

// The conditions of a policy see what will be sent: the operator's options and locks, and sizes
// as the model takes them.
func TestArgumentsForPolicies(t *testing.T) {
	for name, c := range map[string]struct {
		flags []string
		args  args
		count int
		want  map[string]any // among others
	}{
		"defaults": {
			[]string{"quality=low", "size=1024x1536"},
			args{"prompt": "a house"},
			1,
			map[string]any{"prompt": "a house", "n": 1.0, "quality": "low", "size": "1024x1536", "images": nil, "mask": nil},
		},
		"given": {
			nil,
			args{"prompt": "a house", "n": 3, "quality": "high", "size": "1536x1024"},
			3,
			map[string]any{"n": 3.0, "quality": "high", "size": "1536x1024"},
		},
		"locked": {
			[]string{"quality=low", "lock=quality"},
			args{"prompt": "a house", "quality": "high"},
			1,
			map[string]any{"quality": "low"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var seen asked
			h := newHarness(t, options{provider: newFake(t), flags: append(c.flags, "base-url=https://images.example.com/v1"), rules: &seen})
			h.call(t, c.args)
			var got map[string]any
			if err := json.Unmarshal(seen.action.Args, &got); err != nil {
				t.Fatal(err)
			}
			for key, want := range c.want {
				if got[key] != want {
					t.Errorf("%s is %v, want %v", key, got[key], want)
				}
			}
			if seen.action.Count != c.count {
				t.Errorf("it counts %d, want %d", seen.action.Count, c.count)
			}
		})
	}
}

// An asked notes what it is asked for, and denies it.
type asked struct {
	effect approval.Effect
	action approval.Action
}

func (a *asked) Evaluate(_ context.Context, _ approval.Caller, what approval.Action) approval.Verdict {
	a.effect, a.action = what.Effect, what
	return approval.Verdict{Reason: "test"}
}

func (*asked) Hides(approval.Caller, string) bool { return false }

type denying struct{}

func (denying) Hides(approval.Caller, string) bool { return false }

func (denying) Evaluate(context.Context, approval.Caller, approval.Action) approval.Verdict {
	return approval.Verdict{Reason: "test"}
}

// What the upstream said reaches the model, in words and code (B3), and how often it was asked
// (B1, B2).
func TestUpstreamErrors(t *testing.T) {
	html := openaitest.Step{Status: http.StatusBadGateway, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html><h1>Bad</h1></html>"}
	for name, c := range map[string]struct {
		step  openaitest.Step
		want  []string
		posts int
	}{
		"moderation": {openaitest.JSON(400, `{"error":{"message":"Your request was rejected.","code":"moderation_blocked"}}`), []string{"moderation_blocked: Your request was rejected."}, 1},
		"detail":     {openaitest.JSON(422, `{"detail":"no such size"}`), []string{"invalid_request: no such size"}, 1},
		"text":       {openaitest.JSON(400, `{"error":"no such model"}`), []string{"invalid_request: no such model"}, 1},
		"html":       {html, []string{"provider_unavailable", "502"}, 1},
		"quota":      {openaitest.JSON(429, `{"error":{"message":"You exceeded your quota.","code":"insufficient_quota"}}`), []string{"quota_exceeded: You exceeded your quota."}, 1},
		"500":        {openaitest.JSON(500, `{"error":{"message":"oops"}}`), []string{"provider_unavailable: oops"}, 1},
		"EOF":        {openaitest.Step{Cut: true}, []string{"provider_unavailable"}, 1},
		"429":        {openaitest.Step{Status: 429, Header: map[string]string{"Retry-After": "1"}, Body: `{"error":{"message":"slow down"}}`}, []string{"Made 1 picture"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			h, far := upstream(t, []openaitest.Step{c.step})
			text := textOf(t, h.call(t, args{"prompt": "a house"}))
			for _, w := range c.want {
				if !strings.Contains(text, w) || strings.Contains(text, "<html") {
					t.Errorf("%q is missing in %s", w, text)
				}
			}
			if n := len(far.Requests()); n != c.posts {
				t.Errorf("%d POSTs, want %d", n, c.posts)
			}
		})
	}
}

// A partial picture that is all that came is saved (B7).
func TestPartialIsSaved(t *testing.T) {
	f := newFake(t)
	f.do = func(context.Context, provider.Request, func(provider.Event)) (*provider.Result, error) {
		part := pictures(1).Images[0]
		return nil, &provider.Error{Code: provider.NoImage, Message: "the stream ended", Partial: &part, MayHaveRun: true}
	}
	h := newHarness(t, options{provider: f, flags: []string{"base-url=https://images.example.com/v1"}})
	res := h.call(t, args{"prompt": "a house"})
	text := textOf(t, res)
	if files := h.saved(t); !res.IsError || len(files) != 1 || !strings.Contains(text, "/partial-") || !strings.Contains(text, "no_image: the stream ended") || !strings.Contains(text, "may have been made and paid for") {
		t.Errorf("%d files: %s", len(files), text)
	}
}

// The policy sees the files that a picture is made from, links resolved, and what is in them.
func TestThePolicySeesWhatIsGiven(t *testing.T) {
	var seen asked
	h := newHarness(t, options{provider: newFake(t), rules: &seen})
	must(t, os.WriteFile(filepath.Join(h.root, "photo.png"), openaitest.Picture(32, 32, "png", 1), 0o644))
	must(t, os.Symlink("photo.png", filepath.Join(h.root, "link.png")))
	given := func() map[string]any {
		h.call(t, args{"prompt": "a house", "images": []string{"link.png"}})
		var got map[string]any
		must(t, json.Unmarshal(seen.action.Args, &got))
		return got
	}
	before := given()
	want := []approval.Path{{Access: approval.Read, Root: h.root, Rel: "link.png"}, {Access: approval.Read, Root: h.root, Rel: "photo.png"}}
	if diff := cmp.Diff(want, seen.action.Paths); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]any{"link.png"}, before["images"]); diff != "" {
		t.Error(diff)
	}
	must(t, os.WriteFile(filepath.Join(h.root, "photo.png"), openaitest.Picture(32, 32, "png", 2), 0o644))
	if after := given(); before["inputs_sha256"] == nil || cmp.Equal(before["inputs_sha256"], after["inputs_sha256"]) {
		t.Errorf("another picture is the same action: %v", before)
	}
	h.call(t, args{"prompt": "a house", "images": []string{"missing.png"}})
	if diff := cmp.Diff([]approval.Path{{Access: approval.Read, Root: h.root, Rel: "missing.png"}}, seen.action.Paths); diff != "" {
		t.Errorf("a file that is not there: %s", diff)
	}
}
