package store_test

import (
	"testing"

	"bellhop/core"
)

// by has another person write.
func by(e core.Entry, id core.PersonID) core.Entry {
	e.In.From = core.Person{ID: id, Name: "Bob"}
	return e
}

// A run that has waited for a slot works for whoever wrote the newest of all the
// messages that it has read by then.
func TestRequesterSinceItsSlot(t *testing.T) {
	w := newWorld(t)
	items := w.say("first")
	w.waits(items...)
	items = append(items, w.accept(by(w.message("second"), "chat:bob")).Items...)
	run := w.pick(items...)
	w.must(w.store.Step(t.Context(), run, core.Step{Run: run.ID, N: 1}))
	if got := w.run(run.ID); got.For.ID != "chat:bob" || len(got.People) != 2 {
		t.Errorf("it works for %+v, and for %v in all", got.For, got.People)
	}
}

// A hand-off that joins a run has it work for whom the bot that handed on
// worked, too.
func TestRequesterOfJoined(t *testing.T) {
	w := newWorld(t)
	run := w.pick(w.say("@scout look")...)
	w.must(w.store.Step(t.Context(), run, core.Step{Run: run.ID, N: 1}))
	run.Steps = 1
	w.settle(w.pick(w.accept(by(w.message("@chief look"), "chat:bob")).Items...), end("@scout look here"))
	in, err := w.store.Arrived(t.Context(), run, 80)
	w.must(err)
	if len(in.Triggers) != 1 {
		t.Fatalf("arrived is %+v", in)
	}
	joined, err := w.store.Join(t.Context(), run, in, nil)
	w.must(err)
	if joined.For.ID != "chat:bob" || len(joined.People) != 2 {
		t.Errorf("it works for %+v, and for %v in all", joined.For, joined.People)
	}
}
