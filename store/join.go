package store

import (
	"cmp"
	"context"
	"slices"

	"bellhop/core"
)

// Arrived reads what has come in the run's thread since the newest message that
// it has read, up to the newest that waits for its bot: at most so many
// messages, of those that it sees. What waits of older messages, since somebody retries them, is not
// in it: the run has read these in their places.
func (s *Store) Arrived(ctx context.Context, run core.Run, most int) (core.Arrival, error) {
	var in core.Arrival
	err := s.view(ctx, func(t *tx) error {
		in = core.Arrival{}
		waiting, err := t.queued(run.Bot, func(it core.Item) bool {
			return it.Kind == core.MessageItem && it.Thread == run.Thread && it.Message.Seq() > run.Upto.Seq()
		})
		if err != nil || len(waiting) == 0 {
			return err
		}
		newest := slices.MaxFunc(waiting, func(a, b core.Item) int { return cmp.Compare(a.Message.Seq(), b.Message.Seq()) })
		msgs, err := t.since(eyesOf(run), run.Thread, run.Upto, newest.Message)
		if err != nil {
			return err
		}
		msgs = slices.DeleteFunc(msgs, func(m core.Message) bool {
			answers := m.For == run.Bot && m.After != "" && m.After.Seq() <= run.Upto.Seq() // it was read with the question, if at all
			return m.Sender == core.Actor{Kind: core.BotActor, ID: run.Bot} || m.Answers == run.ID || answers
		})
		read := 0
		for i, m := range msgs[:min(len(msgs), most)] {
			if slices.ContainsFunc(waiting, func(it core.Item) bool { return it.Message == m.ID }) {
				in.Triggers = append(in.Triggers, m.ID)
				read = i + 1
			}
		}
		in.Messages = msgs[:read]
		return nil
	})
	return in, err
}

// Join moves what has arrived into a run that is between two steps: the items
// that wait for its bot are the run's from now on, and its last step says that
// the messages were read after it. prepared are those of the messages about
// which the run has found something out: each becomes a new version. It returns
// the run as it goes on.
//
// core.ErrStale: a message has changed since it was read, or waits no more.
func (s *Store) Join(ctx context.Context, run core.Run, in core.Arrival, prepared []core.Message) (core.Run, error) {
	var out core.Run
	err := s.update(ctx, func(t *tx) error {
		out = run
		have, err := t.begin(run)
		if err != nil {
			return err
		}
		key := stepKey(run.ID, have.Steps)
		step, ok, err := get[core.Step](t, key)
		switch {
		case err != nil:
			return err
		case !ok:
			return core.ErrNotFound
		case !slices.Contains(step.Joined, in.Messages[0].ID): // else it took itself for failed
			if err := t.takeIn(&have, &step, in, prepared); err != nil {
				return err
			}
			if err := t.put(key, step); err != nil {
				return err
			}
			if err := t.put(idKey(famRun, run.ID), have); err != nil {
				return err
			}
		}
		out.Items, out.Triggers, out.Versions = have.Items, have.Triggers, have.Versions
		out.Reply.Answers, out.Hop, out.Upto, out.For, out.People = have.Reply.Answers, have.Hop, have.Upto, have.For, have.People
		out.Granted = have.Granted
		return nil
	})
	return out, err
}

// takeIn adds what has arrived to the run and its step. The caller must put
// both.
func (t *tx) takeIn(run *core.Run, step *core.Step, in core.Arrival, prepared []core.Message) error {
	var items []core.Item
	for _, m := range in.Messages {
		now, found, err := t.message(run.Thread, m.ID)
		if err != nil {
			return err
		}
		if !found || now.Version != m.Version {
			return core.ErrStale
		}
		step.Joined = append(step.Joined, m.ID)
		run.Upto = m.ID
		if !slices.Contains(in.Triggers, m.ID) {
			continue
		}
		all, err := t.itemsOf(m.ID)
		if err != nil {
			return err
		}
		waiting := slices.DeleteFunc(all, func(it core.Item) bool { return it.Bot != run.Bot || it.State != core.Queued })
		if len(waiting) == 0 {
			return core.ErrStale
		}
		items = append(items, waiting...)
		run.Triggers, run.Versions = append(run.Triggers, m.ID), append(run.Versions, m.Version)
		run.Hop = max(run.Hop, m.Hop)
		if err := t.serve(run, m); err != nil {
			return err
		}
		if m.PlatformID != "" {
			run.Reply.Answers = append(run.Reply.Answers, m.PlatformID)
		}
	}
	for _, m := range prepared {
		m.Version++
		if err := t.insert(messageKey(m.Thread, m.ID, m.Version), m); err != nil {
			return err
		}
		if i := slices.Index(run.Triggers, m.ID); i >= 0 {
			run.Versions[i] = m.Version
		}
	}
	for _, it := range items {
		run.Items = append(run.Items, it.ID)
		if err := t.take(it, run.ID); err != nil {
			return err
		}
	}
	return t.logJoin(*run, items, step.N)
}

// take moves a waiting item into the run.
func (t *tx) take(it core.Item, run core.ID) error {
	it.State, it.Run, it.Unsorted, it.Waits = core.Doing, run, false, false
	if err := t.put(idKey(famItem, it.ID), it); err != nil {
		return err
	}
	return t.Delete(queueKey(it.Bot, it.ID))
}
