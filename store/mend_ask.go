package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"bellhop/core"
)

// lostAsk stands for what was asked.
const lostAsk = "(What was asked here was damaged in my store.)"

// rebuildAsk lets the run that waits for a lost ask go on: in place of it comes
// one that nobody can decide and that expires at once. One for which no run
// waits was decided before.
func (t *tx) rebuildAsk(id core.ID) error {
	known, err := t.Get(idKey(famAsk, id))
	if err != nil || known[0] != nil {
		return err
	}
	runs, err := t.openRuns("")
	if err != nil {
		return err
	}
	for _, run := range runs {
		if run.Ask != id {
			continue
		}
		a := core.Ask{ID: id, Kind: core.QuestionAsk, Lost: true, Bot: run.Bot, Run: run.ID, Thread: run.Thread, Place: run.Reply.Place, Direct: run.Reply.Direct,
			For: run.For, Step: max(1, run.Steps), Text: lostAsk, State: core.AskOpen, Created: t.Now(), Expires: t.Now()}
		steps, err := t.steps(run.ID)
		if err != nil {
			return err
		}
		for _, st := range steps {
			for _, p := range st.Parts {
				if p.Tool != nil && p.Tool.Ask == id {
					a.Step, a.CallID = st.N, p.Tool.CallID
				}
			}
		}
		if a.Post, err = t.asking(run, id); err != nil {
			return err
		}
		return errors.Join(t.insert(idKey(famAsk, id), a), t.insert(idKey(famOpenAsk, id), openAskOf(a)))
	}
	return t.Delete(idKey(famOpenAsk, id))
}

// rebuildOpenAsk has an open ask looked at again. A damaged one is looked at
// now, and mended then.
func (t *tx) rebuildOpenAsk(id core.ID) error {
	known, err := t.Get(idKey(famAsk, id))
	if err != nil {
		return err
	}
	if known[0] == nil {
		return t.rebuildAsk(id)
	}
	var a core.Ask
	switch err := decode(known[0], &a); {
	case err != nil:
		return t.insert(idKey(famOpenAsk, id), openAsk{At: t.Now()})
	case a.State != core.AskOpen:
		return nil
	}
	return t.insert(idKey(famOpenAsk, id), openAskOf(a))
}

// steps are the run's.
func (t *tx) steps(run core.ID) (steps []core.Step, err error) {
	err = each(t, idKey(famStep, run), 0, func(_ []byte, st core.Step) error {
		steps = append(steps, st)
		return nil
	})
	return steps, err
}

// asking is the run's post that shows the ask: the run's first, or the first one
// made after the ask before.
func (t *tx) asking(run core.Run, ask core.ID) (core.ID, error) {
	first := run.ID.As(core.KindPost)
	kvs, err := t.ScanBack(idKey(famPost, first), idKey(famPost, run.Post), nearby)
	if err != nil {
		return "", err
	}
	for _, kv := range kvs {
		if p, ok, err := get[core.Post](t, kv.Key); err != nil || ok && p.Ask == ask {
			return p.ID, err
		}
	}
	return first, nil
}

// insertRun stores a run that was rebuilt but for what it owes to people it has
// asked: the post for its next words, and, if it waits, for what.
func (t *tx) insertRun(run core.Run, waits bool) error {
	steps, err := t.steps(run.ID)
	if err != nil {
		return err
	}
	run.Steps, run.Post = len(steps), run.ID.As(core.KindPost)
	last, err := t.lastAsk(run, steps)
	if err != nil {
		return err
	}
	if waits && last == "" { // all that says what it is has been lost
		if last, err = t.id(core.KindAsk); err != nil {
			return err
		}
	}
	if last != "" {
		if run.Post, err = t.postAfter(run.ID, last); err != nil {
			return err
		}
	}
	if waits {
		run.State, run.Ask = core.Waiting, last
	}
	if err := t.insert(idKey(famRun, run.ID), run); err != nil || !waits {
		return err
	}
	return t.rebuildAsk(run.Ask)
}

// lastAsk is what the run has asked last, as its steps know it, or its first
// post; empty: nothing.
func (t *tx) lastAsk(run core.Run, steps []core.Step) (core.ID, error) {
	for _, st := range slices.Backward(steps) {
		for _, p := range slices.Backward(st.Parts) {
			if p.Tool != nil && p.Tool.Ask != "" {
				return p.Tool.Ask, nil
			}
		}
	}
	post, _, err := get[core.Post](t, idKey(famPost, run.Post))
	return post.Ask, err
}

// postAfter is the post for what a run says after an ask. Park gives it the
// number after the ask's, so that it is the first one after that, or nothing of
// it is stored.
func (t *tx) postAfter(run, ask core.ID) (core.ID, error) {
	kvs, err := t.Scan(idKey(famPost, ask), after([]byte(famPost)), 1)
	if err != nil {
		return "", err
	}
	if len(kvs) > 0 {
		if p, ok, err := get[core.Post](t, kvs[0].Key); err != nil || ok && p.Run == run {
			return p.ID, err
		}
	}
	return t.id(core.KindPost)
}

// asksOf are what calls of the steps have asked people.
func (t *tx) asksOf(steps []core.Step) ([]core.Ask, error) {
	var out []core.Ask
	for _, st := range steps {
		for _, p := range st.Parts {
			if p.Tool == nil || p.Tool.Ask == "" {
				continue
			}
			a, ok, err := get[core.Ask](t, idKey(famAsk, p.Tool.Ask))
			if err != nil {
				return nil, err
			}
			if ok {
				out = append(out, a)
			}
		}
	}
	return out, nil
}

// lostStep stands for a damaged step.
func (t *tx) lostStep(run core.ID, n int) core.Step {
	return core.Step{Run: run, N: n, Parts: []core.Part{core.Text(lostStep)}, Finish: core.FinishStop, Time: t.Now()}
}

// told has the step say what has become of the ask, in words: the call that asked
// is lost.
func told(st core.Step, a core.Ask, d decided) core.Step {
	result := d.result
	if d.allow != "" {
		result = "It was allowed, but is not done."
	}
	st.Parts = append(st.Parts, core.Text(fmt.Sprintf("(I had asked: “%s” %s)", a.Text, result)))
	return st
}

// lost reports whether a step stands for a damaged one.
func lost(st core.Step) bool { return strings.HasPrefix(st.Text(), lostStep) }
