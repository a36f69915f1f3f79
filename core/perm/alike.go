package perm

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What looks like something else, without being invisible. Of what Unicode calls
// canonically equivalent, which must look the same, one form is shown as it is:
// the composed one, if that is in general use. What looks like ASCII, in which
// commands are written, and is not, never is.

// other are characters that have an equivalent in general use, or are variants of
// ASCII or of letters for compatibility alone.
var other = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x0250, 0x02af, 1}, // phonetic letters
		{0x0340, 0x0344, 1}, {0x0374, 0x0374, 1}, {0x037e, 0x037e, 1}, {0x0387, 0x0387, 1},
		{0x0653, 0x0655, 1}, // of Arabic letters that have them
		{0x0958, 0x095f, 1}, {0x09dc, 0x09df, 1}, {0x0a33, 0x0a36, 3}, {0x0a59, 0x0a5e, 1}, {0x0b5c, 0x0b5d, 1},
		{0x0f43, 0x0f5c, 5}, {0x0f69, 0x0f69, 1}, {0x0f73, 0x0f75, 2}, {0x0f76, 0x0f78, 2}, {0x0f81, 0x0f81, 1}, {0x0f93, 0x0fa7, 5}, {0x0fac, 0x0fac, 1}, {0x0fb9, 0x0fb9, 1},
		{0x1100, 0x11ff, 1}, // parts of Hangul
		{0x1b35, 0x1b35, 1},
		{0x1d00, 0x1dbf, 1}, // phonetic letters
		{0x1f71, 0x1f7d, 2}, {0x1fbb, 0x1fbe, 3}, {0x1fc9, 0x1fcb, 2}, {0x1fd3, 0x1fdb, 8}, {0x1fe3, 0x1feb, 8}, {0x1fee, 0x1fef, 1}, {0x1ff9, 0x1ffd, 2},
		{0x2100, 0x213f, 1}, {0x2145, 0x214e, 1}, {0x2160, 0x2188, 1}, {0x2329, 0x232a, 1}, {0x249c, 0x24e9, 1}, {0x2adc, 0x2adc, 1},
		{0xa960, 0xa97f, 1}, {0xd7b0, 0xd7ff, 1},
		{0xf900, 0xfaff, 1},                                                                // ideographs for compatibility
		{0xfb00, 0xfdff, 1}, {0xfe10, 0xfe6f, 1}, {0xfe70, 0xfeff, 1}, {0xff01, 0xffee, 1}, // and forms of letters
	},
	R32: []unicode.Range32{
		{0x110ba, 0x110ba, 1}, {0x1d15e, 0x1d164, 1}, {0x1d1bb, 0x1d1c0, 1},
		{0x1d400, 0x1d7ff, 1}, // letters of mathematics
		{0x1f100, 0x1f1e5, 1}, // enclosed letters
		{0x2f800, 0x2fa1f, 1},
	},
}

// signs look like the punctuation and the symbols of ASCII.
const signs = "‐‑‒–−˗⁃" + "‘’‚‛′‵ʹʻʼʽˈˊˋ´ʾʿ՚՝׳ߴߵꞌ" + "“”„‟″‶ʺ˝˵˶״" + "⁄∕⧸╱⟋⼃〳" + "∖⧵⧹╲⟍" + "؛⁏꛶" + "∶ː˸։꞉׃܃܄⁝ꓽ" + "∣ǀ│❘⏐┃⎪ן" +
	"∗⁎٭✱⚹" + "∼˜⁓∾" + "․۔·‧∙⋅•᛫" + "،٫‚ꓹ" + "‹›˂˃❮❯ᐸᐳ〈〉⟨⟩" + "❨❩⟮⟯❲❳〔〕❴❵" + "═꓿᐀゠" + "ǃⵑ" + "ɁʔʕॽᎮ" + "٪⁒" + "♯" + "᛭➕✛" + "˄ˆ⌃" + "ˍ" + "¦"

// composing are pairs of a letter, or the sign of a vowel, and a sign that make
// another character together.
const composing = "\u0928\u093c \u0930\u093c \u0933\u093c \u09c7\u09be \u09c7\u09d7 \u0b47\u0b56 \u0b47\u0b3e \u0b47\u0b57 \u0b92\u0bd7 \u0bc6\u0bbe \u0bc7\u0bbe \u0bc6\u0bd7 " +
	"\u0c46\u0c56 \u0cbf\u0cd5 \u0cc6\u0cd5 \u0cc6\u0cd6 \u0cc6\u0cc2 \u0cca\u0cd5 \u0d46\u0d3e \u0d47\u0d3e \u0d46\u0d57 \u0dd9\u0dca \u0dd9\u0dcf \u0ddc\u0dca \u0dd9\u0ddf \u1025\u102e " +
	"\U00011131\U00011127 \U00011132\U00011127 \U00011347\U0001133e \U00011347\U00011357 \U000114b9\U000114ba \U000114b9\U000114b0 \U000114b9\U000114bd \U000115b8\U000115af \U000115b9\U000115af \U00011935\U00011930"

// composes reports whether the mark and what it follows may be another character.
func composes(before, mark rune) bool {
	return unicode.In(before, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hiragana, unicode.Katakana) ||
		strings.Contains(composing, string([]rune{before, mark}))
}

// alike reports whether a character looks like another, wherever it stands.
func alike(r rune) bool {
	return r > unicode.MaxASCII && (unicode.Is(other, r) || strings.ContainsRune(signs, r))
}

// twins are letters of other scripts that look like those of ASCII.
const twins = "аеорсухіјѕԁԛԝһѵӏүАВЕКМНОРСТУХІЈЅԌԚԜҮӀ" + "ονυρικαχγωΑΒΕΖΗΙΚΜΝΟΡΤΥΧϲϳϹͿ" + "օսցոհզյԼՏՍՕ" + "ᎪᏴᏟᎠᎬᎻᎫᏦᏞᎷᏢᏒᏚᎢᏙᏔᎩᏃ" + "ⲟⲣⲥⲭⲔⲘⲚⲞⲢⲤⲦⲬ" + "ꓮꓲꓐꓚꓓꓰꓝꓖꓧꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ" + "ᑭᒪᗷᗞᗪᗰᑌᐯ" + "𐐬𐐄" + "סוןا١٥ه۱۵०০੦૦୦௦೦൦๐໐၀" + "ー一丨ノ口〇ㅡㅣ"

// foreign are the scripts of a text's words that may stand beside ASCII in a word:
// they look like nothing in it.
var foreign = []*unicode.RangeTable{unicode.Latin, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Common, unicode.Inherited}

// borrowed are the offsets of letters and digits that make a word look like one of
// ASCII: those of another script in a word that has ASCII letters, and all of a
// word that has nothing but twins.
func borrowed(text string) map[int]bool {
	var out map[int]bool
	var strange []int // in the word so far
	ascii, twin := false, true
	end := func() {
		if len(strange) > 0 && (ascii || twin) {
			if out == nil {
				out = map[int]bool{}
			}
			for _, i := range strange {
				out[i] = true
			}
		}
		strange, ascii, twin = strange[:0], false, true
	}
	for i, r := range text {
		switch {
		case r <= unicode.MaxASCII:
			if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
				ascii = true
			} else if r != '_' && (r < '0' || r > '9') {
				end()
			}
		case r == utf8.RuneError:
			end()
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			if !unicode.Is(unicode.M, r) {
				end()
			}
		case !unicode.In(r, foreign...) || strings.ContainsRune(twins, r):
			strange = append(strange, i)
			twin = twin && strings.ContainsRune(twins, r)
		case !ascii:
			twin = false // a letter that looks like nothing else
		}
	}
	end()
	return out
}
