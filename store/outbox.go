package store

import (
	"cmp"
	"context"
	"errors"

	"bellhop/core"
)

// Delivered ends a row: the platform's receipt is stored, its id is known as
// ours, and the row is gone. Storing a receipt twice changes nothing.
//
// A row that is returned stays instead, to be shown again: meanwhile the buttons
// that the piece was shown with were taken away, or its text is another.
func (s *Store) Delivered(ctx context.Context, row core.Row, r core.Receipt) (again *core.Row, err error) {
	err = s.update(ctx, func(t *tx) error {
		again = nil
		gone, err := t.Get(rowKey(row.Place, row.Seq, row.Chunk))
		if err != nil || gone[0] == nil {
			return err
		}
		post, ok, err := get[core.Post](t, idKey(famPost, row.Post))
		if err != nil {
			return err
		}
		c := post.Card
		fresh := row.Last && !row.Again && c != nil
		switch {
		case fresh && (c.Text != cmp.Or(row.Bare, row.Text) || len(post.Buttons) < len(row.Buttons)):
			next := row
			next.Text, next.Buttons, next.Edit, next.Again, post.Again = c.Text, nil, r.ID, true, &r
			again = &next
			shown := platformRow{Thread: post.Thread, Message: post.Message, Post: post.ID}
			return errors.Join(t.put(t.platformKey(row.Place, r.ID), shown), t.put(idKey(famPost, post.ID), post), t.put(rowKey(row.Place, row.Seq, row.Chunk), next))
		case fresh:
			c.Text, post.Buttons = row.Text, row.Buttons // of a bare one, as it is shown
		}
		if ok {
			if post.Again != nil && row.Again {
				r = *post.Again
				post.Card, post.Again = nil, nil
			}
			post.Shown = append(post.Shown, r)
			if row.Last {
				post.Ended = t.Now()
			}
			if err := errors.Join(t.put(idKey(famPost, post.ID), post), t.logDelivery(row, post)); err != nil {
				return err
			}
		}
		if err := t.put(t.platformKey(row.Place, r.ID), platformRow{Thread: post.Thread, Message: post.Message, Post: row.Post}); err != nil {
			return err
		}
		return t.Delete(rowKey(row.Place, row.Seq, row.Chunk))
	})
	if err != nil {
		again = nil
	}
	return again, err
}

// RowOpened stores the receipt of the piece that the row's text will replace,
// so that a crash between the two finds it. A row that is shown again has its
// piece already.
func (s *Store) RowOpened(ctx context.Context, row core.Row, r core.Receipt) error {
	return s.update(ctx, func(t *tx) error {
		key := rowKey(row.Place, row.Seq, row.Chunk)
		have, ok, err := get[core.Row](t, key)
		if err != nil || !ok || have.Again {
			return err
		}
		have.Edit = r.ID
		if err := t.put(key, have); err != nil {
			return err
		}
		return t.put(t.platformKey(row.Place, r.ID), platformRow{Post: row.Post})
	})
}

// Bury gives a post's delivery up: its rows are gone, the post says why, and
// tell (blank: nobody) is queued for the owner's place. It returns the rows to
// deliver.
func (s *Store) Bury(ctx context.Context, row core.Row, why string, owner core.Place, tell []core.Piece) ([]core.Row, error) {
	var out []core.Row
	var ended bool
	err := s.update(ctx, func(t *tx) error {
		out, ended = nil, false
		post, ok, err := get[core.Post](t, idKey(famPost, row.Post))
		if err != nil {
			return err
		}
		if ok && post.Dead != "" {
			out, _ = s.buried.get(string(row.Post))
			return nil
		}
		if ok {
			if post.Again != nil { // it stays as it was shown
				post.Shown, post.Card, post.Again = append(post.Shown, *post.Again), nil, nil
			}
			post.Dead, post.Ended = why, t.Now()
			if err := errors.Join(t.put(idKey(famPost, post.ID), post), t.logDead(post)); err != nil {
				return err
			}
		}
		chunks := max(post.Chunks, row.Chunk+1)
		for i := range chunks {
			if err := t.Delete(rowKey(row.Place, row.Seq, i)); err != nil {
				return err
			}
		}
		if len(tell) > 0 && !owner.IsZero() {
			out, err = t.aside(core.Post{Place: owner}, tell)
		}
		ended = err == nil
		return err
	})
	s.buried.note(string(row.Post), out, ended, err)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// aside shows what is part of no conversation. Where there is one, a lost send
// lies after what it shows last; elsewhere nobody knows where to look.
func (t *tx) aside(p core.Post, pieces []core.Piece) ([]core.Row, error) {
	th, ok, err := t.threadAt(p.Place)
	if err != nil {
		return nil, err
	}
	var head core.Row
	if ok {
		if head.After, err = t.lastShown(th.ID); err != nil {
			return nil, err
		}
	}
	p.Kind = core.NoticePost
	return t.show(p, head, pieces)
}

// Notify queues a text for a place on the appliance's own account.
func (s *Store) Notify(ctx context.Context, p core.Place, pieces []core.Piece) ([]core.Row, error) {
	var out []core.Row
	err := s.update(ctx, func(t *tx) (err error) {
		if out, err = t.aside(core.Post{Place: p}, pieces); err != nil {
			return err
		}
		return t.log(core.Activity{Event: core.TroubleTold, Place: p, Detail: pieces[0].Text})
	})
	return out, err
}

// Moved stores that a channel has another id now.
func (s *Store) Moved(ctx context.Context, m core.Moving) error {
	return s.update(ctx, func(t *tx) error {
		p, err := t.canonical(core.Place{Adapter: m.Adapter, Channel: m.Old})
		if err != nil {
			return err
		}
		m.Old = p.Channel
		return t.moved(m)
	})
}

// Known reports whether the platform id at the place is a message that the
// ledger knows, if only by its dedupe key. For probes, which must not touch
// another message. A failed read counts as known.
func (s *Store) Known(ctx context.Context, p core.Place, id string) bool {
	known := true
	err := s.view(ctx, func(t *tx) error {
		rows, err := t.Get(t.platformKey(p, id))
		known = err != nil || rows[0] != nil
		if known || s.o.MessageKeys == nil {
			return err
		}
		known, err = t.journaled(p, id, s.o.MessageKeys)
		return err
	})
	return err != nil || known
}

// journaled reports whether a message of the place came in that has one of the
// keys.
func (t *tx) journaled(p core.Place, id string, keys func(core.Place, string) string) (bool, error) {
	move, moved, err := get[core.Moving](t, currentKey(p.Adapter, p.Channel))
	if err != nil {
		return false, err
	}
	if moved {
		p.Channel = move.New
	}
	begin := keys(p, id)
	if begin == "" {
		return false, nil
	}
	from := journalKey(p.Adapter, begin)
	rows, err := t.Scan(from, after(from), 1)
	return len(rows) > 0, err
}
