package store_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/store"
)

// logged lists the events of the log, each with its detail.
func (w *world) logged(want store.Wanted) []string {
	w.Helper()
	if want.Limit == 0 {
		want.Limit = 1000
	}
	all, _, err := w.store.Activities(w.Context(), want)
	w.must(err)
	var out []string
	for i, a := range all {
		if i > 0 && all[i-1].ID.Seq() >= a.ID.Seq() {
			w.Errorf("%s stands before %s", all[i-1].ID, a.ID)
		}
		out = append(out, strings.TrimSpace(string(a.Event)+" "+string(a.Why)+" "+strings.Join(a.Bots, ",")+" "+a.Detail))
	}
	return out
}

func (w *world) wantLogged(want store.Wanted, lines ...string) {
	w.Helper()
	for i, s := range lines {
		lines[i] = strings.Join(strings.Fields(s), " ")
	}
	got := w.logged(want)
	for i, s := range got {
		got[i] = strings.Join(strings.Fields(s), " ")
	}
	if diff := cmp.Diff(lines, got); diff != "" {
		w.Errorf("the log (-want +got):\n%s", diff)
	}
}

// A plain turn, with a status line, takes little room in the log, no commit
// more, and none of what was said.
func TestActivityIsLean(t *testing.T) {
	w := newWorld(t)
	w.commits(4, "a turn", func() {
		run := w.pick(w.say("a secret question")...)
		w.must(w.store.Opened(t.Context(), run, core.Receipt{ID: "open"}))
		w.deliver(w.settle(run, end("a secret answer")).Rows...)
	})
	w.wantLogged(store.Wanted{}, "message.accepted default chief", "run.picked", "run.done", "post.delivered")
	size := 0
	for _, kv := range w.memory().Snapshot() {
		if bytes.HasPrefix(kv.Key, []byte("l")) {
			size += len(kv.Key) + len(kv.Value)
			if bytes.Contains(kv.Value, []byte("secret")) {
				t.Errorf("the log has %q", kv.Value)
			}
		}
	}
	if t.Logf("%d bytes", size); size > 600 {
		t.Errorf("a turn takes %d bytes of the log", size)
	}
}

// What becomes of messages is in the log, with the reason, and never with the
// text of what was not for us.
func TestActivityOfMessages(t *testing.T) {
	w := newWorld(t)
	others, foreign, aside, stranger, full := w.message("for others"), w.message("/go"), w.message("aside"), w.message("who?"), w.message("once more")
	others.In.Others, others.In.Direct, others.Mode = true, false, core.ReplyAlways
	foreign.In.Foreign = true
	aside.In.Direct = false
	aside.In.Place.Channel = "room"
	stranger.Role = core.Stranger
	full.Quota = func(core.PersonID) core.Quota { return core.Quota{} }
	w.accept(others, foreign, aside, stranger, full)
	w.accept(w.event(core.InMessage, "q", "@scout look"))
	w.accept(w.edit("q", "@scout look here"))
	unread := w.event(core.InUnreadable, "", "")
	unread.In.Raw = []byte("{}")
	w.accept(unread, w.event(core.InDelete, "q", ""))
	w.wantLogged(store.Wanted{}, "message.kept others", "message.ignored other_bot", "message.ignored unclaimed", "message.refused", "message.limited",
		"message.accepted mention scout", "message.edited", "event.unreadable", "message.withdrawn")
	w.wantLogged(store.Wanted{Level: core.LevelWarn}, "message.refused", "message.limited", "event.unreadable")
	for _, kv := range w.memory().Snapshot() {
		for _, text := range []string{"/go", "aside", "who?", "once more"} {
			if bytes.Contains(kv.Value, []byte(text)) {
				t.Errorf("%q is kept under %q", text, kv.Key)
			}
		}
	}
}

// What becomes of runs and hand-offs is in the log.
func TestActivityOfRuns(t *testing.T) {
	w := newWorld(t)
	run := w.pick(w.say("go")...)
	w.say("and then")
	held := w.settle(run, end("@scout look")) // its sender has mail
	w.deliver(held.Rows...)
	waiting, _, err := w.store.Waiting(t.Context(), chief, run.Thread)
	w.must(err)
	done := w.settle(w.pick(waiting...), end("done|and more"))
	w.deliver(done.Rows...)
	scout := w.pick(done.Items...)
	w.must(w.store.Begin(t.Context(), scout))
	w.must(w.store.StopClean(t.Context(), []core.ID{scout.ID}))
	b := w.restart()
	scout = w.pick(b.Items...)
	w.must(w.store.Begin(t.Context(), scout))
	b = w.restart()
	scout = w.pick(b.Items...)
	w.deliver(w.settle(scout, failure()).Rows...)
	w.deliver(w.accept(w.command("retry")).Rows...)
	w.deliver(w.accept(w.command("stop")).Rows...)
	w.wantLogged(store.Wanted{},
		"message.accepted default chief", "message.accepted default chief",
		"run.picked", "run.done", "message.handoff_held scout", "post.delivered", "post.delivered",
		"run.picked", "run.done", "hold.released scout", "post.delivered 2",
		"run.picked", "run.interrupted 0", "run.resumed", "run.interrupted 1", "run.resumed", "run.failed broken", "post.delivered",
		"item.retried", "command.used retry", "post.delivered",
		"run.stopped stopped by Ann", "command.used stop", "post.delivered", "post.delivered")
	w.wantLogged(store.Wanted{Level: core.LevelError}, "run.failed broken")
}

// The newest of the log, or what came after one of them.
func TestActivitiesWanted(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		w.say("hello")
	}
	all, _, err := w.store.Activities(t.Context(), store.Wanted{Limit: 2})
	w.must(err)
	w.wantLogged(store.Wanted{After: all[0].ID}, "message.accepted default chief")
	w.wantLogged(store.Wanted{After: all[1].ID})
	if len(all) != 2 {
		t.Errorf("%d, want the newest two", len(all))
	}
	w.wantLogged(store.Wanted{Since: all[0].Time.AddDate(0, 0, 1)})
	w.wantLogged(store.Wanted{Thread: "t999"})
}

// Whoever follows the log gets on, however much comes that they do not want.
func TestActivitiesFollowed(t *testing.T) {
	w := newWorld(t)
	quiet := store.Wanted{Level: core.LevelError, Limit: 10}
	follow := func(want int) {
		t.Helper()
		list, upto, err := w.store.Activities(t.Context(), quiet)
		w.must(err)
		if len(list) != want {
			t.Errorf("%d errors, want %d", len(list), want)
		}
		quiet.After = upto
	}
	follow(0)
	if quiet.After != "" {
		t.Errorf("an empty log was read up to %s", quiet.After)
	}
	w.say("hello")
	follow(0)
	if quiet.After == "" {
		t.Error("it is not known up to where the log was read")
	}
	noise := make([]core.Activity, 60_000)
	for i := range noise {
		noise[i].Event = core.TroubleTold
	}
	w.must(w.store.Note(t.Context(), noise...))
	w.must(w.store.Note(t.Context(), core.Activity{Event: core.AdapterDown}))
	follow(0) // as far as it looks at once
	follow(1)
	follow(0)
	w.must(w.store.Note(t.Context(), core.Activity{Event: core.AdapterDown}, core.Activity{Event: core.AdapterDown}))
	quiet.Limit = 1
	follow(1)
	follow(1)
	follow(0)
}

// The log alone leads from any ID of a turn to all that is known of it.
func TestTraceReadsTheLog(t *testing.T) {
	w := newWorld(t)
	first := w.say("go")
	run := w.pick(append(first, w.say("and go")...)...)
	w.deliver(w.settle(run, end("@scout look")).Rows...)
	want := []core.Event{core.MessageAccepted, core.MessageAccepted, core.RunDone, core.HandOffSent, core.PostDelivered}
	for _, id := range []core.ID{run.ID, run.Items[0], run.Items[1]} {
		var got []core.Event
		for _, a := range w.trace(id).Log {
			got = append(got, a.Event)
		}
		if diff := cmp.Diff(slices.DeleteFunc(slices.Clone(want), func(e core.Event) bool { return e == core.HandOffSent }), got); diff != "" {
			t.Errorf("the log of %s (-want +got):\n%s", id, diff)
		}
	}
	var got []core.Event
	for _, a := range w.trace(run.Triggers[1]).Log {
		got = append(got, a.Event)
	}
	if len(got) != 4 {
		t.Errorf("the log of the message: %v", got)
	}
}

// Old activities are forgotten in batches, with all that leads to them; the
// newer ones stay.
func TestPruneActivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for range 1200 {
			aside := w.message("aside")
			aside.In.Direct = false
			w.accept(aside)
		}
		w.deliver(w.settle(w.pick(w.say("old")...), end("done")).Rows...)
		time.Sleep(10 * 24 * time.Hour)
		w.deliver(w.settle(w.pick(w.say("new")...), end("done")).Rows...)
		time.Sleep(5 * 24 * time.Hour)
		before := time.Now().AddDate(0, 0, -14)
		for i := range 2 {
			more, err := w.store.PruneActivity(t.Context(), before)
			w.must(err)
			if more != (i == 0) {
				t.Errorf("after %d batches there are more: %t", i+1, more)
			}
		}
		w.wantLogged(store.Wanted{}, "message.accepted default chief", "run.picked", "run.done", "post.delivered")
		w.commits(1, "pruning", func() {
			more, err := w.store.PruneActivity(t.Context(), time.Now())
			if w.must(err); more {
				t.Error("there are more")
			}
		})
		for _, kv := range w.memory().Snapshot() {
			if bytes.HasPrefix(kv.Key, []byte("l/")) || bytes.HasPrefix(kv.Key, []byte("lx/")) {
				t.Errorf("%q stays", kv.Key)
			}
		}
	})
}
