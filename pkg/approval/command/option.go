package command

import (
	"slices"
	"strings"
)

// isOption reports whether programs take a word for an option.
func isOption(s string) bool { return len(s) > 1 && s[0] == '-' && s != "--" }

// mayBeOption reports whether a word that is computed may turn out to be an option, or several words.
func mayBeOption(w text) bool {
	return w.computed && (strings.Contains(w.value, computedPart) || hasPrefix(w.value, "-", "+", "*", "?", "[", "{"))
}

// longStyle are programs whose options are words behind one dash, not letters that can be merged.
var longStyle = []string{"go", "find", "java", "javac", "terraform", "openssl", "ffmpeg", "convert", "magick"}

// mayBeAny reports whether a program may take a word for one of the options: as it stands, with
// its value, abbreviated, or as a letter among others.
func mayBeAny(options []string, program text, word string) bool {
	if len(options) == 0 || len(word) < 2 {
		return false
	}
	dashed := slices.Contains(longStyle, base(program))
	return slices.ContainsFunc(options, func(o string) bool { return mayBe(o, word, dashed) })
}

func mayBe(option, word string, dashed bool) bool {
	name, _, _ := strings.Cut(word, "=")
	switch {
	case name == option:
		return true
	case !isOption(word) || !isOption(option):
		return false
	case dashed:
		return strings.TrimLeft(name, "-") == strings.TrimLeft(option, "-")
	case strings.HasPrefix(name, "--"):
		return mayBeLong(option, name)
	case strings.HasPrefix(option, "--"):
		return name == option[1:] // programs that take both
	}
	return mayBeMerged(option[1:], word[1:]) || len(name) > 2 && strings.HasPrefix(option, name)
}

// mayBeLong compares with a word behind two dashes: GNU programs take any beginning of a name that is
// not that of another.
func mayBeLong(option, name string) bool {
	if strings.HasPrefix(option, "--") {
		return len(name) > 2 && strings.HasPrefix(option, name)
	}
	return len(option) > 2 && name == "-"+option
}

// mayBeMerged reports whether all letters of an option are among those of a word.
func mayBeMerged(letters, word string) bool {
	for _, c := range []byte(letters) {
		if strings.IndexByte(word, c) < 0 {
			return false
		}
	}
	return true
}

// isAny reports whether a word is one of the options beyond doubt.
func isAny(options []string, word string) bool {
	name, _, _ := strings.Cut(word, "=")
	return slices.Contains(options, word) || strings.HasPrefix(name, "--") && slices.Contains(options, name)
}
