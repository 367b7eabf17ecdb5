package streamable_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

const (
	alices = "alice-0123456789"
	bobs   = "bob-0123456789abcdef"
)

func TestReadTokens(t *testing.T) {
	tests := []struct {
		name, in string
		want     []streamable.Token
		err      string
	}{
		{name: "one", in: alices + "\n", want: []streamable.Token{{Name: "token", Secret: alices}}},
		{name: "names, rotation, comments", in: "# ours\n\n  alice\t" + alices + "  \r\nbob " + bobs + "\nalice " + bobs, want: []streamable.Token{{Name: "alice", Secret: alices}, {Name: "bob", Secret: bobs}, {Name: "alice", Secret: bobs}}},
		{name: "an editor's mark at the start", in: "\ufeff# tokens-for-production\n" + alices, want: []streamable.Token{{Name: "token", Secret: alices}}},
		{name: "none", in: "# nothing\n", err: "openssl rand -hex 32"},
		{name: "short", in: "alice secret\n", err: "line 1: the token has 6 characters"},
		{name: "scopes", in: "alice " + alices + " images.write shell", want: []streamable.Token{{Name: "alice", Secret: alices, Scopes: []string{"images.write", "shell"}}}},
		{name: "a word too many before it", in: "alice is " + alices, err: "line 1: the token has 2 characters"},
		{name: "not ASCII", in: "0123456789abcdefü", err: "visible ASCII"},
		{name: "the name of who started the program", in: "local " + alices, err: "local"},
		{name: "a name that means nobody", in: "anonymous " + alices, err: "anonymous"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := streamable.ReadTokens(strings.NewReader(tc.in))
			if diff := cmp.Diff(tc.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
			if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), alices)) {
				t.Errorf("the error tells the token: %v", err)
			}
		})
	}
}

func TestTokens(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{
		Loopback: true, Realm: "station",
		Tokens: []streamable.Token{{Name: "alice", Secret: alices}, {Name: "bob", Secret: bobs}},
	})
	tests := []struct {
		name, header, who, challenge string
	}{
		{"alice", "Bearer " + alices, "alice", ""},
		{"bob, case of the scheme", "bearer " + bobs, "bob", ""},
		{"nothing", "", "", `Bearer realm="station"`},
		{"another scheme", "Basic " + alices, "", `Bearer realm="station"`},
		{"no token", "Bearer ", "", `Bearer realm="station"`},
		{"two", "Bearer " + alices + "\nBearer " + bobs, "", `Bearer realm="station"`},
		{"wrong", "Bearer " + alices + "x", "", `Bearer realm="station", error="invalid_token", error_description="the token is not known"`},
		{"a part", "Bearer " + alices[:10], "", `Bearer realm="station", error="invalid_token", error_description="the token is not known"`},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			m := modern("tools/call", "who", `{"name":"who"}`)
			for one := range strings.SplitSeq(tc.header, "\n") {
				m.header.Add("Authorization", one)
			}
			if tc.header == "" {
				m.header.Del("Authorization")
			}
			res, body := m.send(t, url)
			if got := res.Header.Get("WWW-Authenticate"); got != tc.challenge || (res.StatusCode == http.StatusUnauthorized) != (tc.challenge != "") {
				t.Errorf("%s, challenge %q", res.Status, got)
			}
			if !strings.Contains(body, tc.who) {
				t.Errorf("answered %s", body)
			}
			if tc.who != "" && !strings.Contains(body, `header=\"\"`) {
				t.Errorf("the tool saw the header: %s", body)
			}
		})
	}
}

// A session is its opener's: with another token, nobody can tell it from one that is not there.
func TestSessionOwner(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true, Tokens: []streamable.Token{{Name: "alice", Secret: alices}, {Name: "bob", Secret: bobs}}})
	id := begin(t, by(t, url), head("Authorization", "Bearer "+alices))
	for token, status := range map[string]int{alices: 200, bobs: 404} {
		h := head("Authorization", "Bearer "+token, "Mcp-Session-Id", id)
		if res, body := (message{header: h, body: call("tools/call", `{"name":"who","arguments":{}}`)}).send(t, url); res.StatusCode != status {
			t.Errorf("%s: %s %s", token, res.Status, body)
		}
	}
	_, unknown := message{header: head("Authorization", "Bearer "+bobs, "Mcp-Session-Id", "OLD"), body: call("ping", "")}.send(t, url)
	_, foreign := message{header: head("Authorization", "Bearer "+bobs, "Mcp-Session-Id", id), body: call("ping", "")}.send(t, url)
	if diff := cmp.Diff(unknown, foreign); diff != "" {
		t.Errorf("a foreign session is told from an unknown one:\n%s", diff)
	}
	if res, _ := (message{verb: "DELETE", header: head("Authorization", "Bearer "+bobs, "Mcp-Session-Id", id)}).send(t, url); res.StatusCode != 404 {
		t.Errorf("bob ends alice's session: %s", res.Status)
	}
}

func TestWithoutTokens(t *testing.T) {
	url, _ := serve(t, newStation().Server, streamable.Options{Loopback: true})
	_, body := modern("tools/call", "who", `{"name":"who"}`).send(t, url)
	if want := "anonymous streams=true"; !strings.Contains(body, want) {
		t.Errorf("answered %s, want %s", body, want)
	}
}
