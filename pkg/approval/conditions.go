package approval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Conditions on the arguments of a call: a JSON pointer (RFC 6901), and what must be there. A
// condition on a value of another type does not hold, and null counts as absent.

// An argCondition is one entry of a rule's args.
type argCondition struct {
	pointer string
	path    []string // the pointer's tokens
	test    valueTest
}

// A valueTest is what a value must be; one of its fields is set.
type valueTest struct {
	equals   any // nil: not set
	in       []any
	glob     *string
	min, max *number
	present  *bool
}

// parsePointer returns the tokens of a JSON pointer.
func parsePointer(s string) ([]string, error) {
	if !strings.HasPrefix(s, "/") {
		return nil, fmt.Errorf("JSON pointer %q: begin with a slash, such as %q", s, "/"+s)
	}
	tokens := strings.Split(s[1:], "/")
	for i, t := range tokens {
		for rest := t; ; {
			at := strings.IndexByte(rest, '~')
			if at < 0 {
				break
			}
			if at+1 == len(rest) || rest[at+1] != '0' && rest[at+1] != '1' {
				return nil, fmt.Errorf("JSON pointer %q: write ~ as ~0 and / within a name as ~1", s)
			}
			rest = rest[at+2:]
		}
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
	}
	return tokens, nil
}

// lookUp returns the value at a pointer; nil where there is none.
func lookUp(v any, path []string) any {
	for _, token := range path {
		switch at := v.(type) {
		case map[string]any:
			v = at[token]
		case []any:
			i, ok := index(token)
			if !ok || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// index reads an array index as RFC 6901 has them: digits without a leading zero.
func index(token string) (int, bool) {
	if token == "" || token[0] == '+' || token[0] == '-' || token[0] == '0' && len(token) > 1 {
		return 0, false
	}
	i, err := strconv.Atoi(token)
	return i, err == nil
}

func (c *argCondition) holds(args *arguments) bool { return c.test.holds(args.at(c.path)) }

func (t *valueTest) holds(v any) bool {
	if t.present != nil {
		return (v != nil) == *t.present
	}
	if v == nil {
		return false
	}
	switch {
	case t.in != nil:
		for _, want := range t.in {
			if same(v, want) {
				return true
			}
		}
		return false
	case t.glob != nil:
		s, ok := v.(string)
		return ok && matchText(*t.glob, s)
	case t.min != nil:
		n, ok := v.(json.Number)
		return ok && parseNumber(n).compare(*t.min) >= 0
	case t.max != nil:
		n, ok := v.(json.Number)
		return ok && parseNumber(n).compare(*t.max) <= 0
	}
	return same(v, t.equals)
}

// same reports whether two JSON values are equal; numbers are so by value.
func same(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		n, ok := b.(json.Number)
		return ok && parseNumber(a).compare(parseNumber(n)) == 0
	case []any:
		l, ok := b.([]any)
		if !ok || len(a) != len(l) {
			return false
		}
		for i := range a {
			if !same(a[i], l[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		return sameObject(a, b)
	}
	switch b.(type) {
	case []any, map[string]any, json.Number:
		return false
	}
	return a == b
}

func sameObject(a map[string]any, b any) bool {
	m, ok := b.(map[string]any)
	if !ok || len(a) != len(m) {
		return false
	}
	for k, v := range a {
		w, ok := m[k]
		if !ok || !same(v, w) {
			return false
		}
	}
	return true
}

// A number is one of JSON: an integer where it is one of 64 bits, and else the nearest float64, in which what is
// too large is infinite.
type number struct {
	whole   int64
	isWhole bool
	value   float64
}

func parseNumber(s json.Number) number {
	if i, err := strconv.ParseInt(string(s), 10, 64); err == nil {
		return number{i, true, float64(i)}
	}
	f, _ := strconv.ParseFloat(string(s), 64)
	return number{value: f}
}

func (n number) compare(m number) int {
	if n.isWhole && m.isWhole {
		return order(n.whole, m.whole)
	}
	return order(n.value, m.value)
}

func order[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

var errNoObject = errors.New("the arguments are no JSON object")

// arguments are an object of which only what conditions look at is parsed.
type arguments struct {
	raw    map[string]json.RawMessage
	parsed map[string]any
}

func parseArgs(raw json.RawMessage) (*arguments, error) {
	a := &arguments{}
	if len(raw) == 0 {
		return a, nil
	}
	if err := json.Unmarshal(raw, &a.raw); err != nil {
		return a, errNoObject
	}
	return a, nil
}

// at returns the value at a pointer; nil where there is none.
func (a *arguments) at(path []string) any {
	v, ok := a.parsed[path[0]]
	if raw, there := a.raw[path[0]]; !ok && there {
		v = a.parse(path[0], raw)
	}
	return lookUp(v, path[1:])
}

func (a *arguments) parse(name string, raw json.RawMessage) (v any) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	_ = dec.Decode(&v) // raw is part of what was valid
	if a.parsed == nil {
		a.parsed = map[string]any{}
	}
	a.parsed[name] = v
	return v
}
