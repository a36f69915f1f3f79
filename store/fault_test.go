package store_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/store/memkv"
)

var errFault = errors.New("made by the test")

// fault lets the next commit fail, stored or not.
func (w *world) fault(when memkv.When) {
	struck := false
	w.memory().SetFault(func(_ uint64, at memkv.When) error {
		if struck || at != when {
			return nil
		}
		struck = true
		return errFault
	})
}

// Every transaction can be tried again when its commit failed, whether it was
// stored or not: its effect is there once, and its caller learns what it was.
func TestFaultThenRetry(t *testing.T) {
	for _, when := range []memkv.When{memkv.Before, memkv.After} {
		t.Run(when.String(), func(t *testing.T) {
			w := newWorld(t)
			twice := func(what string, f func() error) {
				t.Helper()
				w.fault(when)
				if err := f(); !errors.Is(err, errFault) {
					t.Fatalf("%s: %v", what, err)
				}
				w.check()
				if err := f(); err != nil {
					t.Fatalf("%s again: %v", what, err)
				}
				w.check()
			}

			var a core.Accepted
			stranger := w.message("who?")
			stranger.Role, stranger.Refusal = core.Stranger, "Go away."
			batch := w.batch(w.message("one"), w.message("two"), stranger)
			twice("Accept", func() (err error) { a, err = w.store.Accept(t.Context(), batch); return err })
			if len(a.Items) != 2 || len(a.Rows) != 1 {
				t.Errorf("told of %+v", a)
			}
			if again := w.accept(batch.Entries...); len(again.Items)+len(again.Rows) != 0 {
				t.Errorf("a redelivery later is told of %+v", again)
			}
			run := w.pick(a.Items...)
			twice("Begin", func() error { return w.store.Begin(t.Context(), run) })
			twice("Opened", func() error { return w.store.Opened(t.Context(), run, core.Receipt{ID: "open"}) })
			twice("Step", func() error { return w.store.Step(t.Context(), run, core.Step{Run: run.ID, N: 1}) })
			twice("StopClean", func() error { return w.store.StopClean(t.Context(), []core.ID{run.ID}) })
			var done core.Settled
			twice("Settle", func() (err error) {
				done, err = w.store.Settle(t.Context(), run, nil, end("@scout go|on"))
				return err
			})
			if len(done.Items) != 1 || len(done.Rows) != 2 {
				t.Errorf("told of %+v", done)
			}
			_, err := w.store.Settle(t.Context(), run, nil, end("other"))
			w.wantErr(err, core.ErrRunOver)
			twice("RowOpened", func() error { return w.store.RowOpened(t.Context(), done.Rows[1], core.Receipt{ID: "second"}) })
			twice("Delivered", func() error {
				_, err := w.store.Delivered(t.Context(), done.Rows[0], core.Receipt{ID: "open"})
				return err
			})
			var told []core.Row
			twice("Bury", func() (err error) {
				told, err = w.store.Bury(t.Context(), done.Rows[1], "refused", w.place, piecesOf("I gave up."))
				return err
			})
			if diff := cmp.Diff([]string{"I gave up."}, texts(told)); diff != "" {
				t.Error(diff)
			}
			twice("Moved", func() error {
				return w.store.Moved(t.Context(), core.Moving{Adapter: "chat", Old: "dm", New: "dm2"})
			})
			rows := 0
			for _, r := range w.restart().Rows {
				if r.Kind != core.RefusalPost && r.Kind != core.NoticePost {
					t.Errorf("row %+v is left", r)
				}
				rows++
			}
			if rows != 2 {
				t.Errorf("%d rows are left, want the refusal and one notice", rows)
			}
		})
	}
}

// A Settle that was not stored does not win over the Cancel that came next.
func TestFaultThenCancel(t *testing.T) {
	w := newWorld(t)
	run := w.pick(w.say("one")...)
	w.fault(memkv.Before)
	_, err := w.store.Settle(t.Context(), run, nil, end("1"))
	w.wantErr(err, errFault)
	w.accept(w.command("stop"))
	_, err = w.store.Settle(t.Context(), run, nil, end("1"))
	w.wantErr(err, core.ErrRunOver)
}

// An event that is twice in a batch is told of once, also when the batch is
// tried again.
func TestFaultOfDoubledEvent(t *testing.T) {
	w := newWorld(t)
	one := w.message("one")
	batch := w.batch(one, one)
	w.fault(memkv.After)
	_, err := w.store.Accept(t.Context(), batch)
	w.wantErr(err, errFault)
	if a := w.accept(one, one); len(a.Items) != 1 {
		t.Errorf("%+v", a)
	}
}
