package store_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/store/memkv"
)

// parking is a question with the choices red and blue, asked of the run's call.
func parking(run core.Run) (core.Step, core.Parking) {
	use := core.ToolUse{CallID: "c1", Name: "ask_human", Args: "{}", State: core.ToolPending}
	step := core.Step{Run: run.ID, N: run.Steps + 1, Parts: []core.Part{core.Text("Hm."), {Kind: core.ToolPart, Tool: &use}}}
	return step, core.Parking{Ask: core.Ask{Kind: core.QuestionAsk, CallID: "c1", Text: "Which one?", Choices: []string{"red", "blue"}},
		Said: "Hm.\n\n❓ Which one?", Pieces: piecesOf("Hm.", "❓ Which one?"), Remind: time.Hour, Life: 24 * time.Hour,
		Buttons: []core.Button{{Label: "red", Value: "answer 1 nonce"}, {Label: "blue", Value: "answer 2 nonce"}}}
}

// park has the item's run wait for a person, who has seen the question.
func (w *world) park(items ...core.Item) (run core.Run, ask core.ID) {
	w.Helper()
	run = w.pick(items...)
	step, p := parking(run)
	parked, err := w.store.Park(w.Context(), run, step, nil, p)
	w.must(err)
	w.deliver(parked.Rows...)
	return run, w.run(run.ID).Ask
}

// run is the run as it is stored now.
func (w *world) run(id core.ID) core.Run {
	w.Helper()
	books, err := w.store.Audit(w.Context())
	w.must(err)
	i := slices.IndexFunc(books.Runs, func(r core.Run) bool { return r.ID == id })
	if i < 0 {
		w.Fatalf("there is no run %s", id)
	}
	return books.Runs[i]
}

func (w *world) lapse() (core.Accepted, time.Time) {
	w.Helper()
	done, next, err := w.store.Lapse(w.Context(), split)
	w.must(err)
	return done, next
}

// A transaction about an ask whose commit failed can be tried again, whether it
// was stored or not: its effect is there once, and who tries learns of the rows
// to deliver and of the bots to wake.
func TestAskFaultThenRetry(t *testing.T) {
	for _, when := range []memkv.When{memkv.Before, memkv.After} {
		t.Run(when.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				defer w.check()
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
				run := w.pick(w.say("first")...)
				step, p := parking(run)
				var parked core.Parked
				twice("Park", func() (err error) { parked, err = w.store.Park(t.Context(), run, step, nil, p); return err })
				if len(parked.Rows) != 2 || parked.Run != run.ID || !parked.Next.Equal(time.Now().Add(time.Hour)) {
					t.Errorf("parked is %+v", parked)
				}
				w.deliver(parked.Rows...)

				time.Sleep(time.Hour)
				var done core.Accepted
				var next time.Time
				lapse := func() (err error) { done, next, err = w.store.Lapse(t.Context(), split); return err }
				twice("Lapse reminds", lapse)
				if len(done.Rows) != 1 || len(done.Items) != 0 || !next.Equal(time.Now().Add(23*time.Hour)) {
					t.Errorf("people are reminded with %q, woken is %+v, next is %s", texts(done.Rows), done.Items, next)
				}
				if shown := w.post(run.Post).Shown; done.Rows[0].After != shown[1].ID {
					t.Errorf("a lost reminder is looked for after %q, want %q", done.Rows[0].After, shown[1].ID)
				}
				w.deliver(done.Rows...)
				time.Sleep(23 * time.Hour)
				twice("Lapse expires", lapse)
				if len(done.Rows) != 1 || len(done.Items) != 1 || done.Items[0].Run != run.ID || !next.IsZero() {
					t.Errorf("it expires with %q, woken is %+v, next is %s", texts(done.Rows), done.Items, next)
				}
				if again, _ := w.lapse(); len(again.Rows)+len(again.Items) > 0 {
					t.Errorf("it expires again: %+v", again)
				}
			})
		})
	}
}

// What a lapse has done whose commit was not known to be stored is told of by
// the next, with what that does itself; and also when the next fails, too.
func TestLapseUnsureTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.check()
		first, _ := w.park(w.say("first")...)
		w.place.Channel = "other"
		time.Sleep(time.Minute)
		second, _ := w.park(w.say("second")...)
		time.Sleep(24*time.Hour - time.Minute)
		fails := func() {
			t.Helper()
			w.fault(memkv.After)
			if _, _, err := w.store.Lapse(t.Context(), split); !errors.Is(err, errFault) {
				t.Fatal(err)
			}
		}
		fails() // the first expires, and the second's people are reminded
		time.Sleep(time.Minute)
		fails() // the second expires
		done, next := w.lapse()
		var woken []core.ID
		for _, it := range done.Items {
			woken = append(woken, it.Run)
		}
		if !slices.Equal(woken, []core.ID{first.ID, second.ID}) || len(done.Rows) != 3 || !next.IsZero() {
			t.Errorf("woken are %v; to show: %q; next %s", woken, texts(done.Rows), next)
		}
		var waiting []string
		for _, r := range w.restart().Rows {
			waiting = append(waiting, r.Text)
		}
		told := texts(done.Rows)
		slices.Sort(told)
		slices.Sort(waiting)
		if !slices.Equal(told, waiting) {
			t.Errorf("told of %q, and left to show are %q", told, waiting)
		}
	})
}

// After its time an ask is nobody's to decide, also before that is noticed.
func TestAskTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.check()
		run, ask := w.park(w.say("first")...)
		shown := w.post(run.Post).Shown[1].ID
		time.Sleep(24 * time.Hour)
		answer := w.command("answer")
		answer.Args = string(ask) + " red"
		reply := w.message("red")
		reply.In.ReplyTo = shown
		a := w.accept(w.press(shown, "answer 1 nonce"), answer, reply, w.message("blue"))
		if got := w.run(run.ID); got.State != core.Waiting || got.Ask != ask {
			t.Errorf("%+v", got)
		}
		if late := "That is too late"; !strings.Contains(a.Notes[0], late) || !slices.ContainsFunc(a.Rows, func(r core.Row) bool { return strings.Contains(r.Text, late) }) {
			t.Errorf("who presses is told %q, and who writes %q", a.Notes[0], texts(a.Rows))
		}
		if done, _ := w.lapse(); len(done.Items) != 1 {
			t.Errorf("it does not expire: %+v", done)
		}
	})
}

// A Park that is stored and took itself for failed, whose run ends before it is
// tried again: whoever ends the run is told what is to be shown, once. Of one
// that is not stored there is nothing to show.
func TestParkUntold(t *testing.T) {
	for _, when := range []memkv.When{memkv.Before, memkv.After} {
		for _, end := range []string{"stopped", "stop seems to fail", "settled", "settle seems to fail"} {
			t.Run(when.String()+"/"+end, func(t *testing.T) {
				w := newWorld(t)
				defer w.check()
				run := w.pick(w.say("first")...)
				step, p := parking(run)
				w.fault(when)
				_, err := w.store.Park(t.Context(), run, step, nil, p)
				w.wantErr(err, errFault)
				var told []core.Row
				switch batch := w.batch(w.command("stop")); end {
				case "stop seems to fail":
					w.fault(memkv.After)
					_, err := w.store.Accept(t.Context(), batch)
					w.wantErr(err, errFault)
					fallthrough
				case "stopped":
					a, err := w.store.Accept(t.Context(), batch)
					w.must(err)
					told = a.Rows
				case "settle seems to fail":
					w.fault(memkv.After)
					_, err := w.store.Settle(t.Context(), run, nil, failure())
					w.wantErr(err, errFault)
					fallthrough
				case "settled":
					told = w.settle(run, failure()).Rows
				}
				_, err = w.store.Park(t.Context(), run, step, nil, p)
				w.wantErr(err, core.ErrRunOver)
				var left []string
				for _, r := range w.restart().Rows {
					left = append(left, r.Text)
				}
				if cards := slices.Contains(left, "❓ Which one?"); cards != (when == memkv.After) {
					t.Errorf("left to show are %q", left)
				}
				said := texts(told)
				slices.Sort(said)
				slices.Sort(left)
				if !slices.Equal(said, left) {
					t.Errorf("told of %q, and left to show are %q", said, left)
				}
			})
		}
	}
}

// TestAskNames: a person's name is a name, wherever an ask and what became of it
// are shown.
func TestAskNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.check()
		named := func(e core.Entry, name string) core.Entry {
			e.In.From.Name = name
			return e
		}
		w.park(w.accept(named(w.message("first"), "*Ann*\n> @ops")).Items...)
		time.Sleep(time.Hour)
		done, _ := w.lapse()
		if want := `⏳ \*Ann\* \> @ops, @chief still waits: “Which one?” (a4, for another 23 hours)`; len(done.Rows) != 1 || done.Rows[0].Text != want {
			t.Errorf("people are reminded with %q, want %q", texts(done.Rows), want)
		}
		w.deliver(done.Rows...)
		got := w.accept(named(w.message("2"), "[Bob](http://e.example)\n\n✅ Ann: red"))
		if want := "❓ Which one?\n\n✅ " + `\[Bob\](http://e.example) ✅ Ann: red: blue`; len(got.Rows) != 1 || got.Rows[0].Text != want {
			t.Errorf("it is answered with %q, want %q", texts(got.Rows), want)
		}
		w.deliver(got.Rows...)
	})
}
