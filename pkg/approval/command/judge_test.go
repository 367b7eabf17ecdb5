package command_test

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/pkg/approval/command"
)

// TestLines holds lines of which the vectors have none like them.
func TestLines(t *testing.T) {
	decideLines(t, []struct{ dialect, line, want string }{
		// Words.
		{"sh", `l\s -la`, "allow"},
		{"sh", `'ls' "-la" a'b'"c"`, "allow"},
		{"sh", "ls \\\n -la", "allow"},
		{"sh", `ls "a\"b" \* \$x '~'`, "allow"},
		{"sh", "ls a{b}c {} HEAD~1 a.b", "allow"},
		{"sh", "ls ~", "ask"},
		{"sh", "ls x=~/y", "ask"},
		{"sh", "ls {a,b}", "ask"},
		{"sh", `ls {"a",b}`, "ask"},
		{"sh", "ls {1..3}", "ask"},
		{"sh", `ls ["a"]`, "ask"},
		{"sh", "ls a?", "ask"},
		{"sh", "ls $x", "ask"},
		{"sh", `ls "$x"`, "ask"},
		{"sh", "ls $((1+2))", "ask"},
		{"bash", `ls $"a"`, "ask"},
		{"sh", `echo "${x:-'$(curl x)'}"`, "deny"},
		{"sh", "echo \"${x:='`curl x`'}\"", "deny"},
		{"bash", `echo "${x+$'$(curl x)'}"`, "deny"},
		{"sh", `echo "${x:-'}" ; curl x ; echo "'}"`, "deny"},
		{"sh", `echo "${x:-'}"'}"; ls "'; curl x; ls '"; echo '`, "deny"},
		{"sh", `declare x="${x:-'$(curl x)'}"`, "deny"},
		{"sh", "cat <<E\n${x:-'$(curl x)'}\nE", "deny"},
		{"sh", "cat <<E\n${x:-'}\n$(curl x)'}\nE", "deny"},
		{"sh", "cat <<E\n${x:-\"}\nE\ncurl x\n\"}\nE", "deny"},
		{"sh", `echo "${x:-$(ls 'a')}" ${x:-'curl x'}`, "ask"},
		{"bash", "ls @(a|b)", "ask"},
		{"bash", "ls @(a|$(curl x))", "deny"},
		{"zsh", "ls =curl", "ask"},
		{"bash", "ls =curl", "allow"},

		// Constructs.
		{"sh", "ls; cat a; git diff", "allow"},
		{"sh", "{ ls; } && ( cat a ) || ! git status", "allow"},
		{"sh", "ls & cat b", "allow"},
		{"bash", "time ls |& cat", "allow"},
		{"sh", "", "ask"},
		{"sh", "# nothing", "ask"},
		{"sh", "if ls; then cat a; fi", "ask"},
		{"sh", "for i in a b; do ls; done", "ask"},
		{"sh", "for i in $(curl x); do ls; done", "deny"},
		{"sh", "case a in $(curl x)) ls;; esac", "deny"},
		{"sh", "while ! curl x; do ls; done", "deny"},
		{"bash", "coproc curl x", "deny"},
		{"bash", "coproc NAME { ls; curl x; }", "deny"},
		{"bash", "[[ -n $(curl x) ]]", "deny"},
		{"bash", "declare x=$(curl x)", "deny"},
		{"bash", "a=(1 $(curl x))", "deny"},
		{"bash", "select i in a; do curl x; done", "deny"},
		{"sh", "x=$(curl x)", "deny"},
		{"sh", ": ${x:=$(curl x)}", "deny"},
		{"sh", "echo $((1 + $(curl x)))", "deny"},
		{"sh", "ls > $(curl x)", "deny"},
		{"sh", "f() { curl x; }", "deny"},
		{"bash", "function f { curl x; }", "deny"},

		{"bash", "let 'a[$(curl x)]=1'", "deny"},
		{"bash", "declare 'a[$(curl x)]=1'", "deny"},
		{"bash", "x='a[$(curl x)]'; declare -i y=x", "deny"},
		{"bash", "declare -i y; y='a[$(curl x)]'", "deny"},
		{"bash", "declare -i y='a[$(curl x)]'", "deny"},
		{"bash", "x='a[$(curl x)]'; echo ${!x}", "deny"},
		{"bash", "declare -n r='a[$(curl x)]'; echo $r", "deny"},
		{"bash", "x='a[`curl x`]' ls", "deny"},
		{"bash", "set -- 'a[$(curl x)]'; echo ${!1}", "deny"},
		{"bash", "for x in 'a[$(curl x)]'; do echo ${!x}; done", "deny"},
		{"bash", "(( a['$(curl x)'] ))", "deny"},
		{"bash", "[[ 'a[$(curl x)]' -gt 1 ]]", "deny"},
		{"bash", "time -- curl x", "deny"},
		{"sh", "eval -- curl x", "deny"},
		{"zsh", "repeat 2 { curl x }", "deny"},
		{"zsh", "for i (a b) curl x", "deny"},
		{"ksh", "ls ${ curl x;}", "deny"},

		// A name that was defined is no longer the program.
		{"sh", "git() { ls; }; git status", "ask"},
		{"sh", "git() { ls; }\ngit status", "ask"},
		{"bash", "function git { ls; }; git status", "ask"},
		{"bash", "shopt -s expand_aliases\nalias git=ls\ngit status", "ask"},
		{"sh", "eval 'git() { ls; }'; git status", "ask"},
		{"sh", "hash -p /x git; git status", "ask"},

		// Text that does not parse.
		{"bash", "bash <<E\ncurl x", "deny"},
		{"sh", "curl x &> f (", "deny"},
		{"sh", "ls 'a", "ask"},
		{"sh", "echo 'never use curl' &>f", "ask"},
		{"sh", "ls &>f curl x", "deny"},
		{"sh", "ls &>>f rm -rf x", "deny"},
		{"sh", "sh -c 'ls &>f curl x'", "deny"},
		{"sh", "</dev/null curl x <<E\nfoo", "deny"},
		{"sh", "2>/dev/null curl x <<E\nfoo", "deny"},
		{"sh", "ls; 2>&1 >&- > f > 'a b' curl x <<E\nfoo", "deny"},
		{"sh", "curl</dev/null x <<E\nfoo", "deny"},
		{"sh", "cu\\\nrl x <<E\nfoo", "deny"},
		{"sh", "echo '>'; curl x; echo ' 'a", "deny"},
		{"sh", "echo '>'; curl x; echo ' 'a <<E\nfoo", "deny"},
		{"sh", "ls >curl <<E\nfoo", "ask"},
		{"sh", "ls curl <<E\ncat curl", "ask"},

		// Backslashes at the ends of lines.
		{"sh", "ls # \\\ncurl x", "deny"},
		{"sh", "ls #\\\\\\\ncurl x", "deny"},
		{"sh", "ls # \\\nls", "ask"},
		{"sh", "ls `#\\\n`", "ask"},
		{"sh", "ls a#b \\\n-la", "allow"},
		{"sh", "ls \\\n-la # x\nls", "allow"},
		{"sh", "ls \\", "ask"},
		{"sh", "ls \\\\", "allow"},
		{"sh", "l\\\ns 'a\\\nb'", "allow"},
		{"sh", "c\\\nurl x", "deny"},
		{"sh", "cat <<'E'\nx\\\nE\ncurl x\nE\n", "deny"},
		{"sh", "cat <<'E'\nx\\\nE\nls\n", "allow"},
		{"sh", "cat <<E\nx\\\nE\nE\n", "ask"},
		{"bash", "cat <<E\nx\nE\\\n\ncurl x\nE\n", "ask"},

		// Redirections.
		{"sh", "ls 2>&1 >&2 <&- 2>/dev/null </dev/null", "allow"},
		{"sh", "echo 'curl x' | sh 3</dev/null", "deny"},
		{"sh", "sh <<'E' 3</dev/null\ncurl x\nE", "deny"},
		{"sh", "sh 3<<'E' </dev/null <&3\ncurl x\nE", "deny"},
		{"sh", "echo 'curl x' | { { sh <&3; } </dev/null; } 3<&0", "deny"},
		{"sh", "{ sh </dev/null 0<&5; } 5<<'E'\ncurl x\nE", "deny"},
		{"bash", "exec 5< <(echo curl x); sh <&5", "deny"},
		{"bash", "sh < <(echo curl x)", "deny"},
		{"sh", "echo 'curl x' | sh </dev/null 2>&1", "ask"},
		{"sh", "f() { sh; }; echo 'curl x' | f", "deny"},
		{"sh", "f() { sh; }; f <<E\ncurl x\nE", "deny"},
		{"sh", "f() { cat curl; }; f", "ask"},
		{"bash", "echo curl x > >(sh)", "deny"},
		{"bash", "cat > >(sh) <<< 'curl x'", "deny"},
		{"bash", "exec > >(sh); echo curl x", "deny"},
		{"bash", "coproc sh; echo 'curl x' >&\"${COPROC[1]}\"", "deny"},
		{"sh", "sh /dev/fd/3 3<<'E'\ncurl x\nE", "deny"},
		{"sh", "sh //dev/./stdin <<'E'\ncurl x\nE", "deny"},
		{"sh", "sh /proc/thread-self/fd/0 <<'E'\ncurl x\nE", "deny"},
		{"sh", "cd /dev; sh fd/0 <<'E'\ncurl x\nE", "deny"},
		{"bash", "exec 5<<<'curl x'; sh /dev/fd/5", "deny"},
		{"sh", "sh <<'E'\nsh\nE", "ask"},
		{"sh", "sh <<'E'\nls; ssh h; bash -s; sudo -s\nE", "ask"},
		{"sh", "exec <<'E'\nsh\nE\nsh", "ask"},
		{"sh", "exec <<E\ncurl x\nE\nsh", "deny"},
		{"sh", "ls 2>&1 >&2 <&- 2>/dev/null </dev/null", "allow"},
		{"sh", "cat <a", "allow"},
		{"sh", "<&-curl x", "deny"},
		{"sh", "ls; >&-curl x", "deny"},
		{"sh", "0<&-c'u'rl x", "deny"},
		{"sh", "ls <&- >&- 3>&1-", "allow"},
		{"sh", "cat a 02>&1", "ask"},
		{"bash", "cat a 02>&1", "allow"},
		{"sh", "bash -s 10<<E\ncurl x\nE", "deny"},
		{"sh", "cat </dev/sda", "ask"},
		{"sh", "cat </proc/1/environ", "ask"},
		{"sh", "cat </dev/../dev/tcp/a/1", "ask"},
		{"sh", "cat <$x", "ask"},
		{"sh", "ls >a", "ask"},
		{"sh", "ls >/proc/self/cwd/../../../dev/null", "ask"},
		{"sh", "ls >/bin/../dev/null", "ask"},
		{"sh", "cat <../a", "allow"},
		{"sh", "ls >>a", "ask"},
		{"sh", "ls >|a", "ask"},
		{"sh", "ls <>a", "ask"},
		{"bash", "ls >&a", "ask"},
		{"bash", "ls &>a", "ask"},
		{"bash", "ls {fd}>/dev/null", "ask"},
		{"sh", ">a", "ask"},
		{"sh", "{ ls; cat b; } >a", "ask"},
		{"sh", "cat <<E\na $x\nE", "ask"},
		{"sh", "cat <<E\na\nE\n", "allow"},
		{"sh", "cat <<\\E\n$x\nE\n", "ask"},
		{"sh", "cat <<'A B'\nx\nA B\n", "ask"},
		{"bash", "cat <<<x", "allow"},
		{"bash", "cat <<<$x", "ask"},

		// Environment.
		{"sh", "LANG=C LC_ALL=C TZ=UTC TERM=dumb NO_COLOR=1 CI=1 ls", "allow"},
		{"sh", "LANG=$x ls", "ask"},
		{"sh", "LANG=$(curl x) ls", "deny"},
		{"sh", "FOO=1 ls", "ask"},
		{"sh", "CI=1", "ask"},
		{"bash", "LANG+=x ls", "ask"},
		{"bash", "PS4='$(curl x)'; set -x; ls", "deny"},
		{"sh", "ENV='$(curl x)' sh -i", "deny"},
		{"bash", "export BASH_ENV='`curl x`'; bash a", "deny"},
		{"bash", "env PROMPT_COMMAND='curl x' bash -i", "deny"},
		{"sh", "GIT_PAGER='curl x' git log", "deny"},
		{"sh", "sudo EDITOR=/usr/bin/curl vi x", "deny"},
		{"sh", "echo EDITOR=curl; alias x=y; GIT_AUTHOR_NAME=curl git log", "ask"},
		{"bash", "LC_ALL=zh_CN.GBK bash -c 'ls €\\;curl x'", "deny"},
		{"bash", "LC_ALL=zh_CN.GBK ls €\\;curl", "deny"},
		{"bash", "export LC_CTYPE=ja_JP.SJIS\nls €\\;curl x", "deny"},
		{"bash", "LANG=x.GB18030; ls €\\;curl x", "deny"},
		{"bash", "env LANG=zh_TW.BIG5 bash -c 'ls €\\;curl x'", "deny"},
		{"bash", "read LANG; ls €\\;curl x", "deny"},
		{"bash", "LANG=x.GBK ls €", "ask"},
		{"bash", "LANG=C.UTF-8 LC_ALL=de_DE.utf8@euro LC_ALL=POSIX ls €", "allow"},
		{"bash", "LANG=x.GBK ls a", "allow"},
		{"bash", "LOCPATH=. LANG=x.UTF-8 ls", "ask"},

		// Git.
		{"sh", "git --git-dir=/x -C y push", "deny"},
		{"sh", "git -C push status", "ask"},
		{"sh", "git log push", "ask"},
		{"sh", "git $x push", "ask"},
		{"sh", "git push $x", "deny"},
		{"sh", "git --shallow-file X push", "deny"},
		{"sh", "/usr/lib/git-core/git-push x", "deny"},
		{"sh", "git-push", "deny"},
		{"sh", "git grep -O curl", "ask"},
		{"sh", "ssh -o 'ProxyCommand curl x' h", "deny"},
		{"sh", "at now <<E\ncurl x\nE", "deny"},
		{"sh", "batch <<E\ncurl x\nE", "deny"},
		{"sh", "crontab - <<'E'\n5 * * * * curl x\nE", "deny"},
		{"sh", "echo '@daily curl x' | crontab", "deny"},
		{"sh", "tar -cf curl.tar curl; rsync -a curl x; sort curl", "ask"},
		{"sh", "git bisect $X curl x", "deny"},
		{"sh", "git $X 'curl x'", "deny"},
		{"sh", "git submodule $X 'curl x'", "deny"},
		{"sh", "git rebase $X 'curl x' main", "deny"},
		{"sh", "X=-exec; find . $X curl x \\;", "deny"},
		{"sh", "find \"$X\" curl x \\;", "deny"},
		{"sh", "fd $X curl x", "deny"},
		{"sh", "find $X -name curl", "ask"},
		{"sh", "git -c alias.up=push up origin", "deny"},
		{"sh", "git -c alias.up='!ls; curl x' up", "deny"},
		{"sh", "git --config-env=alias.up=X up", "ask"},

		// Options.
		{"sh", "rm -r x -f", "deny"},
		{"sh", "rm -vRf x", "deny"},
		{"sh", "rm --rec -f x", "deny"},
		{"sh", "rm -r -- -f", "ask"},
		{"sh", "rm -r $x", "ask"},
		{"sh", "rm -rf $x", "deny"},
		{"sh", "go test -count=1 -short -run TestX ./...", "allow"},
		{"sh", "go test --exec=x ./...", "ask"},
		{"sh", "git diff --out=x", "ask"},
		{"sh", "git diff -- --output=x", "ask"},

		// Text that is only data.
		{"sh", "cat >f <<'E'\ncurl x | sh\nE", "ask"},
		{"sh", "git commit -m 'no curl; rm -rf'", "ask"},
		{"sh", "grep -r curl . | xargs grep curl", "ask"},
		{"sh", "parallel apt-get install ::: curl", "ask"},
		{"sh", "find . -name curl -exec grep curl {} +", "ask"},
		{"sh", "which curl; type curl", "ask"},

		// Names.
		{"sh", "./curl x", "deny"},
		{"sh", "/bin/ls", "ask"},
		{"sh", "$x curl y", "deny"},
		{"bash", "{curl,x}", "deny"},
		{"zsh", "=curl x", "deny"},
		{"sh", "{rm,-rf} a", "deny"},
		{"bash", "$'curl' x", "deny"},
		{"bash", "$\"curl\" x", "deny"},
		{"bash", "sh -c $'curl x'", "deny"},
		{"bash", "ls {curl,x} $'curl x'", "ask"},
		{"sh", "'' ls", "ask"},
	})
}

func decideLines(t *testing.T, tests []struct{ dialect, line, want string }) {
	t.Helper()
	for _, tt := range tests {
		if got, j := judge(tt.dialect, tt.line); got != tt.want {
			t.Errorf("%s: %q is %s, want %s: %+v", tt.dialect, tt.line, got, tt.want, j)
		}
	}
}

// TestUndecided tells what cannot be said from what is merely not allowed: under a default of allow the
// former asks, the latter runs.
func TestUndecided(t *testing.T) {
	tests := []struct{ dialect, line, want string }{ // part of the reason; "" where all is clear
		{"sh", "vi x", ""},
		{"sh", "ls curl; echo 'curl x'; grep curl file", ""},
		{"sh", "ls >a", ""},
		{"sh", "FOO=1 vi x", ""},
		{"sh", "for i in a b; do vi x; done", ""},
		{"sh", "echo $x", ""},
		{"sh", "find ~/x src/*.go -name curl", ""},
		{"sh", "find $x", "option of find may be computed"},
		{"sh", "git bisect $x", "git bisect runs may be computed"},
		{"sh", "git $x", "computed word"},
		{"sh", "git commit -m \"$x\"", ""},
		{"sh", "sh build.sh", ""},
		{"sh", "echo $((1 + 2))", ""},
		{"sh", `echo "${x:-$(vi 'a')}" ${x:-'a'} "${x:-"$y"}"`, ""},
		{"sh", `echo "${x:-'a'}"`, "quotes inside of quotes"},
		{"sh", "$x a", "the name of a program is computed"},
		{"sh", "rm $x", "rule no-rm-rf"},
		{"sh", "ls | xargs rm", "rule no-rm-rf"},
		{"sh", "git status\r; ls", "the character U+000D"},
		{"sh", "ls \xff", "no UTF-8"},
		{"sh", "ls )", "does not parse"},
		{"bash", "alias ls=vi", "alias changes"},
		{"sh", "PATH=.", "PATH"},
		{"sh", "export PATH=.", "PATH"},
		{"bash", "export PATH=.", "PATH"},
		{"bash", "export \"PATH=.\"", "PATH"},
		{"sh", "export $x", "name of a variable"},
		{"sh", "read PATH", "PATH"},
		{"bash", "printf -v PATH x", "PATH"},
		{"sh", "GIT_EXTERNAL_DIFF=x git diff", "GIT_EXTERNAL_DIFF"},
		{"sh", ": ${PATH:=x}", "PATH"},
		{"bash", "echo $((x))", "arithmetic"},
		{"bash", "echo ${a[x]}", "arithmetic"},
		{"bash", "[[ x -eq 1 ]]", "arithmetic"},
		{"bash", "echo ${!x}", "for a name"},
		{"bash", "echo ${!x*} ${!x[@]} ${!x@}", ""},
		{"bash", "declare -i y=1", "values evaluated"},
		{"bash", "local -n y=x", "values evaluated"},
		{"bash", "command typeset -ri y=x", "values evaluated"},
		{"bash", "declare -ax y=(1); export -n x", ""},
		{"bash", "x='a[$y]'", ""},
		{"bash", "for ((i=0; i<x; i++)); do vi x; done", "arithmetic"},
		{"bash", "echo ${x@P}", "evaluates"},
		{"zsh", "echo ${(e)x}", "evaluates"},
		{"bash", "test -v 'a[$(vi)]'", "subscript"},
		{"sh", ". ./x", "source reads"},
		{"sh", "vi | sh", "its input"},
		{"sh", "f() { sh; }", "its input"},
		{"bash", "vi > >(sh)", "its input"},
		{"bash", "coproc sh", "its input"},
		{"sh", "sh <<E\nsh\nE", "its input"},
		{"sh", "vi | { sh </dev/null; }", ""},
		{"sh", "sh -c \"$x\"", "computed text"},
		{"sh", "bash $x", "option of a shell is computed"},
		{"sh", "eval $x", "eval runs a computed text"},
		{"sh", "python3 -c x", "python3"},
		{"sh", "python3 x.py", ""},
		{"sh", "python3.12 -c x", "python3.12"},
		{"sh", "perl5.36-x86_64-linux-gnu -e x", "perl5.36"},
		{"sh", "luajit-2.1.0 -e x", "luajit-2.1.0"},
		{"sh", "python.sh -c x", ""},
		{"sh", "go test -toolexec vi .", "go runs what -toolexec names"},
		{"sh", "python3 <<E\nx\nE", "python3"},
		{"sh", "git -c core.pager=x status", "git -c"},
		{"zsh", "<a", "READNULLCMD"},
		{"zsh", "vi *(e:'vi x':)", "a glob of zsh"},
		{"sh", "for PATH in a; do vi x; done", "PATH"},
		{"bash", "coproc PATH { vi x; }", "PATH"},
		{"bash", "select PATH in a; do vi x; done", "PATH"},
		{"fish", "vi x; vi y", ""},
		{"fish", "vi (x)", "fish is not known"},
		{"sh", "cat <<\"a b\"\nx\na b\n", "delimiter"},
	}
	for _, tt := range tests {
		_, j := judge(tt.dialect, tt.line)
		if tt.want == "" && j.Undecided != "" || !strings.Contains(j.Undecided, tt.want) {
			t.Errorf("%s: %q is undecided because of %q, want %q", tt.dialect, tt.line, j.Undecided, tt.want)
		}
	}
}

func TestEnvAndWrite(t *testing.T) {
	rules := append([]command.Rule{
		{ID: "build", Effect: command.Allow, Pattern: command.Pattern{
			Argv: words("make"), Env: []string{"FOO", "GIT_DIR"}, Write: []string{"/data/out/**", "/data/*.log"},
		}},
		{ID: "cd", Effect: command.Allow, Pattern: command.Pattern{Argv: words("cd")}},
	}, sample...)
	rules[0].Pattern.Argv = words("tar")
	tests := []struct{ dir, line, want string }{
		{"/data", "tar x", "allow"},
		{"/data", "FOO=1 tar x", "allow"},
		{"/data", "GIT_DIR=/x tar x", "allow"},
		{"/data", "env FOO=1 tar x", "allow"},
		{"/data", "FOO=1 timeout 5 env LANG=C tar x", "allow"},
		{"/data", "BAR=1 tar x", "ask"},
		{"/data", "FOO=1 ls", "ask"},
		{"/data", "PATH=. tar x", "ask"},
		{"/data", "tar x >out/a/b", "allow"},
		{"/data", "tar x >>/data/out/a 2>err.log", "allow"},
		{"/data", "timeout 5 tar x >out/a", "allow"},
		{"/data", "{ tar x; tar y; } >out/a", "allow"},
		{"/data", "( cd /data; tar x ) >out/a", "ask"},
		{"/data", "tar x >out/../../etc/passwd", "ask"},
		{"/data", "tar x >out/../a.log", "ask"},
		{"/data", "tar x >/data/out/b/../a", "ask"},
		{"/data", "tar x >out/a..b", "allow"},
		{"/data", "cd /etc; tar x >out/a", "ask"},
		{"/data", "cd /etc; tar x >/data/out/a", "allow"},
		{"/data", "tar x >/data/./out//a", "allow"},
		{"/data", "tar x >outside", "ask"},
		{"/data", "tar x >$x", "ask"},
		{"/data", "tar x >out/a | ls", "allow"},
		{"/data", "tar x | ls >out/a", "ask"},
		{"/data", "{ tar x; ls; } >out/a", "ask"},
		{"/data", "tar x <>out/a", "allow"},
		{"", "tar x >out/a", "ask"},
		{"", "tar x >/data/out/a", "allow"},
		{"/other", "tar x >out/a", "ask"},
		{"/data", "command cd out && tar x >a.log", "ask"},
	}
	for _, tt := range tests {
		for _, dialect := range []string{"sh", "bash"} {
			j := command.Judge(command.Input{Commands: []string{tt.line}, Dialect: dialect, Dir: tt.dir}, rules)
			if got := decide(j); got != tt.want {
				t.Errorf("%s in %q: %q is %s, want %s: %+v", dialect, tt.dir, tt.line, got, tt.want, j)
			}
		}
	}
	everywhere := []command.Rule{{ID: "w", Effect: command.Allow, Pattern: command.Pattern{Argv: words("ls"), Write: []string{"**"}}}}
	for line, want := range map[string]string{"ls >/etc/x": "allow", "ls >/dev/tcp/h/1": "ask", "ls >/dev/x/../udp/h/1": "ask"} {
		if got := decide(command.Judge(command.Input{Commands: []string{line}}, everywhere)); got != want {
			t.Errorf("%q is %s, want %s", line, got, want)
		}
	}
}

func TestInput(t *testing.T) {
	script, data := "ls; curl x", strings.Repeat("x", 100<<10)
	tests := []struct {
		name string
		in   command.Input
		want string
	}{
		{"nothing", command.Input{}, "ask"},
		{"several", command.Input{Commands: []string{"ls", "git status"}}, "allow"},
		{"the strictest wins", command.Input{Commands: []string{"ls", "curl x", "vi"}}, "deny"},
		{"one that is not allowed", command.Input{Commands: []string{"ls", "vi"}}, "ask"},
		{"one before that is not allowed", command.Input{Commands: []string{"vi", "ls"}}, "ask"},
		{"one before that is empty", command.Input{Commands: []string{"", "ls"}}, "ask"},
		{"one that is empty", command.Input{Commands: []string{"ls", ""}}, "ask"},
		{"free names", command.Input{Commands: []string{"ls"}, Env: map[string]string{"LANG": "C", "CI": "1"}}, "allow"},
		{"other names", command.Input{Commands: []string{"ls"}, Env: map[string]string{"FOO": "1"}}, "ask"},
		{"another character set", command.Input{Commands: []string{"ls €\\;curl x"}, Env: map[string]string{"LC_ALL": "zh_CN.GBK"}}, "deny"},
		{"a prompt of bash", command.Input{Commands: []string{"ls"}, Env: map[string]string{"PS4": "$(curl x)"}}, "deny"},
		{"another function of bash", command.Input{Commands: []string{"ls"}, Env: map[string]string{"BASH_FUNC_ls%%": "() { vi x; }"}}, "ask"},
		{"a function of bash", command.Input{Commands: []string{"ls"}, Env: map[string]string{"BASH_FUNC_ls%%": "() { curl x; }"}}, "deny"},
		{"names inside of others", command.Input{Commands: []string{"timeout 5 ls"}, Env: map[string]string{"FOO": "1"}}, "ask"},
		{"stdin of a program", command.Input{Commands: []string{"cat"}, Stdin: &script}, "allow"},
		{"long stdin of a program", command.Input{Commands: []string{"cat"}, Stdin: &data}, "allow"},
		{"stdin of a shell", command.Input{Commands: []string{"sh"}, Stdin: &script}, "deny"},
		{"long stdin of a shell", command.Input{Commands: []string{"sh"}, Stdin: &data}, "deny"},
		{"stdin of a shell inside", command.Input{Commands: []string{"if true; then ls; sudo -u x bash -s; fi"}, Stdin: &script}, "deny"},
		{"stdin of what starts a shell", command.Input{Commands: []string{"sudo -s"}, Stdin: &script}, "deny"},
		{"stdin of source", command.Input{Commands: []string{". /dev/stdin"}, Stdin: &script}, "deny"},
		{"stdin of a script", command.Input{Commands: []string{"sh build.sh"}, Stdin: &script}, "ask"},
		{"stdin is taken away", command.Input{Commands: []string{"sh </dev/null"}, Stdin: &script}, "ask"},
	}
	for _, tt := range tests {
		for _, dialect := range []string{"sh", "bash", "zsh", "fish"} {
			tt.in.Dialect = dialect
			if got := decide(command.Judge(tt.in, sample)); got != tt.want {
				t.Errorf("%s, %s: %s, want %s", dialect, tt.name, got, tt.want)
			}
		}
	}
}
