package store

import (
	"context"
	"errors"
	"slices"

	"bellhop/core"
)

// unsorted marks new items as those whose bot a model has yet to choose.
func (t *tx) unsorted(items []core.Item) error {
	for i := range items {
		items[i].Unsorted = true
		if err := t.queue(items[i]); err != nil {
			return err
		}
	}
	return nil
}

// Sort settles that the items are the bot's: those of them that wait unsorted,
// which all belong to one thread, move into its mailbox. usage is what choosing
// has cost; the first of them has it, also one that has ended meanwhile. It
// returns what has to be woken: the items that the bot has now and did not have,
// and hand-offs that waited for nothing but them. An item that has moved already
// is moved.
func (s *Store) Sort(ctx context.Context, items []core.Item, bot string, usage core.Usage) ([]core.Item, error) {
	var woken []core.Item
	var ended bool
	key := string(items[0].ID)
	err := s.update(ctx, func(t *tx) error {
		woken, ended = nil, false
		var from string
		cost := usage
		th, err := need[core.Thread](t, famThread, items[0].Thread)
		if err != nil {
			return err
		}
		for _, was := range items {
			it, ok, err := get[core.Item](t, idKey(famItem, was.ID))
			switch {
			case err != nil:
				return err
			case ok && it.State.Terminal() && it.Unsorted: // while it was chosen
				it.Unsorted = false
				if err := errors.Join(t.put(idKey(famItem, it.ID), it), t.spendOn(&th, it, cost)); err != nil {
					return err
				}
				cost = core.Usage{}
			case !ok || it.State != core.Queued:
				continue
			case it.Unsorted:
				from = it.Bot
				it.Unsorted, it.Usage, cost = false, cost, core.Usage{}
				if err := t.move(&th, it, bot); err != nil {
					return err
				}
				it.Bot = bot
			}
			if it.Bot == bot && was.Bot != bot {
				it.Left = was.Left
				woken = append(woken, it)
			}
		}
		if from == "" || from == bot {
			earlier, _ := s.sorted.get(key)
			if woken, err = t.stillQueued(woken, earlier); err != nil {
				return err
			}
			return t.put(idKey(famThread, th.ID), th)
		}
		enter(&th, []string{bot})
		released, err := t.release(&th, from)
		if err != nil {
			return err
		}
		woken = append(woken, released...)
		ended = true
		return t.put(idKey(famThread, th.ID), th)
	})
	s.sorted.note(key, woken, ended, err)
	if err != nil {
		return nil, err
	}
	return woken, nil
}

// spendOn counts what was used for an item that no run will count. The caller must
// put th.
func (t *tx) spendOn(th *core.Thread, it core.Item, u core.Usage) error {
	msg, _, err := t.message(it.Thread, it.Message)
	if err != nil {
		return err
	}
	return t.spend(th, it.Bot, core.PersonID(msg.Sender.ID), u)
}

// stillQueued adds to the items those of others that wait: what a Sort has
// woken that took itself for failed.
func (t *tx) stillQueued(items, others []core.Item) ([]core.Item, error) {
	for _, it := range others {
		now, ok, err := get[core.Item](t, idKey(famItem, it.ID))
		if err != nil {
			return nil, err
		}
		if ok && now.State == core.Queued && !slices.ContainsFunc(items, func(have core.Item) bool { return have.ID == it.ID }) {
			items = append(items, it)
		}
	}
	return items, nil
}

// move puts a waiting item into the mailbox of a bot. The message is for that bot
// then, and no more for the one that had it, unless that is named in it or has
// another item of it.
func (t *tx) move(th *core.Thread, it core.Item, bot string) error {
	if it.Bot == bot {
		return t.queue(it)
	}
	if err := t.Delete(queueKey(it.Bot, it.ID)); err != nil {
		return err
	}
	msg, _, err := t.message(it.Thread, it.Message)
	if err != nil {
		return err
	}
	all, err := t.itemsOf(it.Message)
	if err != nil {
		return err
	}
	others := slices.ContainsFunc(all, func(o core.Item) bool { return o.Bot == it.Bot && o.ID != it.ID })
	if !others && !slices.Contains(msg.Mentions, it.Bot) {
		if err := t.Delete(forKey(it.Thread, it.Bot, it.Message)); err != nil {
			return err
		}
	}
	if err := t.log(core.Activity{Event: core.MessageSorted, Actor: core.Actor{Kind: core.BotActor, ID: it.Bot}, Thread: th.ID, Place: th.Place,
		Messages: []core.ID{it.Message}, Items: []core.ID{it.ID}, Bots: []string{bot}}); err != nil {
		return err
	}
	it.Bot = bot
	if err := t.forBotLate(th, it.Message, bot); err != nil {
		return err
	}
	return t.queue(it)
}
