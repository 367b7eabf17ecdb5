package gitignore_test

import (
	"math/rand/v2"
	"strings"
)

// tree returns the entries that all generated rules are judged on.
func tree() []entry {
	var all []entry
	dirs := []string{""}
	for _, d := range []string{"a", "b", "foo", "bar", "foobar", "a b", "[ab]", "B1", "-x", "é"} {
		dirs = append(dirs, d+"/")
	}
	for _, d := range []string{"a/b", "a/foo", "foo/bar", "foo/a", "b/a b", "bar/foo"} {
		dirs = append(dirs, d+"/")
	}
	for _, d := range []string{"a/b/foo", "foo/bar/a", "foo/bar/bar", "a/b/a/b"} {
		dirs = append(dirs, d+"/")
	}
	files := []string{
		"f", "a.txt", "b.go", "ab", "abc", "foo.c", "foobarx", "x.o", ".h", "]", "!n", "#c", "z ",
		"A", "B.GO", "1", "_2", "a-b", "c-", "^", "\\", "a*b", "q?", "a\tb", "ba\\r", "ca", "cb", "{a}", "$x",
		"aXb", "ab.", "..a", "a,b", "Ab1", "tab\v", "ü",
	}
	for _, d := range dirs {
		if d != "" {
			all = append(all, entry{strings.TrimSuffix(d, "/"), true})
		}
		for _, f := range files {
			all = append(all, entry{d + f, false})
		}
		for _, sub := range []string{"e", "sub.d", "ab~", "cc"} {
			all = append(all, entry{d + sub, true}, entry{d + sub + "/f", false})
		}
	}
	return all
}

// nested are the directories that may get a .gitignore of their own.
var nested = []string{"a", "foo", "foo/bar", "a/b", "a/b/foo"}

// pieces are what patterns are made of; the doubled ones are the likelier ones.
var pieces = []string{
	"a", "a", "b", "b", "foo", "foo", "bar", "bar", "f", "x", "o", "c", ".txt", ".go", ".o", ".", "A", "B", "1", "é",
	"*", "*", "*", "**", "**", "***", "?", "?", "/", "/", "/", "/", "/**/", "/**", "**/", "/*", "*/", `**\/`,
	"[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "[!]]", "[a-]", "[-a]", "[a", "[", "]", "[]", "[z-a]", `[\]a]`, `[a\-c]`,
	"[[:alpha:]]", "[[:upper:]1]", "[![:lower:]]", "[[:digit:]]", "[[:alnum:]_]", "[[:punct:]]", "[[:space:]]",
	"[[:blank:]]", "[[:xdigit:]]", "[[:cntrl:]]", "[[:print:]]", "[[:graph:]]", "[[:bad:]]", "[[:alpha]]", "[[:]", "[[:a]", "[[a]",
	`[a-\c]`, "[a-[:digit:]]", "[[:lower:]-z]", "[/]", "[!/]", "[^-a]", "[*-/]", "[\\", "[a-\\",
	`\`, `\a`, `\*`, `\?`, `\[`, `\]`, `\!`, `\#`, `\ `, `\\`, " ", " ", "!", "#", "-", "^", "$", "{a}", ",", "\t", "\v", "sub.d", "e", "ab~", "ba",
}

// line returns a random line of an ignore file.
func line(r *rand.Rand) string {
	var b strings.Builder
	if r.IntN(4) == 0 {
		b.WriteString("!")
	}
	if r.IntN(6) == 0 {
		b.WriteString("/")
	}
	for range 1 + r.IntN(5) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	switch r.IntN(12) {
	case 0, 1:
		b.WriteString("/")
	case 2:
		b.WriteString(" ")
	case 3:
		b.WriteString(" /")
	}
	return b.String()
}

// file returns the text of a random ignore file of up to max lines.
func file(r *rand.Rand, max int) string {
	var b strings.Builder
	if r.IntN(10) == 0 {
		b.WriteString("\xef\xbb\xbf")
	}
	end := "\n"
	if r.IntN(6) == 0 {
		end = "\r\n"
	}
	for i := range 1 + r.IntN(max) {
		if i > 0 {
			b.WriteString(end)
		}
		b.WriteString(line(r))
	}
	if r.IntN(3) > 0 {
		b.WriteString(end)
	}
	return b.String()
}

// rules returns the ignore files of one random repository.
func rules(r *rand.Rand) ruleSet {
	s := ruleSet{".gitignore": file(r, 6)}
	for _, d := range nested {
		if r.IntN(3) == 0 {
			s[d+"/.gitignore"] = file(r, 3)
		}
	}
	if r.IntN(4) == 0 {
		s[exclude] = file(r, 3)
	}
	if r.IntN(4) == 0 {
		s[global] = file(r, 3)
	}
	return s
}
