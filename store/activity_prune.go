package store

import (
	"context"
	"time"

	"bellhop/core"
)

// PruneActivity forgets activities from before the time given, a bounded number
// of them. It reports whether there are more.
func (s *Store) PruneActivity(ctx context.Context, before time.Time) (more bool, err error) {
	err = s.update(ctx, func(t *tx) error {
		kvs, err := t.Scan([]byte(famActivity), activityKey(activityAt(before)), pruneBatch)
		if err != nil {
			return err
		}
		more = len(kvs) == pruneBatch
		for _, kv := range kvs {
			if err := t.forget(seqOf(kv.Key)); err != nil {
				return err
			}
		}
		return nil
	})
	return more, err
}

// forget removes an activity and what leads to it.
func (t *tx) forget(n uint64) error {
	row, ok, err := get[activityRow](t, activityKey(n))
	if err != nil || !ok {
		return err
	}
	var at core.Place
	if row.Place != nil {
		at = *row.Place
	} else if row.Thread != "" {
		th, _, err := get[core.Thread](t, idKey(famThread, row.Thread))
		if err != nil {
			return err
		}
		at = th.Place
	}
	for _, key := range append(row.index(n, at), activityKey(n)) {
		if err := t.Delete(key); err != nil {
			return err
		}
	}
	return nil
}
