package store_test

import (
	"errors"
	"slices"
	"testing"

	"bellhop/core"
	"bellhop/store/memkv"
)

// unsorted accepts a message whose bot is still to be chosen.
func unsorted(w *world, text string) core.Item {
	w.Helper()
	b := w.batch(w.message(text))
	b.Sort = true
	a, err := w.store.Accept(w.Context(), b)
	w.must(err)
	if len(a.Items) != 1 || !a.Items[0].Unsorted || a.Items[0].Bot != chief {
		w.Fatalf("queued is %+v", a.Items)
	}
	return a.Items[0]
}

// TestSort: an item moves once, with what it has cost, and whoever picked it
// before has it no more.
func TestSort(t *testing.T) {
	w := newWorld(t)
	first, second := unsorted(w, "one"), unsorted(w, "two")
	before := w.pick(first, second)
	cost := core.Usage{Calls: 1, Input: 7}
	broken := errors.New("the answer is lost")
	w.memory().SetFault(func(_ uint64, when memkv.When) error {
		if when != memkv.After {
			return nil
		}
		w.memory().SetFault(nil)
		return broken
	})
	if _, err := w.store.Sort(w.Context(), []core.Item{first}, scout, cost); !errors.Is(err, broken) {
		t.Fatalf("%v", err)
	}
	woken, err := w.store.Sort(w.Context(), []core.Item{first}, scout, cost)
	w.must(err)
	if len(woken) != 1 || woken[0].ID != first.ID || woken[0].Bot != scout || woken[0].Unsorted || woken[0].Usage != cost {
		t.Errorf("woken is %+v", woken)
	}
	if again, err := w.store.Sort(w.Context(), []core.Item{woken[0]}, chief, cost); err != nil || len(again) > 0 {
		t.Errorf("what is sorted is sorted again: %+v, %v", again, err)
	}

	w.wantErr(w.store.Begin(w.Context(), before), core.ErrStale)
	if got := w.item(first.ID); got.State != core.Queued || got.Bot != scout {
		t.Errorf("the item is %+v", got)
	}
	w.must(w.store.Begin(w.Context(), w.pick(first, second)))
	if got := w.item(second.ID); got.State != core.Doing || got.Bot != chief || got.Unsorted {
		t.Errorf("the other one is %+v", got)
	}
	if run := w.pick(woken...); run.Bot != scout || run.Usage != cost || len(run.Items) != 1 {
		t.Errorf("the run is %+v", run)
	}
	w.wantErr(func() error { _, _, err := w.store.Pick(w.Context(), []core.Item{first}, 80, 80); return err }(), core.ErrRunOver)
}

// A hand-off that waited for nothing but what was sorted away is told of, also
// where the commit that let it go took itself for failed.
func TestSortReleasesOnce(t *testing.T) {
	w := newWorld(t)
	run := w.pick(w.say("@chief begin")...)
	item := unsorted(w, "and this")
	if done := w.settle(run, end("@scout look")); len(done.Items) > 0 {
		t.Fatalf("the hand-off does not wait: %+v", done.Items)
	}
	w.fault(memkv.After)
	_, err := w.store.Sort(w.Context(), []core.Item{item}, scribe, core.Usage{})
	w.wantErr(err, errFault)
	woken, err := w.store.Sort(w.Context(), []core.Item{item}, scribe, core.Usage{})
	w.must(err)
	var bots []string
	for _, it := range woken {
		bots = append(bots, it.Bot)
	}
	if !slices.Equal(bots, []string{scribe, scout}) {
		t.Errorf("woken are %v", bots)
	}
	if again, err := w.store.Sort(w.Context(), []core.Item{item}, scribe, core.Usage{}); err != nil || len(again) != 1 {
		t.Errorf("a third time: %+v, %v", again, err)
	}
}

// A run that waits does not find, when it goes on, a message that became its
// bot's later where it has read already; also if that was given up and tried
// again meanwhile.
func TestSortedBehindARun(t *testing.T) {
	w := newWorld(t)
	w.settle(w.pick(w.say("@chief begin")...), end("begun"))
	item := unsorted(w, "and this")
	run, _ := w.park(w.say("@scout look")...)
	if !run.Scoped {
		t.Fatal("the run reads all of the thread")
	}
	woken, err := w.store.Sort(t.Context(), []core.Item{item}, scout, core.Usage{})
	w.must(err)
	w.desk("chat:owner", func(d core.Desk) error { _, err := d.Purge(item.Thread, scout, "Ann"); return err })
	w.wantState(core.Cancelled, woken...)
	if again := w.accept(w.command("retry")).Items; len(again) != 1 || again[0].Bot != scout || again[0].Message != item.Message {
		t.Fatalf("tried again is %+v", again)
	}
	answer := w.command("answer")
	answer.Args = "red"
	_, scene, err := w.store.Pick(t.Context(), w.accept(answer).Items, 80, 80)
	w.must(err)
	for _, m := range scene.Messages {
		if m.ID == item.Message {
			t.Errorf("the run reads %q now, before what woke it", m.Text())
		}
	}
}
