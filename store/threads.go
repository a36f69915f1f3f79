package store

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"bellhop/core"
)

// Archive ends the thread and gives its place a fresh one, so that whoever was
// heard there still is. Its default bot is the place's again.
func (d *desk) Archive(thread core.ID) error {
	th, ok, err := get[core.Thread](d.tx, idKey(famThread, thread))
	if err != nil || !ok || !th.Archived.IsZero() {
		return err
	}
	if err := d.leave(th); err != nil {
		return err
	}
	fresh, err := d.newThread(th.Place, d.entry.Agent, th.Direct)
	if err != nil {
		return err
	}
	d.follow(&fresh, th)
	return d.put(idKey(famThread, fresh.ID), fresh)
}

// leave archives a place's current thread. The caller must give the place
// another. One in which nothing was said is not kept among those that people
// may want back.
func (t *tx) leave(th core.Thread) error {
	th.Archived = t.Now()
	if err := t.put(idKey(famThread, th.ID), th); err != nil || th.Said() == 0 {
		return err
	}
	row := placeOf(th)
	return t.insert(archivedKey(row), row)
}

// follow has a thread go on from the one that it takes the place of. That keeps
// the name that a person has given it, and is heard on from the event of the
// command, if it was heard at all: what was said before is not for the thread that
// begins or goes on here.
func (d *desk) follow(th *core.Thread, left core.Thread) {
	if left.Named {
		th.Named, th.Unnamed = true, false
	}
	if th.Missed = false; left.Heard != "" {
		th.Heard = cmp.Or(d.message, left.Heard)
	}
}

// Archived lists a place's archived threads from their index.
func (d *desk) Archived(at core.Place, limit int) ([]core.Thread, error) {
	prefix := archivedAt(at)
	kvs, err := d.ScanBack(prefix, after(prefix), limit)
	if err != nil {
		return nil, err
	}
	var out []core.Thread
	for _, kv := range kvs {
		row, ok, err := get[placeRow](d.tx, kv.Key)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		th, ok, err := get[core.Thread](d.tx, idKey(famThread, row.Thread))
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, th)
		}
	}
	return out, nil
}

// Thread reads a thread of the place.
func (d *desk) Thread(at core.Place, id core.ID) (core.Thread, bool, error) {
	th, ok, err := get[core.Thread](d.tx, idKey(famThread, id))
	if err != nil || !ok || !bytes.Equal(placeKey(th.Place), placeKey(at)) {
		return core.Thread{}, false, err
	}
	return th, true, nil
}

// openingReach is how many of a thread's first rows are looked at for what a
// person wrote.
const openingReach = 20

// Opening is a thread's first message of a person, as it reads now; of a fork in
// which nobody has said anything yet, that of what it shares.
func (d *desk) Opening(thread core.ID) (core.Message, error) {
	th, ok, err := get[core.Thread](d.tx, idKey(famThread, thread))
	if err != nil || !ok {
		return core.Message{}, err
	}
	spans, err := d.spans(th)
	if err != nil {
		return core.Message{}, err
	}
	spans = slices.Insert(spans[:len(spans)-1], 0, spans[len(spans)-1]) // its own first
	for _, s := range spans {
		from, to := s.keys("", "", "")
		kvs, err := d.Scan(from, to, openingReach)
		if err != nil {
			return core.Message{}, err
		}
		msgs, err := d.latest(kvs)
		if err != nil {
			return core.Message{}, err
		}
		for _, m := range msgs {
			if m.Sender.Kind == core.HumanActor {
				m, _, err = d.tx.message(s.Thread, m.ID)
				return m, err
			}
		}
	}
	return core.Message{}, nil
}

// Resume gives a place an archived thread of it back. Its windows are as they
// were; it holds no hand-off, for what would have released one was stopped.
func (d *desk) Resume(thread core.ID, by string) error {
	th, ok, err := get[core.Thread](d.tx, idKey(famThread, thread))
	if err != nil || !ok || th.Archived.IsZero() {
		return err
	}
	current, ok, err := d.threadAt(th.Place)
	if err != nil {
		return err
	}
	if ok {
		if _, _, err := d.Cancel(current.ID, core.Subject{}, by); err != nil {
			return err
		}
		if current, err = need[core.Thread](d.tx, famThread, current.ID); err != nil {
			return err
		}
		if err := d.leave(current); err != nil {
			return err
		}
	}
	if err := d.Delete(archivedKey(placeOf(th))); err != nil {
		return err
	}
	th.Archived = time.Time{}
	d.follow(&th, current)
	if err := d.put(placeKey(th.Place), placeOf(th)); err != nil {
		return err
	}
	return d.put(idKey(famThread, th.ID), th)
}
