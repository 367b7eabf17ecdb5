package command_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/toolhost/toolhost/pkg/approval/command"
)

// sample is the policy of the vectors.
var sample = []command.Rule{
	{ID: "no-curl", Pattern: command.Pattern{Argv: words("curl")}},
	{ID: "no-rm-rf", Pattern: command.Pattern{Argv: words("rm"), FlagsAll: [][]string{{"-r", "-R", "--recursive"}, {"-f", "--force"}}}},
	{ID: "no-push", Pattern: command.Pattern{Argv: words("git", "push")}},
	{ID: "git-read", Effect: command.Allow, Pattern: command.Pattern{
		Argv: [][]string{{"git"}, {"status", "diff"}}, FlagsNone: []string{"--ext-diff", "--textconv", "--output", "--no-index"},
	}},
	{ID: "look", Effect: command.Allow, Pattern: command.Pattern{Argv: [][]string{{"ls", "cat"}}}},
	{ID: "test", Effect: command.Allow, Pattern: command.Pattern{
		Argv: words("go", "test"), FlagsNone: []string{"-exec", "-toolexec", "-o", "-C", "-overlay", "-modfile"},
	}},
}

// words returns a pattern in which each word has one alternative.
func words(argv ...string) (groups [][]string) {
	for _, w := range argv {
		groups = append(groups, []string{w})
	}
	return groups
}

// decide combines a judgement with a default of ask, as a policy does.
func decide(j command.Judgement) string {
	switch {
	case j.Limit != "", len(j.Denied) > 0:
		return "deny"
	case len(j.Asked) > 0, j.Undecided != "", j.Allowed == nil:
		return "ask"
	}
	return "allow"
}

// judge decides one command under the sample policy.
func judge(dialect, line string) (string, command.Judgement) {
	j := command.Judge(command.Input{Commands: []string{line}, Dialect: dialect, Dir: "/data"}, sample)
	return decide(j), j
}

func TestVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/shell_policy.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Cases []struct {
			ID                     int
			Command, Decision, Why string
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors.Cases) != 61 {
		t.Fatalf("%d vectors, want 61", len(vectors.Cases))
	}
	for _, dialect := range []string{"sh", "bash", "dash", "ash", "busybox", "zsh", "ksh", "fish"} {
		for _, v := range vectors.Cases {
			if dialect == "fish" && v.Decision == "allow" && v.ID != 1 {
				continue // a foreign language: plain words only
			}
			if got, j := judge(dialect, v.Command); got != v.Decision {
				t.Errorf("%s, %d: %q is %s, want %s (%s): %+v", dialect, v.ID, v.Command, got, v.Decision, v.Why, j)
			}
		}
	}
}
