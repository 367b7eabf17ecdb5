package toolkit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// rootsServer has a tool that prints what it learns of the client's roots.
func rootsServer(t *testing.T) *toolkit.Server {
	t.Helper()
	s, err := toolkit.NewServer(toolkit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = toolkit.Add(s, toolkit.Tool[struct{}, string, string]{
		Definition: toolkit.Definition{Name: "probe", Title: "Probe", Description: "Prints the roots."},
		Plan: func(ctx context.Context, call *toolkit.Call, _ struct{}) (string, approval.Action, error) {
			uris, declared, err := call.ClientRoots(ctx)
			return fmt.Sprint(declared, uris), approval.Action{Effect: approval.ReadFiles}, err
		},
		Run:    func(_ context.Context, p string, _ approval.Grant, _ toolkit.Progress) (string, error) { return p, nil },
		Render: func(out string, _ toolkit.Budget) toolkit.Result { return toolkit.Result{Text: out} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (k *talk) probe(id int) string {
	k.t.Helper()
	fmt.Fprint(k.in, callLine(id, "{}"))
	return k.answer(fmt.Sprint(id)).Result.Content[0].Text
}

func TestClientRoots(t *testing.T) {
	one := `"result":{"roots":[{"uri":"file:///a"}]}`
	two := `"result":{"roots":[{"uri":"file:///a"},{"uri":"file:///b"}]}`

	t.Run("not declared, not asked", func(t *testing.T) {
		k := newTalk(t, rootsServer(t), "")
		if got := k.probe(1); got != "false []" || k.asked != 0 {
			t.Errorf("got %q, asked %d times", got, k.asked)
		}
	})
	t.Run("asked each time where changes are not announced", func(t *testing.T) {
		k := newTalk(t, rootsServer(t), `"roots":{}`)
		k.roots = one
		k.probe(1)
		k.roots = two
		if got := k.probe(2); got != "true [file:///a file:///b]" || k.asked != 2 {
			t.Errorf("got %q, asked %d times", got, k.asked)
		}
	})
	t.Run("asked again after a change", func(t *testing.T) {
		k := newTalk(t, rootsServer(t), `"roots":{"listChanged":true}`)
		k.roots = one
		k.probe(1)
		k.probe(2)
		if k.asked != 1 {
			t.Errorf("asked %d times, want once", k.asked)
		}
		k.roots = two
		fmt.Fprintln(k.in, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
		if got := k.probe(3); got != "true [file:///a file:///b]" || k.asked != 2 {
			t.Errorf("got %q, asked %d times", got, k.asked)
		}
	})
	t.Run("an error of the client is told", func(t *testing.T) {
		k := newTalk(t, rootsServer(t), `"roots":{}`)
		k.roots = `"error":{"code":-32603,"message":"secret inner text"}`
		got := k.probe(1)
		mustContain(t, got, "the client did not say which roots it allows")
		if strings.Contains(got, "secret") {
			t.Errorf("%q shows the client's inner text", got)
		}
	})
	t.Run("null is none", func(t *testing.T) {
		k := newTalk(t, rootsServer(t), `"roots":{}`)
		k.roots = `"result":{"roots":[null]}`
		if got := k.probe(1); got != "true []" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("very many are refused", func(t *testing.T) {
		k := newTalk(t, rootsServer(t), `"roots":{}`)
		k.roots = `"result":{"roots":[` + strings.Repeat(`{"uri":"file:///a"},`, 300) + `{"uri":"file:///b"}]}`
		mustContain(t, k.probe(1), "the client declares 301 roots, at most 256 are served")
	})
	t.Run("the modern era has none", func(t *testing.T) {
		got := serveAll(t, rootsServer(t), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"probe","arguments":{},`+modern+"}}\n")
		if text := got["1"].Result.Content[0].Text; text != "false []" {
			t.Errorf("got %q", text)
		}
	})
}
