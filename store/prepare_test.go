package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// sayFile accepts a message with a file and returns its item.
func (w *world) sayFile(text string) core.Item {
	w.Helper()
	e := w.message(text)
	e.In.Files = []core.File{{Name: "cat.png", Ref: "ref"}}
	return w.accept(e).Items[0]
}

// read is the message as the run reads it.
func (w *world) read(item core.Item) core.Message {
	w.Helper()
	_, scene, err := w.store.Pick(w.Context(), []core.Item{item}, 80, 80)
	w.must(err)
	for _, m := range scene.Messages {
		if m.ID == item.Message {
			return m
		}
	}
	w.Fatalf("%s is not read", item.Message)
	return core.Message{}
}

// filled is the message with its file kept.
func filled(m core.Message) core.Message {
	parts := append([]core.Part(nil), m.Parts...)
	file := *parts[len(parts)-1].File
	file.Hash, file.MIME = "abc", "image/png"
	parts[len(parts)-1].File = &file
	m.Parts = parts
	return m
}

func TestPrepared(t *testing.T) {
	w := newWorld(t)
	item := w.sayFile("look")
	run, msg := w.pick(item), w.read(item)
	var ready core.Run
	var err error
	w.commits(1, "Prepared", func() { ready, err = w.store.Prepared(t.Context(), run, []core.Message{filled(msg)}) })
	w.must(err)
	w.wantState(core.Doing, item)
	want := run
	want.Versions = []int{1}
	if diff := cmp.Diff(want, ready); diff != "" {
		t.Errorf("the run (-want +got):\n%s", diff)
	}
	if run.Versions[0] != 0 {
		t.Error("the argument was changed")
	}

	// The run goes on from what is stored, also after a crash.
	w.must(w.store.Step(t.Context(), ready, core.Step{Run: ready.ID, N: 1}))
	again := w.restart().Items[0]
	resumed, scene, err := w.store.Pick(t.Context(), []core.Item{again}, 80, 80)
	w.must(err)
	if resumed.ID != run.ID || resumed.Versions[0] != 1 {
		t.Errorf("resumed as %s with the versions %v", resumed.ID, resumed.Versions)
	}
	last := scene.Messages[len(scene.Messages)-1]
	if f := last.Parts[1].File; last.Version != 1 || f.Hash != "abc" || f.Ref != "ref" || last.Text() != "look" {
		t.Errorf("reads %+v, %+v", last, f)
	}
	w.settle(resumed, end("a cat"))
}

// The receipt of the run's open, which the outbox stores with the run as it was
// picked, may come before or after.
func TestPreparedAndOpened(t *testing.T) {
	for _, first := range []bool{true, false} {
		w := newWorld(t)
		item := w.sayFile("look")
		run, msg := w.pick(item), w.read(item)
		open := func() { w.must(w.store.Opened(t.Context(), run, core.Receipt{ID: "open"})) }
		if first {
			open()
		}
		ready, err := w.store.Prepared(t.Context(), run, []core.Message{filled(msg)})
		w.must(err)
		if !first {
			open()
		}
		if done := w.settle(ready, end("a cat")); done.Rows[0].Edit != "open" {
			t.Errorf("%+v", done.Rows)
		}
	}
}

// An edit before the run was stored makes it begin again; nothing is written.
func TestPreparedAfterAnEdit(t *testing.T) {
	w := newWorld(t)
	item := w.sayFile("look")
	run, msg := w.pick(item), w.read(item)
	w.accept(w.edit("e1", "look here"))
	_, err := w.store.Prepared(t.Context(), run, []core.Message{filled(msg)})
	w.wantErr(err, core.ErrStale)
	w.wantState(core.Queued, item)
	if now := w.read(item); now.Version != 1 || now.Text() != "look here" {
		t.Errorf("reads %+v", now)
	}

	// Afterwards an edit is a correction.
	e := w.event(core.InEdit, "e1", "look there")
	e.In.Files = []core.File{{Name: "cat.png", Ref: "ref"}}
	run, msg = w.pick(item), w.read(item)
	ready, err := w.store.Prepared(t.Context(), run, []core.Message{msg})
	w.must(err)
	a := w.accept(e)
	if a.Fates[0] != core.FateEdited || len(a.Items) != 1 {
		t.Errorf("%+v", a)
	}
	w.settle(ready, end("a cat"))
}

// Two bots that a message wakes may both have fetched its files: the second
// begins again and reads what the first has stored.
func TestPreparedTwice(t *testing.T) {
	w := newWorld(t)
	e := w.message("@chief @scout look")
	e.In.Files = []core.File{{Name: "cat.png", Ref: "ref"}}
	items := w.accept(e).Items
	one, two := w.pick(items[0]), w.pick(items[1])
	msg := w.read(items[0])
	one, err := w.store.Prepared(t.Context(), one, []core.Message{filled(msg)})
	w.must(err)
	_, err = w.store.Prepared(t.Context(), two, []core.Message{filled(msg)})
	w.wantErr(err, core.ErrStale)
	// Also when the receipt of its open has stored its pick.
	two = w.pick(items[1])
	w.must(w.store.Opened(t.Context(), two, core.Receipt{ID: "open"}))
	_, err = w.store.Prepared(t.Context(), two, []core.Message{filled(msg)})
	w.wantErr(err, core.ErrStale)
	if again := w.pick(items[1]); again.ID != two.ID || again.Versions[0] != 1 {
		t.Errorf("picked again as %s with the versions %v", again.ID, again.Versions)
	}
	w.settle(one, end("a cat"))
	w.settle(two, end("a dog"))
}

func TestPreparedTooLate(t *testing.T) {
	w := newWorld(t)
	item := w.sayFile("look")
	run, msg := w.pick(item), w.read(item)
	w.accept(w.command("stop"))
	_, err := w.store.Prepared(t.Context(), run, []core.Message{filled(msg)})
	w.wantErr(err, core.ErrRunOver)
	if now := w.trace(item.ID).Message; now.Version != 0 {
		t.Errorf("version %d was written", now.Version)
	}
}
