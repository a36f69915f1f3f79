package store

import (
	"context"
	"fmt"

	"bellhop/core"
)

// titleRow is a thread that is to be given a title. It is there from the
// settlement that made it due until the title is shown, or cannot be.
type titleRow struct {
	Thread core.ID `json:"thread"`
	Run    core.ID `json:"run"` // that made it due, on whose account the title is
	Title  string  `json:"title,omitempty"`
}

// titleReach is how many of a thread's first messages say what it is about.
const titleReach = 8

// due notes, once for each thread, that it is to be given a title. The caller
// must put th.
func (t *tx) due(th *core.Thread, run core.Run, end core.Settlement) (bool, error) {
	if !end.Titles || end.State != core.Done || th.Titled || th.Said() < core.TitleAfter {
		return false, nil
	}
	th.Titled = true
	return true, t.insert(idKey(famTitle, th.ID), titleRow{Thread: th.ID, Run: run.ID})
}

// named takes a title that a person has given: it stays. A title on its way is
// not shown any more.
func (a *acceptance) named(e *core.Entry, place core.Place) (core.Fate, error) {
	th, found, err := a.threadAt(place)
	if err != nil || !found {
		return core.FateIgnored, err
	}
	th.Titled, th.Named, th.Unnamed = true, true, false
	if e.In.Text != "" {
		th.Title = clip(e.In.Text, core.MaxTitle)
	}
	if err := a.Delete(idKey(famTitle, th.ID)); err != nil {
		return "", err
	}
	return core.FateNamed, a.put(idKey(famThread, th.ID), th)
}

// Untitled lists the threads that are to be given a title.
func (s *Store) Untitled(ctx context.Context) ([]core.ID, error) {
	var out []core.ID
	err := s.view(ctx, func(t *tx) error {
		out = nil
		return each(t, []byte(famTitle), 0, func(_ []byte, r titleRow) error {
			out = append(out, r.Thread)
			return nil
		})
	})
	return out, err
}

// Naming reads what there is to say about a thread that is to be given a title;
// ok is false if it is so no more.
func (s *Store) Naming(ctx context.Context, thread core.ID) (n core.Naming, ok bool, err error) {
	err = s.view(ctx, func(t *tx) error {
		n = core.Naming{}
		row, found, err := get[titleRow](t, idKey(famTitle, thread))
		if ok = found; err != nil || !ok {
			return err
		}
		n.Title = row.Title
		if n.Thread, err = need[core.Thread](t, famThread, thread); err != nil {
			return err
		}
		if n.Run, _, err = get[core.Run](t, idKey(famRun, row.Run)); err != nil {
			return err
		}
		kvs, err := t.Scan(idKey(famMessage, thread), after(idKey(famMessage, thread)), 2*titleReach)
		if err != nil {
			return err
		}
		n.Messages, err = t.latest(kvs)
		n.Messages = n.Messages[:min(len(n.Messages), titleReach)]
		return err
	})
	return n, ok, err
}

// Title gives a thread its title, which is still to be shown, and counts what it
// cost as that of the run that made it due. False: the thread is to be given none
// any more, and nothing is stored.
func (s *Store) Title(ctx context.Context, thread core.ID, title string, cost core.Usage) (given bool, err error) {
	err = s.update(ctx, func(t *tx) error {
		given = false
		row, ok, err := get[titleRow](t, idKey(famTitle, thread))
		if given = ok; err != nil || !ok || row.Title != "" {
			return err
		}
		th, err := need[core.Thread](t, famThread, thread)
		if err != nil {
			return err
		}
		run, found, err := get[core.Run](t, idKey(famRun, row.Run))
		if err != nil {
			return err
		}
		if found {
			run.Usage = run.Usage.Add(cost)
			if err := t.put(idKey(famRun, run.ID), run); err != nil {
				return err
			}
		}
		if err := t.spend(&th, run.Bot, run.For.ID, cost); err != nil {
			return err
		}
		th.Title, row.Title = title, title
		if err := t.put(idKey(famThread, thread), th); err != nil {
			return err
		}
		return t.put(idKey(famTitle, thread), row)
	})
	return given, err
}

// Entitled ends the naming of a thread: its title is shown, or never will be.
func (s *Store) Entitled(ctx context.Context, thread core.ID) error {
	return s.update(ctx, func(t *tx) error { return t.Delete(idKey(famTitle, thread)) })
}

// checkTitles: who is to be given a title exists, and knows of it.
func (c *checker) checkTitles() {
	for _, id := range sorted(c.titles) {
		row, th := c.titles[id], c.threads[id]
		if th.ID == "" || !th.Titled || row.Title != "" && row.Title != th.Title {
			c.say("thread %s is to be called %q, and is %s", id, row.Title, fmt.Sprintf("%+v", th))
		}
	}
}
