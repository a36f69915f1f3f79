package store

import (
	"errors"
	"slices"
	"strings"

	"bellhop/core"
)

// What people make of what they have said: they change it, or take it back.

// edit takes a person's change of a message. Before a run has joined it, the
// new text replaces the old; afterwards it is posted as a correction. The same
// text, an unfurl say, changes nothing.
func (a *acceptance) edit(e *core.Entry, place core.Place) (core.Fate, error) {
	in := &e.In
	ref, ok, err := get[platformRow](a.tx, a.platformKey(place, in.MessageID))
	if err != nil || !ok || ref.Message == "" {
		return core.FateIgnored, err
	}
	msg, ok, err := a.tx.message(ref.Thread, ref.Message)
	if err != nil || !ok || a.authorise(e, core.Deed{Author: core.PersonID(msg.Sender.ID)}) != core.Allowed {
		return core.FateIgnored, err
	}
	if strings.TrimSpace(in.Text) == "" || strings.TrimSpace(in.Text) == strings.TrimSpace(msg.Text()) {
		return core.FateUnchanged, nil
	}
	if msg.Text() == core.Deleted {
		return core.FateIgnored, nil
	}
	if !a.take(e) {
		return a.limit(e, place)
	}
	items, err := a.itemsOf(msg.ID)
	if err != nil {
		return "", err
	}
	a.row.Message = msg.ID
	joined, err := a.wasRead(msg.ID)
	if err != nil {
		return "", err
	}
	joined = joined || msg.Answers != ""
	for _, it := range items {
		joined = joined || it.State != core.Queued && it.State != core.Withdrawn && !it.External()
	}
	th, err := need[core.Thread](a.tx, famThread, msg.Thread)
	if err != nil {
		return "", err
	}
	if !joined {
		msg.Version++
		msg.Parts = parts(in)
		woken, err := a.replace(&th, msg, in, items)
		if err != nil {
			return "", err
		}
		a.woke = len(woken) > 0
		if err := errors.Join(a.goTo(msg.Thread), a.remindOf(e, th, woken)); err != nil || len(a.out.Ended) == 0 {
			return core.FateEdited, err
		}
		items, err = a.itemsOf(msg.ID)
		if !slices.ContainsFunc(items, func(it core.Item) bool { return it.State == core.Queued && !it.External() }) {
			return core.FateTaken, err
		}
		return core.FateEdited, err
	}
	if !th.Archived.IsZero() {
		if th, ok, err = a.heir(th, msg.ID); err != nil || !ok {
			return core.FateIgnored, err
		}
	}
	a.corrects = msg.ID
	msg.Corrects, msg.Version, msg.Parts, msg.Time, msg.Earlier = msg.ID, 0, parts(in), in.Time, nil
	msg.Answers, msg.For, msg.After = "", "", ""
	if err := a.post(&th, msg, in.ForOthers()); err != nil {
		return "", err
	}
	return core.FateEdited, a.remindOf(e, th, a.out.Items)
}

// replace stores the new version of a message that nobody has begun to answer,
// as if its author had said it so at first: where it names others than before,
// they get it, and it waits no more for whom it is not meant. It returns the items
// of the bots that get it.
func (a *acceptance) replace(th *core.Thread, msg core.Message, in *core.Inbound, items []core.Item) (woken []core.Item, err error) {
	routed := a.route(th, msg, in.ForOthers())
	moved := th.Archived.IsZero() && !slices.Equal(routed.Mentions, msg.Mentions)
	if moved {
		msg.Mentions = routed.Mentions
	}
	if err := a.insert(messageKey(msg.Thread, msg.ID, msg.Version), msg); err != nil {
		return nil, err
	}
	if moved {
		if woken, err = a.readdress(th, msg, routed, items, in.MessageID); err != nil {
			return nil, err
		}
	}
	return woken, errors.Join(a.renew(th, msg, items), a.put(idKey(famThread, th.ID), *th))
}

// readdress gives the message to those whom it wakes now, and takes it from those
// for whom it waits and whom it wakes no more. It returns the items of the bots
// that get it.
func (a *acceptance) readdress(th *core.Thread, msg core.Message, now core.Routed, items []core.Item, id string) ([]core.Item, error) {
	a.why, th.HopTold = now.Why, false
	taken := core.Activity{Event: core.MessageTaken, Thread: th.ID, Place: th.Place, Messages: []core.ID{msg.ID}}
	items = slices.DeleteFunc(slices.Clone(items), func(it core.Item) bool { return it.State == core.Withdrawn && !it.External() })
	waits := func(bot string) bool {
		return slices.ContainsFunc(items, func(it core.Item) bool { return it.Bot == bot })
	}
	for _, it := range items {
		switch stays := slices.Contains(now.Wake, it.Bot); {
		case it.External(), stays && (now.Open || !it.Unsorted):
		case stays:
			it.Unsorted = false
			if err := a.queue(it); err != nil {
				return nil, err
			}
		default:
			taken.Items, taken.Bots = append(taken.Items, it.ID), append(taken.Bots, it.Bot)
			if err := a.takeBack(th, it, id, "(the message was changed)"); err != nil {
				return nil, err
			}
		}
	}
	if len(taken.Items) > 0 {
		if err := a.log(taken); err != nil {
			return nil, err
		}
	}
	for _, bot := range slices.Concat(now.Mentions, now.Wake) {
		if err := a.forBotLate(th, msg.ID, bot); err != nil {
			return nil, err
		}
	}
	woken, err := a.enqueue(th, msg.ID, slices.DeleteFunc(slices.Clone(now.Wake), waits), "")
	if err == nil && now.Open && a.batch.Sort {
		err = a.unsorted(woken)
	}
	if err := errors.Join(err, a.own(msg.Sender, woken)); err != nil {
		return nil, err
	}
	a.out.Items = append(a.out.Items, woken...)
	for _, handle := range slices.DeleteFunc(slices.Clone(now.Tell), waits) {
		if !slices.Contains(th.Externals, handle) {
			th.Externals = append(slices.Clone(th.Externals), handle)
		}
		it, err := a.newItem(th, msg.ID, core.Item{Bot: handle, Actor: core.ExternalActor})
		if err != nil {
			return nil, err
		}
		a.out.Items = append(a.out.Items, it)
	}
	return woken, nil
}

// withdraw ends the waiting items of a message that its author deleted, and of
// what it said before its author corrected it. What nobody has begun to answer is
// not read by anybody later.
func (a *acceptance) withdraw(e *core.Entry, place core.Place) (core.Fate, error) {
	ref, ok, err := get[platformRow](a.tx, a.platformKey(place, e.In.MessageID))
	if err != nil || !ok || ref.Message == "" {
		return core.FateIgnored, err
	}
	th, ok, err := get[core.Thread](a.tx, idKey(famThread, ref.Thread))
	if err != nil || !ok {
		return core.FateIgnored, err
	}
	a.row.Message = ref.Message
	fate := core.FateIgnored
	for id := ref.Message; id != ""; {
		msg, ok, err := a.tx.message(ref.Thread, id)
		if err != nil {
			return "", err
		}
		if !ok { // it was said before the fork, where nothing waits any more
			break
		}
		gone, err := a.withdrawn(&th, msg, e.In.MessageID)
		if err != nil {
			return "", err
		}
		if gone {
			fate = core.FateWithdrawn
		}
		id = msg.Corrects
	}
	return fate, errors.Join(a.put(idKey(famThread, th.ID), th), a.goTo(ref.Thread))
}

// withdrawn ends the waiting items of a message, and takes its words away if
// nobody has begun to answer it; false: it is too late for either. The caller must
// put th.
func (a *acceptance) withdrawn(th *core.Thread, msg core.Message, id string) (bool, error) {
	items, err := a.itemsOf(msg.ID)
	if err != nil {
		return false, err
	}
	begun, err := a.wasRead(msg.ID)
	if err != nil {
		return false, err
	}
	begun = begun || msg.Answers != "" // an answer was read when it came
	gone := false
	for _, it := range items {
		if it.State != core.Queued && !(it.External() && it.State == core.Doing) {
			begun = begun || !it.External() && it.State != core.Withdrawn
			continue
		}
		gone = true
		if err := a.takeBack(th, it, id, "(the message was deleted)"); err != nil {
			return false, err
		}
	}
	if begun || msg.Text() == core.Deleted {
		return gone, nil
	}
	msg.Version++
	msg.Parts, msg.Earlier = []core.Part{core.Text(core.Deleted)}, nil
	return true, a.insert(messageKey(msg.Thread, msg.ID, msg.Version), msg)
}

// takeBack ends an item that waits, of a message with the platform's id, and
// delivers the hand-offs that waited for nothing else. why is what its status line
// becomes. The caller must put th.
func (a *acceptance) takeBack(th *core.Thread, it core.Item, id, why string) error {
	if err := a.end(it, core.Withdrawn, "", ""); err != nil {
		return err
	}
	a.out.Ended = append(a.out.Ended, it.ID)
	if it.External() {
		return nil
	}
	if err := errors.Join(a.spendOn(th, it, it.Usage), a.retract(th, it, id, why)); err != nil {
		return err
	}
	released, err := a.release(th, it.Bot)
	a.out.Items = append(a.out.Items, released...)
	return err
}

// retract ends the run that a withdrawn item has begun before more of it than its
// status line was stored: that, if it may be shown, becomes a notice. What else
// that run had picked still waits, and begins another.
func (a *acceptance) retract(th *core.Thread, it core.Item, id, why string) error {
	post := core.Post{ID: it.ID.As(core.KindPost), Kind: core.NoticePost, Thread: th.ID, Place: th.Place, Created: a.Now()}
	shown := a.batch.Seal != nil && a.batch.Seal(post.ID)
	if !shown && !it.Waits {
		return nil
	}
	was, _, err := get[core.Post](a.tx, idKey(famPost, post.ID))
	if err != nil {
		return err
	}
	post.Open = was.Open
	rows, err := a.show(post, core.Row{After: id, Speaker: a.speaker(it.Bot)}, pieces(a.batch.Split, th.Place, why))
	a.out.Rows = append(a.out.Rows, rows...)
	a.out.Stopped = append(a.out.Stopped, it.ID.As(core.KindRun))
	return err
}
