package command_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/pkg/approval/command"
)

var dialects = []string{"sh", "bash", "zsh", "ksh", "busybox", "fish"}

// unread is how a Limit begins that stands for a panic.
const unread = "the command could not be read"

// TestMillion judges generated commands and wants no panic, nor one that was caught.
func TestMillion(t *testing.T) {
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			g := newGenerator(uint64(w))
			for i := range generated / workers {
				line := g.wild()
				if i%16 == 0 {
					line = g.list(2)
				}
				dialect := dialects[i%len(dialects)]
				if i%4 != 0 {
					dialect = "bash" // which is read once
				}
				if _, j := judge(dialect, line); strings.HasPrefix(j.Limit, unread) {
					t.Errorf("%s: %q: %s", dialect, line, j.Limit)
				}
			}
		})
	}
	wg.Wait()
}

// TestLonger adds a denied command to lines that are complete: whatever they are, the whole is denied.
func TestLonger(t *testing.T) {
	g := newGenerator(1)
	complete := 0
	for range 4000 {
		line, dialect := g.line(), g.pick(dialects...)
		if strings.HasSuffix(line, "\\") { // it quotes the beginning of the addition
			continue
		}
		before, j := judge(dialect, line)
		for _, denied := range []string{"; curl x", "\nrm -rf x", " && git push", " | curl x"} {
			longer := line + denied
			after, k := judge(dialect, longer)
			// What the line leaves open takes the addition for its own: quotes, comments, here-documents.
			if j.Undecided == "" && strings.HasPrefix(denied, "\n") && !strings.Contains(line, "<<") {
				complete++
			} else if before != "deny" {
				continue
			}
			if after != "deny" {
				t.Errorf("%s: %q is %s: %+v", dialect, longer, after, k)
			}
		}
	}
	if complete < 1000 {
		t.Errorf("only %d of the lines were complete", complete)
	}
}

// wrappings put a line into a wrapper; %s is a simple command, %q any line in single quotes.
var wrappings = strings.Split(strings.TrimSpace(`
sh -c %q
bash -lc %q
dash -ec %q x y
zsh -c %q
bash -o pipefail -c %q
bash --rcfile f -O extglob -c %q
busybox sh -c %q
eval %q
trap %q EXIT
trap -- %q 0
$(%s)
"$(%s)"
cat <(%s)
( %s )
{ %s; }
if %s; then ls; fi
f() { %s; }
! %s
coproc %s
exec %s
exec -a ls %s
command %s
command -p %s
builtin %s
time %s
time -p %s
env %s
env -i A=1 %s
env -u A -C / %s
env -S %q
env -S%q
nohup %s
nice %s
nice -n 5 %s
nice -5 %s
timeout 5 %s
timeout -k 1 --signal=KILL 5 %s
ionice -c 3 %s
ionice -c3 -n7 %s
stdbuf -oL -e 0 %s
setsid -w %s
taskset -c 0-3 %s
taskset 0x1 %s
chrt -f 5 %s
chroot / %s
chroot --userspec=a:b / %s
unshare -rn %s
unshare --map-user=1 -- %s
nsenter -t 1 -m -- %s
sudo %s
sudo -nu root -g wheel A=1 %s
sudo -E -- %s
doas -u root %s
su -c %q
su - root -c %q
su --command=%q root
runuser -u root -- %s
xargs %s
xargs -0 -n 1 -P4 %s
xargs -I{} %s
find . -exec %s ;
find . -name x -execdir %s +
find . -ok %s \;
fd -x %s
flock f %s
flock -w 5 f -c %q
watch -n 1 %s
watch %q
script -qc %q /dev/null
script -q f -- %s
parallel -j 4 %s
parallel ::: %q
ssh -p 22 host %s
ssh host %q
strace -f -o f %s
linux64 %s
setarch x86_64 -R %s
setarch --uname-2.6 %s
setarch -R %s
x86_64 %s
choom -n 5 -- %s
sg group -c %q
sg group %q
ssh-agent %s
logsave f %s
/lib64/ld-linux-x86-64.so.2 /usr/bin/env %s
/lib/ld-musl-x86_64.so.1 --preload a /bin/env %s
start-stop-daemon -S --exec=%q
start-stop-daemon -S -x %q -- x
csh -c %q
tcsh -fc %q
busybox setuidgid user %s
busybox softlimit -m 5 %s
chpst -u user %s
envdir d %s
envuidgid u %s
tini -- %s
gosu user %s
su-exec user %s
dumb-init %s
eatmydata %s
xvfb-run -a %s
sem -j 2 %s
tmux new-session -d %q
screen -dm %s
env --split-s=%q
env --spl %q
tar -cf f --checkpoint-action=exec=%q a
tar -cf f --checkpoint-a exec=%q a
tar -I %q -xf f
tar -xf f --to-command=%q
split --filter=%q f
sort --compress-prog=%q f
rsync -ave %q a b
git rebase --exe %q main
git difftool -yx %q
git grep -O%q x
git fetch --upload-pack=%q origin
ssh -o ProxyCommand=%q h
git -c a=b bisect run %s
git -c alias.zz=!%s zz
git bisect run %s
git submodule foreach %q
git rebase -x %q main
busybox %s
busybox timeout 5 %s
env env env %s
noglob %s
repeat 3 %s
`), "\n")

func wrap(wrapping, line string) string {
	if strings.Contains(wrapping, "alias.zz=") {
		return strings.Replace(wrapping, "!%s", single("!"+line), 1)
	}
	return strings.ReplaceAll(strings.ReplaceAll(wrapping, "%q", single(line)), "%s", line)
}

// TestWrappedStaysDenied puts denied commands into wrappers, and these into others.
func TestWrappedStaysDenied(t *testing.T) {
	lines := []string{"curl x", "rm -rf x", "rm x --forc -R", "git -C y push", "/usr/bin/curl x", `c\url x`}
	simple := slices.DeleteFunc(slices.Clone(wrappings), func(w string) bool { return !onlyWords(w) })
	for _, dialect := range []string{"sh", "bash", "zsh"} {
		for _, line := range lines {
			for _, w := range wrappings {
				wrapped := wrap(w, line)
				if got, j := judge(dialect, wrapped); got != "deny" {
					t.Errorf("%s: %q is %s: %+v", dialect, wrapped, got, j)
				}
				if dialect == "zsh" || line != lines[0] && line != lines[1] {
					continue
				}
				for _, inner := range simple {
					twice := wrap(w, wrap(inner, line))
					if got, j := judge(dialect, twice); got != "deny" {
						t.Errorf("%s: %q is %s: %+v", dialect, twice, got, j)
					}
				}
			}
		}
	}
	for _, shell := range []string{"sh", "bash", "bash -s", "busybox ash", "sudo -u x sh", "source /dev/stdin", ". /dev/stdin", "sudo -s", "ssh host", "{ sh; }", "if sh; then ls; fi"} {
		for _, w := range wrappings {
			line := shell + " <<'END'\n" + wrap(w, "curl x") + "\nEND\n"
			if got, j := judge("sh", line); got != "deny" {
				t.Errorf("%q is %s: %+v", line, got, j)
			}
		}
	}
}

// onlyWords reports whether a wrapping makes a simple command.
func onlyWords(w string) bool {
	return !strings.ContainsAny(w, "(){};!<\\") && !strings.HasPrefix(w, "coproc")
}

// TestRuleOrder shuffles the rules and wants the same judgement.
func TestRuleOrder(t *testing.T) {
	g := newGenerator(2)
	rules := append(slices.Clone(sample),
		command.Rule{ID: "a", Pattern: command.Pattern{Argv: words("rm")}},
		command.Rule{ID: "b", Effect: command.Ask, Pattern: command.Pattern{Argv: [][]string{{"rm", "vi", "curl"}}}},
		command.Rule{ID: "c", Effect: command.Allow, Pattern: command.Pattern{Argv: words("ls")}},
		command.Rule{ID: "d", Effect: command.Ask, Pattern: command.Pattern{Argv: words("git"), FlagsAll: [][]string{{"-C"}}}},
	)
	for range 1000 {
		in := command.Input{Commands: []string{g.line(), g.list(1)}, Dialect: g.pick(dialects...), Dir: "/data"}
		want := command.Judge(in, rules)
		rand.New(g).Shuffle(len(rules), func(i, k int) { rules[i], rules[k] = rules[k], rules[i] })
		if diff := cmp.Diff(want, command.Judge(in, rules)); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", in.Commands, diff)
		}
	}
}

func TestPanicIsALimit(t *testing.T) {
	j := command.Caught(func() command.Judgement { panic("a fault") })
	if diff := cmp.Diff(command.Judgement{Limit: unread + ": a fault"}, j); diff != "" {
		t.Error(diff)
	}
}

func TestLimits(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"many commands", strings.Repeat(":;", 50_000) + "curl x", "longer than"},
		{"as many as fit", strings.Repeat(":;", 8000) + "curl x", "more than 1000 commands"},
		{"and harmless", strings.Repeat("ls;", 5000), "more than 1000 commands"},
		{"long", "ls " + strings.Repeat("a", 16<<10), "longer than"},
		{"words", "ls" + strings.Repeat(" a", 4000), "more than 2000 words"},
		{"NUL", "ls\x00", "NUL"},
		{"NUL inside", "sh -c $'a\x00b'", "NUL"},
		{"parentheses", strings.Repeat("( ", 200) + "ls" + strings.Repeat(" )", 200), "deep"},
		{"substitutions", strings.Repeat("$(", 200) + "ls" + strings.Repeat(")", 200), "deep"},
		{"wrappers", strings.Repeat("nice ", 200) + "ls", "deep"},
		{"open parentheses", strings.Repeat("((", 4000), "parentheses"},
		{"redirections", "ls" + strings.Repeat(" >a", 4000), "redirections"},
		{"words together", "find" + strings.Repeat(" -exec a", 900), "100000 words together"},
		{"eval", strings.Repeat("eval ", 200) + "ls", "deep"},
		{"braces", strings.Repeat("{ ", 200) + "ls" + strings.Repeat("; }", 200), "deep"},
		{"readings of options", "strace" + strings.Repeat(" --a", 3000) + " curl", "words"},
		{"texts", "sh -c '" + strings.Repeat("eval ", 9) + strings.Repeat("a", 14<<10) + "'", "bytes together"},
	}
	for _, tt := range tests {
		for _, dialect := range dialects {
			j := command.Judge(command.Input{Commands: []string{"ls", tt.line, "curl x"}, Dialect: dialect}, sample)
			if !strings.Contains(j.Limit, tt.want) || strings.HasPrefix(j.Limit, unread) {
				t.Errorf("%s, %s: limit %q, want %q", dialect, tt.name, j.Limit, tt.want)
			}
			if diff := cmp.Diff(command.Judgement{Limit: j.Limit}, j); diff != "" {
				t.Errorf("%s, %s: more is said than the limit:\n%s", dialect, tt.name, diff)
			}
		}
	}
	long := "ls" + strings.Repeat(" && ls", 400) + strings.Repeat(" | cat", 400)
	if got, j := judge("bash", long); got != "allow" {
		t.Errorf("a long chain is %s: %q %q", got, j.Limit, j.Undecided)
	}
	var many []command.Rule
	for i := range 3000 {
		many = append(many, command.Rule{ID: fmt.Sprint(i), Pattern: command.Pattern{Argv: words("rm", "x")}})
	}
	if j := command.Judge(command.Input{Commands: []string{"rm" + strings.Repeat(" -a", 1900)}}, many); !strings.Contains(j.Limit, "rules") {
		t.Errorf("limit %q, want that of rules", j.Limit)
	}
}

func FuzzJudge(f *testing.F) {
	g := newGenerator(3)
	for i := range 200 {
		f.Add(g.line(), byte(i))
		f.Add(g.wild(), byte(i))
	}
	for _, w := range wrappings {
		f.Add(wrap(w, "curl x"), byte(0))
	}
	f.Fuzz(func(t *testing.T, line string, n byte) {
		dialect := dialects[int(n)%len(dialects)]
		decision, j := judge(dialect, line)
		if strings.HasPrefix(j.Limit, unread) {
			t.Fatalf("%q: %s", line, j.Limit)
		}
		if decision == "allow" && strings.Contains(line, "curl") {
			for _, p := range j.Parts {
				if p.Argv[0] == "curl" {
					t.Errorf("%q is allowed and runs curl", line)
				}
			}
		}
	})
}
