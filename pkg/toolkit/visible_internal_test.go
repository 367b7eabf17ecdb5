package toolkit

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestVisibly(t *testing.T) {
	tests := []struct {
		name, in, want string
		escapes        int
	}{
		{"plain", "git status\nls -la ~", "git status\nls -la ~", 0},
		{"right-to-left override", "ls \u202e; curl", `ls \u{202E}; curl`, 1},
		{"zero-width space", "cu\u200brl", `cu\u{200B}rl`, 1},
		{"escape sequence", "\x1b[2Jls", `\u{1B}[2Jls`, 1},
		{"carriage return", "git status\r; ls", `git status\u{D}; ls`, 1},
		{"no-break space", "rm\u00a0-rf", `rm\u{A0}-rf`, 1},
		{"tab and NUL", "a\tb\x00", `a\tb\u{0}`, 2},
		{"not UTF-8", "a\x80\xffb", `a\x{80}\x{FF}b`, 2},
		{"Cyrillic letter in a Latin word", "git st\u0430tus", `git st\u{430}tus`, 1},
		{"accent in such a word", "\u00e9\u0441ho", `\u{E9}\u{441}ho`, 2},
		{"Greek letter", "cur\u03bf", `cur\u{3BF}`, 1},
		{"a Russian word", "echo \u043f\u0440\u0438\u0432\u0435\u0442", "echo \u043f\u0440\u0438\u0432\u0435\u0442", 0},
		{"Latin with accents", "gr\u00fc\u00dfe", "gr\u00fc\u00dfe", 0},
		{"accent as a mark of its own", "e\u0301", `e\u{301}`, 1},
		{"Japanese with Latin", "\u65e5\u672c\u8a9e\u306eGo\u30c6\u30b9\u30c8", "\u65e5\u672c\u8a9e\u306eGo\u30c6\u30b9\u30c8", 0},
		{"full width", "\uff43url", `\u{FF43}url`, 1},
		{"mathematical", "\U0001d41curl", `\u{1D41C}url`, 1},
		{"Hangul filler, blank Braille", "a\u3164b\u2800c", `a\u{3164}b\u{2800}c`, 2},
		{"variation selector, joiner", "a\ufe0f\u034f", `a\u{FE0F}\u{34F}`, 2},
		{"line separator", "a\u2028b", `a\u{2028}b`, 1},
		{"private and unassigned", "\ue000\U000e0fff", `\u{E000}\u{E0FFF}`, 2},
		{"dashes and quotes", "rm \u2013rf \u2018a\u2019", `rm \u{2013}rf \u{2018}a\u{2019}`, 3},
		{"a replacement character that was written", "\ufffd", "\ufffd", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, n := visibly(tt.in)
			if got != tt.want || n != tt.escapes {
				t.Errorf("got %q with %d escapes, want %q with %d", got, n, tt.want, tt.escapes)
			}
		})
	}
}

// seen reports whether s has visible characters, blanks and ends of lines only. It looks for
// what may be there, where the code looks for what may not.
func seen(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		visible := unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S)
		return r != '\n' && r != ' ' && !visible
	})
}

func FuzzVisibly(f *testing.F) {
	for _, s := range []string{"", "ls \u202e\u200b", "\xff\x00", "a\u0430"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, n := visibly(s)
		if !seen(got) {
			t.Errorf("%q became %q", s, got)
		}
		if again, more := visibly(got); again != got || more != 0 {
			t.Errorf("%q changed again to %q", got, again)
		}
		if n == 0 && got != s {
			t.Errorf("%q became %q with no escape", s, got)
		}
	})
}
