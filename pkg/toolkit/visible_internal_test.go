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
		{"a Russian word that looks like a Latin one", "./\u0430\u0441\u0435 x", `./\u{430}\u{441}\u{435} x`, 3},
		{"the same with a digit and a line", "\u0430_\u04411", `\u{430}_\u{441}1`, 2},
		{"a Greek one", "\u03c1\u03bf\u03c1", `\u{3C1}\u{3BF}\u{3C1}`, 3},
		{"an Armenian one", "\u057d\u0578\u0585", `\u{57D}\u{578}\u{585}`, 3},
		{"a Greek word", "\u03bb\u03cc\u03b3\u03bf\u03c2", "\u03bb\u03cc\u03b3\u03bf\u03c2", 0},
		{"Lisu letters", "\ua4d0\ua4d1", `\u{A4D0}\u{A4D1}`, 2},
		{"Latin letters of phonetics", "\u0261it", `\u{261}it`, 1},
		{"Hebrew and Arabic", "cp \u05d0 \u0628 < c", `cp \u{5D0} \u{628} < c`, 2},
		{"Arabic forms, digits, Adlam, Phoenician", "\ufb50\ufe8d\u0661\U0001e900\U00010900", `\u{FB50}\u{FE8D}\u{661}\u{1E900}\u{10900}`, 5},
		{"a semicolon, a pipe and an exclamation mark", "ls\u037e curl \u01c0 sh\u01c3", `ls\u{37E} curl \u{1C0} sh\u{1C3}`, 3},
		{"colons", "a\ua789b\u0589c\u2236d", `a\u{A789}b\u{589}c\u{2236}d`, 3},
		{"slashes", "a\u29f8b\u2571c\u27cbd\u1735e", `a\u{29F8}b\u{2571}c\u{27CB}d\u{1735}e`, 4},
		{"bars", "a \u2758 b \u2502 c", `a \u{2758} b \u{2502} c`, 2},
		{"angles, tilde, dots", "\u276e\u226b\u223c\u2026", `\u{276E}\u{226B}\u{223C}\u{2026}`, 4},
		{"eight blanks", "a        b", "a        b", 0},
		{"nine blanks", "a         5", `a\u{20 x9}5`, 9},
		{"blanks at both ends", strings.Repeat(" ", 50) + "a" + strings.Repeat(" ", 30), `\u{20 x50}a\u{20 x30}`, 80},
		{"indentation", "+" + strings.Repeat(" ", 20) + "a\n" + strings.Repeat(" ", 40) + "b", "+" + strings.Repeat(" ", 20) + "a\n" + strings.Repeat(" ", 40) + "b", 0},
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
	for _, s := range []string{"", "ls \u202e\u200b", "\xff\x00", "a\u0430", "          ", "\u0430\u0441", "\u05d0;\u037e"} {
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
