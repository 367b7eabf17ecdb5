package imagetool

import (
	"testing"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/pkg/approval"
)

// What is the same order, and of whom: a join across principals would show one the picture of
// another, and one that misses a repeat would pay twice.
func TestKey(t *testing.T) {
	picture := func(data string) provider.Picture {
		return provider.Picture{Data: []byte(data), Format: provider.PNG, Size: provider.Size{Width: 8, Height: 8}}
	}
	one, other := picture("one"), picture("other")
	caller := approval.Caller{Principal: "ann", Session: "s1", Transport: approval.HTTP}
	ask := order{
		Request: provider.Request{Prompt: "a house", Model: "m", N: 1, Quality: "low", Images: []provider.Picture{one}, Mask: &other},
		name:    "boat", bought: true, warnings: []string{"a"},
	}
	want := ask.key(caller)
	tests := map[string]struct {
		change func(*order, *approval.Caller)
		same   bool
	}{
		"nothing":              {func(*order, *approval.Caller) {}, true},
		"another session":      {func(_ *order, c *approval.Caller) { c.Session = "s2" }, true},
		"other warnings":       {func(o *order, _ *approval.Caller) { o.warnings = nil }, true},
		"another principal":    {func(_ *order, c *approval.Caller) { c.Principal = "ben" }, false},
		"another transport":    {func(_ *order, c *approval.Caller) { c.Transport = approval.Stdio }, false},
		"another prompt":       {func(o *order, _ *approval.Caller) { o.Prompt = "two houses" }, false},
		"another model":        {func(o *order, _ *approval.Caller) { o.Model = "n" }, false},
		"another size":         {func(o *order, _ *approval.Caller) { o.Size = provider.Size{Width: 16, Height: 16} }, false},
		"another user":         {func(o *order, _ *approval.Caller) { o.User = "u-2" }, false},
		"more pictures":        {func(o *order, _ *approval.Caller) { o.N = 2 }, false},
		"another name":         {func(o *order, _ *approval.Caller) { o.name = "ship" }, false},
		"another input":        {func(o *order, _ *approval.Caller) { o.Images = []provider.Picture{other} }, false},
		"another mask":         {func(o *order, _ *approval.Caller) { o.Mask = &one }, false},
		"the mask as an input": {func(o *order, _ *approval.Caller) { o.Mask, o.Images = nil, append(o.Images, other) }, false},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			o, who := ask, caller
			o.Images = append([]provider.Picture(nil), ask.Images...)
			c.change(&o, &who)
			if got := o.key(who) == want; got != c.same {
				t.Errorf("the same: %v, want %v", got, c.same)
			}
		})
	}
}
