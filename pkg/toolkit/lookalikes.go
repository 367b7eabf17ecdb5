package toolkit

import (
	"strings"
	"unicode"
)

// What is drawn like something else, from the Unicode Character Database and its confusables.txt
// (Unicode Technical Standard 39), as far as a person reads commands and paths by it.

// lookalikes are characters that stand for others in another form or size, and one that is
// drawn as nothing (see the compatibility mappings of the Unicode Character Database).
var lookalikes = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00b4, 0x00b4, 1}, // acute accent, as an apostrophe
		{0x0185, 0x0185, 1}, // tone six, as b
		{0x0251, 0x0251, 1}, // letters for phonetics, as a
		{0x0261, 0x0261, 1}, // as g
		{0x0269, 0x026a, 1}, // as i
		{0x02b0, 0x02ff, 1}, // modifier letters
		{0x1d00, 0x1d6a, 1}, // small capitals, phonetic modifiers
		{0x2010, 0x2015, 1}, // dashes that are none to a program
		{0x2018, 0x201f, 1}, // quotes that are none to a shell
		{0x2024, 0x2024, 1}, // one dot
		{0x2032, 0x2037, 1}, // primes
		{0x2039, 0x203a, 1}, // angle quotes
		{0x2044, 0x2044, 1}, // fraction slash
		{0x2070, 0x209c, 1}, // superscripts, subscripts
		{0x2100, 0x218b, 1}, // letterlike symbols, number forms
		{0x2212, 0x2212, 1}, // minus
		{0x2215, 0x2217, 1}, // division slash, set minus, asterisk
		{0x2223, 0x2223, 1}, // divides, as a pipe
		{0x2236, 0x2236, 1}, // ratio, as a colon
		{0x2460, 0x24ff, 1}, // enclosed alphanumerics
		{0x2768, 0x2775, 1}, // ornamental brackets
		{0x2800, 0x2800, 1}, // blank Braille pattern
		{0x2f00, 0x2fd5, 1}, // radicals, as characters
		{0xa4d0, 0xa4ff, 1}, // Lisu letters, as Latin capitals, and punctuation
		{0xfe30, 0xfe6f, 1}, // vertical and small forms
		{0xff00, 0xffef, 1}, // half width and full width
	},
	R32: []unicode.Range32{
		{0x1d400, 0x1d7ff, 1}, // mathematical letters
		{0x1f100, 0x1f1ff, 1}, // enclosed letters
		{0x1fbf0, 0x1fbf9, 1}, // segmented digits
	},
}

// rightToLeft are the blocks whose letters, and others in them, are of the bidirectional classes R
// and AL unless they are of one that reorders as well (UnicodeData, DerivedBidiClass).
var rightToLeft = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x0590, 0x08ff, 1}, // Hebrew, Arabic, Syriac, Thaana, NKo, Samaritan, Mandaic
		{0xfb1d, 0xfdff, 1}, // presentation forms
		{0xfe70, 0xfeff, 1},
	},
	R32: []unicode.Range32{
		{0x10800, 0x10fff, 1}, // old scripts of the Near East
		{0x1e800, 0x1efff, 1}, // Mende Kikakui, Adlam, Arabic mathematical letters
	},
}

// likePunctuation are characters that are drawn as ASCII punctuation is, or nearly so, one line for
// each of these. Where a shell sees a letter, a person would see the end of a command.
const likePunctuation = "" +
	"\u01c3\u203c\u2049\u2757\u2d51" + // !
	"\u3003" + // "
	"\u2317\u266f" + // #
	"\u2052" + // %
	"\ua778\U0001f674\U0001f675" + // &
	"\u0374\u0384\u055a\u055b\u055d\u144a\u16cc\u1fbd\u1fbf\u1ffd\u1ffe\ua78b\ua78c\U00016f51\U00016f52" + // '
	"\u2e28\u2e29\u3014\u3015" + // ( )
	"\u204e\u22c6\u2731\U0001031f" + // *
	"\u16ed\u2795\U0001029b" + // +
	"\u00b8\u201a" + // ,
	"\u00af\u058a\u1806\u203e\u2043\u2500\u2501\u2796\u2cba\u2e1a\u2e3a\u2e3b\u2e40" + // -
	"\u0387\u2025\u2026\ua60e\U0001d16d" + // .
	"\u1735\u2041\u2571\u27cb\u29f8\u2cc6\u3033\u31d3\u4e3f\U0001d23a" + // /
	"\u0589\u16ec\u1803\u1809\u205a\u2254\ua789" + // :
	"\u037e\u204f" + // ;
	"\u00ab\u1438\u16b2\u226a\u2329\u27e8\U0001d236" + // <
	"\u00bb\u1433\u226b\u232a\u27e9\U00016f3f\U0001d237" + // >
	"\u1400\u2550\u2a74\u2a75\u2a76\u30a0" + // =
	"\u0241\u0294\u097d\u2047\u2048\ua6eb" + // ?
	"\u2572\u27cd\u29f5\u29f9\u31d4\u4e36\U0001d20f\U0001d23b" + // \
	"\u2038\u2303" + // ^
	"\u2017\u203f" + // _
	"\u1fef" + // `
	"\U0001d114\U0001d115" + // { }
	"\u00a6\u01c0\u01c1\u01c2\u16c1\u2016\u2225\u23d0\u2502\u2503\u2551\u2758\u2759\u275a\u2aff\u2d4f\U0001028a\U00010309\U00016f28" + // |
	"\u1fc0\u2053\u223c\u223d\u301c" // ~

// likeLetters are letters of other scripts that are drawn as ASCII letters are.
const likeLetters = "" +
	"\u037f\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5" + // Greek
	"\u03a7\u03b1\u03b3\u03b9\u03ba\u03bd\u03bf\u03c1\u03c3\u03c5\u03dc\u03f1\u03f2\u03f3" +
	"\u03f9\u03fa" +
	"\u0405\u0406\u0408\u0410\u0412\u0415\u0417\u041a\u041c\u041d\u041e\u0420\u0421\u0422" + // Cyrillic
	"\u0423\u0425\u042c\u0430\u0433\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458" +
	"\u0461\u0474\u0475\u04ae\u04af\u04ba\u04bb\u04bd\u04c0\u04cf\u0501\u050c\u050d\u051a" +
	"\u051b\u051c\u051d" +
	"\u053c\u054d\u054f\u0555\u0561\u0563\u0566\u056c\u0570\u0575\u0578\u057c\u057d\u0581" + // Armenian
	"\u0584\u0585" +
	"\u13a0\u13a1\u13a2\u13a5\u13a9\u13aa\u13ab\u13ac\u13b3\u13b7\u13bb\u13bd\u13c0\u13c3" + // Cherokee
	"\u13ce\u13cf\u13d2\u13d4\u13da\u13de\u13df\u13e2\u13e6\u13e7\u13f4" +
	"\u2c84\u2c8e\u2c92\u2c94\u2c98\u2c9a\u2c9e\u2c9f\u2ca2\u2ca3\u2ca4\u2ca5\u2ca6\u2ca8" + // Coptic
	"\u2cac"

// looksASCII reports whether a word has letters beyond ASCII, and all of those are drawn as ASCII
// letters are: such a word is read as another one.
func looksASCII(word string) bool {
	some := false
	for _, r := range word {
		if r <= '~' || !unicode.IsLetter(r) {
			continue
		}
		if !strings.ContainsRune(likeLetters, r) {
			return false
		}
		some = true
	}
	return some
}
