package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

// The delimiters of the dynamic tail. Their brackets occur in no other text
// that a model reads.
const (
	tailStart = "⟦now⟧\n"
	tailEnd   = "⟦/now⟧"
)

// What the tail says of new messages.
const (
	listed        = 8  // most messages named
	excerptLength = 60 // most characters of each
)

// clockName is the most characters of the name of whose time it is.
const clockName = 20

// languageName is the most characters of a language's.
const languageName = 40

// Tail is what changes from turn to turn: the time, which messages are new
// where that is not plain, and how many exist that are not shown. The time is that of
// whoever asks, else that of loc. The caller freezes it for the run, since a tail that moved on would make every request of the run
// another one.
func Tail(v View, triggers []core.ID, now time.Time, loc *time.Location) string {
	order := v.arrange()
	var b strings.Builder
	b.WriteString(tailStart)
	b.WriteString("It is " + clock(now, cmp.Or(v.Local, loc, time.UTC)) + v.whose(order, triggers, now, cmp.Or(loc, time.UTC)) + ".\n")
	b.WriteString(v.tongue(order, triggers))
	b.WriteString(v.news(order, triggers))
	if hidden := v.Older + len(v.Messages) - len(order); hidden > 0 {
		b.WriteString(v.hidden(hidden, order) + "\n")
	}
	b.WriteString(tailEnd)
	return b.String()
}

// hidden says how many messages are not shown, and which tools show them.
func (v *View) hidden(n int, order []*core.Message) string {
	text, before := count(n, "older message is", "older messages are")+" not shown", ""
	if v.Scoped {
		text = count(n, "other message exists but is", "other messages exist but are") + " not shown"
	} else if len(order) > 0 {
		before = " with before=" + string(order[0].ID)
	}
	them := "them"
	if n == 1 {
		them = "it"
	}
	var tools []string
	if v.Bot.May("read_history") && (v.Scoped || before != "") {
		tools = append(tools, "read_history"+before+" reads "+them)
	}
	if v.Bot.May("recall_messages") {
		tools = append(tools, "recall_messages searches "+them)
	}
	if len(tools) > 0 {
		text += "; " + strings.Join(tools, ", ")
	}
	return text + "."
}

// clock is the time to the minute, with the day and the zone.
func clock(now time.Time, loc *time.Location) string {
	now = now.In(loc)
	zone := now.Format("UTC-07:00")
	if name := loc.String(); loc != time.UTC && loc != time.Local {
		zone = name + ", " + zone
	}
	return now.Format("Monday 2006-01-02 15:04") + " (" + zone + ")"
}

// whose says whose clock it is, where several people may look at others.
func (v *View) whose(order []*core.Message, triggers []core.ID, now time.Time, usual *time.Location) string {
	if v.Local == nil || v.Thread.Direct {
		return ""
	}
	_, here := now.In(usual).Zone()
	if _, there := now.In(v.Local).Zone(); there == here {
		return ""
	}
	name := v.asker(order, triggers)
	if name == "" {
		return ""
	}
	return " for " + name
}

// asker is the name of whoever sent the newest trigger; empty: nobody is seen.
func (v *View) asker(order []*core.Message, triggers []core.ID) string {
	names := newNames(v)
	var name string
	for _, m := range order {
		if v.own(m) {
			continue
		}
		if of := names.of(m); m.Sender.Kind == core.HumanActor && slices.Contains(triggers, m.ID) {
			name = of
		}
	}
	return oneLine(name, clockName)
}

// tongue says which language the person who asks wants, and who that is where
// others read the answer, too.
func (v *View) tongue(order []*core.Message, triggers []core.ID) string {
	language := oneLine(v.Language, languageName)
	if language == "" {
		return ""
	}
	if name := v.asker(order, triggers); name != "" && !v.Thread.Direct {
		return fmt.Sprintf("%s wants answers in this language: %s.\n", name, language)
	}
	return fmt.Sprintf("Answer in this language: %s.\n", language)
}

// news says which messages are new: nothing when it is only the last one.
func (v *View) news(order []*core.Message, triggers []core.ID) string {
	last := -1 // the bot's last reply
	var fresh []int
	for i, m := range order {
		if v.own(m) {
			last = i
		} else if slices.Contains(triggers, m.ID) {
			fresh = append(fresh, i)
		}
	}
	var b strings.Builder
	handled, _ := slices.BinarySearch(fresh, last)
	if handled > 0 {
		b.WriteString("New, but your last reply came after it, so it may already be handled: " + v.excerpts(order, fresh[:handled]) + "\n")
	}
	open := fresh[handled:]
	switch n := len(open); {
	case n == 0 || n == 1 && open[0] == len(order)-1:
	case open[0] == len(order)-n: // nothing else stands between or after them
		fmt.Fprintf(&b, "New: the last %d messages.\n", n)
	default:
		b.WriteString("New: " + v.excerpts(order, open) + "\n")
	}
	if gone := len(triggers) - len(fresh); gone > 0 {
		b.WriteString(count(gone, "new message is", "new messages are") + " among the older ones.\n")
	}
	return b.String()
}

// excerpts names messages by their senders and first words.
func (v *View) excerpts(order []*core.Message, which []int) string {
	names := newNames(v)
	var list []string
	for i, m := range order {
		if v.own(m) {
			continue
		}
		name := names.of(m) // of all of them: who has a name depends on who came first
		if slices.Contains(which, i) && len(list) < listed {
			list = append(list, fmt.Sprintf("[%s] %q", name, oneLine(m.Text(), excerptLength)))
		}
	}
	if more := len(which) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// count is a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
