package approval

import (
	_ "embed"
	"encoding/json"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"
)

//go:embed policy.schema.json
var schemaText []byte

// Schema returns the JSON Schema (2020-12) of policies, for editors and for those who check
// policies elsewhere. What it accepts, [Parse] may still refuse: patterns that match nothing, examples that do not hold.
func Schema() []byte { return slices.Clone(schemaText) }

var resolvedSchema = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(schemaText, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
})

// againstSchema holds a document that was read without a problem against the schema, so that nothing runs
// that the schema, which others trust, would refuse.
func (r *reader) againstSchema(doc *yaml.Node) {
	schema, err := resolvedSchema()
	if err != nil {
		r.addf(nil, "schema: %v", err)
		return
	}
	text, err := json.Marshal(r.value(doc, "policy"))
	if err != nil {
		r.addf(nil, "schema: %v", err)
		return
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		r.addf(nil, "schema: %v", err)
		return
	}
	if err := schema.Validate(v); err != nil {
		r.addf(nil, "schema: %v", err)
	}
}
