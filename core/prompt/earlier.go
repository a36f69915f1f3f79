package prompt

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

// Notes on what was said before a message.
const (
	saidBefore = "said here before this"
	unread     = "what was said here before this could not be read"
	notFetched = "its content is not here"
)

// earlier is what was said before a message, each in lines of its own that
// begin with "> ", below a word of the platform. It takes at most half of what
// the message may take; the oldest go first. It is empty when nothing was said.
func (w *writer) earlier(m *core.Message) string {
	e := m.Earlier
	switch {
	case e == nil, !e.Read:
		return ""
	case e.Note != "":
		return "⟦" + unread + ": " + label(e.Note, noteLength) + "⟧"
	}
	var lines []string
	left := w.limit / 2
	for i := range slices.Backward(e.Quotes) {
		line := w.remark(m, &e.Quotes[i])
		if left -= Tokens(line); w.limit > 0 && left < 0 {
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	older := leftOut(e.Older+len(e.Quotes)-len(lines), e.More)
	switch {
	case len(lines) == 0 && older == "":
		return ""
	case len(lines) == 0:
		return "⟦" + saidBefore + ": " + older + "⟧"
	case older != "":
		older = "; " + older
	}
	return "⟦" + saidBefore + older + "⟧\n" + strings.Join(lines, "\n")
}

// remarkTokens is what a message of a chat takes, for those that have not been
// read yet. An estimate.
const remarkTokens = 40

// earlierCost is how many tokens what was said before a message takes, or is
// likely to take once it has been read.
func (w *writer) earlierCost(m *core.Message) int {
	if e := m.Earlier; e != nil && !e.Read {
		n := e.Most * remarkTokens
		if w.limit > 0 {
			n = min(n, w.limit/2)
		}
		return n
	}
	return Tokens(w.earlier(m))
}

// leftOut counts what is not shown; more: and nobody knows how many beside.
func leftOut(n int, more bool) string {
	switch {
	case more && n > 0:
		return fmt.Sprintf("more than %s left out", count(n, "older message is", "older messages are"))
	case more:
		return "older messages are left out"
	case n > 0:
		return count(n, "older message is", "older messages are") + " left out"
	}
	return ""
}

// remark is one of the messages before m, with its files.
func (w *writer) remark(m *core.Message, q *core.Quote) string {
	var line strings.Builder
	line.WriteString(strings.TrimSuffix(w.quote(q, age(m.Time, q.Time)), " "))
	for i := range q.Files {
		line.WriteString("\n> " + file(&q.Files[i], notFetched))
	}
	return line.String()
}

// age is how long before a message another was said, where that matters.
func age(now, then time.Time) string {
	const day = 24 * time.Hour
	switch d := now.Sub(then); {
	case then.IsZero() || d < time.Hour:
		return ""
	case d < 2*day:
		return ", " + count(int(d/time.Hour), "hour", "hours") + " before"
	default:
		return ", " + count(int(d/day), "day", "days") + " before"
	}
}
