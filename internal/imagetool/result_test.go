package imagetool_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/internal/imagetool"
	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openaitest"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// noise returns a picture that no compressor makes small; clear, if its left half is transparent.
func noise(t *testing.T, w, h int, clear bool) provider.Picture {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	_, _ = rand.NewChaCha8([32]byte{}).Read(m.Pix) // it always fills
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 255
		if clear && i%m.Stride < m.Stride/2 {
			m.Pix[i] = 0
		}
	}
	var b bytes.Buffer
	must(t, (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, m))
	p, err := provider.Identify(b.Bytes())
	must(t, err)
	return p
}

// making is a provider that makes these pictures.
func making(t *testing.T, all ...provider.Picture) *fake {
	f := newFake(t)
	f.do = func(context.Context, provider.Request, func(provider.Event)) (*provider.Result, error) {
		return &provider.Result{Images: all, Model: "gpt-image-2", RevisedPrompt: "revised"}, nil
	}
	return f
}

var base64Run = regexp.MustCompile(`[A-Za-z0-9+/_-]{200,}`)

// B10, B11: a result fits, whatever the picture; a preview decodes; there is no base64 in
// text, and no structured content at all.
func TestResultsFit(t *testing.T) {
	huge, wide := noise(t, 3840, 2160, false), noise(t, 2100, 40, false)
	small, clear := noise(t, 200, 100, false), noise(t, 1600, 1200, true)
	tests := map[string]struct {
		pictures []provider.Picture
		show     string
		want     []string // of each block behind the text: link, or MIME type and size
	}{
		"a small one":              {[]provider.Picture{small}, "", []string{"image/png 200x100", "link"}},
		"3840x2160":                {[]provider.Picture{huge}, "", []string{"image/jpeg 1024x576", "link"}},
		"3840x2160 in full":        {[]provider.Picture{huge}, "full", []string{"image/jpeg 1024x576", "link"}},
		"a long edge":              {[]provider.Picture{wide}, "", []string{"image/jpeg 1024x20", "link"}},
		"a long edge in full":      {[]provider.Picture{wide}, "full", []string{"image/png 2100x40", "link"}},
		"none":                     {[]provider.Picture{small}, "none", []string{"link"}},
		"a preview of a small one": {[]provider.Picture{small}, "preview", []string{"image/png 200x100", "link"}},
		"transparent":              {[]provider.Picture{clear}, "", []string{"image/jpeg 1024x768", "link"}},
		"four":                     {[]provider.Picture{huge, huge, huge, small}, "", []string{"image/jpeg 768x432", "link", "image/jpeg 768x432", "link", "image/jpeg 768x432", "link", "image/png 200x100", "link"}},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, options{provider: making(t, c.pictures...)})
			res := h.call(t, args{"prompt": "a house", "n": len(c.pictures), "return": c.show})
			if res.IsError || res.StructuredContent != nil {
				t.Fatalf("error %v, structured %v: %s", res.IsError, res.StructuredContent, textOf(t, res))
			}
			wire, err := json.Marshal(res)
			must(t, err)
			if len(wire) > 900_000 {
				t.Errorf("the result has %d bytes", len(wire))
			}
			if text := textOf(t, res); base64Run.MatchString(text) || !strings.Contains(text, "Revised prompt: revised") {
				t.Errorf("text: %.500s", text)
			}
			if got := blocks(t, res); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// blocks describes what stands behind the text, each picture by its bytes.
func blocks(t *testing.T, res *mcp.CallToolResult) (out []string) {
	t.Helper()
	for _, c := range res.Content[1:] {
		switch c := c.(type) {
		case *mcp.ResourceLink:
			out = append(out, "link")
		case *mcp.ImageContent:
			p, err := provider.Identify(c.Data)
			must(t, err)
			must(t, p.Check())
			if p.Format.MIME() != c.MIMEType {
				t.Errorf("%s is called %s", p.Format, c.MIMEType)
			}
			out = append(out, c.MIMEType+" "+p.Size.String())
		}
	}
	return out
}

// A preview shows what the picture does: a transparent part is white, or stays transparent.
func TestPreviewShowsThePicture(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 3000, 1500))
	for y := range 1500 {
		for x := 1500; x < 3000; x++ {
			m.SetNRGBA(x, y, color.NRGBA{200, 30, 60, 255})
		}
	}
	var b bytes.Buffer
	must(t, png.Encode(&b, m))
	p, err := provider.Identify(b.Bytes())
	must(t, err)
	h := newHarness(t, options{provider: making(t, p)})
	res := h.call(t, args{"prompt": "a house"})
	shown, _, err := image.Decode(bytes.NewReader(res.Content[1].(*mcp.ImageContent).Data))
	must(t, err)
	if _, _, _, a := shown.At(10, 10).RGBA(); a != 0 {
		t.Error("the left half is not transparent")
	}
	if got := color.NRGBAModel.Convert(shown.At(1000, 500)); got != (color.NRGBA{200, 30, 60, 255}) {
		t.Errorf("the right half is %v", got)
	}
}

// Saved files: who may read them, what they are called (B12), and that they are what the
// resource gives (B18).
func TestSaving(t *testing.T) {
	f := newFake(t)
	names := map[string]string{
		"":                       "",
		"boat":                   "boat-",
		"boat.PNG":               "boat-",
		"../../x":                "x-",
		"/etc/passwd":            "passwd-",
		`C:\con.txt`:             "con-txt-",
		"a\x00b\nc":              "a-b-c-",
		"Häuschen 2":             "Häuschen-2-",
		"..":                     "",
		strings.Repeat("é", 300): strings.Repeat("é", 40) + "-",
	}
	name := regexp.MustCompile(`^\d{8}/(.*?)[a-z2-7]{16}\.png$`)
	for given, prefix := range names {
		h := newHarness(t, options{provider: f})
		res := h.call(t, args{"prompt": "a house", "file_name": given})
		files := h.saved(t)
		if res.IsError || len(files) != 1 {
			t.Fatalf("%q: %d files, %s", given, len(files), textOf(t, res))
		}
		for rel, info := range files {
			m := name.FindStringSubmatch(rel)
			if m == nil || m[1] != prefix || info.Mode().Perm() != 0o600 {
				t.Errorf("%q was saved as %s, %s, want prefix %q", given, rel, info.Mode(), prefix)
			}
			dir, err := os.Stat(filepath.Join(h.out, filepath.Dir(rel)))
			if err != nil || dir.Mode().Perm() != 0o700 {
				t.Errorf("the directory has %v, %v", dir.Mode(), err)
			}
			if !strings.Contains(textOf(t, res), filepath.Join(h.out, rel)) {
				t.Errorf("the text does not name %s", rel)
			}
			same(t, h, rel)
		}
	}
}

// same wants the resource of a file to be the file.
func same(t *testing.T, h *harness, rel string) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join(h.out, rel))
	must(t, err)
	id := strings.TrimSuffix(rel[len(rel)-len("aaaaaaaaaaaaaaaa.png"):], ".png")
	res, err := h.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "image://" + id})
	must(t, err)
	c := res.Contents[0]
	if sha256.Sum256(c.Blob) != sha256.Sum256(want) || c.MIMEType != "image/png" || res.CacheScope != "private" {
		t.Errorf("the resource has %d bytes of %s, cache scope %s; the file %d bytes", len(c.Blob), c.MIMEType, res.CacheScope, len(want))
	}
}

func TestUnknownResources(t *testing.T) {
	h := newHarness(t, options{provider: newFake(t)})
	for _, uri := range []string{"image://aaaaaaaaaaaaaaaa", "image://x", "image://..%2f..%2fetc%2fpasswd", "image://"} {
		if _, err := h.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil || !strings.Contains(err.Error(), "not found") {
			t.Errorf("%s: %v", uri, err)
		}
	}
}

// A link in the output directory leads nowhere (B12); a directory that cannot be written costs
// the file and not the picture (B13).
func TestUnwritable(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, out string){
		"a link as the day": func(t *testing.T, out string) {
			must(t, os.MkdirAll(out, 0o700))
			elsewhere := t.TempDir()
			must(t, os.Symlink(elsewhere, filepath.Join(out, today())))
			t.Cleanup(func() {
				if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
					t.Errorf("%s was written", left)
				}
			})
		},
		"a file in its place": func(t *testing.T, out string) { must(t, os.WriteFile(out, nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t, options{provider: newFake(t)})
			prepare(t, h.out)
			res := h.call(t, args{"prompt": "a house"})
			text := textOf(t, res)
			if got := blocks(t, res); res.IsError || !slices.Equal(got, []string{"image/png 64x48", "link"}) {
				t.Fatalf("got %q: %s", got, text)
			}
			if !strings.Contains(text, "[warning: the picture could not be saved (") || !strings.Contains(text, "not saved") {
				t.Errorf("text: %s", text)
			}
			uri := res.Content[2].(*mcp.ResourceLink).URI
			if r, err := h.client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err != nil || len(r.Contents[0].Blob) == 0 {
				t.Errorf("the resource is not there: %v", err)
			}
		})
	}
}

// --keep removes the oldest pictures, and nothing else.
func TestKeep(t *testing.T) {
	h := newHarness(t, options{provider: newFake(t), flags: []string{"keep=3"}})
	old := filepath.Join(h.out, "20200101")
	must(t, os.MkdirAll(old, 0o700))
	past := mustTime(t, "2020-01-01T00:00:00Z")
	for _, name := range []string{"aaaaaaaaaaaaaaaa.png", "notes.txt"} {
		must(t, os.WriteFile(filepath.Join(old, name), []byte("x"), 0o600))
		must(t, os.Chtimes(filepath.Join(old, name), past, past))
	}
	for i := range 4 {
		h.call(t, args{"prompt": strings.Repeat("x", i+1)})
	}
	res := h.call(t, args{"prompt": "several", "n": 5})
	got := slices.Sorted(maps.Keys(h.saved(t)))
	if len(got) != 6 || !slices.Contains(got, "20200101/notes.txt") || res.IsError {
		t.Errorf("got %q, want the five of the last call and the notes", got)
	}
}

// So it does by their bytes.
func TestKeepBytes(t *testing.T) {
	h := newHarness(t, options{provider: making(t, noise(t, 64, 64, false)), flags: []string{"keep=30k"}}) // of 12 KiB each
	old := filepath.Join(h.out, "20200101")
	must(t, os.MkdirAll(old, 0o700))
	first := filepath.Join(old, "aaaaaaaaaaaaaaaa.png")
	must(t, os.WriteFile(first, []byte("x"), 0o600))
	must(t, os.Chtimes(first, mustTime(t, "2020-01-01T00:00:00Z"), mustTime(t, "2020-01-01T00:00:00Z")))
	for _, prompt := range []string{"one", "two", "three", "four"} {
		if res := h.call(t, args{"prompt": prompt, "file_name": prompt}); res.IsError {
			t.Fatal(textOf(t, res))
		}
	}
	if got := slices.Sorted(maps.Keys(h.saved(t))); len(got) != 2 || !strings.Contains(got[0], "/four-") || !strings.Contains(got[1], "/three-") {
		t.Errorf("got %q, want the last two", got)
	}
	if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the empty day is left: %v", err)
	}
}

// The planted key is in no result, log or error, whatever the server answers (B4).
func TestKeyIsNowhere(t *testing.T) {
	h, far := upstream(t, echoes())
	for range len(echoes()) {
		res := h.call(t, args{"prompt": "a house"})
		if !res.IsError {
			t.Error("the answer was taken for a picture")
		}
		if text := textOf(t, res); strings.Contains(text, plantedKey) {
			t.Errorf("the key is in %s", text)
		}
	}
	h.call(t, args{"prompt": "a house"})
	if !strings.Contains(far.Requests()[0].Header.Get("Authorization"), plantedKey) {
		t.Error("the key was not sent")
	}
	must(t, filepath.WalkDir(h.out, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		if bytes.Contains(data, []byte(plantedKey)) {
			t.Errorf("the key is in %s", p)
		}
		return err
	}))
}

// Nor is it in the log, at its most talkative, nor in what the program prints.
func TestKeyIsNotLogged(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", plantedKey)
	steps := echoes()
	far := httptest.NewServer(openaitest.New(plantedKey, steps...))
	defer far.Close()
	for _, form := range []string{"mcp", "openai"} {
		for range len(steps)/2 + 1 {
			var out, log bytes.Buffer
			flags := []string{"--base-url", far.URL + "/v1", "--output-dir", t.TempDir(), "--log-level", "trace", "--result-format", form}
			imagetool.App().Run(t.Context(), append(flags, "call", "--json", "image_generation", "prompt=a house"), toolkit.Streams{In: strings.NewReader(""), Out: &out, Err: &log})
			if out.Len() == 0 || log.Len() == 0 || strings.Contains(out.String()+log.String(), plantedKey) {
				t.Errorf("printed %.500s\nlogged %s", out.String(), log.String())
			}
		}
	}
}

func decodeBase64(t *testing.T, text string) []byte {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(text)
	must(t, err)
	return data
}
