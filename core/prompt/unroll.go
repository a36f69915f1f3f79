package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"bellhop/core"
)

// quoteLength is the most characters of a quote that are shown.
const quoteLength = 1000

// noText stands for a message or reply without any text, since providers refuse
// an empty message.
const noText = "(no text)"

// Unroll is the thread as chat messages: the bot's own messages as the
// assistant's, everybody else's as "[name]: text" in the user's, those that
// follow one another merged. The tail is appended to the last user message; if
// the history ends with the assistant, it is a user message of its own. With an
// empty tail, the result is the history alone, which is a prefix of what the
// same thread unrolls to later. An image stands right after the message that it
// came with.
//
// The run's own steps follow, and after each what joined the run there, which
// is not in its place in the thread then: with more steps, or with more that has
// joined after the last one, the result is a continuation.
func Unroll(v View, tail string, steps ...core.Step) []core.ChatMessage {
	w := writer{names: newNames(&v), limit: v.Bot.History.Tokens / 2}
	for _, m := range v.arrange() {
		if slices.ContainsFunc(steps, func(s core.Step) bool { return slices.Contains(s.Joined, m.ID) }) {
			continue
		}
		if v.own(m) {
			if len(w.out) == 0 && w.role == "" {
				// Some providers refuse a conversation that the assistant begins.
				w.begin(core.UserRole)
				w.text.WriteString("(no earlier messages)")
			}
			w.begin(core.AssistantRole)
			w.reply(m)
		} else {
			w.begin(core.UserRole)
			w.speech(m)
		}
	}
	if tail != "" {
		w.begin(core.UserRole)
		w.text.WriteString(tail)
	}
	w.transcript(steps)
	return w.done()
}

// writer gathers chat messages.
type writer struct {
	names  names
	limit  int // most tokens of a message
	out    []core.ChatMessage
	role   core.ChatRole // of text
	text   strings.Builder
	images []core.Image // in text
}

// begin starts a message of the role: a new one, or a paragraph of the last.
func (w *writer) begin(role core.ChatRole) {
	if w.role == role {
		w.text.WriteString("\n\n")
		return
	}
	w.out = w.done()
	w.role = role
}

// done ends the message that is being written and returns them all.
func (w *writer) done() []core.ChatMessage {
	if w.role != "" {
		w.out = append(w.out, core.ChatMessage{Role: w.role, Content: w.text.String(), Images: w.images})
		w.text.Reset()
		w.role, w.images = "", nil
	}
	return w.out
}

// reply writes a message of the bot's own.
func (w *writer) reply(m *core.Message) {
	text := clean(strings.TrimSpace(m.Text()))
	if text == "" {
		text = noText
	}
	w.text.WriteString(clip(text, w.limit))
	if m.Digest != "" {
		w.text.WriteString("\n⟦tools used: " + oneLine(m.Digest, digestLength) + "⟧")
	}
}

// speech writes a message of anybody else's.
func (w *writer) speech(m *core.Message) {
	if before := w.earlier(m); before != "" {
		w.text.WriteString(before + "\n\n")
	}
	w.text.WriteString("[" + w.names.of(m) + "]")
	if m.Corrects != "" {
		w.text.WriteString(" corrects an earlier message")
	}
	w.text.WriteByte(':')
	body := w.body(m)
	if strings.HasPrefix(body, "> ") {
		w.text.WriteByte('\n')
	} else {
		w.text.WriteByte(' ')
	}
	w.text.WriteString(clip(body, w.limit))
	w.show(m)
}

// body is what a message says: quotes, text, files.
func (w *writer) body(m *core.Message) string {
	text := inert(strings.TrimSpace(m.Text()))
	files := w.files(m)
	var quotes []string
	for _, p := range m.Parts {
		if p.Kind == core.QuotePart && p.Quote != nil {
			quotes = append(quotes, w.quote(p.Quote, ""))
		}
	}
	if text == "" && len(files) == 0 {
		text = noText
		if slices.Contains(m.Mentions, w.names.view.Bot.Handle) {
			text = "(mentioned you without text)"
		}
	}
	if len(quotes) == 0 && len(files) == 0 {
		return text
	}
	if text != "" {
		quotes = append(quotes, text)
	}
	return strings.Join(append(quotes, files...), "\n")
}

// quote is a quote as lines that begin with "> "; when follows the name.
func (w *writer) quote(q *core.Quote, when string) string {
	text := clean(strings.TrimSpace(q.Text))
	if n := utf8.RuneCountInString(text); n > quoteLength {
		text = fmt.Sprintf("%s ⟦%d characters left out⟧", head(text, quoteLength), n-quoteLength)
	}
	text = strings.ReplaceAll(text, "\n", "\n> ")
	if q.Own {
		return "> ⟦written by us⟧ " + text
	}
	return "> " + w.names.quoted(q) + when + ": " + text
}

// oneLine is clean text on one line, cut after limit characters.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.Fields(clean(s)), " ")
	if short := head(s, limit); short != s {
		return short + "…"
	}
	return s
}
