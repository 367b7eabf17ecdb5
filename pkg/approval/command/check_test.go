package command_test

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/pkg/approval/command"
)

func TestCheck(t *testing.T) {
	allow := func(pt command.Pattern) command.Rule { return command.Rule{Effect: command.Allow, Pattern: pt} }
	deny := func(pt command.Pattern) command.Rule { return command.Rule{Pattern: pt} }
	tests := []struct {
		name string
		rule command.Rule
		want []string // what the error says; nil where the rule is good
	}{
		{"effect", command.Rule{Effect: 3, Pattern: command.Pattern{Argv: words("ls")}}, []string{"effect 3", "deny, ask or allow"}},
		{"no argv", deny(command.Pattern{}), []string{"argv is empty", "argv: [ls]"}},
		{"no alternatives", deny(command.Pattern{Argv: [][]string{{"ls"}, {}}}), []string{"word 2"}},
		{"an empty word", deny(command.Pattern{Argv: words("ls", "")}), []string{"word 2 is empty"}},
		{"a line as a word", allow(command.Pattern{Argv: words("git status")}), []string{"[git, status]"}},
		{"a glob as a word", deny(command.Pattern{Argv: words("ls", "*")}), []string{"globs are not known"}},
		{"a newline", deny(command.Pattern{Argv: words("ls", "a\nb")}), []string{"newline"}},
		{"an option as the program", deny(command.Pattern{Argv: words("-rf")}), []string{"flags_all"}},
		{"a directory as the program", deny(command.Pattern{Argv: words("/")}), []string{"no program"}},
		{"an empty group", deny(command.Pattern{Argv: words("ls"), FlagsAll: [][]string{{}}}), []string{"group 1"}},
		{"no option", deny(command.Pattern{Argv: words("ls"), FlagsAll: [][]string{{"r"}}}), []string{`"r" is no option`}},
		{"no option in flags_none", deny(command.Pattern{Argv: words("ls"), FlagsNone: []string{"--"}}), []string{"flags_none", "no option"}},
		{"an option with a value", deny(command.Pattern{Argv: words("ls"), FlagsNone: []string{"--output=x"}}), []string{`such as "--output"`}},
		{"all and none", deny(command.Pattern{Argv: words("ls"), FlagsAll: [][]string{{"-r"}}, FlagsNone: []string{"-r"}}), []string{"nothing can match"}},
		{"some and none", deny(command.Pattern{Argv: words("ls"), FlagsAll: [][]string{{"-r", "-R"}}, FlagsNone: []string{"-r"}}), nil},
		{"env of a deny", deny(command.Pattern{Argv: words("ls"), Env: []string{"FOO"}}), []string{"leave them out"}},
		{"write of an ask", command.Rule{Effect: command.Ask, Pattern: command.Pattern{Argv: words("ls"), Write: []string{"**"}}}, []string{"leave them out"}},
		{"env with a value", allow(command.Pattern{Argv: words("ls"), Env: []string{"FOO=1"}}), []string{"without $ and value"}},
		{"env that changes names", allow(command.Pattern{Argv: words("ls"), Env: []string{"LD_PRELOAD"}}), []string{"LD_PRELOAD", "leave it out"}},
		{"env that helps", allow(command.Pattern{Argv: words("ls"), Env: []string{"GIT_DIR"}}), nil},
		{"a bad glob", allow(command.Pattern{Argv: words("ls"), Write: []string{"/a[b"}}), []string{"no glob"}},
		{"a relative glob", allow(command.Pattern{Argv: words("ls"), Write: []string{"./out/*"}}), []string{`such as "/data/out/*"`}},
		{"a glob that leaves", allow(command.Pattern{Argv: words("ls"), Write: []string{"/a/../b"}}), []string{`".."`}},
		{"good globs", allow(command.Pattern{Argv: words("ls"), Write: []string{"/a/**", "**/*.log", "**"}}), nil},
		{"sudo with its words", allow(command.Pattern{Argv: words("sudo", "reload"), Exact: true}), nil},
		{"a shell with a script", allow(command.Pattern{Argv: words("bash", "./build.sh"), Exact: true}), nil},
		{"a shell with a text", allow(command.Pattern{Argv: words("sh", "-c", "make check"), Exact: true}), nil},
		{"a shell with nothing", allow(command.Pattern{Argv: words("sh"), Exact: true}), []string{"name the script"}},
		{"a shell with options", allow(command.Pattern{Argv: words("sh", "-e"), Exact: true}), []string{"name the script"}},
		{"a shell that reads", allow(command.Pattern{Argv: words("sh", "-s", "x"), Exact: true}), []string{"name the script"}},
		{"a shell that may read", allow(command.Pattern{Argv: [][]string{{"sh"}, {"-c", "x"}}, Exact: true}), []string{"name the script"}},
		{"python with nothing", allow(command.Pattern{Argv: words("python3"), Exact: true}), []string{"name the script"}},
		{"a deny of a shell", deny(command.Pattern{Argv: words("sh")}), nil},
		{"a wrapper that passes", allow(command.Pattern{Argv: words("timeout")}), []string{"passes through it without a rule"}},
		{"a script by its path", allow(command.Pattern{Argv: words("./build.sh")}), nil},
	}
	for _, runner := range []string{"sh", "bash", "/bin/bash", "dash", "zsh", "python", "python3", "python3.12", "php8.2", "vim.tiny", "original-awk", "perl", "node", "env", "xargs", "sudo", "doas", "su", "eval", "source", ".", "ssh", "busybox", "awk", "parallel", "watch", "make", "export"} {
		tests = append(tests, struct {
			name string
			rule command.Rule
			want []string
		}{runner, allow(command.Pattern{Argv: [][]string{{"ls", runner}, {"x"}}}), []string{runner, "exact: true"}})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.rule.Check()
			if (err != nil) != (tt.want != nil) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
		})
	}
	for _, r := range sample {
		if err := r.Check(); err != nil {
			t.Errorf("rule %s of the sample: %v", r.ID, err)
		}
	}
}
