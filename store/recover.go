package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"bellhop/core"
)

// Recover is called once at start, before anything else works: it returns the
// open work, with a resume item for every run that was in progress. A run that
// an orderly stop had cut is just resumed; for any other the crash is counted
// (Run.Resumes), and the caller must settle as failed one that has been
// resumed more than core.MaxResumes times. Work of adapters that are not up in
// this process is left alone. It reads the queue, the open runs and the outbox
// alone, and writes only if a run was open.
func (s *Store) Recover(ctx context.Context, up func(adapter string) bool) (core.Backlog, error) {
	var b core.Backlog
	var open []core.ID
	err := s.view(ctx, func(t *tx) error {
		open = nil
		return each(t, []byte(famOpenRun), 0, func(key []byte, r openRow) error {
			if up(r.Adapter) {
				open = append(open, core.NewID(core.KindRun, seqOf(key)))
			}
			return nil
		})
	})
	if err != nil {
		return b, err
	}
	if len(open) > 0 {
		if err := s.update(ctx, func(t *tx) error { return t.resume(open) }); err != nil {
			return b, err
		}
	}
	err = s.view(ctx, func(t *tx) error {
		b = core.Backlog{}
		if b.Items, err = t.queued("", func(it core.Item) bool { return up(it.Adapter) }); err != nil {
			return err
		}
		if err := t.parked(&b); err != nil {
			return err
		}
		if err := each(t, []byte(famCurrent), 0, func(_ []byte, m core.Moving) error {
			b.Moved = append(b.Moved, m)
			return nil
		}); err != nil {
			return err
		}
		return each(t, []byte(famOutbox), 0, func(_ []byte, r core.Row) error {
			if !up(r.Place.Adapter) {
				return nil
			}
			r.Unsure = true
			post, _, err := get[core.Post](t, idKey(famPost, r.Post))
			switch {
			case err != nil:
				return err
			case r.Chunk > 0 && len(post.Shown) == r.Chunk: // a lost send lies after the chunk before it
				r.After = post.Shown[r.Chunk-1].ID
			case r.Chunk == 0 && r.Edit == "" && post.Open != nil: // it was opened after its run had parked
				r.Edit = post.Open.ID
			}
			b.Rows = append(b.Rows, r)
			return nil
		})
	})
	for i := range b.Items {
		b.Items[i].Left = true
	}
	slices.SortStableFunc(b.Items, func(x, y core.Item) int {
		if x.Kind != y.Kind {
			if x.Kind == core.ResumeItem {
				return -1
			}
			if y.Kind == core.ResumeItem {
				return 1
			}
		}
		return cmp.Compare(x.ID.Seq(), y.ID.Seq())
	})
	return b, err
}

// parked completes a backlog with the runs that wait for people, and with the
// posts of those that go on.
func (t *tx) parked(b *core.Backlog) error {
	asks, err := t.openAsks("")
	if err != nil {
		return err
	}
	for _, a := range asks {
		run, _, err := get[core.Run](t, idKey(famRun, a.Run))
		if err != nil {
			return err
		}
		b.Parked = append(b.Parked, core.Parked{Run: a.Run, Bot: a.Bot, Thread: a.Thread, Post: run.Post})
	}
	for i, it := range b.Items {
		if it.Kind != core.ResumeItem {
			continue
		}
		run, _, err := get[core.Run](t, idKey(famRun, it.Run))
		if err != nil {
			return err
		}
		b.Items[i].Post = run.Post
	}
	b.Next, err = t.nextLook()
	return err
}

// resume queues a resume item for each of the open runs that has none.
func (t *tx) resume(ids []core.ID) error {
	waiting, err := t.queued("", func(it core.Item) bool { return it.Kind == core.ResumeItem })
	if err != nil {
		return err
	}
	for _, id := range ids {
		run, ok, err := get[core.Run](t, idKey(famRun, id))
		if err != nil {
			return err
		}
		if !ok || run.State.Terminal() {
			if err := t.Delete(idKey(famOpenRun, id)); err != nil {
				return err
			}
			continue
		}
		if run.State != core.Doing {
			continue // it waits for a person
		}
		if !run.StoppedClean {
			run.Resumes++
		}
		clean := run.StoppedClean
		run.StoppedClean = false
		if err := errors.Join(t.put(idKey(famRun, id), run), t.logInterrupt(run, clean)); err != nil {
			return err
		}
		if slices.ContainsFunc(waiting, func(it core.Item) bool { return it.Run == id }) {
			continue
		}
		item, err := t.id(core.KindItem)
		if err != nil {
			return err
		}
		it := core.Item{ID: item, Kind: core.ResumeItem, Bot: run.Bot, Adapter: run.Reply.Place.Adapter, Thread: run.Thread, Run: id, State: core.Queued, Created: t.Now()}
		if err := t.queue(it); err != nil {
			return err
		}
	}
	return nil
}

// StopClean marks the runs that an orderly stop has cut, so that the next
// Recover does not count it against them. Runs whose pick is not stored need
// no mark.
func (s *Store) StopClean(ctx context.Context, runs []core.ID) error {
	if len(runs) == 0 {
		return nil
	}
	return s.update(ctx, func(t *tx) error {
		for _, id := range runs {
			run, ok, err := get[core.Run](t, idKey(famRun, id))
			if err != nil {
				return err
			}
			if !ok || run.State != core.Doing {
				continue
			}
			run.StoppedClean = true
			if err := t.put(idKey(famRun, id), run); err != nil {
				return err
			}
		}
		return nil
	})
}

// pruneBatch is how many journal keys one Prune removes at most, so that it
// never holds the committer long.
const pruneBatch = 1000

// Prune forgets the dedupe keys of events that came before the day of the time
// given, and cursors that are past their life. It reports whether there is more
// to remove.
func (s *Store) Prune(ctx context.Context, before time.Time) (more bool, err error) {
	err = s.update(ctx, func(t *tx) error {
		more = false
		kvs, err := t.Scan([]byte(famJournalDay), []byte(famJournalDay+before.UTC().Format(time.DateOnly)), pruneBatch)
		if err != nil {
			return err
		}
		more = len(kvs) == pruneBatch
		for _, kv := range kvs {
			event := kv.Key[len(famJournalDay)+len(time.DateOnly)+1:]
			if err := t.Delete(append([]byte(famJournal), event...)); err != nil {
				return err
			}
			if err := t.Delete(kv.Key); err != nil {
				return err
			}
		}
		old, err := t.Scan([]byte(famCursor), []byte(famCursor+dayOf(t.Now().Add(-cursorLife))), pruneBatch)
		more = more || len(old) == pruneBatch
		for _, kv := range old {
			err = errors.Join(err, t.Delete(kv.Key))
		}
		return err
	})
	return more, err
}
