package run

import (
	"context"
	"errors"
	"slices"

	"bellhop/core"
	"bellhop/core/prompt"
)

// join takes in what has come for a bot that steers since its run began: after
// a step, before the next call, once: a call that is made again reads the same.
// What comes while a reply is cut off at the output limit waits until that has
// ended, or for the next run.
func (t *turn) join(ctx context.Context) error {
	n := len(t.steps)
	if !t.bot.Steer || n == 0 || len(t.steps[n-1].Joined) > 0 || t.continuations() > 0 || !t.o.Waits(t.bot.Handle, t.run.Thread) {
		return nil
	}
	for range maxJoins {
		err := t.takeIn(ctx)
		if !errors.Is(err, core.ErrStale) { // else it was edited or deleted meanwhile
			return err
		}
	}
	return nil
}

// maxJoins is how often a run tries to take in what changes while it does. Then
// it goes on, and tries again after its next step.
const maxJoins = 3

// takeIn takes in as much of what has come as the window shows whole with what
// the run reads already, the oldest first, and completes it as prepare does.
func (t *turn) takeIn(ctx context.Context) error {
	in, err := t.o.Store.Arrived(ctx, t.run, t.bot.History.Messages)
	if err != nil {
		t.log.Warn("what has come cannot be read; it waits", "err", err)
		return nil
	}
	if in = head(in, prompt.Room(t.view, in)); len(in.Messages) == 0 {
		return nil
	}
	changed, err := t.complete(ctx, in.Messages, in.Triggers)
	if err != nil {
		return err
	}
	before := len(t.run.Items)
	err = t.store(ctx, func(ctx context.Context) error {
		run, err := t.o.Store.Join(ctx, t.run, in, changed)
		if err == nil {
			t.run = run
		}
		return err
	})
	if err != nil {
		return err
	}
	t.o.Joined(t.bot.Handle, t.run.Items[before:])
	msgs := renewed(in.Messages, changed)
	t.view.Messages, t.view.Triggers = slices.Concat(t.view.Messages, msgs), t.run.Triggers
	last := &t.steps[len(t.steps)-1]
	for _, m := range msgs {
		last.Joined = append(last.Joined, m.ID)
	}
	t.log.Debug("messages have joined the run", "messages", len(in.Triggers), "step", last.N)
	return t.look(ctx, msgs)
}

// head is what has arrived up to the n-th message that waits.
func head(in core.Arrival, n int) core.Arrival {
	if n < len(in.Triggers) {
		in.Triggers = in.Triggers[:n]
	}
	read := 0
	for i, m := range in.Messages {
		if slices.Contains(in.Triggers, m.ID) {
			read = i + 1
		}
	}
	in.Messages = in.Messages[:read]
	return in
}
