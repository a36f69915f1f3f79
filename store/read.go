package store

import (
	"context"

	"bellhop/core"
)

// Before returns up to limit messages of the thread that are older than before
// (empty: the newest), oldest first, and whether there are still older ones.
func (s *Store) Before(ctx context.Context, thread, before core.ID, limit int) (msgs []core.Message, more bool, err error) {
	err = s.view(ctx, func(t *tx) error {
		th, ok, err := get[core.Thread](t, idKey(famThread, thread))
		if err != nil {
			return err
		}
		if !ok {
			th.ID = thread
		}
		var upto core.ID
		switch {
		case before == "":
		case before.Seq() == 0:
			return nil // nothing is older
		default:
			upto = core.NewID(core.KindMessage, before.Seq()-1)
		}
		msgs, err = t.history(th, eyes{}, "", upto, limit+1)
		return err
	})
	if len(msgs) > limit {
		msgs, more = msgs[len(msgs)-limit:], true
	}
	return msgs, more, err
}

// Waiting lists what waits for the bot in the thread, oldest first, and the run
// of it that waits there for a person; empty: none does.
func (s *Store) Waiting(ctx context.Context, bot string, thread core.ID) (items []core.Item, run core.ID, err error) {
	err = s.view(ctx, func(t *tx) error {
		run = ""
		if items, err = t.queued(bot, func(it core.Item) bool { return it.Thread == thread && !it.External() }); err != nil {
			return err
		}
		runs, err := t.openRuns(thread)
		for _, r := range runs {
			if r.Bot == bot && r.State == core.Waiting {
				run = r.ID
			}
		}
		return err
	})
	return items, run, err
}

// Threads lists all threads, oldest first.
func (s *Store) Threads(ctx context.Context) ([]core.Thread, error) {
	var out []core.Thread
	err := s.view(ctx, func(t *tx) error {
		out = nil
		return each(t, []byte(famThread), 0, func(_ []byte, th core.Thread) error {
			out = append(out, th)
			return nil
		})
	})
	return out, err
}
