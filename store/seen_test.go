package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// TestSeen: a channel is what its topics hold, each in the thread that it has
// now; no other channel is.
func TestSeen(t *testing.T) {
	w := newWorld(t)
	say := func(channel, topic, text string) {
		t.Helper()
		e := w.message(text)
		e.In.Direct, e.In.Mentioned, e.In.Place = false, true, core.Place{Adapter: "chat", Channel: channel, Topic: topic}
		w.accept(e)
	}
	say("ops", "1", "a")
	say("ops", "", "b")
	say("ops2", "1", "other")
	say("op", "s", "other")
	say("ops", "2", "over")
	fresh := w.command("new")
	fresh.In.Direct, fresh.In.Place = false, core.Place{Adapter: "chat", Channel: "ops", Topic: "2"}
	w.accept(fresh)
	say("ops", "2", "c")
	say("ops", "1", "d")

	pages := func(p core.Place, whole bool, limit int) (pages [][]string) {
		t.Helper()
		var before core.ID
		for range 10 {
			msgs, more, err := w.store.Seen(t.Context(), p, whole, before, limit)
			if err != nil {
				t.Fatal(err)
			}
			var page []string
			for i := range msgs {
				page = append(page, msgs[i].Text())
			}
			pages = append(pages, page)
			if !more {
				break
			}
			before = msgs[0].ID
		}
		return pages
	}
	ops := core.Place{Adapter: "chat", Channel: "ops", Topic: "1"}
	for name, c := range map[string]struct{ got, want [][]string }{
		"at once":    {pages(ops, true, 4), [][]string{{"a", "b", "c", "d"}}},
		"in pages":   {pages(ops, true, 3), [][]string{{"b", "c", "d"}, {"a"}}},
		"one topic":  {pages(ops, false, 10), [][]string{{"a", "d"}}},
		"no topic":   {pages(core.Place{Adapter: "chat", Channel: "ops"}, false, 10), [][]string{{"b"}}},
		"nowhere":    {pages(core.Place{Adapter: "chat", Channel: "o"}, true, 10), [][]string{nil}},
		"not a word": {pages(core.Place{Adapter: "chat", Channel: "o"}, false, 10), [][]string{nil}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
