package approval_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/approval"
)

// full returns an action with a value in every field.
func full() approval.Action {
	stdin := "in"
	return approval.Action{
		Tool: "shell", Effect: approval.RunCommands, Args: []byte(`{"a":1}`), Count: 2, Summary: "s",
		Paths: []approval.Path{{Access: approval.Update, Root: "/r", Rel: "a", SHA256: "00"}},
		Shell: &approval.Shell{
			Commands: []string{"ls"}, Dialect: "sh", Dir: "/data", Env: map[string]string{"A": "1"}, Stdin: &stdin,
			Image: "i", ImageID: "id", Network: "none", Mounts: []string{"/a:/b"},
		},
	}
}

// alter changes one field, whatever its type; fields below it are left to other cases.
func alter(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int:
		v.SetInt(v.Int() + 1)
	case reflect.Slice, reflect.Map, reflect.Pointer:
		if v.IsZero() {
			t.Fatal("the full action leaves a field out")
		}
		v.SetZero()
	default:
		t.Fatalf("a field of kind %s: say here how it is changed", v.Kind())
	}
}

// A field that is new and not in the digest could be changed after it was approved.
func TestDigestHasEveryField(t *testing.T) {
	structs := map[string]func(*approval.Action) reflect.Value{
		"Action": func(a *approval.Action) reflect.Value { return reflect.ValueOf(a).Elem() },
		"Path":   func(a *approval.Action) reflect.Value { return reflect.ValueOf(&a.Paths[0]).Elem() },
		"Shell":  func(a *approval.Action) reflect.Value { return reflect.ValueOf(a.Shell).Elem() },
	}
	for name, of := range structs {
		probe := full()
		for i := range of(&probe).NumField() {
			changed := full()
			v := of(&changed)
			alter(t, v.Field(i))
			if changed.Digest() == full().Digest() {
				t.Errorf("%s.%s does not change the digest", name, v.Type().Field(i).Name)
			}
		}
	}
}

func TestDigestTellsApart(t *testing.T) {
	shell := func(commands ...string) approval.Action {
		return approval.Action{Shell: &approval.Shell{Commands: commands}}
	}
	stdin := func(s *string) approval.Action { return approval.Action{Shell: &approval.Shell{Stdin: s}} }
	tests := map[string][2]approval.Action{
		"where a text ends":         {{Tool: "ab", Effect: "c"}, {Tool: "a", Effect: "bc"}},
		"letters of another case":   {{Args: []byte(`{"a":"X"}`)}, {Args: []byte(`{"a":"x"}`)}},
		"users":                     {{Shell: &approval.Shell{User: "0"}}, {Shell: &approval.Shell{User: "1"}}},
		"profiles":                  {{Shell: &approval.Shell{Profile: "safe"}}, {Shell: &approval.Shell{Profile: "dev"}}},
		"what stands for a change":  {{Unshown: "1"}, {Unshown: "2"}},
		"where a list ends":         {shell("a", "b"), shell("ab")},
		"bytes that are not UTF-8":  {shell("\x80"), shell("\x81")},
		"bytes and what JSON makes": {shell("\x80"), shell("\ufffd")},
		"no input and an empty one": {stdin(nil), stdin(new(string))},
		"no shell and an empty one": {{}, stdin(nil)},
		"names of the environment": {
			{Shell: &approval.Shell{Env: map[string]string{"A": "1", "B": "2"}}},
			{Shell: &approval.Shell{Env: map[string]string{"A": "1B", "": "2"}}},
		},
	}
	for name, pair := range tests {
		if pair[0].Digest() == pair[1].Digest() {
			t.Errorf("%s: the same digest", name)
		}
	}
	a, b := full(), full()
	a.Args, b.Args = []byte(`{ "a" : 1 }`), []byte(`{"a":1}`)
	if a.Digest() != b.Digest() {
		t.Error("blanks between tokens of the arguments count")
	}
}

func TestPartsSayWhatChanged(t *testing.T) {
	tests := map[string]func(*approval.Action){
		approval.PartArguments: func(a *approval.Action) { a.Args = nil },
		approval.PartFiles:     func(a *approval.Action) { a.Paths[0].SHA256 = "01" },
		approval.PartCommands:  func(a *approval.Action) { a.Shell.ImageID = "other" },
		approval.PartSummary:   func(a *approval.Action) { a.Summary = "t" },
	}
	for part, change := range tests {
		a := full()
		change(&a)
		var differ []string
		for name, hash := range full().Parts() {
			if a.Parts()[name] != hash {
				differ = append(differ, name)
			}
		}
		if diff := cmp.Diff([]string{part}, differ); diff != "" {
			t.Error(diff)
		}
	}
}
