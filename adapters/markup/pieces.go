package markup

import (
	"strings"
	"unicode"
)

// Pieces is Split for text that must be shown, as core.Features.Split promises:
// one that is nothing but marks ("```", "#") shows nothing as Markdown and goes
// as the characters that it is made of. Only blank text has no pieces.
func Pieces(md string, t Target) []string {
	pieces := Split(md, t)
	if len(pieces) == 0 && strings.TrimSpace(md) != "" {
		pieces = Split(literal(md), t)
	}
	return pieces
}

// literal escapes all ASCII punctuation, which a backslash makes literal.
func literal(md string) string {
	var b strings.Builder
	for _, r := range md {
		if r < unicode.MaxASCII && (unicode.IsPunct(r) || unicode.IsSymbol(r)) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
