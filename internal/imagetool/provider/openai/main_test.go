package openai_test

import (
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openai"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openaitest"
	"github.com/toolhost/toolhost/internal/imagetool/provider/providertest"
	"github.com/toolhost/toolhost/internal/testleak"
)

func TestMain(m *testing.M) { testleak.Main(m) }

// key is planted everywhere and may be seen nowhere.
const key = "sk-planted-4711-qwertz"

// small is a size that the stand-in draws quickly.
var small = provider.Size{Width: 64, Height: 64}

// serve starts a stand-in that plays the steps, and a provider that asks it.
func serve(t *testing.T, o openai.Options, steps ...openaitest.Step) (*openai.Provider, *openaitest.Server) {
	t.Helper()
	s := openaitest.New(key, steps...)
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	o.BaseURL = h.URL + "/v1"
	return client(t, o), s
}

// client returns a provider with the planted key, as OpenAI is spoken to unless o says otherwise.
func client(t *testing.T, o openai.Options) *openai.Provider {
	t.Helper()
	o.APIKey = key
	if o.Profile == "" {
		o.Profile = "openai"
	}
	p, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// generate asks and returns the error as what it must be.
func generate(t *testing.T, p *openai.Provider, r provider.Request) (*provider.Result, *provider.Error) {
	t.Helper()
	if r.Prompt == "" {
		r.Prompt = "a house"
	}
	result, err := p.Generate(t.Context(), r, nil)
	var e *provider.Error
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("the error is a %T: %v", err, err)
	}
	if (result == nil) != (e != nil) {
		t.Fatalf("got %v and %v", result, err)
	}
	return result, e
}

func TestConformance(t *testing.T) {
	p, _ := serve(t, openai.Options{})
	providertest.Run(t, p)
}
