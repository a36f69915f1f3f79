package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// card is a failure with a button, shown as "out…"; it returns the platform id
// and the button's value.
func card(w *world, text string) (shown, value string, run core.Run) {
	run = w.pick(w.say(text)...)
	end := failure()
	value = "retry " + string(run.ID)
	end.Text, end.Buttons = "It begins.|⚠ It broke.", []core.Button{{Label: "Retry", Value: value}}
	rows := w.settle(run, end).Rows
	if len(rows) != 2 || rows[0].Buttons != nil || len(rows[1].Buttons) != 1 {
		w.Fatalf("the buttons stand below the last piece: %+v", rows)
	}
	w.deliver(rows...)
	post := w.post(run.Post)
	return post.Shown[1].ID, value, run
}

func (w *world) post(id core.ID) core.Post {
	w.Helper()
	return w.trace(id).Posts[0]
}

// press is a press of a button, which the bus has found to be the command.
func (w *world) press(shown, value string) core.Entry {
	e := w.event(core.InButton, shown, "")
	name, args, _ := strings.Cut(value, " ")
	e.In.Button, e.Command, e.Args = value, w.command(name).Command, args
	return e
}

// A press counts once, for who may, for the post that has the button; whatever
// else is pressed changes nothing.
func TestPress(t *testing.T) {
	w := newWorld(t)
	shown, value, run := card(w, "one")
	other, _, _ := card(w, "two")
	nothing := func(what string, e core.Entry) {
		t.Helper()
		a := w.accept(e)
		if len(a.Items)+len(a.Rows) > 0 || a.Notes[0] == "" {
			t.Errorf("%s: %+v", what, a)
		}
		if len(w.post(run.Post).Buttons) != 1 {
			t.Errorf("%s: the button is gone", what)
		}
	}
	stranger := w.press(shown, value)
	stranger.Role = core.Stranger
	nothing("a stranger's press", stranger)
	nothing("a press of another post", w.press(other, value))
	nothing("a press that was made up", w.press(shown, "retry r999"))
	nothing("a press of what is no command", w.press(shown, "dance"))
	elsewhere := w.press(shown, value)
	elsewhere.In.Place.Channel = "elsewhere"
	nothing("a press in another channel", elsewhere)
	admin := w.press(shown, value)
	command := *admin.Command
	command.Role, admin.Command = core.Admin, &command
	nothing("a press that is not for members", admin)

	press := w.press(shown, value)
	a := w.accept(press, press, w.press(shown, value))
	if diff := cmp.Diff([]core.Fate{core.FateCommand, core.FateDuplicate, core.FateIgnored}, a.Fates); diff != "" || len(a.Items) != 1 || a.Notes[0] != "" {
		t.Errorf("%+v %s", a, diff)
	}
	if len(a.Rows) != 1 || a.Rows[0].Edit != shown || a.Rows[0].Text != "⚠ It broke." || a.Rows[0].Buttons != nil || !a.Rows[0].Again {
		t.Errorf("the card is shown again as %+v", a.Rows)
	}
	w.check()
	b := w.restart()
	i := slices.IndexFunc(b.Rows, func(r core.Row) bool { return r.Again })
	if i < 0 {
		t.Fatalf("the card is not shown again after a crash: %+v", b.Rows)
	}
	before := w.post(run.Post)
	w.receipt(t.Context(), b.Rows[i], core.Receipt{ID: shown})
	after := w.post(run.Post)
	if after.Shown[1] != *before.Again || after.Ended.IsZero() || after.Again != nil || after.Card != nil {
		t.Errorf("shown again, the post is %+v", after)
	}
	if a := w.accept(w.press(shown, value)); len(a.Items)+len(a.Rows) > 0 {
		t.Errorf("a press of what has gone does %+v", a)
	}
}

// Who presses before the card's receipt is stored has it shown once more, too.
func TestPressAtOnce(t *testing.T) {
	w := newWorld(t)
	run := w.pick(w.say("one")...)
	w.must(w.store.Opened(t.Context(), run, core.Receipt{ID: "open"}))
	end := failure()
	end.Buttons = []core.Button{{Label: "Retry", Value: "retry"}}
	row := w.settle(run, end).Rows[0]
	if a := w.accept(w.press("open", "retry")); len(a.Items) != 1 || len(a.Rows) != 0 {
		t.Errorf("%+v", a)
	}
	if again, err := w.store.Delivered(t.Context(), row, core.Receipt{ID: "open"}); err != nil || again == nil || !again.Again {
		t.Errorf("%+v, %v", again, err)
	}
	w.check()
	b := w.restart()
	if len(b.Rows) != 1 || !b.Rows[0].Again || b.Rows[0].Edit != "open" || b.Rows[0].Buttons != nil {
		t.Fatalf("left to show is %+v", b.Rows)
	}
	w.receipt(t.Context(), b.Rows[0], core.Receipt{ID: "open"})
	if p := w.post(run.Post); p.Ended.IsZero() || len(p.Shown) != 1 {
		t.Errorf("%+v", p)
	}
}

// What waits to be shown again is shown again, whatever row of it is damaged.
func TestPressDamaged(t *testing.T) {
	for _, family := range []string{"o/", "op/", "r/", "mp/", "j/"} {
		t.Run(strings.TrimSuffix(family, "/"), func(t *testing.T) {
			w := unchecked(t)
			shown, value, _ := card(w, "one")
			w.accept(w.press(shown, value))
			if flip(t, w.engine, family) == 0 {
				t.Fatal("there is nothing to damage")
			}
			w.accept(w.message("two")) // meets what is damaged, or not
			b := w.restart()
			i := slices.IndexFunc(b.Rows, func(r core.Row) bool { return r.Again })
			if i < 0 || b.Rows[i].Edit != shown || b.Rows[i].Text != "⚠ It broke." {
				t.Fatalf("left to show is %+v", b.Rows)
			}
			if p := w.post(b.Rows[i].Post); p.Again == nil || p.Again.ID != shown {
				t.Errorf("the post does not know that it is shown again: %+v", p)
			}
			w.receipt(t.Context(), b.Rows[i], core.Receipt{ID: shown})
			if again := w.restart(); slices.ContainsFunc(again.Rows, func(r core.Row) bool { return r.Again }) {
				t.Errorf("still left is %+v", again.Rows)
			}
		})
	}
}

// Feedback is a person's mark, once, until they take it away; it is bounded.
func TestFeedback(t *testing.T) {
	w := newWorld(t)
	shown, _, run := card(w, "one")
	mark := func(emoji string, removed bool) core.Fate {
		e := w.event(core.InReaction, shown, "")
		e.In.Emoji, e.In.Removed = emoji, removed
		return w.accept(e).Fates[0]
	}
	for i, want := range []core.Fate{core.FateFeedback, core.FateIgnored} {
		if got := mark("👍", false); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
	if got := mark("", false); got != core.FateIgnored {
		t.Errorf("no emoji: %s", got)
	}
	if got := mark(strings.Repeat("x", 1000), false); got != core.FateIgnored {
		t.Errorf("a long emoji: %s", got)
	}
	for i := range 200 {
		mark(strings.Repeat("x", i%99+1), false)
	}
	for range 2 {
		mark("👍", true)
	}
	post := w.post(run.Post)
	if n := len(post.Feedback); n != 99 || slices.ContainsFunc(post.Feedback, func(f core.Feedback) bool { return f.Emoji == "👍" }) {
		t.Errorf("%d marks are kept: %+v", n, post.Feedback)
	}
}
