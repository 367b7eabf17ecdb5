package toolkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// decode fills in from the raw arguments of a call, by the rules that all tools share:
// unknown keys warn; null, "" and "null" leave an optional argument out, unless it is
// verbatim; "5" and 5.0 are 5; aliases count as the name they stand for; a key given twice, at any depth, is
// refused, since two readers could understand two different calls.
//
// It returns what it took as one JSON object, in which each argument stands once, by its own
// name. Errors name the argument, what came, what is allowed, and an example.
func decode(raw json.RawMessage, params []Param, in any) (taken json.RawMessage, warnings []string, err error) {
	given, err := parseArguments(raw)
	if err != nil {
		return nil, nil, err
	}
	d := decoder{params: params, out: map[string]any{}, from: map[string]string{}}
	for _, m := range given {
		if err := d.member(m); err != nil {
			return nil, nil, err
		}
	}
	for i := range params {
		p := &params[i]
		if _, ok := d.out[p.Name]; p.Required && !ok {
			return nil, nil, Errorf("%s is missing: give it as %s, for example {%q: %s}", p.Name, p.kind(), p.Name, p.example())
		}
	}
	taken, err = json.Marshal(d.out)
	if err != nil {
		return nil, nil, fmt.Errorf("encode decoded arguments: %w", err)
	}
	if err := json.Unmarshal(taken, in); err != nil {
		return nil, nil, fmt.Errorf("fill %T: %w", in, err)
	}
	if d.more > 0 {
		d.warnings = append(d.warnings, fmt.Sprintf("and %d unknown arguments more", d.more))
	}
	return taken, d.warnings, nil
}

// maxUnknown is how many unknown arguments are named; the others are counted.
const maxUnknown = 8

// A decoder gathers the members of one arguments object.
type decoder struct {
	params   []Param
	out      map[string]any
	from     map[string]string // canonical name -> key it was given by
	warnings []string
	unknown  int // arguments named in warnings
	more     int // and not named
}

func (d *decoder) member(m member) error {
	p := lookup(d.params, m.key)
	if p == nil {
		d.warn(m.key)
		return nil
	}
	v, absent, err := d.coerce(p, m.value)
	if err != nil || absent {
		return err
	}
	if before, ok := d.from[p.Name]; ok && !sameJSON(d.out[p.Name], v) {
		return Errorf("%s and %s mean the same argument and differ: give only %s", before, m.key, p.Name)
	}
	d.from[p.Name], d.out[p.Name] = m.key, v
	return nil
}

// warn says that an argument is unknown.
func (d *decoder) warn(key string) {
	if d.unknown == maxUnknown {
		d.more++
		return
	}
	d.unknown++
	var names []string
	for _, p := range d.params {
		if !p.Hidden {
			names = append(names, p.Name)
		}
	}
	d.warnings = append(d.warnings, fmt.Sprintf("unknown argument %s ignored; there are: %s", Inline(shorten(key)), strings.Join(names, ", ")))
}

func lookup(params []Param, key string) *Param {
	for i := range params {
		if params[i].Name == key || slices.Contains(params[i].Aliases, key) {
			return &params[i]
		}
	}
	return nil
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
