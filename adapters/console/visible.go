package console

import (
	"fmt"
	"strings"
	"unicode"
)

// visible is text that is safe to write to a terminal: line ends and tabs stay,
// every other character that a terminal might obey, or that changes the order
// in which the rest is read, is spelled out. What a bot says may come from
// anybody; it must not move the cursor, set the title or fill the clipboard.
// The result is valid UTF-8.
func visible(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	if strings.IndexFunc(s, isHidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !isHidden(r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteByte('^')
			b.WriteRune(r + '@')
		case r == 0x7f:
			b.WriteString("^?")
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

func isHidden(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r == '\u2028', r == '\u2029': // line ends to some
		return true
	case '\u202a' <= r && r <= '\u202e', '\u2066' <= r && r <= '\u2069': // bidirectional overrides
		return true
	}
	return unicode.IsControl(r)
}

// label is how a speaker is named ahead of what it says: one short line.
func label(speaker string) string {
	const most = 24 // columns
	name, _ := firstRow(visible(strings.Join(strings.Fields(speaker), " ")), most)
	if name == "" {
		name = "bellhop" // the appliance itself
	}
	return name + "> "
}
