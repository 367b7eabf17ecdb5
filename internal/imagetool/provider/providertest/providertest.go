// Package providertest holds what every [provider.Provider] must do.
//
//	providertest.Run(t, provider)
//
// It asks for small pictures, several times; a provider that costs money is given a server
// that stands in for the real one.
package providertest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// small is a size that every provider can make.
var small = provider.Size{Width: 256, Height: 256}

// Run runs the suite against p.
func Run(t *testing.T, p provider.Provider) {
	for name, r := range requests(t, p) {
		t.Run(name, func(t *testing.T) { makes(t, p, r) })
	}
	t.Run("without a report", func(t *testing.T) {
		if _, err := p.Generate(t.Context(), provider.Request{Prompt: "a house", Size: small}, nil); err != nil {
			t.Error(err)
		}
	})
	t.Run("cancelled", func(t *testing.T) { cancelled(t, p) })
	t.Run("at once", func(t *testing.T) { atOnce(t, p) })
	t.Run("an edit of nothing", func(t *testing.T) { refuses(t, p) })
	t.Run("models", func(t *testing.T) { models(t, p) })
}

// requests are what every provider can be asked for.
func requests(t *testing.T, p provider.Provider) map[string]provider.Request {
	compression := 50
	made, err := p.Generate(t.Context(), provider.Request{Prompt: "a boat", Size: small, Format: provider.PNG}, nil)
	if err != nil {
		t.Fatalf("make a picture to edit: %v", err)
	}
	input := made.Images[0]
	return map[string]provider.Request{
		"nothing but a prompt": {Prompt: "a house"},
		"a size":               {Prompt: "a house", Size: small},
		"another size":         {Prompt: "a house", Size: provider.Size{Width: 384, Height: 256}},
		"png":                  {Prompt: "a house", Size: small, Format: provider.PNG},
		"jpeg":                 {Prompt: "a house", Size: small, Format: provider.JPEG, Compression: &compression},
		"webp":                 {Prompt: "a house", Size: small, Format: provider.WebP},
		"three":                {Prompt: "a house", Size: small, N: 3},
		"transparent":          {Prompt: "a house", Size: small, Background: "transparent", Format: provider.PNG},
		"partial pictures":     {Prompt: "a house", Size: small, Partials: 2},
		"all words":            {Prompt: "Ein Häuschen, 家, 🏠\n\tin the \"snow\"", Size: small, Quality: "low", Moderation: "low", User: "u-1"},
		"an edit":              {Prompt: "a red boat", Size: small, Images: []provider.Picture{input}},
		"an edit of two":       {Prompt: "two boats", Size: small, Action: provider.Edit, Images: []provider.Picture{input, input}},
		"an edit with a mask":  {Prompt: "a red boat", Size: small, Images: []provider.Picture{input}, Mask: mask(t)},
	}
}

// makes asks for r and wants what was asked for, or a warning that names what was not given.
func makes(t *testing.T, p provider.Provider, r provider.Request) {
	var events []provider.Event
	result, err := p.Generate(t.Context(), r, func(e provider.Event) { events = append(events, e) })
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Images) == 0 {
		t.Fatal("there is neither a picture nor an error")
	}
	if want := max(r.N, 1); len(result.Images) != want {
		warned(t, result, "pictures")
	}
	for i, picture := range result.Images {
		checkPicture(t, result, r, picture)
		if i > 0 && string(picture.Data) == string(result.Images[0].Data) {
			t.Errorf("pictures 0 and %d are the same", i)
		}
	}
	for _, w := range result.Warnings {
		if w == "" || strings.ContainsAny(w, "\r\n") {
			t.Errorf("warning %q is not one line", w)
		}
	}
	checkEvents(t, r, events)
}

func checkPicture(t *testing.T, result *provider.Result, r provider.Request, picture provider.Picture) {
	t.Helper()
	same, err := provider.Identify(picture.Data)
	if err != nil {
		t.Fatal(err)
	}
	if same.Format != picture.Format || same.Size != picture.Size {
		t.Errorf("the label says %s %s, the bytes say %s %s", picture.Format, picture.Size, same.Format, same.Size)
	}
	if err := picture.Check(); err != nil {
		t.Error(err)
	}
	if r.Format != "" && picture.Format != r.Format {
		warned(t, result, string(r.Format))
	}
	if r.Size != (provider.Size{}) && picture.Size != r.Size {
		warned(t, result, r.Size.String())
	}
}

// warned wants a warning with the word.
func warned(t *testing.T, result *provider.Result, word string) {
	t.Helper()
	if !slices.ContainsFunc(result.Warnings, func(w string) bool { return strings.Contains(w, word) }) {
		t.Errorf("not as asked, and no warning about %s in %q", word, result.Warnings)
	}
}

// checkEvents wants partial pictures in order, not more than asked for, and each whole.
func checkEvents(t *testing.T, r provider.Request, events []provider.Event) {
	t.Helper()
	next := 0
	for _, e := range events {
		if (e.Phase == provider.PartialImage) != (e.Partial != nil) {
			t.Errorf("event %q has the picture %v", e.Phase, e.Partial != nil)
		}
		if e.Partial == nil {
			continue
		}
		if e.Index < next || e.Index >= r.Partials {
			t.Errorf("partial picture %d of %d came after %d others", e.Index, r.Partials, next)
		}
		next = e.Index + 1
		if err := e.Partial.Check(); err != nil {
			t.Errorf("partial picture %d: %v", e.Index, err)
		}
	}
}

func cancelled(t *testing.T, p provider.Provider) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result, err := p.Generate(ctx, provider.Request{Prompt: "a house"}, nil)
	var e *provider.Error
	if result != nil || !errors.As(err, &e) || e.Code != provider.Cancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v and %#v, want an *Error with code cancelled that wraps context.Canceled", result, err)
	}
}

func atOnce(t *testing.T, p provider.Provider) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := p.Generate(t.Context(), provider.Request{Prompt: "a house", Size: small}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func refuses(t *testing.T, p provider.Provider) {
	_, err := p.Generate(t.Context(), provider.Request{Prompt: "a house", Action: provider.Edit}, nil)
	var e *provider.Error
	if !errors.As(err, &e) || e.Code != provider.InvalidRequest || e.MayHaveRun {
		t.Errorf("got %#v, want an *Error with code invalid_request", err)
	}
}

func models(t *testing.T, p provider.Provider) {
	if p.Name() == "" {
		t.Error("the provider has no name")
	}
	if m := p.Model("no-such-model"); m.Name != "no-such-model" || m.Known {
		t.Errorf("Model of an unknown name is %+v", m)
	}
}
