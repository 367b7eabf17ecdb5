package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

func TestDocumentsAreCurrent(t *testing.T) {
	for _, doc := range documents() {
		old, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		text, err := current(old)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(old), string(text)); diff != "" {
			t.Errorf("%s is not what the servers say; run go generate ./...\n%s", doc, diff)
		}
	}
}

func TestStaleTablesAreFound(t *testing.T) {
	const stale = "before\n<!-- tools mcp-files -->\n| `Old` | gone | |\n<!-- end tools -->\nafter\n"
	text, err := current([]byte(stale))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(text); strings.Contains(got, "Old") || !strings.Contains(got, "| `Read` |") || !strings.HasPrefix(got, "before\n") || !strings.HasSuffix(got, "\nafter\n") {
		t.Errorf("got %s", got)
	}
	for _, unknown := range []string{"<!-- tools mcp-nothing -->\n<!-- end tools -->", "<!-- config emacs -->\n<!-- end config -->"} {
		if _, err := current([]byte(unknown)); err == nil {
			t.Errorf("%s was written", unknown)
		}
	}
}

func TestEveryTargetIsDocumented(t *testing.T) {
	docs := documents()
	text, err := os.ReadFile(docs[len(docs)-1])
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range toolkit.RegistrationTargets() {
		if !strings.Contains(string(text), "<!-- config "+target+" -->") {
			t.Errorf("docs/clients.md says nothing of %s", target)
		}
	}
}
