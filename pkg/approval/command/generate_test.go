package command_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
)

// A generator makes command lines. They name programs by base name only, and no file but /dev/null
// outside of the working directory, so that a shell whose PATH holds stand-ins does no harm with them.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, seed))} }

func (g generator) pick(from ...string) string { return from[g.IntN(len(from))] }

// chance is true once in n times.
func (g generator) chance(n int) bool { return g.IntN(n) == 0 }

// program returns a program with fixed words, mostly one that the sample allows.
func (g generator) program() string {
	if g.chance(8) {
		return g.pick("dash", "dash -s", "dash <&3", "dash 3</dev/null", "declare 'a[$(curl x)]=1'", "declare -i y=x", "x='a[$(curl x)]'", "curl x", "rm -rf a", "rm -r -f a", "git push", "git -C b push", "vi a", "rm a", "echo a", "echo curl x", "echo 'curl x' | dash", ":", "true", "cd b")
	}
	return g.pick("ls", "ls -la", "cat", "cat a", "git status", "git diff --stat", "go test ./...", "ls a b")
}

// wrapped puts a wrapper in front of a line.
func (g generator) wrapped(line string) string {
	switch g.IntN(9) {
	case 0:
		return "xargs -n 1 " + line
	case 1:
		return "sh -c " + single(line)
	case 2:
		return "eval " + single(line)
	case 3:
		return "sudo -u x " + line
	}
	return g.pick("timeout 5 ", "timeout -k 1 5 ", "nice ", "nice -n 3 ", "nohup ", "env ", "env CI=1 ", "command ", "time ", "env X=1 ") + line
}

// single quotes a text for a shell.
func single(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// argument returns an operand in one of the ways that shells treat differently.
func (g generator) argument(depth int) string {
	if depth > 0 && g.chance(12) {
		inner := g.list(depth - 1)
		return g.pick("$("+inner+")", "`"+inner+"`", `"$(`+inner+`)"`, "'$("+inner+")'", "<("+inner+")", "${x:-$("+inner+")}")
	}
	if g.chance(6) {
		return g.pick("$x", `"$x"`, "*.go", "{a,b}", "~", "x=~", "[a]", "a?", "$((1+1))", "$'a'", `$"a"`, "@(a|b)", "{1..2}", "!(a)", "${x}", "$$", "=a",
			`"${x:-'a'}"`, `"${y:-'$(curl x)'}"`, `"${y:-'}"`, `"'}"`, `"${y:-"'"}"`, "${y:-'a'}", "${!x}", "{curl,x}")
	}
	return g.pick("a", "b", "-l", "--", "'x y'", `"x y"`, `a\ b`, `\$x`, `'$x'`, `"\$x"`, "a#b", "x=1", "{}", "a{b}", "{a", "a}", "]", "^a", "!", "a!", "%1", "+x", `\*`, `"*"`, "''", "a=~b", "HEAD~1", "-", ":", "a,b", "\\\nc", "'a\\\nb'", "\"a\\\nb\"", "\\\\\nvi", "#\\\nvi", "'\nvi'", "\"\nvi\"")
}

func (g generator) redirection() string {
	if g.chance(4) {
		return g.pick(">c", ">>c", "&>c", "2>c", "<>c", ">|c", ">&c", "<$x", "{f}>/dev/null", "<&a", "<&-curl", ">&-curl", "3<&0", "<&3", "3</dev/null", "> >(dash)", "3>&-")
	}
	return g.pick(">/dev/null", "2>&1", "2>/dev/null", "<a", "<b", ">&2", "1>&2", "</dev/null", "<<<a", "2>&-", "&>/dev/null")
}

// simple returns one command.
func (g generator) simple(depth int) string {
	line := g.program()
	for range g.IntN(3) {
		line += g.pick(" ", " ", "  ", "\t") + g.argument(depth)
	}
	if g.chance(10) {
		line = g.wrapped(line)
	}
	if g.chance(12) {
		line = g.pick("LC_ALL=C ", "LANG=C TZ=x ", "CI=1 ", "X=1 ", "PATH=. ", "LANG=$x ", "TZ=~ ") + line
	}
	if g.chance(5) {
		line += " " + g.redirection()
	}
	if g.chance(12) {
		body := g.pick("text", "$(curl x)", "$x", "`ls`", "\\", "curl x", "'", "E x", "\tE", "x\\", "E\\", "\\E", "x\\\nE\nvi", "E\nvi", "E \nvi", "'E'\nvi", "$(ls\n)")
		line += g.pick(" <<E", " <<'E'", " <<-E", ` <<"E"`, ` <<\E`, " <<E'F'") + "\n" + body + "\n" + g.pick("E", "E", "E", "E ", "EF") + "\n"
	}
	return line
}

// list returns commands behind each other.
func (g generator) list(depth int) string {
	line := g.simple(depth)
	for range g.IntN(3) {
		line += g.pick("; ", " && ", " || ", " | ", "\n", " & ", ";", "|", " |& ", "&&\n") + g.simple(depth)
	}
	if depth > 0 && g.chance(6) {
		line = g.compound(line, depth)
	}
	if g.chance(10) {
		line += g.pick(" #x", "#", " # ; curl x", ";", " &", "\n", "\\", "\\\n")
	}
	return line
}

func (g generator) compound(line string, depth int) string {
	switch g.IntN(9) {
	case 0:
		return "if " + line + "\nthen " + g.simple(depth-1) + "\nfi"
	case 1:
		return "for i in a b; do " + line + "\ndone"
	case 2:
		return g.pick("ls", "git", "f") + "() { curl x; }; " + line
	case 6:
		return "f() { " + g.pick("dash", "ls; dash", "dash <&3", "cat") + "; }; " + line + g.pick("; ", " | ", " 3<&0 | ") + "f"
	case 3:
		return "case a in a) " + line + ";; esac"
	case 4:
		return "{ " + line + "\n}"
	case 5:
		return "! " + line
	}
	return g.pick("(", "( ") + line + "\n)"
}

// line returns a line, now and then with a fault.
func (g generator) line() string {
	for {
		line := g.list(2)
		if g.chance(3) {
			line = g.spoiled(line)
		}
		if onlyNull(line) {
			return line
		}
	}
}

var null = regexp.MustCompile(`/dev/null\b|\./\.\.\.`)

// onlyNull reports whether a line names no path but /dev/null and ./...
func onlyNull(line string) bool { return !strings.Contains(null.ReplaceAllString(line, ""), "/") }

const marks = ";&|<>(){}$\"'`\\#!*?[]~=^%@+-,: \n\tE0"

// spoiled changes some characters of a line.
func (g generator) spoiled(line string) string {
	b := []byte(line)
	for range 1 + g.IntN(2) {
		i := g.IntN(len(b))
		switch g.IntN(3) {
		case 0:
			b = append(b[:i], b[i+1:]...)
		case 1:
			b[i] = marks[g.IntN(len(marks))]
		default:
			b = append(b[:i], append([]byte{marks[g.IntN(len(marks))]}, b[i:]...)...)
		}
		if len(b) == 0 {
			return "ls"
		}
	}
	return string(b)
}

var tokens = strings.Fields(`ls cat git status push go test curl rm -rf -c -exec sh bash eval env xargs find sudo timeout 5 x a=1 PATH=x LANG=C
	; ;; & && | || |& ( ) { } [ ] [[ ]] (( )) < > << <<- <<< >& <& &> >> <( >( $( $(( ${ $x $ $' $" ' " \ # ! * ? ~ = - -- : if then else fi for in
	do done while case esac function f() select coproc time E @( !( += ${x:= [$ x[ ]= é \r`)

// wild returns tokens in any order.
func (g generator) wild() string {
	var b strings.Builder
	for range 1 + g.IntN(9) {
		b.WriteString(tokens[g.IntN(len(tokens))])
		b.WriteString(g.pick("", " ", " ", "\n"))
	}
	if g.chance(50) {
		b.WriteString(g.pick("\r", "\x00", "\u202e", "\xff", "\u00a0"))
	}
	return b.String()
}
