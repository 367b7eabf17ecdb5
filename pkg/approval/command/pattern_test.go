package command_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/pkg/approval/command"
)

func TestPatterns(t *testing.T) {
	rules := []command.Rule{
		{ID: "script", Effect: command.Allow, Pattern: command.Pattern{Argv: words("bash", "./build.sh"), Exact: true}},
		{ID: "inline", Effect: command.Allow, Pattern: command.Pattern{Argv: words("sh", "-c", "ls | wc -l"), Exact: true}},
		{ID: "root", Effect: command.Allow, Pattern: command.Pattern{Argv: words("sudo", "reload"), Exact: true}},
		{ID: "dry", Effect: command.Allow, Pattern: command.Pattern{Argv: words("deploy"), FlagsAll: [][]string{{"-n", "--dry-run"}}}},
		{ID: "find", Effect: command.Allow, Pattern: command.Pattern{Argv: words("find")}},
		{ID: "here", Effect: command.Allow, Pattern: command.Pattern{Argv: words("./run"), FlagsNone: []string{"-o"}}},
		{ID: "git", Effect: command.Allow, Pattern: command.Pattern{Argv: words("git")}},
		{ID: "ask-rm", Effect: command.Ask, Pattern: command.Pattern{Argv: words("rm"), FlagsNone: []string{"-i"}}},
		{ID: "no-publish", Pattern: command.Pattern{Argv: words("publish"), FlagsAll: [][]string{{"-f", "-v", "--all"}}, FlagsNone: []string{"--dry-run", "-n"}}},
		{ID: "only-reboot", Pattern: command.Pattern{Argv: words("reboot"), Exact: true}},
		{ID: "no-delete", Pattern: command.Pattern{Argv: [][]string{{"kubectl", "oc"}, {"delete"}, {"pod", "pods"}}}},
		{ID: "no-force", Pattern: command.Pattern{Argv: words("push", "--force")}},
		{ID: "merged", Pattern: command.Pattern{Argv: words("rm"), FlagsAll: [][]string{{"-rf"}}}},
	}
	tests := []struct{ line, want string }{
		{"bash ./build.sh", "allow"},
		{"bash ./build.sh x", "ask"},
		{"sh -c 'ls | wc -l'", "allow"},
		{"sh -c 'ls | wc -l ;'", "ask"},
		{"sudo reload", "allow"},
		{"sudo reload; sudo reboot", "deny"},
		{"deploy -n x", "allow"},
		{"deploy --dry-run=server", "allow"},
		{"deploy --dry x", "ask"},
		{"deploy -vn x", "ask"},
		{"find . -name x", "allow"},
		{"find . -name x -delete", "ask"},
		{"find . -fprintf f x", "ask"},
		{"find . -fls f", "ask"},
		{"find . -fprint f -print", "ask"},
		{"find . -fprint0 f", "ask"},
		{"find . -print0", "allow"},
		{"find . -exec ls {} +", "ask"},
		{"./run -v", "allow"},
		{"run -v", "ask"},
		{"./run -vo x", "ask"},
		{"git log", "allow"},
		{"git -C x log", "allow"},
		{"git -c core.pager=x log", "ask"},
		{"git -c core.pager=x -C y log", "ask"},
		{"rm x", "ask"},
		{"rm -i x", "ask"},
		{"publish -f", "deny"},
		{"publish -f --dry-run", "ask"},
		{"publish -vf --dry-run", "ask"},
		{"publish x -f x -n", "ask"},
		{"publish -f --out=x --dry-run x", "ask"},
		{"publish -f x -- --dry-run", "deny"},
		{"publish -f -o --dry-run x", "deny"},
		{"publish -fo -n x", "deny"},
		{"publish --all --out --dry-run x", "deny"},
		{"publish -f --dry-run --no-dry-run x", "deny"},
		{"publish -f --dry-run --dry-run=false x", "deny"},
		{"publish -f $x --dry-run", "deny"},
		{"publish -f *.x --dry-run", "deny"},
		{"publish -f a*.x --dry-run", "ask"},
		{"reboot", "deny"},
		{"reboot now", "ask"},
		{"reboot $x", "ask"},
		{"kubectl -n x --context=y delete -v pods", "deny"},
		{"kubectl -- delete pod x", "deny"},
		{"oc delete pod x", "deny"},
		{"kubectl get delete pod", "ask"},
		{"push origin --forc", "deny"},
		{"rm -fr x", "deny"},
	}
	for _, r := range rules {
		if err := r.Check(); err != nil {
			t.Errorf("rule %s: %v", r.ID, err)
		}
	}
	for _, tt := range tests {
		j := command.Judge(command.Input{Commands: []string{tt.line}, Dialect: "sh", Dir: "/data"}, rules)
		if got := decide(j); got != tt.want {
			t.Errorf("%q is %s, want %s: %+v", tt.line, got, tt.want, j)
		}
	}
	if j := command.Judge(command.Input{Commands: []string{"rm x; rm -i y"}}, rules); len(j.Asked) != 1 {
		t.Errorf("asked %v, want rm x alone", j.Asked)
	}
}

func TestJudgement(t *testing.T) {
	tests := []struct {
		in   command.Input
		want command.Judgement
	}{
		{
			command.Input{Commands: []string{"git status && ls 'a b'"}, Dialect: "sh"},
			command.Judgement{
				Allowed: []string{"git-read", "look"},
				Parts:   []command.Part{{Argv: []string{"git", "status"}, Rules: []string{"git-read"}}, {Argv: []string{"ls", "a b"}, Rules: []string{"look"}}},
			},
		},
		{
			command.Input{Commands: []string{`ls "$(curl -s x)" | xargs -n 1 sh -c 'rm -rf "$1"'`}, Dialect: "bash"},
			command.Judgement{
				Denied: []command.Match{{Rule: "no-curl", Command: "curl -s x"}, {Rule: "no-rm-rf", Command: "rm -rf …"}},
				Parts: []command.Part{
					{Argv: []string{"curl", "-s", "x"}, Within: "$( )", Rules: []string{"no-curl"}},
					{Argv: []string{"ls", "…"}},
					{Argv: []string{"xargs", "-n", "1", "sh", "-c", `rm -rf "$1"`}},
					{Argv: []string{"sh", "-c", `rm -rf "$1"`, "…"}, Within: "xargs"},
					{Argv: []string{"rm", "-rf", "…"}, Within: "xargs > sh -c", Rules: []string{"no-rm-rf"}},
				},
			},
		},
		{
			command.Input{Commands: []string{"curl " + strings.Repeat("é", 200)}, Dialect: "sh"},
			command.Judgement{
				Denied: []command.Match{{Rule: "no-curl", Command: "curl " + strings.Repeat("é", 96) + "…"}},
				Parts:  []command.Part{{Argv: []string{"curl", strings.Repeat("é", 200)}, Rules: []string{"no-curl"}}},
			},
		},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, command.Judge(tt.in, sample)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.in.Commands, diff)
		}
	}
}
