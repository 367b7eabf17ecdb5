package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	if _, err := current([]byte("<!-- tools mcp-nothing -->\n<!-- end tools -->")); err == nil {
		t.Error("a table of an unknown server was written")
	}
}
