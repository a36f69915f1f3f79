package core

import (
	"cmp"
	"slices"
	"strings"
)

// Routing is what Route decides from.
type Routing struct {
	Sender       Actor
	Text         string
	Bots         []string // handles of all bots that can act
	Delegates    []string // those of them whom only bots wake
	Externals    []string // handles of all external actors that can be told something
	Participants []string // the bots in the thread, in order of entry
	Default      string   // the thread's default bot; empty: none
	Others       bool     // the platform says that it mentions people, none of them us
	SenderQueued bool     // the sending bot has queued mail in the thread
	Reply        bool     // an external sender answers a message
	TriggerHop   int      // highest hop of the messages that a bot or an external replies to
	MaxHops      int
	HopTold      bool // the hop limit was announced since the last human message
}

// Routed is what Route decides.
type Routed struct {
	Mentions []string // bots and externals that the text names, in order, each once
	Wake     []string // bots that get an item
	Open     bool     // a person names no bot whom they can wake: Wake is a default
	Why      Reason   // of a person's message: why these, or why none
	Tell     []string // externals that take part from now on, if they do not yet
	Held     []string // bots whose hand-off waits until the sender's queue is empty
	Hop      int
	HopLimit bool // targets were dropped at the limit
	Notice   bool // the limit must be announced now
}

// Route decides whom a message wakes: invariants 6 and 7 as a pure function.
//
// A person's message wakes every bot it mentions; with no mention, the
// thread's default bot, else its only bot; one that mentions only other people
// or externals wakes nobody. To mention a delegate is no mention then: whom it
// reaches by default hands on. A bot's reply wakes the first it mentions that can
// act, and only if the sender has no queued mail in the thread, else the hand-off
// is held. If that first one is an external, it is told: what takes part is told
// everything, so nothing is ever held back from it. An external's message wakes
// the bots it mentions, else the thread's only bot. What answers a message counts
// one hop more, what a person says none. The system wakes nobody, and nobody
// wakes themselves.
func Route(r Routing) Routed {
	var out Routed
	out.Mentions = MentionsOf(r.Text, slices.Concat(r.Bots, r.Externals))
	var first string // whom a bot hands off to
	for _, h := range out.Mentions {
		switch {
		case r.Sender.Kind != HumanActor && h == r.Sender.ID:
			continue
		case slices.Contains(r.Externals, h):
			out.Tell = append(out.Tell, h)
		case r.Sender.Kind == BotActor || !slices.Contains(r.Delegates, h):
			out.Wake = append(out.Wake, h)
		}
		first = cmp.Or(first, h)
	}
	switch r.Sender.Kind {
	case HumanActor, ExternalActor:
		reach := func(h string) bool { return slices.Contains(r.Bots, h) && !slices.Contains(r.Delegates, h) }
		switch {
		case len(out.Wake) > 0:
			out.Why = ByMention
		case len(out.Tell) > 0, r.Others && len(out.Mentions) == 0:
			out.Why = ForOthers
		case r.Sender.Kind == HumanActor && reach(r.Default):
			out.Wake, out.Open, out.Why = []string{r.Default}, true, ByDefault
		case len(r.Participants) == 1 && reach(r.Participants[0]):
			out.Wake, out.Open, out.Why = r.Participants[:1:1], r.Sender.Kind == HumanActor, ByOnly
		default:
			out.Why = NoBot
		}
		if r.Reply && r.Sender.Kind == ExternalActor {
			out.Hop = r.TriggerHop + 1
		}
	case BotActor:
		out.Hop = r.TriggerHop + 1
		only := func(list []string) []string {
			if !slices.Contains(list, first) {
				return nil
			}
			return []string{first}
		}
		out.Wake, out.Tell = only(out.Wake), only(out.Tell)
	default:
		out.Wake, out.Tell = nil, nil
	}
	switch {
	case len(out.Wake)+len(out.Tell) == 0:
	case out.Hop > 0 && out.Hop >= r.MaxHops:
		out.Wake, out.Tell = nil, nil
		out.HopLimit, out.Notice = true, !r.HopTold
	case r.SenderQueued && r.Sender.Kind == BotActor:
		out.Wake, out.Held = nil, out.Wake
	}
	return out
}

// MentionsOf lists which of the handles a text mentions, in its order, each once.
func MentionsOf(text string, handles []string) []string {
	var out []string
	for _, h := range Mentions(text) {
		if slices.Contains(handles, h) {
			out = append(out, h)
		}
	}
	return out
}

// Mentions lists the @handles of a text in order, each once, in lower case.
// Code spans and code blocks mention nobody, nor do addresses such as a@b.c.
func Mentions(text string) []string {
	var out []string
	text = blankCode(text)
	for i := 0; i < len(text); i++ {
		if text[i] != '@' || i > 0 && (isHandle(text[i-1]) || text[i-1] == '@' || text[i-1] == '.' || text[i-1] >= 0x80) {
			continue
		}
		j := i + 1
		for j < len(text) && isHandle(text[j]) {
			j++
		}
		h := strings.ToLower(text[i+1 : j])
		dotted := j+1 < len(text) && text[j] == '.' && isHandle(text[j+1])
		if len(h) >= 2 && len(h) <= 32 && !dotted && !slices.Contains(out, h) {
			out = append(out, h)
		}
		i = j - 1
	}
	return out
}

func isHandle(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// blankCode replaces code spans and fenced blocks by spaces. A run of
// backticks opens code that the next run of the same length closes; one that
// nothing closes is text.
func blankCode(s string) string {
	if !strings.Contains(s, "`") {
		return s
	}
	b := []byte(s)
	closed := map[int]bool{} // lengths for which no closing run is left
	for i := 0; i < len(b); {
		if b[i] != '`' {
			i++
			continue
		}
		n := ticks(b[i:])
		end := -1
		if !closed[n] {
			for j := i + n; j < len(b); {
				if b[j] != '`' {
					j++
					continue
				}
				m := ticks(b[j:])
				if m == n {
					end = j + m
					break
				}
				j += m
			}
			closed[n] = end < 0
		}
		if end < 0 {
			i += n
			continue
		}
		for ; i < end; i++ {
			b[i] = ' '
		}
	}
	return string(b)
}

func ticks(b []byte) int {
	n := 0
	for n < len(b) && b[n] == '`' {
		n++
	}
	return n
}
