package toolkit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/pkg/toolkit"
)

func TestTolerantArguments(t *testing.T) {
	s, _ := newServer(t, toolkit.Options{}, nil)
	cs := connect(t, s, nil)
	tests := []struct{ name, args, want string }{
		{
			"as declared", `{"name":"n","count":5,"ratio":0.5,"loud":true,"tags":["a"],"sizes":[1],"extra":{"k":1},"mode":"fast"}`,
			`{"name":"n","note":null,"count":5,"ratio":0.5,"loud":true,"tags":["a"],"sizes":[1],"extra":{"k":1},"mode":"fast"}`,
		},
		{"number in a string", `{"name":"n","count":" 5 "}`, `"count":5`},
		{"whole float", `{"name":"n","count":5.0}`, `"count":5`},
		{"exponent", `{"name":"n","count":1e1}`, `"count":10`},
		{"float in a string", `{"name":"n","ratio":"0.25"}`, `"ratio":0.25`},
		{"boolean in a string", `{"name":"n","loud":"True"}`, `"loud":true`},
		{"boolean as a number", `{"name":"n","loud":0}`, `"loud":false`},
		{"number for a string", `{"name":7}`, `"name":"7"`},
		{"empty required string", `{"name":""}`, `"name":""`},
		{"null is absent", `{"name":"n","count":null,"loud":null,"mode":null}`, `"count":null`},
		{"empty string is absent", `{"name":"n","count":"","mode":""}`, `"count":null`},
		{"the word null is absent", `{"name":"n","count":"null","note":"null"}`, `"note":null`},
		{"but not of a verbatim string", `{"name":"n","exact":"null"}`, `"exact":"null"`},
		{"nor is an empty one", `{"name":"n","exact":""}`, `"exact":""`},
		{"null leaves it out", `{"name":"n","exact":null}`, `"note":null,"count"`},
		{"alias", `{"title":"n"}`, `"name":"n"`},
		{"alias and name agree", `{"title":"n","name":"n"}`, `"name":"n"`},
		{"array in a string", `{"name":"n","tags":"[\"a\",\"b\"]"}`, `"tags":["a","b"]`},
		{"single element", `{"name":"n","tags":"a"}`, `"tags":["a"]`},
		{"elements coerced", `{"name":"n","sizes":["1",2.0]}`, `"sizes":[1,2]`},
		{"object in a string", `{"name":"n","extra":"{\"a\":1}"}`, `"extra":{"a":1}`},
		{"enum in other case", `{"name":"n","mode":"FAST"}`, `"mode":"fast"`},
		{"below the bound", `{"name":"n","count":0}`, `[warning: count: 0 is below 1; 1 was used]`},
		{"above the bound", `{"name":"n","count":99}`, `[warning: count: 99 is above 10; 10 was used]`},
		{"unknown key", `{"name":"n","colour":"red"}`, `[warning: unknown argument colour ignored; there are: name, note,`},
		{"paired surrogates", `{"name":"\ud83d\ude00"}`, `"name":"😀"`},
		{"escaped backslash before u", `{"name":"\\ud83d"}`, `"name":"\\ud83d"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, isError := call(t, cs, tt.args)
			if isError {
				t.Fatalf("refused: %s", got)
			}
			mustContain(t, got, tt.want)
		})
	}
}

func TestBadArguments(t *testing.T) {
	s, _ := newServer(t, toolkit.Options{}, nil)
	cs := connect(t, s, nil)
	deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	tests := []struct {
		name, args string
		want       []string
	}{
		{"missing", `{}`, []string{"name is missing", `{"name": "x"}`}},
		{"required null", `{"name":null}`, []string{"name: got null", "a string"}},
		{"arguments null", `null`, []string{"name is missing"}},
		{"arguments an array", `[1]`, []string{"arguments: got [1], want a JSON object"}},
		{"wrong type", `{"name":"n","count":"many"}`, []string{`count: got "many", want an integer`, `{"count": 1}`}},
		{"fraction for an integer", `{"name":"n","count":1.5}`, []string{"count: got 1.5"}},
		{"boolean for a number", `{"name":"n","ratio":true}`, []string{"ratio: got true, want a number"}},
		{"list for a string", `{"name":["a"]}`, []string{`name: got ["a"], want a string`}},
		{"word for a boolean", `{"name":"n","loud":"maybe"}`, []string{`loud: got "maybe", want a boolean`}},
		{"element of the wrong type", `{"name":"n","sizes":["x"]}`, []string{`sizes: got ["x"], want an array of integers`}},
		{"not in the enum", `{"name":"n","mode":"medium"}`, []string{`mode: got "medium", want one of fast, slow`}},
		{"string for an object", `{"name":"n","extra":"x"}`, []string{`extra: got "x", want an object`}},
		{"alias and name differ", `{"title":"a","name":"b"}`, []string{"title and name mean the same argument and differ"}},
		{"duplicate key", `{"name":"a","name":"b"}`, []string{`key "name" is given twice`}},
		{"duplicate nested key", `{"name":"a","extra":{"k":1,"k":2}}`, []string{`key "k" is given twice`}},
		{"duplicate key in a string", `{"name":"a","extra":"{\"k\":1,\"k\":2}"}`, []string{`key "k" is given twice`}},
		{"duplicate key in other spelling", `{"name":"a","n\u0061me":"b"}`, []string{`key "name" is given twice`}},
		{"unpaired surrogate", `{"name":"\ud800"}`, []string{`unpaired surrogate \ud800`}},
		{"halves the wrong way round", `{"name":"\ude00\ud83d"}`, []string{`unpaired surrogate \ude00`}},
		{"deep nesting", `{"name":"n","extra":` + deep + `}`, []string{"nested deeper than"}},
		{"value is quoted shortly", `{"name":"n","count":"` + strings.Repeat("9", 5000) + `"}`, []string{"... (5002 bytes)"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, isError := call(t, cs, tt.args)
			if !isError {
				t.Fatalf("accepted: %s", got)
			}
			mustContain(t, got, tt.want...)
		})
	}
}

// A call with very many unknown keys must not cost more than its size, nor push its
// result out of the budget.
func TestManyUnknownArguments(t *testing.T) {
	s, _ := newServer(t, toolkit.Options{}, nil)
	var args strings.Builder
	args.WriteString(`{"name":"n"`)
	for i := range 100_000 {
		fmt.Fprintf(&args, `,"key%d":1`, i)
	}
	got, isError := call(t, connect(t, s, nil), args.String()+"}")
	if isError || len(got) > 4000 {
		t.Errorf("isError %v, %d bytes", isError, len(got))
	}
	mustContain(t, got, `"name":"n"`, "unknown argument key7 ignored", "and 99992 unknown arguments more")
}
