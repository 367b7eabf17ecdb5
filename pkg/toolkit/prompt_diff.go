package toolkit

import (
	"fmt"
	"strings"
)

// linesIn returns how many lines a unified diff adds and removes. Within a hunk, whose header says
// how long it is, a line that begins with "+++" or "---" is one of the file's, and counts; elsewhere
// it may be the header of a file.
func linesIn(diff string) (added, removed int) {
	lines := strings.Split(diff, "\n")
	older, newer := 0, 0 // lines of the hunk that are to come
	for i := 0; i < len(lines); i++ {
		line, within := lines[i], older > 0 || newer > 0
		switch {
		case !within && strings.HasPrefix(line, "@@ "):
			older, newer = hunkLines(line)
		case !within && headerLines(lines, i) > 0:
			i += headerLines(lines, i) - 1
		case strings.HasPrefix(line, "+"):
			added, newer = added+1, newer-1
		case strings.HasPrefix(line, "-"):
			removed, older = removed+1, older-1
		case !strings.HasPrefix(line, `\`): // No newline at end of file
			older, newer = older-1, newer-1
		}
	}
	return added, removed
}

// headerLines returns how many lines the header of a file has that begins at i. It stands before a
// hunk, or begins the diff.
func headerLines(lines []string, i int) (n int) {
	begins := func(at int, prefix string) bool {
		return at < len(lines) && strings.HasPrefix(lines[at], prefix)
	}
	switch {
	case !begins(i, "--- "):
		return 0
	case begins(i+1, "@@ "):
		return 1
	case begins(i+1, "+++ ") && (i == 0 || begins(i+2, "@@ ")):
		return 2
	}
	return 0
}

// hunkLines returns how many lines of both files the header of a hunk announces.
func hunkLines(header string) (older, newer int) {
	fields := strings.Fields(header)
	if len(fields) < 4 {
		return 0, 0
	}
	return spanLines(fields[1]), spanLines(fields[2])
}

// spanLines reads "-12,3" and "+12", which is one line.
func spanLines(s string) (n int) {
	_, count, found := strings.Cut(s, ",")
	if !found {
		return 1
	}
	if _, err := fmt.Sscan(count, &n); err != nil {
		return 0
	}
	return n
}
