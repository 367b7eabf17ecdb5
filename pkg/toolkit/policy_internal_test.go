package toolkit

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/pkg/approval"
)

// Explaining looks at limits and uses nothing up; a call does.
func TestExplainUsesNothingUp(t *testing.T) {
	p, _, err := approval.Parse([]byte("version: 1\ndefault: allow\nlimits: [{id: once, tools: [x], max: 1, per: 10h}]"), approval.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewServer(Options{Name: "x", Evaluator: p})
	if err != nil {
		t.Fatal(err)
	}
	closed := 0
	err = Add(s, Tool[struct{}, *counted, string]{
		Definition: Definition{Name: "x", Title: "X", Description: "Does nothing."},
		Plan: func(context.Context, *Call, struct{}) (*counted, approval.Action, error) {
			return &counted{&closed}, approval.Action{Effect: approval.ReadFiles}, nil
		},
		Run:    func(context.Context, *counted, approval.Grant, Progress) (string, error) { return "", nil },
		Render: func(string, Budget) Result { return Result{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	who := approval.Caller{Principal: approval.Local, Transport: approval.Stdio}
	decide := func() string {
		e, err := s.explanation(t.Context(), who, "x", json.RawMessage("{}"))
		if err != nil {
			t.Fatal(err)
		}
		return e.Decision
	}
	for i := range 3 {
		if got := decide(); got != "allow" || closed != i+1 {
			t.Fatalf("got %s, %d plans closed", got, closed)
		}
	}
	if v := p.Evaluate(t.Context(), who, approval.Action{Tool: "x"}); !v.Spend() {
		t.Fatal("nothing is left to spend")
	}
	if got := decide(); got != "deny" {
		t.Errorf("got %s after the limit was used up", got)
	}
}

// A counted plan counts how often it is closed.
type counted struct{ n *int }

func (c *counted) Close() error { *c.n++; return nil }

// Where clients choose the roots, none may hold the policy.
func TestRootsThatHoldThePolicy(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "etc", "policy.yaml")
	for _, name := range []string{"etc", "work"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		reach   *outOfReach
		roots   []string
		refused bool
	}{
		{&outOfReach{path: path, chosen: true}, []string{"file://" + dir + "/work"}, false},
		{&outOfReach{path: path, chosen: true}, []string{"file://" + dir + "/work", "file://" + dir + "/etc"}, true},
		{&outOfReach{path: path, chosen: true}, []string{"file://" + dir + "/%65tc"}, true},
		{&outOfReach{path: path, chosen: true}, []string{dir}, true},
		{&outOfReach{path: path}, []string{"file://" + dir}, false}, // they only narrow
		{nil, []string{"file://" + dir}, false},
	} {
		if err := tt.reach.checkRoots(tt.roots); (err != nil) != tt.refused {
			t.Errorf("%v: %v, want refused: %v", tt.roots, err, tt.refused)
		}
	}
}
