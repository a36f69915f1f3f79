package store

import (
	"cmp"
	"context"
	"slices"

	"bellhop/core"
)

// maxTopics bounds how many topics of a channel Seen looks at: those where
// something was said last.
const maxTopics = 100

// Seen returns up to limit messages that are older than before (empty: the
// newest), oldest first, of what is known of a place: those of its current
// thread, or with whole of those of all topics of its channel. more: there are
// still older ones.
func (s *Store) Seen(ctx context.Context, p core.Place, whole bool, before core.ID, limit int) (msgs []core.Message, more bool, err error) {
	err = s.view(ctx, func(t *tx) error {
		msgs = nil
		threads, err := t.threadsAt(p, whole)
		if err != nil {
			return err
		}
		for _, th := range threads {
			to := after(idKey(famMessage, th.ID))
			if before != "" {
				to = messageKey(th.ID, before, 0)
			}
			some, err := t.newest(idKey(famMessage, th.ID), to, limit+1)
			if err != nil {
				return err
			}
			msgs = append(msgs, some...)
		}
		return nil
	})
	slices.SortFunc(msgs, func(a, b core.Message) int { return cmp.Compare(a.ID.Seq(), b.ID.Seq()) })
	if len(msgs) > limit {
		msgs, more = msgs[len(msgs)-limit:], true
	}
	return msgs, more, err
}

// threadsAt is the current thread of a place, or those of its channel.
func (t *tx) threadsAt(p core.Place, whole bool) ([]core.Thread, error) {
	if !whole {
		th, found, err := t.threadAt(p)
		if !found {
			return nil, err
		}
		return []core.Thread{th}, err
	}
	p.Topic = ""
	var out []core.Thread
	err := each(t, placeKey(p), 0, func(_ []byte, row placeRow) error {
		th, found, err := get[core.Thread](t, idKey(famThread, row.Thread))
		if found {
			out = append(out, th)
		}
		return err
	})
	slices.SortFunc(out, func(a, b core.Thread) int { return b.Active.Compare(a.Active) })
	return out[:min(len(out), maxTopics)], err
}
