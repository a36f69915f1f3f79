package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"bellhop/core"
	"bellhop/tools"
)

// How far a search goes, and how much it shows.
const (
	searched      = 1000 // newest messages
	pageLength    = 100  // messages read at a time
	found         = 10   // messages shown, when the model does not say
	excerptLength = 500  // characters of a message's text
	maxTerms      = 32   // words of a query

	maxSearched = 16 << 10 // bytes of a message that are searched
)

type query struct {
	Query string `json:"query" doc:"words to look for; a word also finds longer ones that begin with it"`
	Limit int    `json:"limit,omitempty" doc:"how many messages, 10 if not given" min:"1" max:"30"`
}

// NewRecall is the tool recall_messages: a search over the newest 1000 messages
// of the thread, by words. Times are shown in the call's zone, else in loc; nil
// means UTC.
func NewRecall(h History, loc *time.Location) core.Tool {
	spec := core.ToolSpec{
		Name: "recall_messages",
		Description: "Searches the newest 1000 messages of this conversation, those that you were not shown included, and returns those that fit best, the best first. " +
			"To see what was said around one, call read_history with before=ID.",
		Status:     "searching the earlier conversation",
		ReadOnly:   true,
		Idempotent: true,
	}
	return tools.Func(spec, func(ctx context.Context, env *core.Env, in query) (core.ToolResult, error) {
		s := search{terms: terms(in.Query), loc: cmp.Or(env.Zone, loc, time.UTC)}
		if len(s.terms) == 0 {
			return core.ToolResult{Text: "Invalid arguments for recall_messages: query has no word to look for", Failed: true}, nil
		}
		var before core.ID
		more := true
		for s.read < searched && more {
			messages, older, err := h.Before(ctx, env.Thread, before, pageLength)
			if err != nil {
				return core.ToolResult{}, fmt.Errorf("recall messages: %w", err)
			}
			for i := range messages {
				s.add(&messages[i])
			}
			if more = older && len(messages) > 0; more {
				before = slices.MinFunc(messages, func(a, b core.Message) int { return cmp.Compare(a.ID.Seq(), b.ID.Seq()) }).ID
			}
		}
		return core.ToolResult{Text: s.result(cmp.Or(in.Limit, found), more)}, nil
	})
}

// search ranks messages by the words of a query. It keeps of each message only
// what it may show.
type search struct {
	terms []string
	loc   *time.Location

	read  int // messages
	words int // in all of them
	hits  []hit
}

// hit is a message in which a term occurs.
type hit struct {
	id     core.ID
	times  []int // that each term occurs
	words  int
	shown  string
	weight float64
}

// add takes a message into account.
func (s *search) add(m *core.Message) {
	s.read++
	text := content(m)
	h := hit{id: m.ID, times: make([]int, len(s.terms))}
	first := -1
	eachWord(text, func(word string, at int) {
		h.words++
		for i, term := range s.terms {
			if word == term || utf8.RuneCountInString(term) > 2 && strings.HasPrefix(word, term) {
				h.times[i]++
				if first < 0 {
					first = at
				}
			}
		}
	})
	s.words += h.words
	if first < 0 {
		return
	}
	var b strings.Builder
	begin(&b, m, s.loc)
	b.WriteString(tools.Indent(around(text, first)))
	h.shown = b.String()
	s.hits = append(s.hits, h)
}

// content is what a message says, with the names of its files and what it
// quotes.
func content(m *core.Message) string {
	parts := []string{strings.TrimSpace(m.Text())}
	for _, p := range m.Parts {
		switch {
		case p.Kind == core.QuotePart && p.Quote != nil:
			parts = append(parts, fmt.Sprintf("(quotes %s: %s)", tools.Name(p.Quote.Author), p.Quote.Text))
		case p.Kind == core.FilePart && p.File != nil:
			parts = append(parts, "(file "+tools.Name(p.File.Name)+")")
		}
	}
	if m.Earlier != nil {
		for _, q := range m.Earlier.Quotes {
			parts = append(parts, fmt.Sprintf("(before it %s said: %s)", tools.Name(q.Author), q.Text))
		}
	}
	text := strings.TrimSpace(strings.Join(parts, "\n"))
	return strings.ToValidUTF8(text[:min(len(text), maxSearched)], "")
}

// result is the best hits as lines.
func (s *search) result(limit int, more bool) string {
	s.rank()
	var b strings.Builder
	for _, h := range s.hits[:min(limit, len(s.hits))] {
		b.WriteString(h.shown + "\n")
	}
	switch n := len(s.hits); {
	case n == 0:
		b.WriteString("No message has any of these words.")
	case n > limit:
		fmt.Fprintf(&b, "%d more messages have one of these words.", n-limit)
	default:
		b.WriteString("No other message has any of these words.")
	}
	if more {
		fmt.Fprintf(&b, " Only the newest %d messages were searched.", s.read)
	}
	return b.String()
}
