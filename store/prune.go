package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"time"

	"bellhop/core"
)

// What is kept for a while only, beside the journal and the activity log. A
// bounded number of rows goes in a transaction; whoever calls goes on from where
// the last call has stopped, and begins anew after a crash.

// reach is how many items, or runs, one transaction looks at.
const reach = 1000

// PruneTasks forgets what was done before the time given: ended items with their
// runs, steps and asks, from an item on (empty: the first). It returns where to
// go on; empty: nowhere.
//
// What said it stays: messages, posts, what was spent. A run goes with all its
// items, and not before those that its words have woken, for these ask it for
// whom they work; an item goes after the older ones of its bot for the message,
// so that what was retried is not what failed last.
func (s *Store) PruneTasks(ctx context.Context, before time.Time, from core.ID) (next core.ID, err error) {
	err = s.update(ctx, func(t *tx) error {
		next = ""
		p := pruning{tx: t, before: before}
		kvs, err := t.Scan(idKey(famItem, from), after([]byte(famItem)), reach)
		if err != nil {
			return err
		}
		for _, kv := range kvs {
			it, ok, err := get[core.Item](t, kv.Key)
			switch {
			case err != nil:
				return err
			case !ok: // it has gone with a run
				continue
			case !it.Created.Before(before):
				return nil
			}
			if err := p.task(it); err != nil {
				return err
			}
			if p.removed >= pruneBatch {
				next = core.NewID(core.KindItem, it.ID.Seq()+1)
				return nil
			}
		}
		if len(kvs) == reach {
			next = core.NewID(core.KindItem, seqOf(kvs[reach-1].Key)+1)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return next, nil
}

// pruning forgets tasks in a transaction.
type pruning struct {
	*tx
	before  time.Time
	removed int // rows
}

// over reports whether the item has ended in time.
func (p *pruning) over(it core.Item) bool { return it.State.Terminal() && it.Ended.Before(p.before) }

// task forgets an item, with its run, if it has one.
func (p *pruning) task(it core.Item) error {
	if !p.over(it) {
		return nil
	}
	run, ran, err := get[core.Run](p.tx, idKey(famRun, it.Run))
	if err != nil {
		return err
	}
	items := []core.Item{it}
	if ran {
		if !run.State.Terminal() || !run.Ended.Before(p.before) {
			return nil
		}
		if items, err = p.items(run); err != nil {
			return err
		}
		if leads, err := p.leads(run); leads || err != nil {
			return err
		}
	}
	for _, it := range items {
		if later, err := p.later(it, items); !p.over(it) || later || err != nil {
			return err
		}
	}
	for _, it := range items {
		if err := p.item(it); err != nil {
			return err
		}
	}
	if ran {
		return p.run(run)
	}
	return nil
}

func (p *pruning) items(run core.Run) ([]core.Item, error) {
	var out []core.Item
	for _, id := range run.Items {
		it, ok, err := get[core.Item](p.tx, idKey(famItem, id))
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, it)
		}
	}
	return out, nil
}

// leads reports whether somebody may still ask whose work the run was: who works
// on what it has said, or is to.
func (p *pruning) leads(run core.Run) (bool, error) {
	post, _, err := get[core.Post](p.tx, idKey(famPost, run.Post))
	if err != nil || post.Message == "" {
		return false, err
	}
	woken, err := p.itemsOf(post.Message)
	if err != nil {
		return false, err
	}
	held, _, err := get[heldRow](p.tx, heldKey(run.Thread, run.Bot))
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(woken, func(it core.Item) bool { return !it.External() && !p.over(it) }) ||
		slices.ContainsFunc(held.HandOffs, func(h handOff) bool { return h.Message == post.Message }), nil
}

// later reports whether an older item of the message for the same bot stays,
// beside those that go together.
func (p *pruning) later(it core.Item, together []core.Item) (bool, error) {
	if it.Message == "" {
		return false, nil
	}
	all, err := p.itemsOf(it.Message)
	return slices.ContainsFunc(all, func(o core.Item) bool {
		return o.Bot == it.Bot && o.ID.Seq() < it.ID.Seq() && !slices.ContainsFunc(together, func(x core.Item) bool { return x.ID == o.ID })
	}), err
}

// item forgets one item. That a bot has had it stays with its message: who edits
// that corrects what was read.
func (p *pruning) item(it core.Item) error {
	if it.Message != "" {
		msg, _, err := p.message(it.Thread, it.Message)
		if err != nil {
			return err
		}
		key := itemsOfKey(it.Message, it.ID)
		switch {
		case it.External():
			err = p.remove(key)
		case it.State == core.Withdrawn:
			err = p.Put(key, []byte(unread+it.Bot))
		default:
			err = p.Put(key, []byte(it.Bot))
		}
		if err != nil {
			return err
		}
		if msg.Sender.Kind == core.HumanActor && !it.External() {
			if err := p.remove(ownKey(msg.Sender.ID, it.ID)); err != nil {
				return err
			}
		}
	}
	return p.remove(idKey(famItem, it.ID))
}

// run forgets a run, its steps, and what it has asked.
func (p *pruning) run(run core.Run) error {
	if err := p.forgetSteps(run.ID); err != nil {
		return err
	}
	if run.Asked() {
		kvs, err := p.Scan(idKey(famAsk, run.ID), idKey(famAsk, run.Post), 0)
		if err != nil {
			return err
		}
		for _, kv := range kvs {
			a, ok, err := get[core.Ask](p.tx, kv.Key)
			if err != nil {
				return err
			}
			if ok && a.Run == run.ID {
				if err := p.remove(kv.Key); err != nil {
					return err
				}
			}
		}
	}
	return p.remove(idKey(famRun, run.ID))
}

// forgetSteps forgets a run's steps.
func (p *pruning) forgetSteps(run core.ID) error {
	prefix := idKey(famStep, run)
	kvs, err := p.Scan(prefix, after(prefix), 0)
	if err != nil {
		return err
	}
	for _, kv := range kvs {
		if err := p.remove(kv.Key); err != nil {
			return err
		}
	}
	return nil
}

func (p *pruning) remove(key []byte) error {
	p.removed++
	return p.Delete(key)
}

// unread begins what is left of an item whose bot has never had its message.
const unread = "\x00"

// wasRead reports whether an item of the message is kept no more with which a
// bot had begun.
func (t *tx) wasRead(message core.ID) (bool, error) {
	prefix := idKey(famItemsOf, message)
	kvs, err := t.Scan(prefix, after(prefix), 0)
	return slices.ContainsFunc(kvs, func(kv KV) bool { return len(kv.Value) > 0 && !bytes.HasPrefix(kv.Value, []byte(unread)) }), err
}

// PruneTranscripts forgets the steps of runs that have ended before the time
// given, from a run on (empty: the first). It returns where to go on; empty:
// nowhere.
func (s *Store) PruneTranscripts(ctx context.Context, before time.Time, from core.ID) (next core.ID, err error) {
	err = s.update(ctx, func(t *tx) error {
		next = ""
		p := pruning{tx: t, before: before}
		at := from
		for looked := 0; looked < reach && p.removed < pruneBatch; looked++ {
			kvs, err := t.Scan(idKey(famStep, at), after([]byte(famStep)), 1)
			if err != nil || len(kvs) == 0 {
				return err
			}
			id := core.NewID(core.KindRun, binary.BigEndian.Uint64(kvs[0].Key[len(famStep):]))
			if done, err := p.transcript(id); done || err != nil {
				return err
			}
			at = core.NewID(core.KindRun, id.Seq()+1)
		}
		next = at
		return nil
	})
	if err != nil {
		return "", err
	}
	return next, nil
}

// transcript forgets the steps of a run, if it is over. It reports whether all
// later ones are too young.
func (p *pruning) transcript(id core.ID) (done bool, err error) {
	run, ok, err := get[core.Run](p.tx, idKey(famRun, id))
	if err != nil {
		return false, err
	}
	if !ok || run.State.Terminal() && run.Ended.Before(p.before) {
		return false, p.forgetSteps(id)
	}
	first, ok, err := get[core.Item](p.tx, idKey(famItem, id.As(core.KindItem)))
	return ok && !first.Created.Before(p.before), err
}
