package store

import (
	"bytes"
	"fmt"
	"slices"

	"bellhop/core"
)

// A fork shares what was said before it with the thread that it comes from:
// its lineage says which messages of which threads these are, and is written
// once. So a fork costs the same however much was said, and there is one row of
// a message, whatever is found out about it or becomes of it later. That its
// source is archived, forked again or gone on with does not matter to it: it
// reads rows of messages alone, up to a fixed one.

// stretch is a piece of a history: a thread's own messages up to one, which is
// included; empty: all.
type stretch struct {
	Thread core.ID `json:"thread"`
	Upto   core.ID `json:"upto"`
}

// lineageRow is what a fork shares, oldest first.
type lineageRow struct {
	Thread core.ID   `json:"thread"`
	Spans  []stretch `json:"spans"`
	Shared int       `json:"shared"` // messages
}

const (
	// maxSpans bounds how often what was forked is forked again: a history is read
	// from so many threads.
	maxSpans = 64
	// forkReach is how many of a place's archived threads are looked at for the
	// message to fork at.
	forkReach = 50
)

// keys are the bounds of the stretch's messages from one to another, both
// included; empty: from its first, to its last. With a bot, they are those of the
// index of what is for it.
func (s stretch) keys(bot string, from, upto core.ID) (lo, hi []byte) {
	lo = idKey(famMessage, s.Thread)
	at := func(id core.ID) []byte { return u64(idKey(famMessage, s.Thread), id.Seq()) }
	if bot != "" {
		lo = forAt(s.Thread, bot)
		at = func(id core.ID) []byte { return forKey(s.Thread, bot, id) }
	}
	hi = after(lo)
	if s.Upto != "" && (upto == "" || s.Upto.Seq() < upto.Seq()) {
		upto = s.Upto
	}
	if from != "" {
		lo = at(from)
	}
	if upto != "" {
		hi = after(at(upto))
	}
	return lo, hi
}

// spans are the pieces of a thread's history, oldest first. Its own messages
// are the last.
func (t *tx) spans(th core.Thread) ([]stretch, error) {
	own := stretch{Thread: th.ID}
	if th.Fork == "" {
		return []stretch{own}, nil
	}
	row, _, err := get[lineageRow](t, idKey(famLineage, th.ID))
	return append(row.Spans, own), err
}

// history reads the n newest messages of a thread from one to another, both
// included (empty: from the first, to the last), what it shares among them,
// oldest first; with a bot, of those that are for it.
func (t *tx) history(th core.Thread, e eyes, from, upto core.ID, n int) ([]core.Message, error) {
	spans, err := t.spans(th)
	if err != nil {
		return nil, err
	}
	var out []core.Message
	for _, s := range slices.Backward(spans) {
		lo, hi := s.keys(e.bot, from, upto)
		if len(out) == n || bytes.Compare(lo, hi) >= 0 {
			continue
		}
		msgs, err := t.newestFor(e, s.Thread, lo, hi, n-len(out))
		if err != nil {
			return nil, err
		}
		out = append(msgs, out...)
	}
	return out, nil
}

// spoken finds a message in a thread's history, and the lineage of a fork that
// ends with it.
func (t *tx) spoken(th core.Thread, id core.ID) (core.Message, []stretch, error) {
	spans, err := t.spans(th)
	if err != nil {
		return core.Message{}, nil, err
	}
	for i, s := range slices.Backward(spans) {
		if s.Upto != "" && id.Seq() > s.Upto.Seq() {
			continue
		}
		m, ok, err := t.message(s.Thread, id)
		if err != nil || ok {
			return m, append(slices.Clone(spans[:i]), stretch{s.Thread, id}), err
		}
	}
	return core.Message{}, nil, nil
}

// forking is what a fork is made from.
type forking struct {
	current core.Thread // of the place
	source  core.Thread // has the message
	message core.Message
	spans   []stretch
}

// forked finds out what a fork at the message would share; empty: the newest of
// the place's current thread. ok is false if there is no such message.
func (d *desk) forked(at core.Place, message core.ID) (f forking, ok bool, err error) {
	if f.current, ok, err = d.threadAt(at); err != nil || !ok {
		return f, false, err
	}
	if message == "" {
		newest, err := d.history(f.current, eyes{}, "", "", 1)
		if err != nil || len(newest) == 0 {
			return f, false, err
		}
		message = newest[0].ID
	}
	f.source, f.message, f.spans, err = d.source(at, f.current, message)
	switch {
	case err != nil || f.spans == nil:
		return f, false, err
	case len(f.spans) > maxSpans:
		return f, false, &core.UserError{Text: fmt.Sprintf("This is a fork of a fork, %d deep. I cannot fork it again.", len(f.spans)-1)}
	}
	return f, true, nil
}

// beginFork stores a new thread as one that shares what was found.
func (t *tx) beginFork(th core.Thread, f forking) (core.Thread, error) {
	th.Bots, th.Model, th.Workspace = f.source.Bots, f.source.Model, f.source.Workspace
	th.Fork, th.Shared, th.Messages = f.message.ID, f.message.N, f.message.N
	for bot, cut := range f.source.Cuts {
		if cut.Seq() <= f.message.ID.Seq() {
			if th.Cuts == nil {
				th.Cuts = map[string]core.ID{}
			}
			th.Cuts[bot] = cut
		}
	}
	if err := t.insert(idKey(famLineage, th.ID), lineageRow{th.ID, f.spans, th.Shared}); err != nil {
		return th, err
	}
	return th, t.put(idKey(famThread, th.ID), th)
}

// Fork implements core.Desk.
func (d *desk) Fork(at core.Place, message core.ID) (core.Forked, bool, error) {
	f, ok, err := d.forked(at, message)
	if err != nil || !ok {
		return core.Forked{}, false, err
	}
	if err := d.leave(f.current); err != nil {
		return core.Forked{}, false, err
	}
	th, err := d.newThread(at, f.source.Agent, f.current.Direct)
	if err != nil {
		return core.Forked{}, false, err
	}
	d.follow(&th, f.current)
	th, err = d.beginFork(th, f)
	return core.Forked{Left: f.current, Thread: th, Message: f.message}, true, err
}

// source finds the thread of a place that has the message, the current one
// first; spans is nil if there is none.
func (d *desk) source(at core.Place, current core.Thread, id core.ID) (core.Thread, core.Message, []stretch, error) {
	msg, spans, err := d.spoken(current, id)
	if err != nil || spans != nil {
		return current, msg, spans, err
	}
	archived, err := d.Archived(at, forkReach)
	if err != nil {
		return current, msg, nil, err
	}
	for _, th := range archived {
		if msg, spans, err = d.spoken(th, id); err != nil || spans != nil {
			return th, msg, spans, err
		}
	}
	return current, msg, nil, nil
}

// heir is the current thread at an archived one's place, if it shares the
// message: what is said of that now is for it.
func (t *tx) heir(archived core.Thread, id core.ID) (core.Thread, bool, error) {
	th, ok, err := t.threadAt(archived.Place)
	if err != nil || !ok || th.Fork == "" {
		return th, false, err
	}
	_, spans, err := t.spoken(th, id)
	return th, spans != nil, err
}

// inherit gives a thread that is rebuilt what it shares.
func (t *tx) inherit(th *core.Thread) error {
	row, ok, err := get[lineageRow](t, idKey(famLineage, th.ID))
	if err != nil || !ok || len(row.Spans) == 0 {
		return err
	}
	th.Fork, th.Shared, th.Messages = row.Spans[len(row.Spans)-1].Upto, row.Shared, row.Shared
	return nil
}

// repliedTo is what the message of an event replies to; nil: nothing.
func (a *acceptance) repliedTo(in *core.Inbound, place core.Place) (*core.Subject, error) {
	if in.ReplyTo == "" {
		return nil, nil
	}
	ref, _, err := get[platformRow](a.tx, a.platformKey(place, in.ReplyTo))
	if err != nil || ref.Post == "" {
		return &core.Subject{Message: ref.Message}, err
	}
	post, _, err := get[core.Post](a.tx, idKey(famPost, ref.Post))
	return &core.Subject{Run: post.Run, Message: post.Message}, err
}
