package store

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"bellhop/core"
)

// Trace follows the ID of a message, item, run, ask or post to the message that it
// belongs to, and that message through its items and runs to its outcomes.
// core.ErrNotFound when nothing of these kinds has the ID, and the activity log
// knows of none.
func (s *Store) Trace(ctx context.Context, id core.ID) (core.Life, error) {
	var l core.Life
	err := s.view(ctx, func(t *tx) (err error) {
		l, err = t.life(id, everywhere)
		return err
	})
	return l, err
}

// everywhere stands for the thread of a message that may be in any.
const everywhere core.ID = ""

// life is the Trace of an ID. thread is where to look for a message of which the
// log says nothing.
func (t *tx) life(id, thread core.ID) (core.Life, error) {
	l := core.Life{Steps: map[core.ID][]core.Step{}}
	err := t.trace(&l, id, thread)
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return l, err
	}
	ids := []core.ID{id, l.Message.ID}
	for _, it := range l.Items {
		ids = append(ids, it.ID)
	}
	for _, run := range l.Runs {
		ids = append(ids, run.ID)
	}
	var logErr error
	if l.Log, logErr = t.lifeOf(ids...); logErr != nil {
		return l, logErr
	}
	if err == nil || !slices.ContainsFunc(l.Log, func(a core.Activity) bool { return names(a, id) }) {
		return l, err // another kind of thing may have the same number
	}
	if l.Thread.ID == "" { // all but the log is gone
		l.Thread, _, err = get[core.Thread](t, idKey(famThread, l.Log[0].Thread))
	}
	return l, err
}

// names reports whether the activity is about what has the ID.
func names(a core.Activity, id core.ID) bool {
	return slices.Contains(a.Messages, id) || slices.Contains(a.Items, id) || a.Run == id || a.Run != "" && a.Run.As(core.KindPost) == id
}

func (t *tx) trace(l *core.Life, id, thread core.ID) error {
	switch id.Kind() {
	case core.KindMessage:
		return t.traceMessage(l, id, thread)
	case core.KindItem:
		it, err := need[core.Item](t, famItem, id)
		if err != nil {
			return err
		}
		l.Items = []core.Item{it}
		return t.follow(l, nil, nil)
	case core.KindRun:
		run, err := need[core.Run](t, famRun, id)
		if err != nil {
			return err
		}
		return t.traceRun(l, run)
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
			return t.traceRun(l, run)
		}
		return t.follow(l, nil, []core.ID{id})
	case core.KindAsk:
		ask, err := need[core.Ask](t, famAsk, id)
		if err != nil {
			return err
		}
		run, err := need[core.Run](t, famRun, ask.Run)
		if err != nil {
			return err
		}
		return t.traceRun(l, run)
	}
	return core.ErrNotFound
}

// traceMessage follows a message to what it set going; a bot's message also to
// the run that wrote it.
func (t *tx) traceMessage(l *core.Life, id, thread core.ID) (err error) {
	if l.Message, err = t.findMessage(id, thread); err != nil {
		return err
	}
	if l.Items, err = t.itemsOf(id); err != nil {
		return err
	}
	var runs, posts []core.ID
	_, ran, err := get[core.Run](t, idKey(famRun, l.Message.Run))
	switch {
	case err != nil:
		return err
	case ran:
		runs = append(runs, l.Message.Run)
	case l.Message.Post != "":
		posts = append(posts, l.Message.Post)
	}
	return t.follow(l, runs, posts)
}

func (t *tx) traceRun(l *core.Life, run core.Run) error {
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

// findMessage looks a message up by its ID alone. The log says in which thread it
// is; where it says nothing, the message is looked for in the thread given, or
// everywhere, which costs as much as there are threads.
func (t *tx) findMessage(id, thread core.ID) (core.Message, error) {
	said, err := t.about(id.Seq(), 1, func(a core.Activity) bool { return a.Thread != "" && slices.Contains(a.Messages, id) })
	if err != nil {
		return core.Message{}, err
	}
	if len(said) > 0 {
		thread = said[0].Thread
	}
	if thread != everywhere {
		m, ok, err := t.message(thread, id)
		if err == nil && !ok {
			err = core.ErrNotFound
		}
		return m, err
	}
	var found core.Message
	err = each(t, []byte(famThread), 0, func(_ []byte, th core.Thread) error {
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
func (t *tx) follow(l *core.Life, runs, posts []core.ID) error {
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
		if l.Steps[id], err = t.steps(id); err != nil {
			return err
		}
		asks, err := t.asksOf(l.Steps[id])
		if err != nil {
			return err
		}
		for _, a := range asks {
			if !slices.Contains(posts, a.Post) {
				posts = append(posts, a.Post)
			}
		}
		if !slices.Contains(posts, run.Post) {
			posts = append(posts, run.Post)
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

// Runs lists the newest runs, at most so many, and before them all older ones
// that have not ended; oldest first.
func (s *Store) Runs(ctx context.Context, newest int) ([]core.Run, error) {
	var out []core.Run
	err := s.view(ctx, func(t *tx) error {
		kvs, err := t.ScanBack([]byte(famRun), after([]byte(famRun)), newest)
		if err != nil {
			return err
		}
		if out, err = t.openRuns(""); err != nil {
			return err
		}
		for _, kv := range slices.Backward(kvs) {
			run, ok, err := get[core.Run](t, kv.Key)
			if err != nil {
				return err
			}
			if ok && run.State.Terminal() {
				out = append(out, run)
			}
		}
		return nil
	})
	slices.SortFunc(out, func(x, y core.Run) int { return cmp.Compare(x.ID.Seq(), y.ID.Seq()) })
	return out, err
}
