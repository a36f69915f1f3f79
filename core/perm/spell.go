package perm

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Spell is text as it can be shown to a person who decides about it: nothing in
// it is invisible, looks like a space and is none, or changes the direction of
// what stands beside it. Such a character is written \u{200b}, and so is the
// backslash of what looks like that by itself, so that two texts never look the
// same. Newlines and tabs stay, and so do the first few accents of a letter.
func Spell(text string) string {
	var b strings.Builder
	accents := maxAccents // so far on this letter; at first there is none
	for i, r := range text {
		switch {
		case unicode.IsLetter(r):
			accents = 0
		case unicode.In(r, unicode.Mn, unicode.Mc):
			accents++
		default:
			accents = maxAccents
		}
		switch {
		case unicode.In(r, unicode.Mn, unicode.Mc) && accents <= maxAccents && !ignorable(r):
			b.WriteRune(r)
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x{%02x}`, text[i])
		case r == '\\' && (strings.HasPrefix(text[i+1:], "u{") || strings.HasPrefix(text[i+1:], "x{")), odd(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// maxAccents is how many accents of a letter are shown as they are: as many as
// a language's own letters have (Vietnamese).
const maxAccents = 2

func ignorable(r rune) bool {
	return strings.ContainsRune(blank, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r)
}

// odd reports whether a character cannot be told from others by looking at it.
func odd(r rune) bool {
	if r == '\n' || r == '\t' || r == ' ' {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zs, unicode.Zl, unicode.Zp, unicode.M) ||
		ignorable(r) || !unicode.IsGraphic(r)
}

// blank are letters, marks and symbols that leave no ink: fillers of Hangul, of
// Braille, of hieroglyphs and of Khitan, a note without a head, and the place of an
// object.
const blank = "\U00016fe4\u115f\u1160\u3164\uffa0\u2800\U00013441\U00013442\U0001d159\ufffc"
