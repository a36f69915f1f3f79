package perm

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Spell is text as it can be shown to a person who decides about it: nothing in
// it is invisible, looks like something else (see alike and borrowed), or changes
// the direction of what stands beside it, as marks of direction do. Such a
// character is written \u{200b}, and so is the backslash of what looks like that by
// itself, so that two texts never look the same. Newlines and tabs stay, and so do
// the first few accents of a letter that has no form with them.
func Spell(text string) string {
	var b strings.Builder
	twins := borrowed(text)
	accents := maxAccents // so far on this letter; at first there is none
	var letter, before rune
	for i, r := range text {
		mark := r > unicode.MaxASCII && unicode.In(r, unicode.Mn, unicode.Mc)
		switch {
		case unicode.IsLetter(r):
			accents, letter = 0, r
		case mark:
			accents++
		default:
			accents = maxAccents
		}
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x{%02x}`, text[i])
		case mark && accents <= maxAccents && (accents == 1 || before < r) && !ignorable(r) && !alike(r) && !composes(letter, r) && !composes(before, r),
			!mark && !odd(r) && !alike(r) && !twins[i] && !escapes(text[i:]):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
			accents = maxAccents // what follows stands on this
		}
		before = r
	}
	return b.String()
}

// escapes reports whether a text begins like what Spell writes of a character.
func escapes(text string) bool {
	return strings.HasPrefix(text, `\u{`) || strings.HasPrefix(text, `\x{`)
}

// maxAccents is how many accents of a letter are shown as they are: as many as
// languages need whose letters have no forms with them (Thai, Hebrew).
const maxAccents = 2

func ignorable(r rune) bool {
	return strings.ContainsRune(blank, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r)
}

// odd reports whether a character cannot be told from others by looking at it.
func odd(r rune) bool {
	if r == '\n' || r == '\t' || ' ' <= r && r < 0x7f {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zs, unicode.Zl, unicode.Zp, unicode.M) ||
		ignorable(r) || !unicode.IsGraphic(r)
}

// blank are letters, marks and symbols that leave no ink: fillers of Hangul, of
// Braille, of hieroglyphs and of Khitan, a note without a head, and the place of an
// object.
const blank = "\U00016fe4\u115f\u1160\u3164\uffa0\u2800\U00013441\U00013442\U0001d159\ufffc"
