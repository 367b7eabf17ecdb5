package imagetool_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// A provider that does not name its model has made the picture all the same.
func TestNamelessModel(t *testing.T) {
	f := newFake(t)
	f.do = func(context.Context, provider.Request, func(provider.Event)) (*provider.Result, error) {
		r := pictures(1)
		r.Model = ""
		return r, nil
	}
	h := newHarness(t, options{provider: f})
	if text := textOf(t, h.call(t, args{"prompt": "a house"})); !strings.HasPrefix(text, "Made 1 picture with gpt-image-2 (openai) in ") {
		t.Errorf("got %s", text)
	}
}

// No more pictures are kept than were asked for: those beyond would be paid for by nobody, and
// have no id.
func TestTooManyPictures(t *testing.T) {
	f := newFake(t)
	f.do = func(context.Context, provider.Request, func(provider.Event)) (*provider.Result, error) {
		return pictures(200), nil
	}
	for n := 1; n <= 2; n++ {
		h := newHarness(t, options{provider: f})
		text := textOf(t, h.call(t, args{"prompt": "a house", "n": n}))
		if files := h.saved(t); len(files) != n || strings.Count(text, "image://") != n || !strings.Contains(text, fmt.Sprintf("[warning: the provider made 200 pictures where %d would do", n)) {
			t.Errorf("%d of %d were saved: %s", len(files), n, text)
		}
	}
}

// What a provider says of a picture is bounded and steers no terminal, in both forms.
func TestLongWords(t *testing.T) {
	f := newFake(t)
	f.do = func(context.Context, provider.Request, func(provider.Event)) (*provider.Result, error) {
		r := pictures(1)
		long := "\x1b[31m\n" + strings.Repeat("é", 1_000_000)
		r.RevisedPrompt, r.Quality, r.Background, r.Model = long, long, long, long
		return r, nil
	}
	h := newHarness(t, options{provider: f, flags: []string{"result-format=openai"}})
	s := contract(t, h.call(t, args{"prompt": "a house"}))
	for text, most := range map[*string]int{&s.revisedPrompt: 32_000, &s.quality: 100, &s.background: 100} {
		if n := utf8.RuneCountInString(*text); n != most || strings.Contains(*text, "\x1b") || !strings.HasSuffix(*text, "é…") {
			t.Errorf("it has %d characters, want %d: %.20q", n, most, *text)
		}
	}
	h = newHarness(t, options{provider: f})
	if text := textOf(t, h.call(t, args{"prompt": "a house"})); len(text) > 10_000 || strings.Contains(text, "\x1b") || strings.Count(text, "\n") > 4 {
		t.Errorf("%d bytes: %.500s", len(text), text)
	}
}

// A picture that was not saved can be read, and the warning says how.
func TestUnsavedIsNamed(t *testing.T) {
	h := newHarness(t, options{provider: making(t, noise(t, 1600, 1200, false))})
	must(t, os.WriteFile(h.out, nil, 0o600)) // in the place of the directory
	text := textOf(t, h.call(t, args{"prompt": "a house"}))
	_, rest, _ := strings.Cut(text, "it is in memory only, to be read as image://")
	id, rest, _ := strings.Cut(rest, " ")
	if !strings.Contains(text, "shown as a preview") || !strings.HasPrefix(rest, "for 10 minutes]") || read(t, h, id) != "image/png" {
		t.Errorf("got %s", text)
	}
}

// The warning about a size names the one that the picture has.
func TestSizeOfSketch(t *testing.T) {
	for asked, used := range map[string]string{"99999x1": "3839x16", "1x99999": "16x3839", "9000x9000": "", "8x8": "16x16", "16x16": "16x16"} {
		h := newHarness(t, options{flags: []string{"provider=sketch"}})
		text := textOf(t, h.call(t, args{"prompt": "a house", "size": asked}))
		_, rest, warned := strings.Cut(text, "the nearest that can, ")
		named, _, _ := strings.Cut(rest, ",")
		_, rest, _ = strings.Cut(text, "image://")
		_, rest, _ = strings.Cut(rest, ": ")
		made, _, _ := strings.Cut(rest, " ")
		if warned != (asked != made) || warned && named != made || used != "" && made != used || strings.Count(text, "size") > strings.Count(text, "size: ") {
			t.Errorf("%s: %s", asked, text)
		}
	}
}

// A drawing without a size is said to have none.
func TestDrawingWithoutSize(t *testing.T) {
	p, err := provider.Identify([]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`))
	must(t, err)
	h := newHarness(t, options{provider: making(t, p)})
	if text := textOf(t, h.call(t, args{"prompt": "a house"})); !strings.Contains(text, ": svg, 41 bytes") {
		t.Errorf("got %s", text)
	}
}
