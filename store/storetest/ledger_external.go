package storetest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"bellhop/core"
)

// The external actors: one that can be told something, and one that only
// speaks.
const (
	ci    = "ci"
	night = "night"
)

// unreached is a notice that ci cannot be reached, the outcome of all errands
// that fail until one goes well.
type unreached struct{ _ byte }

// inside are those of the handles that are bots.
func inside(handles []string) []string {
	return slices.DeleteFunc(slices.Clone(handles), func(h string) bool { return h == ci })
}

// inform tells ci about the message, if it takes part or is named.
func (ln *line) inform(named bool) []*item {
	th := ln.th
	th.external = th.external || named
	if !th.external || ln.by == ci {
		return nil
	}
	return ln.tell()
}

func (ln *line) tell() []*item {
	ln.th.made++
	it := &item{n: ln.th.made, bot: ci, line: ln, state: core.Queued}
	ln.items = append(ln.items, it)
	return []*item{it}
}

// renew tells ci again what has been edited since it was told.
func (ln *line) renew() []*item {
	for _, it := range slices.Backward(ln.items) {
		if it.bot == ci {
			if it.state.Terminal() && !it.pruned {
				return ln.tell()
			}
			break
		}
	}
	return nil
}

// waiting are the errands of the thread that have not ended, oldest first.
func (th *thread) waiting() []*item {
	return th.itemsThat(func(it *item) bool { return it.bot == ci && !it.state.Terminal() })
}

// resend queues again all that failed with the item, or it alone.
func (th *thread) resend(ended *item) []*item {
	var out []*item
	for _, ln := range th.lines {
		for i, it := range slices.Clone(ln.items) {
			newer := slices.ContainsFunc(ln.items[i+1:], func(x *item) bool { return x.bot == ci })
			with := it == ended || it.told.ID != "" && it.notice != nil && it.notice == ended.notice
			if it.bot == ci && !newer && !it.pruned && with && (it.state == core.Failed || it.state == core.Cancelled) {
				out = append(out, ln.tell()...)
			}
		}
	}
	th.notice = nil
	return out
}

// speak is what an external actor says, which may answer a message.
func (l *ledger) speak(th *thread, from, text string, re *line) []*item {
	hop := 0
	if re != nil {
		hop = re.hop + 1
	}
	to := slices.DeleteFunc(slices.Clone(addressed(text)), func(h string) bool { return h == from })
	if len(to) == 0 && len(th.bots) == 1 {
		to = th.bots
	}
	for _, piece := range split(core.Place{}, from+": "+text) {
		l.say(th.channel, piece.Text)
	}
	if hop >= maxHops && len(to) > 0 {
		to = nil
		if !th.hopTold {
			l.say(th.channel, notice)
		}
		th.hopTold = true
	}
	ln, woken := th.write(text, hop, inside(to)...)
	ln.by = from
	return append(woken, ln.inform(slices.Contains(to, ci))...)
}

// speak has an external actor say something.
func (h *house) speak(t *rapid.T) {
	channel := rapid.SampledFrom(channels).Draw(t, "channel")
	th := h.current[channel]
	if th == nil || th.id == "" {
		return
	}
	h.events++
	say := core.Saying{From: rapid.SampledFrom([]string{ci, night}).Draw(t, "from"), Key: fmt.Sprint("s", h.events), Text: someText(t),
		Bots: team, Externals: []string{ci}, MaxHops: maxHops, Split: split}
	if rapid.Bool().Draw(t, "by thread") {
		say.Thread = th.id
	} else {
		say.Place = core.Place{Adapter: "chat", Channel: channel}
	}
	var re *line
	var known []*line
	for _, ln := range th.lines {
		if len(ln.items) > 0 && ln.items[0].told.Message != "" {
			known = append(known, ln)
		}
	}
	if len(known) > 0 && rapid.Bool().Draw(t, "answers") {
		re = rapid.SampledFrom(known).Draw(t, "message")
		say.Re = re.items[0].told.Message
	}
	var got core.Said
	var woken []*item
	h.do(func() (err error) {
		got, err = h.store.Say(h.ctx, say)
		return err
	}, func() { woken = h.ledger.speak(th, say.From, say.Text, re) }, func() {
		if got.Known != h.twice {
			h.Fatalf("%+v, and it was said twice: %v", got, h.twice)
		}
		h.told(woken, got.Items)
		h.took(got.Rows)
		if again, err := h.store.Say(h.ctx, say); err != nil || !again.Known || again.Message != got.Message || len(again.Items)+len(again.Rows) > 0 {
			h.Fatalf("said again: %+v, %v", again, err)
		}
	})
}

// errand tries to tell ci something.
func (h *house) errand(t *rapid.T) {
	var all []*item
	for _, th := range h.threads {
		all = append(all, th.waiting()...)
	}
	if len(all) == 0 {
		return
	}
	it := rapid.SampledFrom(all).Draw(t, "item")
	th := it.line.th
	first := th.waiting()[0]
	e, err := h.store.Errand(h.ctx, it.told)
	if err != nil || e.Item.ID != first.told.ID || e.Message.Text() != first.line.text || e.Item.State != first.state {
		h.Fatalf("the errand is %+v, %v; want %s: %s", e, err, first.told.ID, first.line.text)
	}
	a := core.Attempt{Notice: func(core.Place) []core.Piece { return []core.Piece{{Text: notice}} }}
	how := rapid.SampledFrom([]string{"well", "well", "again", "failed"}).Draw(t, "how")
	if how != "well" {
		a.Failed = "it is away"
	}
	if how == "again" {
		a.Again = time.Minute
	}
	var got core.Attempted
	h.do(func() (err error) {
		got, err = h.store.Attempted(h.ctx, first.told.ID, a)
		return err
	}, func() { h.ledger.attempted(first, how) }, func() {
		if got.Item.State != first.state || got.Item.ID != first.told.ID {
			h.Fatalf("%+v, want %s", got, first.state)
		}
		h.took(got.Rows)
	})
}

// attempted is how an errand went.
func (l *ledger) attempted(it *item, how string) {
	th := it.line.th
	switch how {
	case "again":
		it.state = core.Doing
	case "well":
		it.state, th.notice = core.Done, nil
	case "failed":
		if th.notice == nil {
			th.notice = &unreached{}
			l.say(th.channel, notice)
		}
		it.state, it.notice = core.Failed, th.notice
	}
}
