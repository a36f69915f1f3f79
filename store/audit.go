package store

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"bellhop/core"
)

// Books is everything in the ledger that its invariants speak of, as one
// transaction saw it.
type Books struct {
	Threads  []core.Thread
	Messages []core.Message // latest versions, by thread and order
	Items    []core.Item
	Queue    []core.Item // as the mailboxes hold them
	Runs     []core.Run
	Open     []core.ID // runs that start-up would look at
	Steps    map[core.ID][]core.Step
	Asks     []core.Ask
	Posts    []core.Post
	Rows     []core.Row
	Log      []core.Activity
	Damaged  int // rows that could not be read, put aside or not
}

// Audit reads the whole ledger. It is for tests and for checks by hand: it
// costs as much as there is stored, which nothing that runs may.
func (s *Store) Audit(ctx context.Context) (Books, error) {
	var b Books
	err := s.view(ctx, func(t *tx) error {
		b = Books{Steps: map[core.ID][]core.Step{}}
		return errors.Join(
			collect(t, famThread, &b.Threads),
			t.allMessages(&b),
			collect(t, famItem, &b.Items),
			collect(t, famQueue, &b.Queue),
			collect(t, famRun, &b.Runs),
			each(t, []byte(famOpenRun), 0, func(key []byte, _ openRow) error {
				b.Open = append(b.Open, core.NewID(core.KindRun, seqOf(key)))
				return nil
			}),
			each(t, []byte(famStep), 0, func(_ []byte, st core.Step) error {
				b.Steps[st.Run] = append(b.Steps[st.Run], st)
				return nil
			}),
			collect(t, famAsk, &b.Asks),
			collect(t, famPost, &b.Posts),
			collect(t, famOutbox, &b.Rows),
			t.wholeLog(&b),
			t.countDamaged(&b),
		)
	})
	return b, err
}

func collect[T any](t *tx, family string, into *[]T) error {
	return each(t, []byte(family), 0, func(_ []byte, v T) error {
		*into = append(*into, v)
		return nil
	})
}

func (t *tx) allMessages(b *Books) error {
	kvs, err := t.Scan([]byte(famMessage), after([]byte(famMessage)), 0)
	if err != nil {
		return err
	}
	b.Messages, err = t.latest(kvs)
	return err
}

func (t *tx) countDamaged(b *Books) error {
	kvs, err := t.Scan([]byte(famBad), after([]byte(famBad)), 0)
	b.Damaged = len(t.bad)
	for _, kv := range kvs {
		if !slices.ContainsFunc(t.bad, func(d damage) bool { return bytes.Equal(kv.Key[len(famBad):], d.key) }) {
			b.Damaged++
		}
	}
	return err
}

func (t *tx) wholeLog(b *Books) error {
	places := map[core.ID]core.Place{}
	return each(t, []byte(famActivity), 0, func(key []byte, _ activityRow) error {
		a, _, err := t.activity(seqOf(key), places)
		b.Log = append(b.Log, a)
		return err
	})
}

// Unlogged lists the items that have ended without a word in the activity log.
func (b *Books) Unlogged() []core.ID {
	told := map[core.ID]bool{}
	for _, a := range b.Log {
		switch a.Event {
		case core.RunDone, core.RunFailed, core.RunStopped, core.MessageWithdrawn, core.MessageTaken, core.ErrandDone, core.ErrandFailed, core.ErrandDropped:
			for _, id := range a.Items {
				told[id] = true
			}
		}
	}
	var out []core.ID
	for _, it := range b.Items {
		if it.State.Terminal() && !told[it.ID] {
			out = append(out, it.ID)
		}
	}
	return out
}
