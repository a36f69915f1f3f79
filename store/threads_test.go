package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// resume is /resume with the arguments.
func (w *world) resume(args string) core.Accepted {
	w.Helper()
	e := w.command("resume")
	e.Args = args
	return w.accept(e)
}

// A thread that people go back to is as they left it, and its place has no
// other; what ran in the one before is stopped, all in one commit.
func TestResume(t *testing.T) {
	w := newWorld(t)
	run := w.pick(w.say("one")...)
	run.Cut = run.Triggers[0]
	w.deliver(w.settle(run, end("@scout look")).Rows...)
	w.accept(w.command("stop"), w.command("new"))
	left := w.say("two")
	other := w.pick(left...)
	w.must(w.store.Begin(t.Context(), other))
	var got core.Accepted
	w.commits(1, "/resume", func() { got = w.resume("1") })
	if !slices.Contains(got.Stopped, other.ID) || !slices.Contains(texts(got.Rows), "(stopped by Ann)") {
		t.Errorf("what ran goes on: %+v", got)
	}
	w.wantState(core.Cancelled, left...)
	threads, err := w.store.Threads(t.Context())
	w.must(err)
	if th := threads[0]; th.ID != run.Thread || !th.Archived.IsZero() || th.Cuts[chief] != run.Cut || threads[1].Archived.IsZero() {
		t.Errorf("threads are %+v", threads)
	}
	w.commits(1, "a message", func() {
		if it := w.say("three")[0]; it.Thread != run.Thread {
			t.Errorf("the next message is in %s", it.Thread)
		}
	})
	w.wantErr(w.store.Begin(t.Context(), other), core.ErrRunOver)
}

// Where nothing is to be resumed, nothing is stopped.
func TestResumeNothing(t *testing.T) {
	w := newWorld(t)
	w.say("elsewhere")
	w.accept(w.command("new"))
	w.place.Channel = "other"
	items := w.say("here")
	for _, args := range []string{"", "1", "0", "-1", "t1", string(items[0].Thread), "t9z", "99999999999999999999", "m1", "\x00", strings.Repeat("t", 5000)} {
		got := w.resume(args)
		if len(got.Rows) != 1 || len(got.Ended)+len(got.Stopped) > 0 {
			t.Errorf("%q does %+v", args, got)
		}
	}
	w.wantState(core.Queued, items...)
}

// However many conversations a place has had, the newest ten are listed, by
// when they ended, and an empty one is not among them.
func TestThreads(t *testing.T) {
	synctest.Test(t, testThreads)
}

func testThreads(t *testing.T) {
	w := newWorld(t)
	for i := range 15 {
		w.say(fmt.Sprintf("subject %d", i))
		w.accept(w.command("new"), w.command("new"))
		time.Sleep(time.Millisecond) // ends are told apart by it
	}
	w.resume("3")
	w.accept(w.command("new"))
	text := w.accept(w.command("threads")).Rows[0].Text
	want := []string{"subject 12", "subject 14", "subject 13", "subject 11", "subject 10", "subject 9", "subject 8", "subject 7", "subject 6", "subject 5"}
	at := 0
	for i, s := range want {
		line := fmt.Sprintf("%d. `%s`, 1 message", i+1, s)
		n := strings.Index(text[at:], line)
		if n < 0 {
			t.Fatalf("%q is not where it should be in:\n%s", line, text)
		}
		at += n
	}
	if strings.Contains(text, "subject 4`") || !strings.Contains(text, "older ones") {
		t.Errorf("too many are listed:\n%s", text)
	}
}
