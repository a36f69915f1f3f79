package prompt

import (
	"math"
	"slices"

	"bellhop/core"
)

// Fold moves the window when it has outgrown the bot's history budget: the
// older half goes, so that the window then stays where it is for many turns.
// What is kept begins with a message of another that stands at its own place:
// all that follows it is newer, so that the window can be read again from there.
// What is still to be answered (the triggers, and what came after the bot's last
// reply) is kept whole, unless it passes the budget by itself: then its older
// half goes as well, since a request that no model takes would never be answered
// at all.
//
// It returns the view with the new window and the ID of the first message in
// it, or the view as it is and "" when nothing moved. A folded view does not
// fold again.
func Fold(v View) (View, core.ID) {
	v = v.sorted()
	cut := v.cut()
	if cut == 0 {
		return v, ""
	}
	v.Older += cut
	v.Messages = v.Messages[cut:]
	return v, v.Messages[0].ID
}

// Joining is how many of the view's triggers, the oldest first, its window can
// show whole, with all that stands between them: at least one, however long. It
// is for a view that has not been folded.
func Joining(v View) int { return max(v.fitting(), 1) }

// Room is how many of the triggers among the messages that have arrived, the
// oldest first, the view's window can still show whole with what it shows
// already.
func Room(v View, in core.Arrival) int {
	known := 0
	for i := range v.Messages {
		if slices.Contains(v.Triggers, v.Messages[i].ID) {
			known++
		}
	}
	v.Messages = slices.Concat(v.Messages, in.Messages)
	v.Triggers = slices.Concat(v.Triggers, in.Triggers)
	return max(v.fitting()-known, 0)
}

// fitting is how many of the triggers fit, with all that stands between them.
func (v View) fitting() int {
	v = v.sorted()
	most := budget(v.Bot.History)
	w := writer{names: newNames(&v), limit: v.Bot.History.Tokens / 2}
	joined, tokens := 0, 0
	open := v.unanswered()
	for i := open; i < len(v.Messages); i++ {
		m := &v.Messages[i]
		tokens += w.cost(&v, m)
		if tokens > most.Tokens || i-open >= most.Messages {
			break
		}
		if slices.Contains(v.Triggers, m.ID) {
			joined++
		}
	}
	return joined
}

// cut is how many messages to drop.
func (v *View) cut() int {
	most := budget(v.Bot.History)
	n := len(v.Messages)
	w := writer{names: newNames(v), limit: v.Bot.History.Tokens / 2}
	kept := suffix{costs: make([]int, n)}
	for i := range v.Messages {
		kept.costs[i] = w.cost(v, &v.Messages[i])
	}
	if kept.from(most) == 0 {
		return 0
	}

	boundary := func(i int) bool { return v.stands(&v.Messages[i]) }
	half := kept.from(core.Budget{Tokens: most.Tokens / 2, Messages: most.Messages / 2})
	for half < n && !boundary(half) {
		half++
	}
	if open := v.unanswered(); kept.from(most) <= open {
		half = min(half, open)
	}
	for half = min(half, n-1); half > 0 && !boundary(half); half-- {
	}
	return half
}

// budget is the bot's history budget, in which 0 means without bounds.
func budget(b core.Budget) core.Budget {
	if b.Tokens <= 0 {
		b.Tokens = math.MaxInt
	}
	if b.Messages <= 0 {
		b.Messages = math.MaxInt
	}
	return b
}

// suffix finds how much of the newest messages fits.
type suffix struct {
	costs []int // tokens by message
}

// from is the index of the oldest message with which the newest are within the
// budget.
func (s suffix) from(b core.Budget) int {
	tokens := 0
	for i, cost := range slices.Backward(s.costs) {
		tokens += cost
		if tokens > b.Tokens || len(s.costs)-i > b.Messages {
			return i + 1
		}
	}
	return 0
}

// unanswered is the index of the first message that is still to be answered:
// the run's oldest trigger, which a retry may take from before the bot's last
// reply, or the first that the reply did not know.
func (v *View) unanswered() int {
	var last uint64
	for i := range v.Messages {
		if m := &v.Messages[i]; v.own(m) {
			last = max(last, v.anchor(m))
		}
	}
	for i := range v.Messages {
		if m := &v.Messages[i]; !v.own(m) && (v.anchor(m) > last || slices.Contains(v.Triggers, m.ID)) {
			return i
		}
	}
	return len(v.Messages)
}

// cost is about how many tokens a message takes in the history. Like the cut
// that depends on it, it does not depend on what else the window holds.
func (w *writer) cost(v *View, m *core.Message) int {
	if !v.own(m) {
		return w.earlierCost(m) + Tokens(clip(w.body(m), w.limit)) + imageCost(v, m) + overhead
	}
	w.text.Reset()
	w.reply(m)
	return Tokens(w.text.String()) + overhead
}
