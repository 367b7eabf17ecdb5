package approval_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/approval"
)

func TestVisible(t *testing.T) {
	const (
		deny  = approval.Deny
		ask   = approval.Ask
		allow = approval.Allow
	)
	type shown map[string]approval.Decision // from "access:rel"
	tests := []struct {
		name, text string
		tool       string // Grep where empty
		touched    string // "list:." where empty
		want       shown  // nil: no filter
	}{
		{"nothing hides", "default: allow\nrules: [{id: a, effect: deny, tools: [Write]}]", "", "", nil},
		{"the default asks", "default: ask\nrules: [{id: a, effect: allow, tools: [Grep]}]", "", "", nil},
		{"only changes are denied", "default: allow\nrules: [{id: a, effect: deny, tools: ['*'], paths: {ops: [create, update, delete, move], globs: [x]}}]", "", "", nil},
		{"a command is denied", "default: allow\nrules: [{id: a, effect: deny, tools: ['*'], command: {argv: [ls]}}]", "", "", nil},
		{"others are denied", "default: allow\nrules: [{id: a, effect: deny, tools: [Read], principals: [bob], paths: {globs: ['**']}}]", "", "", nil},
		{
			"deny", "default: allow\nrules: [{id: a, effect: deny, tools: ['*'], paths: {globs: ['**/.env']}}]", "", "",
			shown{"read:.env": deny, "read:a/.env": deny, "read:a": allow, "list:a": allow},
		},
		{
			"what Read may not", "default: allow\nrules: [{id: a, effect: deny, tools: [Read], paths: {ops: [read], globs: ['**/.env']}}]", "", "",
			shown{"read:.env": deny, "read:a": allow},
		},
		{
			"Read may list, and read nothing", "default: deny\nrules: [{id: a, effect: allow, tools: [Grep]}, {id: b, effect: allow, tools: [Read], paths: {ops: [list], globs: ['**']}}]", "", "",
			shown{"list:docs": allow, "read:a": deny},
		},
		{
			"some Reads are allowed, by their arguments", "default: deny\nrules: [{id: a, effect: allow, tools: [Grep]}, {id: b, effect: allow, tools: [Read], args: {/path: {glob: 'docs/*'}}}]", "", "",
			shown{"read:docs/a": allow, "read:x": deny},
		},
		{
			"one of the paths of the call was asked for", "default: allow\nrules: [{id: a, effect: ask, tools: [Grep], paths: {globs: [x/**]}}]", "", "list:x list:y",
			shown{"read:x/a": ask, "read:y/a": allow},
		},
		{
			"names in another form of Unicode", "default: allow\nrules: [{id: a, effect: deny, tools: ['*'], paths: {globs: ['**/caf\u00e9*']}}]", "", "",
			shown{"read:caf\u00e9": deny, "read:a/cafe\u0301.txt": deny, "read:cafe": allow},
		},
		{
			"what the caller may not read", "default: allow\nrules: [{id: a, effect: deny, tools: [Grep], paths: {ops: [read], globs: [x]}}]", "", "",
			shown{"read:x": deny, "list:x": deny, "read:a": allow},
		},
		{
			"what the caller may not list", "default: allow\nrules: [{id: a, effect: deny, tools: [Glob], paths: {ops: [list], globs: [x]}}]", "Glob", "",
			shown{"read:x": deny, "list:x": deny, "read:a": allow},
		},
		{"what another may not", "default: allow\nrules: [{id: a, effect: deny, tools: [Glob], paths: {globs: [x]}}]", "Grep", "", nil},
		{
			"ask hides", "default: allow\nrules: [{id: a, effect: ask, tools: ['*'], paths: {globs: [x/**]}}]", "", "",
			shown{"read:x/y": ask, "read:a": allow},
		},
		{
			"deny before ask", "default: allow\nrules: [{id: a, effect: ask, tools: ['*'], paths: {globs: [x]}}, {id: b, effect: deny, tools: [Read], paths: {globs: [x]}}]", "", "",
			shown{"read:x": deny},
		},
		{
			"the default denies", "default: deny\nrules: [{id: a, effect: allow, tools: [Read, Grep], paths: {globs: ['.', docs/**]}}]", "", "",
			shown{"read:docs/a": allow, "list:docs": allow, "read:a": deny},
		},
		{"the default denies and everything is allowed", "default: deny\nrules: [{id: a, effect: allow, tools: ['*'], paths: {ops: [read, list], globs: ['**']}}]", "", "", nil},
		{
			"what Read is not allowed", "default: deny\nrules: [{id: a, effect: allow, tools: [Grep]}]", "", "",
			shown{"read:a": deny},
		},
		{
			"listing is enough for the caller", "default: deny\nrules: [{id: a, effect: allow, tools: [List], paths: {ops: [list], globs: ['**']}}, {id: b, effect: allow, tools: [Read], paths: {ops: [read], globs: [docs/**]}}]", "List", "",
			shown{"read:docs/a": allow, "read:a": deny},
		},
		{"the call itself was asked for", "default: allow\nrules: [{id: a, effect: ask, tools: [Grep]}]", "", "", nil},
		{"the very path was asked for", "default: allow\nrules: [{id: a, effect: ask, tools: ['*'], paths: {globs: [x/**]}}]", "", "list:x", nil},
		{
			"one path was asked for, others not", "default: allow\nrules: [{id: a, effect: ask, tools: ['*'], paths: {globs: [x]}}, {id: b, effect: ask, tools: ['*'], paths: {globs: ['**/y']}}]", "", "list:x",
			shown{"read:x": allow, "read:x/y": ask},
		},
		{
			"Read asks, whatever the path", "default: allow\nrules: [{id: a, effect: ask, tools: [Read]}]", "", "",
			shown{"read:a": ask},
		},
		{
			"arguments of the call", "default: allow\nrules: [{id: a, effect: deny, tools: [Grep], args: {/limit: {min: 9}}, paths: {globs: [x]}}, {id: b, effect: deny, tools: [Grep], args: {/limit: {max: 5}}, paths: {globs: [y]}}]", "", "",
			shown{"read:x": allow, "read:y": deny},
		},
		{
			"arguments of a Read", "default: allow\nrules: [{id: a, effect: deny, tools: [Read], args: {/file_path: {glob: '*.env'}}}, {id: b, effect: deny, tools: ['*'], args: {/n: {min: 1}}}]", "", "",
			shown{"read:x.env": deny, "read:y": allow},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := parse(t, "version: 1\n"+tt.text)
			tool, touched := tt.tool, tt.touched
			if tool == "" {
				tool = "Grep"
			}
			if touched == "" {
				touched = "list:."
			}
			v := p.Evaluate(t.Context(), approval.Caller{Principal: "ann"}, approval.Action{
				Tool: tool, Effect: approval.ReadFiles, Paths: paths(strings.Fields(touched)...), Args: []byte(`{"limit": 3}`),
			})
			if v.Decision == approval.Deny {
				t.Fatalf("the search itself is denied: %+v", v)
			}
			if v.Visible == nil || tt.want == nil {
				if (v.Visible == nil) != (tt.want == nil) {
					t.Fatalf("filtered: %v", v.Visible != nil)
				}
				return
			}
			got := shown{}
			for one := range tt.want {
				got[one] = v.Visible(paths(one)[0])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A search asks from all its goroutines.
func TestVisibleConcurrently(t *testing.T) {
	p := parse(t, "{version: 1, default: allow, rules: [{id: a, effect: deny, tools: ['*'], paths: {globs: ['**/.env']}}, {id: b, effect: deny, tools: [Read], args: {/path: {glob: '*x'}}}]}")
	v := p.Evaluate(t.Context(), approval.Caller{}, approval.Action{Tool: "Grep", Effect: approval.ReadFiles})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for rel, want := range map[string]approval.Decision{".env": approval.Deny, "x": approval.Deny, "a": approval.Allow} {
				if got := v.Visible(approval.Path{Access: approval.Read, Rel: rel}); got != want {
					t.Errorf("%s: got %s, want %s", rel, got, want)
				}
			}
		})
	}
	wg.Wait()
}
