package toolkit

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// coerce turns what came for p into a value of p's type. absent means that an optional
// argument was left out in one of the ways in which clients do it.
func (d *decoder) coerce(p *Param, v any) (out any, absent bool, err error) {
	if isAbsent(v) && !(p.Type == String && (p.Required || p.Verbatim) && v != nil) {
		if p.Required {
			return nil, false, p.bad(v)
		}
		return nil, true, nil
	}
	switch p.Type {
	case String:
		out, err = p.text(v)
	case Integer:
		out, err = d.integer(p, v)
	case Number:
		out, err = p.number(v)
	case Boolean:
		out, err = p.boolean(v)
	case Array:
		out, err = p.array(v)
	case Object:
		out, err = p.object(v)
	case Any:
		out = v
	default:
		err = fmt.Errorf("parameter %s has no type", p.Name)
	}
	return out, false, err
}

func isAbsent(v any) bool {
	return v == nil || v == "" || v == "null" || v == "undefined"
}

func (p *Param) text(v any) (any, error) {
	s, ok := v.(string)
	if n, isNum := v.(json.Number); isNum {
		s, ok = n.String(), true
	}
	if !ok {
		return nil, p.bad(v)
	}
	if len(p.Enum) == 0 {
		return s, nil
	}
	for _, e := range p.Enum {
		if strings.EqualFold(e, strings.TrimSpace(s)) {
			return e, nil
		}
	}
	return nil, p.bad(v)
}

func (d *decoder) integer(p *Param, v any) (any, error) {
	n, ok := wholeNumber(v)
	if !ok {
		return nil, p.bad(v)
	}
	switch {
	case p.Min != nil && n < *p.Min:
		d.warnings = append(d.warnings, fmt.Sprintf("%s: %d is below %d; %d was used", p.Name, n, *p.Min, *p.Min))
		n = *p.Min
	case p.Max != nil && n > *p.Max:
		d.warnings = append(d.warnings, fmt.Sprintf("%s: %d is above %d; %d was used", p.Name, n, *p.Max, *p.Max))
		n = *p.Max
	}
	return n, nil
}

// wholeNumber reads 5, 5.0, 5e0 and "5".
func wholeNumber(v any) (int64, bool) {
	s, ok := numeral(v)
	if !ok {
		return 0, false
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

func numeral(v any) (string, bool) {
	switch x := v.(type) {
	case json.Number:
		return x.String(), true
	case string:
		return strings.TrimSpace(x), true
	}
	return "", false
}

func (p *Param) number(v any) (any, error) {
	s, ok := numeral(v)
	f, err := strconv.ParseFloat(s, 64)
	if !ok || err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, p.bad(v)
	}
	return f, nil
}

func (p *Param) boolean(v any) (any, error) {
	if b, ok := v.(bool); ok {
		return b, nil
	}
	s, _ := numeral(v)
	switch strings.ToLower(s) {
	case "true", "1", "yes":
		return true, nil
	case "false", "0", "no":
		return false, nil
	}
	return nil, p.bad(v)
}

// array also takes a JSON array in a string, and a single element.
func (p *Param) array(v any) (any, error) {
	if s, ok := v.(string); ok && strings.HasPrefix(strings.TrimSpace(s), "[") {
		if x, err := nested(s); err == nil {
			v = x
		}
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	item := Param{Name: p.Name + "[]", Type: p.items(), Required: true, Example: p.Example}
	out := make([]any, 0, len(list))
	var d decoder
	for _, e := range list {
		x, _, err := d.coerce(&item, e)
		if err != nil {
			return nil, p.bad(v)
		}
		out = append(out, x)
	}
	return out, nil
}

func (p *Param) items() Type {
	if p.Items == "" {
		return String
	}
	return p.Items
}

// object also takes a JSON object in a string.
func (p *Param) object(v any) (any, error) {
	if s, ok := v.(string); ok && strings.HasPrefix(strings.TrimSpace(s), "{") {
		x, err := nested(s)
		if err != nil {
			return nil, Because(err, "%s: the JSON in the string: %s", p.Name, visibleOr(err, "not valid"))
		}
		v = x
	}
	if m, ok := v.(map[string]any); ok {
		return m, nil
	}
	return nil, p.bad(v)
}

// nested parses JSON that came inside a string, by the same rules as the arguments.
func nested(s string) (any, error) {
	ms, err := parseArguments(json.RawMessage(`{"v":` + s + `}`))
	if err != nil {
		return nil, err
	}
	if len(ms) != 1 {
		return nil, Errorf("more than one value")
	}
	return ms[0].value, nil
}

func visibleOr(err error, fallback string) string {
	if s, ok := VisibleText(err); ok {
		return s
	}
	return fallback
}

// bad says what came for p and what is wanted.
func (p *Param) bad(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte(fmt.Sprintf("%T", v))
	}
	return Errorf("%s: got %s, want %s, for example {%q: %s}", p.Name, Inline(shorten(string(b))), p.kind(), p.Name, p.example())
}

// kind names the type for a person.
func (p *Param) kind() string {
	switch {
	case len(p.Enum) > 0:
		return "one of " + strings.Join(p.Enum, ", ")
	case p.Type == Array:
		return "an array of " + string(p.items()) + "s"
	case p.Type == Integer || p.Type == Object:
		return "an " + string(p.Type)
	}
	return "a " + string(p.Type)
}

func (p *Param) example() string {
	if p.Example != "" {
		return p.Example
	}
	switch p.Type {
	case Integer, Number:
		return "1"
	case Boolean:
		return "true"
	case Array:
		return "[]"
	case Object:
		return "{}"
	}
	if len(p.Enum) > 0 {
		return strconv.Quote(p.Enum[0])
	}
	return `"text"`
}

// shorten cuts s for quoting it in an error, at a rune boundary.
func shorten(s string) string {
	const limit = 80
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s... (%d bytes)", s[:cut], len(s))
}
