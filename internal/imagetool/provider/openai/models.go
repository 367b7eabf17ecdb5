package openai

import (
	"strings"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

var (
	usual    = []string{"auto", "low", "medium", "high"}
	extended = []string{"auto", "low", "medium", "high", "xhigh", "max"}
	raster   = []provider.Format{provider.PNG, provider.JPEG, provider.WebP}
	every    = []provider.Format{provider.PNG, provider.JPEG, provider.WebP, provider.GIF, provider.SVG}
	three    = []provider.Size{{Width: 1024, Height: 1024}, {Width: 1536, Height: 1024}, {Width: 1024, Height: 1536}}
	either   = []string{"high", "low"}
)

// models are the rules by the first part of a name, as the API's reference gives them; what
// it does not state is left open. The longest part that fits counts.
var models = map[string]provider.Model{
	"gpt-image-1":          {Qualities: usual, Formats: raster, Sizes: three, Partials: true, Transparent: true, Fidelities: either},
	"gpt-image-1-mini":     {Qualities: usual, Formats: raster, Sizes: three, Partials: true, Transparent: true, Fidelities: []string{"low"}},
	"gpt-image-1.5":        {Qualities: usual, Formats: raster, Sizes: three, Partials: true, Transparent: true, Fidelities: either},
	"gpt-image-2":          free(usual, nil),
	"gpt-image-2.5":        free(extended, either),
	"gpt-image-2.6":        free(nil, either),
	"chatgpt-image-latest": {Formats: raster, Sizes: three, Partials: true, Transparent: true, Fidelities: either},
}

// free are the rules of models that take any size within bounds.
func free(qualities, fidelities []string) provider.Model {
	return provider.Model{
		Qualities: qualities, Formats: every, Fidelities: fidelities,
		Multiple: 16, MaxEdge: provider.Size{Width: 3840, Height: 2160}, MaxRatio: 3,
		Partials: true, Transparent: true,
	}
}

// lookUp returns the rules for a model. Gateways put the owner before the name
// (azure/gpt-image-2), and dates stand behind it.
func lookUp(name string) provider.Model {
	m, best := provider.Model{Transparent: true, Partials: true, Fidelities: either}, ""
	bare := strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	for prefix, rules := range models {
		rest, ok := strings.CutPrefix(bare, prefix)
		if ok && (rest == "" || rest[0] == '-') && len(prefix) > len(best) {
			m, best = rules, prefix
			m.Known = true
		}
	}
	m.Name = name
	return m
}

// refusesResponseFormat reports whether a model answers 400 to response_format; litellm#10501.
func refusesResponseFormat(model string) bool {
	bare := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	return strings.HasPrefix(bare, "gpt-image") || strings.HasPrefix(bare, "chatgpt-image")
}
