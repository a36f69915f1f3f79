package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

// errandsAt is where the dedupe keys of what an external says are journaled: no
// adapter has such a name.
func errandsAt(handle string) string { return "@" + handle }

// inform puts an item for the message into the mailboxes of the external actors
// that take part in the thread, or do from now on (also), and can be told
// something. The caller must put th.
func (t *tx) inform(th *core.Thread, msg core.Message, listening, also []string) ([]core.Item, error) {
	for _, handle := range also {
		if !slices.Contains(th.Externals, handle) {
			th.Externals = append(slices.Clone(th.Externals), handle)
		}
	}
	var items []core.Item
	for _, handle := range th.Externals {
		if handle == msg.Sender.ID || !slices.Contains(listening, handle) {
			continue
		}
		it, err := t.newItem(th, msg.ID, core.Item{Bot: handle, Actor: core.ExternalActor})
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	return items, nil
}

// renew tells those external actors again about a message that has been edited
// since they were told.
func (a *acceptance) renew(th *core.Thread, msg core.Message, items []core.Item) error {
	for i, it := range items {
		newer := slices.ContainsFunc(items[i+1:], func(x core.Item) bool { return x.Bot == it.Bot })
		if !it.External() || newer || !it.State.Terminal() || !slices.Contains(a.batch.Externals, it.Bot) {
			continue
		}
		again, err := a.newItem(th, msg.ID, core.Item{Bot: it.Bot, Actor: core.ExternalActor, Parent: it.ID})
		if err != nil {
			return err
		}
		a.out.Items = append(a.out.Items, again)
	}
	return nil
}

// resend queues again, in their order, the errands that have failed with the
// given one, or been cancelled as it was. A new failure is told anew.
func (d *desk) resend(th *core.Thread, ended core.Item) error {
	msgs, err := d.candidates(th.ID, core.Subject{})
	if err != nil {
		return err
	}
	if !slices.Contains(msgs, ended.Message) {
		msgs = append(msgs, ended.Message)
	}
	for _, msg := range slices.Backward(msgs) {
		items, err := d.itemsOf(msg)
		if err != nil {
			return err
		}
		for _, it := range unanswered(items) {
			if it.Bot != ended.Bot || it.Outcome != ended.Outcome || it.Outcome == "" && it.ID != ended.ID {
				continue
			}
			again, err := d.newItem(th, msg, core.Item{Bot: it.Bot, Actor: core.ExternalActor, Parent: it.ID})
			if err != nil {
				return err
			}
			d.out.Items = append(d.out.Items, again)
			if err := d.log(core.Activity{Event: core.ItemRetried, Thread: th.ID, Place: th.Place, Messages: []core.ID{msg}, Items: []core.ID{it.ID, again.ID}}); err != nil {
				return err
			}
		}
	}
	th.Reached(ended.Bot)
	return d.put(idKey(famThread, th.ID), *th)
}

// Say takes what an external actor says, as Accept takes what a person says:
// its message with the items of whom it wakes, and the post that shows it, in
// one transaction. core.ErrNotFound: there is no conversation at the place. A
// *core.UserError says what else is wrong.
func (s *Store) Say(ctx context.Context, say core.Saying) (core.Said, error) {
	var out core.Said
	var ended bool
	event := string(journalKey(errandsAt(say.From), say.Key))
	err := s.update(ctx, func(t *tx) error {
		out, ended = core.Said{}, false
		row, known, err := get[journalRow](t, []byte(event))
		if err != nil {
			return err
		}
		if known && say.Key != "" {
			out, _ = s.said.get(event)
			out.Message, out.Known = row.Message, true
			return nil
		}
		out, err = t.relay(say)
		ended = err == nil
		return err
	})
	if say.Key != "" {
		s.said.note(event, out, ended, err)
	}
	if err != nil {
		return core.Said{}, err
	}
	return out, nil
}

func (t *tx) relay(say core.Saying) (core.Said, error) {
	var out core.Said
	th, err := t.meant(say)
	if err != nil {
		return out, err
	}
	r := core.Routing{Sender: core.Actor{Kind: core.ExternalActor, ID: say.From}, Text: say.Text, Bots: say.Bots, Externals: say.Externals,
		Participants: th.Bots, MaxHops: say.MaxHops, HopTold: th.HopTold}
	if say.Re != "" {
		re, ok, err := t.message(th.ID, say.Re)
		if err != nil {
			return out, err
		}
		if !ok {
			return out, &core.UserError{Text: fmt.Sprintf("there is no message %s in %s", say.Re, th.ID)}
		}
		r.Reply, r.TriggerHop = true, re.Hop
	}
	routed := core.Route(r)
	last, err := t.lastShown(th.ID)
	if err != nil {
		return out, err
	}
	post := core.Post{Kind: core.RelayPost, Thread: th.ID, Place: th.Place, Created: t.Now()}
	if post.ID, err = t.id(core.KindPost); err != nil {
		return out, err
	}
	msg, err := t.addMessage(&th, core.Message{Sender: r.Sender, Name: say.From, Parts: []core.Part{core.Text(say.Text)},
		Mentions: routed.Mentions, Hop: routed.Hop, Time: t.Now(), Post: post.ID})
	if err != nil {
		return out, err
	}
	out.Message, post.Message = msg.ID, msg.ID
	if out.Rows, err = t.show(post, core.Row{After: last}, pieces(say.Split, th.Place, relayed(say.From, say.Text))); err != nil {
		return out, err
	}
	if out.Items, err = t.enqueue(&th, msg.ID, routed.Wake, ""); err != nil {
		return out, err
	}
	told, err := t.inform(&th, msg, say.Externals, routed.Tell)
	if err != nil {
		return out, err
	}
	out.Items = append(out.Items, told...)
	if routed.Notice {
		th.HopTold = true
		rows, err := t.show(core.Post{Kind: core.NoticePost, Thread: th.ID, Place: th.Place}, core.Row{After: last}, pieces(say.Split, th.Place, hopNotice(say.MaxHops)))
		if err != nil {
			return out, err
		}
		out.Rows = append(out.Rows, rows...)
	}
	fate, event := core.FateStored, core.MessageAccepted
	if len(routed.Wake) == 0 {
		fate, event = core.FateKept, core.MessageKept
	}
	ids, bots := woken(out.Items, msg.ID)
	if routed.HopLimit {
		event, bots = core.HopLimit, routed.Mentions
	}
	if err := t.log(core.Activity{Event: event, Why: routed.Why, Actor: msg.Sender, Thread: th.ID, Place: th.Place, Messages: []core.ID{msg.ID},
		Items: ids, Bots: bots}); err != nil {
		return out, err
	}
	at, key := errandsAt(say.From), cmp.Or(say.Key, string(msg.ID))
	if err := t.insert(journalKey(at, key), journalRow{Fate: fate, Message: msg.ID, Post: post.ID}); err != nil {
		return out, err
	}
	if err := t.Put(journalDayKey(dayOf(t.Now()), at, key), nil); err != nil {
		return out, err
	}
	return out, t.put(idKey(famThread, th.ID), th)
}

// meant is the thread in which something is said.
func (t *tx) meant(say core.Saying) (core.Thread, error) {
	if say.Thread == "" {
		place, err := t.canonical(say.Place)
		if err != nil {
			return core.Thread{}, err
		}
		th, ok, err := t.threadAt(place)
		if err == nil && !ok {
			err = core.ErrNotFound
		}
		return th, err
	}
	th, ok, err := get[core.Thread](t, idKey(famThread, say.Thread))
	switch {
	case err != nil:
	case !ok:
		err = &core.UserError{Text: fmt.Sprintf("there is no conversation %s: `bellhop threads` lists them", say.Thread)}
	case !th.Archived.IsZero():
		err = &core.UserError{Text: fmt.Sprintf("%s is archived: /resume %[1]s, said where it was, brings it back", say.Thread)}
	}
	return th, err
}

// relayed is how the message of an external actor is shown, whose words the
// appliance posts as its own.
func relayed(handle, text string) string {
	if strings.Contains(text, "\n") {
		return handle + ":\n\n" + text
	}
	return handle + ": " + text
}

// lookBack is how many of a thread's newest messages are looked at for one that
// is shown on its platform.
const lookBack = 20

// lastShown is the platform id of the newest message of the thread that has
// one: what is shown next comes after it.
func (t *tx) lastShown(thread core.ID) (string, error) {
	msgs, err := t.newest(idKey(famMessage, thread), after(idKey(famMessage, thread)), lookBack)
	if err != nil {
		return "", err
	}
	for _, m := range slices.Backward(msgs) {
		if m.PlatformID != "" {
			return m.PlatformID, nil
		}
		post, _, err := get[core.Post](t, idKey(famPost, m.Post))
		if id := newestOf(post); err != nil || id != "" {
			return id, err
		}
	}
	return "", nil
}

// newestOf is the platform id of the newest piece of the post that is known to
// be shown; empty: none is.
func newestOf(post core.Post) string {
	switch n := len(post.Shown); {
	case n > 0:
		return post.Shown[n-1].ID
	case post.Open != nil:
		return post.Open.ID
	}
	return ""
}

// Errand reads what an external's item is about; or, if an older one of its
// thread waits for the same actor, that. core.ErrRunOver: the item has ended.
func (s *Store) Errand(ctx context.Context, it core.Item) (core.Errand, error) {
	var e core.Errand
	err := s.view(ctx, func(t *tx) error {
		item, err := t.oldest(it)
		if err != nil {
			return err
		}
		if e.Item, err = need[core.Item](t, famItem, item); err != nil {
			return err
		}
		if e.Item.State.Terminal() {
			return core.ErrRunOver
		}
		if e.Thread, err = need[core.Thread](t, famThread, it.Thread); err != nil {
			return err
		}
		var ok bool
		if e.Message, ok, err = t.message(it.Thread, e.Item.Message); err == nil && !ok {
			err = fmt.Errorf("%s: %w", e.Item.Message, core.ErrNotFound)
		}
		if err != nil {
			return err
		}
		e.Ask, err = t.askedIn(e.Message)
		return err
	})
	return e, err
}

// askedIn is the open question that a message asks; empty: none.
func (t *tx) askedIn(m core.Message) (core.ID, error) {
	if m.Sender.Kind != core.BotActor {
		return "", nil
	}
	post, _, err := get[core.Post](t, idKey(famPost, m.Post))
	if err != nil || post.Ask == "" {
		return "", err
	}
	a, ok, err := get[core.Ask](t, idKey(famAsk, post.Ask))
	if !ok || a.Kind != core.QuestionAsk || a.State != core.AskOpen {
		return "", err
	}
	return a.ID, nil
}

// oldest is the first item that waits where this one does, itself if none is
// before it.
func (t *tx) oldest(it core.Item) (core.ID, error) {
	kvs, err := t.Scan(queueKey(it.Bot, "")[:len(famQueue)+len(it.Bot)+1], queueKey(it.Bot, it.ID), 0)
	if err != nil {
		return "", err
	}
	for _, kv := range kvs {
		var before core.Item
		if err := decode(kv.Value, &before); err != nil {
			t.damaged(kv.Key, kv.Value, err)
		} else if before.Thread == it.Thread && before.External() {
			return before.ID, nil
		}
	}
	return it.ID, nil
}

// Attempted stores how an errand went: it is done, waits for its next try, or
// has failed, of which the thread is told once.
func (s *Store) Attempted(ctx context.Context, item core.ID, a core.Attempt) (core.Attempted, error) {
	var out core.Attempted
	var ended bool
	err := s.update(ctx, func(t *tx) error {
		out, ended = core.Attempted{}, false
		it, err := need[core.Item](t, famItem, item)
		if err != nil {
			return err
		}
		if it.State.Terminal() {
			earlier, _ := s.attempted.get(string(item))
			out.Item = it
			out.Rows, err = t.waiting(earlier.Rows)
			return err
		}
		out.Rows, err = t.attempted(&it, a)
		out.Item = it
		ended = err == nil
		return err
	})
	s.attempted.note(string(item), out, ended, err)
	if err != nil {
		return core.Attempted{}, err
	}
	return out, nil
}

func (t *tx) attempted(it *core.Item, a core.Attempt) (rows []core.Row, err error) {
	it.Tries++
	it.Error, it.Next = a.Failed, time.Time{}
	if a.Failed != "" && a.Again > 0 {
		it.State, it.Next = core.Doing, t.Now().Add(a.Again)
		return nil, errors.Join(t.put(idKey(famItem, it.ID), *it), t.put(queueKey(it.Bot, it.ID), *it))
	}
	th, ok, err := get[core.Thread](t, idKey(famThread, it.Thread))
	if err != nil {
		return nil, err
	}
	_, told, err := get[core.Post](t, idKey(famPost, th.Unreached[it.Bot]))
	if err != nil {
		return nil, err
	}
	state, changed := core.Failed, false
	switch {
	case a.Failed == "":
		state = core.Done
		changed = th.Reached(it.Bot)
	case ok && !told:
		rows, err = t.unreached(&th, it.Bot, a)
		changed = true
	}
	if err != nil {
		return nil, err
	}
	outcome := core.ID("")
	if state == core.Failed {
		outcome = th.Unreached[it.Bot]
	}
	if err := t.endErrand(*it, state, outcome); err != nil {
		return nil, err
	}
	it.State, it.Outcome, it.Ended = state, outcome, t.Now()
	if ok && changed {
		err = t.put(idKey(famThread, th.ID), th)
	}
	return rows, err
}

// endErrand brings an external's item to a terminal state.
func (t *tx) endErrand(it core.Item, state core.State, outcome core.ID) error {
	event := map[core.State]core.Event{core.Done: core.ErrandDone, core.Failed: core.ErrandFailed, core.Cancelled: core.ErrandDropped}[state]
	return errors.Join(t.end(it, state, "", outcome), t.log(core.Activity{Event: event, Actor: core.Actor{Kind: core.ExternalActor, ID: it.Bot},
		Thread: it.Thread, Messages: []core.ID{it.Message}, Items: []core.ID{it.ID}, Detail: it.Error}))
}

// unreached tells the thread that an external actor cannot be reached. The
// caller must put th.
func (t *tx) unreached(th *core.Thread, handle string, a core.Attempt) ([]core.Row, error) {
	last, err := t.lastShown(th.ID)
	if err != nil {
		return nil, err
	}
	rows, err := t.show(core.Post{Kind: core.NoticePost, Thread: th.ID, Place: th.Place}, core.Row{After: last}, a.Notice(th.Place))
	if err != nil {
		return nil, err
	}
	th.Unreached = maps.Clone(th.Unreached)
	if th.Unreached == nil {
		th.Unreached = map[string]core.ID{}
	}
	th.Unreached[handle] = rows[0].Post
	return rows, nil
}
