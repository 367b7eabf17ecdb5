package openai

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// A profile says how a kind of server differs from the Images API.
type profile struct {
	name  string
	hosts []string // by which a base URL is known; with a leading dot, any host below

	// responseFormat is the value of response_format: "" never sends it, auto sends b64_json
	// for all but the models that refuse it.
	responseFormat string
	fields         []string // optional ones that it takes; nil: any
	sides          bool     // the size as width and height, not as WIDTHxHEIGHT
	keyHeader      string   // of the key; Authorization when empty
	model          string   // of requests that name none
	needsModel     bool     // there is no default
	user           string   // the field for Request.User; user when empty
	streams        bool     // it sends partial pictures
	inPrompt       string   // how seed and what to leave out go into the prompt: bar, sdcpp
}

// imagesAPI are the optional fields that OpenAI knows.
var imagesAPI = []string{
	"n", "size", "quality", "background", "output_format", "output_compression", "moderation", "input_fidelity",
	"complexity", "frame_count", "partial_images", "user", "safety_identifier",
}

// profiles is what is known of servers, by their documents and bug reports.
var profiles = []profile{
	{name: "openai", hosts: []string{"api.openai.com", ".api.openai.com"}, fields: imagesAPI, model: "gpt-image-2", user: "safety_identifier", streams: true},
	// The model is the name of a deployment, which only its owner knows.
	{name: "azure", hosts: []string{".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"}, fields: imagesAPI, keyHeader: "Api-Key", needsModel: true, streams: true},
	// Answers with addresses unless told otherwise; LocalAI#2299. A bar in the prompt begins what to leave out.
	{name: "localai", responseFormat: "b64_json", inPrompt: "bar"},
	// Addresses need a store for them; sglang#19360. Unknown fields are ignored.
	{name: "sglang", responseFormat: "b64_json"},
	{name: "vllm", responseFormat: "b64_json", fields: []string{"n", "size", "user", "seed", "negative_prompt"}},
	// Always base64. The rest goes into the prompt; the model is what the server was started with.
	{name: "sdcpp", fields: []string{"n", "size", "output_format", "output_compression"}, inPrompt: "sdcpp"},
	{name: "together", hosts: []string{"api.together.xyz", "api.together.ai"}, responseFormat: "base64", sides: true, fields: []string{"n", "size", "output_format", "seed", "negative_prompt"}},
	// Refuses what the model behind it does not know; litellm#17719.
	{name: "litellm", streams: true},
	{name: "generic", responseFormat: "auto", streams: true},
}

// Profiles returns the names of the profiles.
func Profiles() []string {
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = p.name
	}
	return names
}

// profileOf returns the named profile, or the one whose hosts match, or the generic one.
func profileOf(name string, base *url.URL) (profile, error) {
	for _, p := range profiles {
		if p.name == name || name == "" && p.serves(base.Hostname()) {
			return p, nil
		}
	}
	if name != "" {
		return profile{}, fmt.Errorf("the profile %q is not known; there are %s", name, strings.Join(Profiles(), ", "))
	}
	return profiles[len(profiles)-1], nil
}

func (p profile) serves(host string) bool {
	host = strings.ToLower(host)
	return slices.ContainsFunc(p.hosts, func(h string) bool {
		return host == h || strings.HasPrefix(h, ".") && strings.HasSuffix(host, h)
	})
}

// can reports whether the server takes an optional field.
func (p profile) can(field string) bool { return p.fields == nil || slices.Contains(p.fields, field) }

// authorize returns the header that carries the key; empty without a key.
func (p profile) authorize(key string) http.Header {
	h := http.Header{}
	switch {
	case key == "":
	case p.keyHeader != "":
		h.Set(p.keyHeader, key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
	return h
}
