package store

import (
	"context"
	"slices"

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
		msgs, err = t.history(th, "", "", upto, limit+1)
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
		if items, err = t.queued(bot, func(it core.Item) bool { return it.Thread == thread }); err != nil {
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

// Life is everything the ledger knows of one message.
type Life struct {
	Message core.Message
	Thread  core.Thread
	Items   []core.Item
	Runs    []core.Run
	Steps   map[core.ID][]core.Step
	Posts   []core.Post
	Rows    []core.Row // undelivered
}

// Trace follows the ID of a message, item, run or post to the message that it
// belongs to, and that message through its items and runs to its outcomes.
// core.ErrNotFound when nothing of these kinds has the ID.
func (s *Store) Trace(ctx context.Context, id core.ID) (Life, error) {
	var l Life
	err := s.view(ctx, func(t *tx) error {
		l = Life{Steps: map[core.ID][]core.Step{}}
		switch id.Kind() {
		case core.KindMessage:
			return t.traceMessage(&l, id)
		case core.KindItem:
			it, err := need[core.Item](t, famItem, id)
			if err != nil {
				return err
			}
			l.Items = []core.Item{it}
			return t.follow(&l, nil, nil)
		case core.KindRun:
			run, err := need[core.Run](t, famRun, id)
			if err != nil {
				return err
			}
			return t.traceRun(&l, run)
		case core.KindPost:
			post, err := need[core.Post](t, famPost, id)
			if err != nil {
				return err
			}
			run, ok, err := get[core.Run](t, idKey(famRun, post.Run))
			switch {
			case err != nil:
				return err
			case ok:
				return t.traceRun(&l, run)
			}
			return t.follow(&l, nil, []core.ID{id})
		}
		return core.ErrNotFound
	})
	return l, err
}

// traceMessage follows a message to what it set going; a bot's message also to
// the run that wrote it.
func (t *tx) traceMessage(l *Life, id core.ID) (err error) {
	if l.Message, err = t.findMessage(id); err != nil {
		return err
	}
	if l.Items, err = t.itemsOf(id); err != nil {
		return err
	}
	var runs []core.ID
	if l.Message.Run != "" {
		runs = append(runs, l.Message.Run)
	}
	return t.follow(l, runs, nil)
}

func (t *tx) traceRun(l *Life, run core.Run) error {
	for _, id := range run.Items {
		it, ok, err := get[core.Item](t, idKey(famItem, id))
		if err != nil {
			return err
		}
		if ok {
			l.Items = append(l.Items, it)
		}
	}
	return t.follow(l, []core.ID{run.ID}, nil)
}

// findMessage looks a message up by its ID alone: its thread is not in the ID,
// so it goes through the threads. For people, not for the hot path.
func (t *tx) findMessage(id core.ID) (core.Message, error) {
	var found core.Message
	err := each(t, []byte(famThread), 0, func(_ []byte, th core.Thread) error {
		if found.ID != "" {
			return nil
		}
		m, ok, err := t.message(th.ID, id)
		if ok {
			found = m
		}
		return err
	})
	if err == nil && found.ID == "" {
		err = core.ErrNotFound
	}
	return found, err
}

// follow adds the runs and posts, those of l's items, and what belongs to them.
func (t *tx) follow(l *Life, runs, posts []core.ID) error {
	for _, it := range l.Items {
		if it.Run != "" && !slices.Contains(runs, it.Run) {
			runs = append(runs, it.Run)
		}
		if it.Outcome != "" && !slices.Contains(posts, it.Outcome) {
			posts = append(posts, it.Outcome)
		}
		if l.Message.ID == "" && it.Message != "" {
			m, _, err := t.message(it.Thread, it.Message)
			if err != nil {
				return err
			}
			l.Message = m
		}
	}
	for _, id := range runs {
		run, ok, err := get[core.Run](t, idKey(famRun, id))
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		l.Runs = append(l.Runs, run)
		if !slices.Contains(posts, run.Post) {
			posts = append(posts, run.Post)
		}
		if err := each(t, idKey(famStep, id), 0, func(_ []byte, st core.Step) error {
			l.Steps[id] = append(l.Steps[id], st)
			return nil
		}); err != nil {
			return err
		}
	}
	for _, id := range posts {
		post, ok, err := get[core.Post](t, idKey(famPost, id))
		if err != nil {
			return err
		}
		if ok {
			l.Posts = append(l.Posts, post)
		}
	}
	for _, p := range l.Posts {
		prefix := []byte(famOutbox + placeText(p.Place) + "\x00")
		if err := each(t, prefix, 0, func(_ []byte, r core.Row) error {
			if r.Post == p.ID {
				l.Rows = append(l.Rows, r)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	thread := l.Message.Thread
	if thread == "" && len(l.Runs) > 0 {
		thread = l.Runs[0].Thread
	}
	if thread == "" && len(l.Posts) > 0 {
		thread = l.Posts[0].Thread
	}
	th, _, err := get[core.Thread](t, idKey(famThread, thread))
	l.Thread = th
	return err
}
