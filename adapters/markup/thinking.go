package markup

import "strings"

// What a model has thought stands above its answer as a quote that people open
// if they care. It is plain text on one line, and the rendering of a piece
// never makes such a quote: no answer can hide something in one.

// TelegramThinking is the quote before the HTML of a piece; empty for nothing.
func TelegramThinking(text string) string {
	if text = oneLine(text); text == "" {
		return ""
	}
	return string(append(appendHTML([]byte("<blockquote expandable>"), plainText(text), 0), "</blockquote>\n"...))
}

// DiscordThinking is the quote before the Markdown of a piece; empty for
// nothing. Discord folds no quote: it is a spoiler in one.
func DiscordThinking(text string) string {
	if text = oneLine(text); text == "" {
		return ""
	}
	return string(append(appendDiscord([]byte("> ||"), plainText(text), 0), "||\n"...))
}

func oneLine(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }
