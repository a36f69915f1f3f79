// Package markup turns the Markdown a language model writes (CommonMark with
// GFM tables, strikethrough and task lists) into what a chat platform shows,
// and cuts it losslessly into messages that platform can hold.
//
// A text is parsed once into a small document of our own; each platform is a
// [dialect] over that document, one file each. The package is pure: it
// imports goldmark, uniseg and the standard library, starts no goroutine and
// does no I/O. Every function is safe for concurrent use and near-linear in
// its input, whatever the input is.
package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Target says what one platform message can hold.
type Target struct {
	// Max is the most units one piece may measure.
	Max int
	// Measure counts a Markdown piece as the platform does. It must be pure,
	// and grow, roughly, with the piece.
	Measure func(piece string) int
}

// Limits of the Bot API: a message holds 4096 UTF-16 units once its entities
// are parsed, and the server refuses more than 32 KiB before parsing them.
const (
	telegramUnits = 4096
	telegramBytes = 32 << 10
)

// Telegram is the Target of one Telegram message. It measures the plain form,
// which holds every character of the HTML form and the link targets besides,
// so a piece that fits can be sent either way.
func Telegram() Target {
	return Target{Max: telegramUnits, Measure: func(piece string) int {
		doc := parse(piece)
		n := UTF16Len(layout(doc, plain{}))
		if n <= telegramUnits && len(layout(doc, telegram{})) > telegramBytes {
			return telegramUnits + 1
		}
		return n
	}}
}

// TelegramHTML renders one Markdown piece for parse_mode=HTML. The result is
// always well nested and uses only tags Telegram knows.
func TelegramHTML(md string) string { return layout(parse(md), telegram{}) }

// Plain renders one Markdown piece without any markup, for when a platform
// refuses the formatted form. A link reads "text (url)".
func Plain(md string) string { return layout(parse(md), plain{}) }

// UTF16Len is the length of s in UTF-16 code units, the unit in which
// Telegram counts. An invalid byte counts as one unit.
func UTF16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// clean makes any bytes safe to parse and to send: valid UTF-8, "\n" line
// ends, and no control characters but newline and tab.
func clean(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		switch {
		case r == '\r':
			if !strings.HasPrefix(s[i+1:], "\n") {
				b.WriteByte('\n')
			}
		case r == '\n', r == '\t', !unicode.IsControl(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isClean(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < ' ' && c != '\n' && c != '\t', c == 0x7f:
			return false
		case c == 0xc2 && i+1 < len(s) && s[i+1] < 0xa0: // U+0080 to U+009F
			return false
		}
	}
	return utf8.ValidString(s)
}
