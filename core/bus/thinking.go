package bus

import (
	"strings"
	"unicode/utf8"

	"bellhop/core"
)

// maxThinking is the most characters that are shown of what a model has
// thought; at most a quarter of a message.
const maxThinking = 1000

// Thinks reports whether what a model thinks is to be seen at the place.
func (b *Bus) Thinks(p core.Place) bool {
	for _, bind := range b.o.Bindings {
		if bind.Matches(p) {
			return bind.Thinking
		}
	}
	return false
}

// SplitBelow is Split with what the model has thought above the first piece,
// if that can be without taking anything from the text. Pure.
func (b *Bus) SplitBelow(p core.Place, markdown, thinking string) []core.Piece {
	f := b.Features(p.Adapter)
	thinking = thought(&f, thinking)
	if f.Split == nil || thinking == "" {
		return b.Split(p, markdown)
	}
	texts, ok := spaced(f.Split, markdown, 2*utf8.RuneCountInString(thinking))
	if !ok {
		return b.Split(p, markdown)
	}
	pieces := cut(&f, texts, markdown)
	pieces[0].Thinking = thinking
	return pieces
}

// thought is the end of what a model has thought, on one line.
func thought(f *core.Features, thinking string) string {
	most := maxThinking
	if f.MaxText > 0 {
		most = min(most, f.MaxText/4)
	}
	whole := true
	if bytes := 4 * utf8.UTFMax * most; len(thinking) > bytes { // enough, whatever it consists of
		thinking, whole = strings.ToValidUTF8(thinking[len(thinking)-bytes:], ""), false
	}
	text := []rune(strings.Join(strings.Fields(thinking), " "))
	if over := len(text) - (most - 1); over > 1 {
		text, whole = text[over:], false
	}
	if whole || len(text) == 0 {
		return string(text)
	}
	return "…" + string(text)
}

// spaced cuts a text so that its first piece leaves room for so many
// characters. It reports false if that piece had no text then.
func spaced(split func(string) []string, text string, room int) ([]string, bool) {
	// Something of that size takes the room: a word, which no splitter writes in
	// another way.
	word := strings.Repeat("x", room) + "\n\n"
	pieces := split(word + text)
	if len(pieces) == 0 {
		return nil, false
	}
	if len(pieces) == 1 {
		whole := split(text)
		return whole, len(whole) == 1
	}
	rest, ok := strings.CutPrefix(pieces[0], word)
	pieces[0] = rest
	return pieces, ok && strings.TrimSpace(rest) != ""
}
