package tools

import (
	"cmp"
	"strings"
	"unicode"
)

// nameLength is the most characters of a name.
const nameLength = 40

// breaks are all characters at which a reader may see a new line.
var breaks = strings.NewReplacer("\r\n", "\n  ", "\n", "\n  ", "\r", "\n  ", "\v", "\n  ", "\f", "\n  ",
	"\u0085", "\n  ", "\u2028", "\n  ", "\u2029", "\n  ")

// Indent sets the lines after the first apart, so that no text can pass for an
// entry of the list that it stands in.
func Indent(text string) string { return breaks.Replace(text) }

// Name is a name that somebody else has chosen, fit to stand in brackets on one
// line: without what is not seen or could end the brackets, and without an @ at
// its beginning. It is never empty.
func Name(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r), unicode.In(r, unicode.Ps, unicode.Pe):
			return -1
		}
		return r
	}, s)
	r := []rune(strings.TrimLeft(strings.Join(strings.Fields(s), " "), "@ "))
	return cmp.Or(strings.TrimSpace(string(r[:min(len(r), nameLength)])), "someone")
}
