package openai_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openai"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openaitest"
)

// full asks for everything at once.
func full() provider.Request {
	compression, seed := 70, int64(7)
	return provider.Request{
		Prompt: "a <b> & c", Model: "some-model", N: 2, Size: small, Quality: "high", Background: "opaque", Format: provider.JPEG,
		Compression: &compression, Moderation: "low", Complexity: "low", Frames: 4, User: "u", Seed: &seed, Negative: "fog",
	}
}

// TestProfiles shows what each kind of server is sent for the same request (B5).
func TestProfiles(t *testing.T) {
	type fields = map[string]any
	everything := fields{
		"n": 2.0, "size": "64x64", "quality": "high", "background": "opaque", "output_format": "jpeg", "output_compression": 70.0,
		"moderation": "low", "complexity": "low", "frame_count": 4.0, "user": "u", "seed": 7.0, "negative_prompt": "fog",
	}
	with := func(base, more fields, without ...string) fields {
		all := fields{"prompt": "a <b> & c", "model": "some-model"}
		for _, m := range []fields{base, more} {
			for k, v := range m {
				all[k] = v
			}
		}
		for _, k := range without {
			delete(all, k)
		}
		return all
	}
	tests := map[string]fields{
		"openai":   with(everything, fields{"safety_identifier": "u"}, "seed", "negative_prompt", "user"),
		"azure":    with(everything, nil, "seed", "negative_prompt"),
		"localai":  with(everything, fields{"prompt": "a <b> & c|fog", "response_format": "b64_json"}, "negative_prompt"),
		"sglang":   with(everything, fields{"response_format": "b64_json"}),
		"vllm":     with(nil, fields{"n": 2.0, "size": "64x64", "user": "u", "seed": 7.0, "negative_prompt": "fog", "response_format": "b64_json"}),
		"sdcpp":    with(nil, fields{"prompt": `a <b> & c <sd_cpp_extra_args>{"negative_prompt":"fog","seed":7}</sd_cpp_extra_args>`, "n": 2.0, "size": "64x64", "output_format": "jpeg", "output_compression": 70.0}),
		"together": with(nil, fields{"n": 2.0, "width": 64.0, "height": 64.0, "output_format": "jpeg", "seed": 7.0, "negative_prompt": "fog", "response_format": "base64"}),
		"litellm":  with(everything, nil),
		"generic":  with(everything, fields{"response_format": "b64_json"}),
	}
	if d := cmp.Diff(openai.Profiles(), slices.SortedFunc(mapKeys(tests), func(a, b string) int {
		return slices.Index(openai.Profiles(), a) - slices.Index(openai.Profiles(), b)
	})); d != "" {
		t.Errorf("profiles (-there +tested)\n%s", d)
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			p, s := serve(t, openai.Options{Profile: name}, openaitest.JSON(500, "{}"))
			generate(t, p, full())
			got := s.Requests()[0]
			if d := cmp.Diff(want, got.Fields); d != "" {
				t.Errorf("sent (-want +got)\n%s", d)
			}
			header := map[bool]string{true: "Api-Key", false: "Authorization"}[name == "azure"]
			if !strings.HasSuffix(got.Header.Get(header), key) || got.Path != "/v1/images/generations" {
				t.Errorf("POST %s with %s %q", got.Path, header, got.Header.Get(header))
			}
		})
	}
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// TestResponseFormat is litellm#10501: some models refuse the field.
func TestResponseFormat(t *testing.T) {
	for model, want := range map[string]any{
		"gpt-image-2": nil, "openai/gpt-image-1.5": nil, "chatgpt-image-latest": nil, "GPT-Image-9": nil,
		"flux": "b64_json", "dall-e-2": "b64_json", "": "b64_json",
	} {
		p, s := serve(t, openai.Options{Profile: "generic"}, openaitest.JSON(500, "{}"))
		generate(t, p, provider.Request{Model: model})
		if got := s.Requests()[0].Fields["response_format"]; got != want {
			t.Errorf("%q: response_format %v, want %v", model, got, want)
		}
	}
}

// TestLeftOut are the rules V2, V9 and V10 and those of the two actions.
func TestLeftOut(t *testing.T) {
	compression := 50
	picture := picture(t, "png")
	tests := map[string]struct {
		request provider.Request
		gone    string
		warning string // "": it is sent
	}{
		"compression of png":              {provider.Request{Format: provider.PNG, Compression: &compression}, "output_compression", "jpeg and webp"},
		"compression of nothing":          {provider.Request{Compression: &compression}, "output_compression", "jpeg and webp"},
		"compression of webp":             {provider.Request{Format: provider.WebP, Compression: &compression}, "output_compression", ""},
		"fidelity on gpt-image-2":         {provider.Request{Model: "gpt-image-2", Images: picture, Fidelity: "high"}, "input_fidelity", "gpt-image-2 does not take"},
		"fidelity on a dated gpt-image-2": {provider.Request{Model: "gpt-image-2-2026-04-21", Images: picture, Fidelity: "low"}, "input_fidelity", "does not take"},
		"high fidelity on the mini":       {provider.Request{Model: "gpt-image-1-mini", Images: picture, Fidelity: "high"}, "input_fidelity", "does not take"},
		"low fidelity on the mini":        {provider.Request{Model: "gpt-image-1-mini", Images: picture, Fidelity: "low"}, "input_fidelity", ""},
		"fidelity on an unknown model":    {provider.Request{Model: "own", Images: picture, Fidelity: "high"}, "input_fidelity", ""},
		"fidelity of nothing":             {provider.Request{Model: "gpt-image-1.5", Fidelity: "high"}, "input_fidelity", "for edits"},
		"moderation of an edit":           {provider.Request{Images: picture, Moderation: "low"}, "moderation", "not for edits"},
		"moderation":                      {provider.Request{Moderation: "low"}, "moderation", ""},
		"partials of gif":                 {provider.Request{Format: provider.GIF, Partials: 1}, "partial_images", "gif has no partial"},
		"partials of svg":                 {provider.Request{Format: provider.SVG, Partials: 1}, "partial_images", "svg has no partial"},
		"partials of two":                 {provider.Request{N: 2, Partials: 1}, "partial_images", "one picture only"},
		"partials of an unknown model":    {provider.Request{Model: "own", Partials: 1}, "partial_images", ""},
		"a seed":                          {provider.Request{Negative: "fog"}, "negative_prompt", "openai servers do not take negative_prompt"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			p, s := serve(t, openai.Options{})
			c.request.Size = small
			result, e := generate(t, p, c.request)
			if e != nil && c.warning != "" {
				t.Fatal(e)
			}
			_, sent := s.Requests()[0].Fields[c.gone]
			if sent != (c.warning == "") {
				t.Errorf("%s sent: %v", c.gone, sent)
			}
			if c.warning != "" && !strings.Contains(strings.Join(result.Warnings, "\n"), c.warning) {
				t.Errorf("no %q in %q", c.warning, result.Warnings)
			}
		})
	}
}

func picture(t *testing.T, format string) []provider.Picture {
	t.Helper()
	p, err := provider.Identify(openaitest.Picture(small.Width, small.Height, format, 0))
	if err != nil {
		t.Fatal(err)
	}
	return []provider.Picture{p}
}

func TestEdit(t *testing.T) {
	png, jpeg := picture(t, "png")[0], picture(t, "jpeg")[0]
	for name, images := range map[string][]provider.Picture{"image": {png}, "image[]": {png, jpeg}} {
		p, s := serve(t, openai.Options{})
		if _, e := generate(t, p, provider.Request{Images: images, Mask: &png, Size: small, N: 2, Quality: "low"}); e != nil {
			t.Fatal(e)
		}
		got := s.Requests()[0]
		want := []openaitest.File{{Field: name, Name: "image-1.png", Type: "image/png", Data: png.Data}}
		if len(images) == 2 {
			want = append(want, openaitest.File{Field: name, Name: "image-2.jpeg", Type: "image/jpeg", Data: jpeg.Data})
		}
		want = append(want, openaitest.File{Field: "mask", Name: "mask.png", Type: "image/png", Data: png.Data})
		if d := cmp.Diff(want, got.Files); d != "" {
			t.Errorf("files (-want +got)\n%s", d)
		}
		fields := map[string]any{"prompt": "a house", "model": "gpt-image-2", "n": "2", "size": "64x64", "quality": "low"}
		if d := cmp.Diff(fields, got.Fields); d != "" || got.Path != "/v1/images/edits" {
			t.Errorf("%s (-want +got)\n%s", got.Path, d)
		}
	}
}

func TestModels(t *testing.T) {
	p := client(t, openai.Options{})
	tests := map[string]struct {
		known    bool
		multiple int
		quality  bool // it knows xhigh
	}{
		"":                           {true, 16, false},
		"gpt-image-2":                {true, 16, false},
		"gpt-image-2-2026-04-21":     {true, 16, false},
		"gpt-image-2.5-flare":        {true, 16, true},
		"openai/gpt-image-2.5-flare": {true, 16, true},
		"gpt-image-1-mini":           {true, 0, false},
		"gpt-image-1.5":              {true, 0, false},
		"gpt-image-2.7":              {false, 0, true},
		"gpt-image-20":               {false, 0, true},
		"flux":                       {false, 0, true},
	}
	for name, want := range tests {
		m := p.Model(name)
		quality := m.Qualities == nil || slices.Contains(m.Qualities, "xhigh")
		if m.Known != want.known || m.Multiple != want.multiple || quality != want.quality || m.Name == "" {
			t.Errorf("%q: %+v, want %+v", name, m, want)
		}
	}
	if m := client(t, openai.Options{Profile: "vllm"}).Model("gpt-image-2"); m.Partials || !m.ForeignOwned {
		t.Errorf("on vllm: %+v", m)
	}
}

func TestNew(t *testing.T) {
	tests := map[string]struct {
		options openai.Options
		want    string // in the error
	}{
		"nothing":          {openai.Options{}, ""},
		"no scheme":        {openai.Options{BaseURL: "localhost:8080/v1"}, "https://host/v1"},
		"no URL":           {openai.Options{BaseURL: "http://[" + key}, "cannot be parsed"},
		"password":         {openai.Options{BaseURL: "http://u:" + key + "@h/v1"}, "password"},
		"profile":          {openai.Options{Profile: "other"}, "openai, azure"},
		"key of two lines": {openai.Options{APIKey: key + "\n" + key}, "the API key"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := openai.New(c.options)
			switch {
			case err == nil && c.want == "":
				p.Close()
			case err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), key):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestDeployment: an Azure model has a name that nobody can guess.
func TestDeployment(t *testing.T) {
	p := client(t, openai.Options{BaseURL: "https://x.openai.azure.com", Profile: "azure"})
	_, e := generate(t, p, provider.Request{})
	if e == nil || e.Code != provider.InvalidRequest || e.Param != "model" {
		t.Errorf("got %v, want a complaint about the model", e)
	}
}

// TestEnvironment: the client library's own variables have no say.
func TestEnvironment(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("OPENAI_API_KEY", "sk-other")
	t.Setenv("OPENAI_ORG_ID", "org-other")
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Other: other")
	p, s := serve(t, openai.Options{})
	if _, e := generate(t, p, provider.Request{Size: small}); e != nil {
		t.Fatal(e)
	}
	for name, values := range s.Requests()[0].Header {
		if strings.Contains(strings.Join(values, " "), "other") {
			t.Errorf("%s is %q", name, values)
		}
	}
}
