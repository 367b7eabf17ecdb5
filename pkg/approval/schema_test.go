package approval_test

import (
	"encoding/json"
	"testing"

	"go.yaml.in/yaml/v3"
)

// readYAML reads a text as JSON has it, without the reader that is tested.
func readYAML(t testing.TB, text string) any {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
