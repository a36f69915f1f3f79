package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// TestHear: each message says what of its place may be missing before it.
func TestHear(t *testing.T) {
	w := newWorld(t)
	seen := map[string]*core.Earlier{}
	var thread core.ID
	say := func(id string, change ...func(*core.Entry)) core.Accepted {
		t.Helper()
		e := w.event(core.InMessage, id, "text "+id)
		e.In.Direct, e.In.Place = false, core.Place{Adapter: "chat", Channel: "ops", Topic: "1"}
		e.Reads, e.Context, e.Mode = true, 7, core.ReplyMention
		for _, c := range change {
			c(&e)
		}
		a := w.accept(e)
		for _, it := range a.Items {
			m := w.trace(it.ID).Message
			seen[m.PlatformID], thread = m.Earlier, m.Thread
		}
		return a
	}
	named := func(e *core.Entry) { e.In.Mentioned = true }
	stranger := func(e *core.Entry) { e.Role = core.Stranger }
	want := func(id string, e *core.Earlier) {
		t.Helper()
		if diff := cmp.Diff(e, seen[id]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}

	say("1", named)
	want("1", &core.Earlier{Most: 7}) // opens the thread: the channel's last messages
	say("2", named)
	want("2", nil)
	say("3")
	say("4", named, stranger)
	say("5", named)
	want("5", &core.Earlier{Since: "2", Most: 100})

	// An edit afterwards is a correction, and brings nothing along again.
	run := w.pick(say("6", named).Items[0])
	say("7")
	item := say("8", named).Items[0]
	want("8", &core.Earlier{Since: "6", Most: 100})
	w.settle(run, end("done"))
	w.settle(w.pick(item), end("done"))
	edit := w.event(core.InEdit, "8", "text 8, corrected")
	edit.In.Direct, edit.In.Place = false, core.Place{Adapter: "chat", Channel: "ops", Topic: "1"}
	if m := w.trace(w.accept(edit).Items[0].ID).Message; m.Corrects == "" || m.Earlier != nil {
		t.Errorf("the correction is %+v", m)
	}

	// Since the place had begun anew, and nothing was missed.
	say("9")
	fresh := w.command("new")
	fresh.In.MessageID, fresh.In.Direct, fresh.In.Place = "10", false, core.Place{Adapter: "chat", Channel: "ops", Topic: "1"}
	old := thread
	w.accept(fresh)
	say("11", named)
	if want("11", nil); thread == old {
		t.Error("the thread goes on")
	}
	say("12")
	say("13", named)
	want("13", &core.Earlier{Since: "11", Most: 100})

	// A thread in a direct conversation begins with something that was said there.
	inDirect := func(e *core.Entry) { e.In.Direct, e.In.Place.Channel, e.In.Place.Topic = true, "d", "13" }
	say("14", inDirect)
	want("14", &core.Earlier{Most: 100})
	say("15", inDirect)
	want("15", nil)

	// Where nothing can be read, and in direct conversations, nothing is missing.
	for _, change := range []func(*core.Entry){
		func(e *core.Entry) { e.Reads = false }, func(e *core.Entry) { e.Context = 0 },
		func(e *core.Entry) { e.In.Direct, e.In.Place.Topic = true, "" },
	} {
		say("20", named, func(e *core.Entry) { e.In.Place.Channel, e.In.Place.Topic = "other", "20" }, change)
		want("20", nil)
		w = newWorld(t)
	}
}

// TestMissCosts: what is not for us is one commit, as ever.
func TestMissCosts(t *testing.T) {
	w := newWorld(t)
	e := w.message("hello")
	e.In.Direct, e.In.Mentioned, e.Reads, e.Context = false, true, true, 10
	w.accept(e)
	for range 2 {
		e := w.message("among us")
		e.In.Direct, e.Reads = false, true
		w.commits(1, "Accept", func() { w.accept(e) })
	}
}
