// Package prompt turns what is stored of a thread into what a model reads: the
// system prompt, the history within its budget, the dynamic tail, and the
// transcript of the run in progress.
//
// Everything in here is a pure function of its arguments: the same thread gives
// the same bytes, whenever and wherever it is unrolled, so that a provider's
// prompt cache holds (ARCHITECTURE, invariant 11). It imports core and the
// standard library and starts no goroutine.
//
// Text that people and programs wrote is data. It reaches the model as
// "[name]: text" in user messages, with the names and the text treated so that
// nobody can pass for another speaker, nor for the platform, whose own notes
// stand in the brackets ⟦ ⟧ that occur nowhere else.
package prompt

import (
	"cmp"
	"math"
	"slices"
	"time"

	"bellhop/core"
)

// View is what a run reads of its thread.
type View struct {
	Bot       core.Bot
	Team      []core.Bot      // the other bots, for the roster
	Externals []core.External // the external actors, for the roster
	Thread    core.Thread
	Messages  []core.Message        // id order, latest version of each, from the window's first to the newest the run reads
	Scoped    bool                  // Messages are only those for the bot; see core.Thread.Scoped
	Older     int                   // messages of the thread before the window; of a scoped view, all that are not in it
	Triggers  []core.ID             // the messages that the run answers; Fold keeps them as long as they fit
	Local     *time.Location        // time zone of whoever sent the newest trigger; nil: unknown
	Language  string                // that whoever sent the newest trigger wants answers in; empty: any
	Pictures  map[string]core.Image // by hash, those that Pictures lists and that there are
}

// own reports whether the view's bot wrote the message.
func (v *View) own(m *core.Message) bool {
	return m.Sender.Kind == core.BotActor && m.Sender.ID == v.Bot.Handle
}

// anchor is the number of the message that m stands right after, or of m itself
// when it stands at its own place. A reply, a question and the answer to that
// stand after the newest message that their run had read; one without that mark
// at its own place.
func (v *View) anchor(m *core.Message) uint64 {
	if m.After != "" && (v.own(m) || m.For == v.Bot.Handle) {
		return m.After.Seq()
	}
	return m.ID.Seq()
}

// stands reports whether another has sent the message, and it stands at its own
// place.
func (v *View) stands(m *core.Message) bool { return !v.own(m) && v.anchor(m) == m.ID.Seq() }

// sorted is the view with its messages in the order in which the bot met them: a
// message that came while the bot worked stands after the reply that did not
// know it. The order of what is there never changes when messages are added.
func (v View) sorted() View {
	// What stands at its own place is its own anchor and so comes before the
	// replies to it, whose numbers are higher.
	order := func(a, b core.Message) int {
		return cmp.Or(cmp.Compare(v.anchor(&a), v.anchor(&b)), cmp.Compare(a.ID.Seq(), b.ID.Seq()))
	}
	if !slices.IsSortedFunc(v.Messages, order) {
		v.Messages = slices.SortedFunc(slices.Values(v.Messages), order)
	}
	return v
}

// arrange lists the messages in that order, without the replies to messages
// before the window.
func (v *View) arrange() []*core.Message {
	if len(v.Messages) == 0 {
		return nil
	}
	first := uint64(math.MaxUint64) // sorted, a reply may come before what the window begins with
	for i := range v.Messages {
		first = min(first, v.Messages[i].ID.Seq())
	}
	sorted := v.sorted().Messages
	out := make([]*core.Message, 0, len(sorted))
	for i := range sorted {
		if m := &sorted[i]; v.anchor(m) >= first {
			out = append(out, m)
		}
	}
	return out
}
