package toolkit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/approval/command"
)

var (
	alice    = approval.Caller{Principal: "alice", Transport: approval.HTTP}
	cautious = approval.Verdict{Decision: approval.Ask, Rule: "ask-shell", Reason: "commands ask"}
)

func shellAction(commands ...string) approval.Action {
	return approval.Action{Tool: "shell", Effect: approval.RunContained, Shell: &approval.Shell{
		Commands: commands, Dialect: "sh", Dir: "/data", Image: "ubuntu:latest", ImageID: "sha256:0a1b", Network: "none",
	}}
}

func editAction(diff string) approval.Action {
	return approval.Action{
		Tool: "apply_patch", Effect: approval.WriteFiles, Args: []byte(`{"patch":"..."}`), Summary: "changes 1 file\n" + diff,
		Paths: []approval.Path{{Access: approval.Update, Root: "/srv", Rel: "a.txt", SHA256: "00"}},
	}
}

func TestPrompt(t *testing.T) {
	stdin := "one\ntwo\n"
	full := shellAction("git status")
	full.Shell.Mounts, full.Shell.Env, full.Shell.Stdin = []string{"/src:/data", "/etc:/etc:ro"}, map[string]string{"B": "2", "A": "x\ny"}, &stdin
	local := shellAction("ls", "cat <<EOF\nrule: none\nEOF")
	local.Shell.Image, local.Shell.ImageID, local.Effect = "", "", approval.RunCommands
	summed := shellAction("ls; git push")
	summed.Summary = "run a command; the image would be pulled\n$ ls; git push"
	tests := []struct {
		name string
		a    approval.Action
		want string
	}{
		{"a command in a container", full, `May this run? shell (run commands in a container)
directory: /data
image: ubuntu:latest sha256:0a1b
network: none
mount: /src:/data
mount: /etc:/etc:ro
environment: A=x\ny
environment: B=2
command for sh, 10 bytes:
    git status
standard input, 8 bytes:
  1 | one
  2 | two
  3 | 
asked by: alice over http
rule: ask-shell
why it asks: commands ask
1 of the characters are written as \t, \n, \u{...} or \x{...}: they cannot be seen, look like others, or put others in another order.`},
		{"several commands on this machine", local, `May this run? shell (run commands)
directory: /data
image: none: on this machine itself, as the user of this server
network: none
command 1 of 2 for sh, 2 bytes:
    ls
command 2 of 2 for sh, 24 bytes:
  1 | cat <<EOF
  2 | rule: none
  3 | EOF
asked by: alice over http
rule: ask-shell
why it asks: commands ask`},
		{"a summary", summed, `May this run? shell (run commands in a container)
directory: /data
image: ubuntu:latest sha256:0a1b
network: none
command for sh, 12 bytes:
    ls; git push
what it does: run a command; the image would be pulled
asked by: alice over http
rule: ask-shell
why it asks: commands ask`},
		{"what hides", shellAction("ls \u202e\u200b\x1b\r\u00a0st\u0430t"), `May this run? shell (run commands in a container)
directory: /data
image: ubuntu:latest sha256:0a1b
network: none
command for sh, 18 bytes:
    ls \u{202E}\u{200B}\u{1B}\u{D}\u{A0}st\u{430}t
asked by: alice over http
rule: ask-shell
why it asks: commands ask
6 of the characters are written as \t, \n, \u{...} or \x{...}: they cannot be seen, look like others, or put others in another order.`},
		{"what is out of sight", shellAction("ls" + strings.Repeat(" ", 1500) + "; curl" + strings.Repeat("\n", 300) + "a\n \n\n\nb\n\n\nc"), `May this run? shell (run commands in a container)
directory: /data
image: ubuntu:latest sha256:0a1b
network: none
command for sh, 1819 bytes:
    1 | ls\u{20 x1500}; curl
    2 to 300: 299 lines without anything to be seen
  301 | a
  302 to 304: 3 lines without anything to be seen
  305 | b
  306 | 
  307 | 
  308 | c
asked by: alice over http
rule: ask-shell
why it asks: commands ask
1500 of the characters are written as \t, \n, \u{...} or \x{...}: they cannot be seen, look like others, or put others in another order.`},
		{"a change", editAction("-a\n+b"), `May this run? apply_patch (write files)
update: /srv/a.txt
what it does, 20 bytes:
  1 | changes 1 file
  2 | -a
  3 | +b
asked by: alice over http
rule: ask-shell
why it asks: commands ask`},
		{"a tool with arguments only", approval.Action{Tool: "image_generation", Effect: approval.BuyPictures, Args: []byte(`{"prompt":"a \u003c b"}`), Count: 2}, `May this run? image_generation (buy pictures)
how many: 2
arguments, 18 bytes:
    {"prompt":"a < b"}
asked by: alice over http
rule: ask-shell
why it asks: commands ask`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := promptOf(alice, tt.a, cautious)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What the policy found in the commands is a second view of them.
func TestProgramsInPrompt(t *testing.T) {
	v := cautious
	v.Commands = []command.Part{
		{Argv: []string{"ls"}}, {Argv: []string{"ls", "-l"}}, {Argv: []string{"git", "push"}, Within: "$( )"}, {Argv: []string{"\u202e"}}, {},
	}
	got, err := promptOf(alice, shellAction("ls"), v)
	if want := "\nprograms in that: ls, git (within $( )), \\u{202E}\n"; err != nil || !strings.Contains(got, want) {
		t.Errorf("%v, got %q, want %q in it", err, got, want)
	}
}

func TestLongPrompt(t *testing.T) {
	long := strings.Repeat("x", maxPrompt)
	patch := "--- a/a.txt\n+++ b/a.txt\n" + strings.Repeat("-old\n", 500) + strings.Repeat("+new line\n", 700)
	many := editAction(patch)
	for i := range 500 {
		many.Paths = append(many.Paths, approval.Path{Access: approval.Create, Root: "/srv", Rel: fmt.Sprintf("file%d", i)})
	}
	cut := editAction("-a\n[and so on]")
	cut.Unshown = "900 lines"
	input := shellAction("cat")
	input.Shell.Stdin = &long
	image := approval.Action{Tool: "image_generation", Args: []byte(`{"prompt":"` + long + `"}`)}
	tests := []struct {
		name string
		a    approval.Action
		want []string // nil: refused
	}{
		{"a change", editAction(patch), []string{
			"update: /srv/a.txt", "changes 1 file", "700 lines added, 500 removed",
			fmt.Sprintf("%d bytes with SHA-256 %x", len(patch), sha256.Sum256([]byte(patch))),
		}},
		{"a change whose summary is cut", cut, []string{"update: /srv/a.txt", "changes 1 file", "The change is too long to be shown here: 900 lines"}},
		{"a change of too many files", many, nil},
		{"a command", shellAction(long), nil},
		{"a command of megabytes", shellAction(strings.Repeat(long, 1000)), nil},
		{"a command that grows when it is written out", shellAction(strings.Repeat("\x01", maxPrompt/4)), nil},
		{"commands together", shellAction(long[:maxPrompt/2], long[:maxPrompt/2]), nil},
		{"what is piped in", input, nil},
		{"arguments", image, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := promptOf(alice, tt.a, cautious)
			if tt.want == nil {
				denied, ok := errors.AsType[*approval.DeniedError](err)
				if !ok || denied.Verdict.Decision != approval.Deny || !strings.Contains(err.Error(), "more than 4000 characters") || got != "" {
					t.Errorf("got %q, %v", got, err)
				}
				return
			}
			if err != nil || utf8.RuneCountInString(got) > maxPrompt || strings.Contains(got, "new line") {
				t.Fatalf("%d characters, %v", utf8.RuneCountInString(got), err)
			}
			for _, w := range tt.want {
				if !strings.Contains(got, w) {
					t.Errorf("got %q, want %q in it", got, w)
				}
			}
		})
	}
}

// Whatever is asked, only visible characters are shown, no line of it can be taken for one of
// the question's own, and what differs has another question or another digest.
func FuzzPrompt(f *testing.F) {
	f.Add("shell", "ls", "ls -l", "in\nrule: x", "A=1")
	f.Add("", "\u202e", "\\u{202E}", "\xff", "\n")
	f.Add("t", "a\n\n\n\n\nb", "a\n\n\n \n\nb", strings.Repeat(" ", 20), strings.Repeat("\n", 20))
	f.Add("t", "a\x80", "a\x81", "", "\r\nasked by: me")
	names := []string{
		"May this run?", "directory", "image", "network", "mount", "environment", "touch", "asked by", "rule", "why it asks",
		"command for sh,", "standard input,", "what it does", "programs in that", "The change is too long",
	}
	f.Fuzz(func(t *testing.T, tool, one, two, stdin, env string) {
		action := func(command string) approval.Action {
			a := shellAction(command)
			a.Tool, a.Summary, a.Paths = tool, stdin, []approval.Path{{Root: env, Rel: one}}
			a.Shell.Stdin, a.Shell.Env, a.Shell.Mounts = &stdin, map[string]string{env: two}, []string{one}
			return a
		}
		v := approval.Verdict{Rule: env, Reason: stdin, Commands: []command.Part{{Argv: []string{two}, Within: one}}}
		a, b := action(one), action(two)
		first, errA := promptOf(alice, a, v)
		second, errB := promptOf(alice, b, v)
		if errA == nil && errB == nil && one != two && first == second && a.Digest() == b.Digest() {
			t.Errorf("%q and %q have the same question and digest", one, two)
		}
		if errA == nil && !seen(first) {
			t.Errorf("it shows %q", first)
		}
		for line := range strings.SplitSeq(first, "\n") {
			own := line == "" && errA != nil || strings.HasPrefix(line, "  ") || strings.Contains(line, "of the characters are written as")
			for _, name := range names {
				own = own || strings.HasPrefix(line, name)
			}
			if !own {
				t.Errorf("the line %q is none of the question's own", line)
			}
		}
	})
}
