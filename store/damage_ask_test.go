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

// Whatever row is damaged while a run waits for a person, it does not wait for
// ever: it can be answered still, or it expires, at the latest when it would have
// anyway. What was asked in a damaged row cannot be answered any more, and the
// model and people are told why. The run ends with one outcome.
func TestDamageWhileAsking(t *testing.T) {
	lost := map[string]bool{"k/": true, "k/ ko/": true, "k/ r/": true, "k/ ko/ r/ s/ op/": true}
	for _, families := range []string{"k/", "ko/", "k/ ko/", "r/", "k/ r/", "ko/ r/", "s/", "op/", "o/", "i/", "t/", "p/", "m/", "mp/", "ro/", "k/ ko/ r/ s/ op/"} {
		for _, when := range []string{"at work", "restart", "undelivered", "undelivered restart"} {
			if families == "o/" && !strings.HasPrefix(when, "undelivered") {
				continue
			}
			t.Run(strings.ReplaceAll(families, "/", "")+"/"+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := unchecked(t)
					run := w.pick(w.say("first")...)
					step, p := parking(run)
					p.Said, p.Pieces = "Which one?", piecesOf("Which one?")
					parked, err := w.store.Park(t.Context(), run, step, &core.Receipt{ID: "open"}, p)
					w.must(err)
					rows := parked.Rows
					if !strings.HasPrefix(when, "undelivered") {
						w.receipt(t.Context(), rows[0], core.Receipt{ID: "open"})
						rows = nil
					}
					for family := range strings.FieldsSeq(families) {
						if flip(t, w.engine, family) == 0 {
							t.Fatalf("there is nothing to damage in %s", family)
						}
					}
					if strings.HasSuffix(when, "restart") {
						b := w.restart()
						if rows = b.Rows; len(b.Parked) != 1 || b.Parked[0].Run != run.ID || b.Next.IsZero() {
							t.Fatalf("what waits is %+v, to be looked at %s", b.Parked, b.Next)
						}
					}
					for _, r := range rows {
						w.receipt(t.Context(), r, core.Receipt{ID: "open"})
					}
					w.goOnAsking(run, lost[families])
				})
			})
		}
	}
}

// goOnAsking has the question answered, or expire if it is lost, and ends the run.
func (w *world) goOnAsking(run core.Run, lost bool) {
	w.Helper()
	var done core.Accepted
	if !lost {
		answer := w.command("answer")
		answer.Args = "red"
		done = w.accept(answer)
		if len(done.Items) == 0 {
			w.Fatalf("it cannot be answered: %q", texts(done.Rows))
		}
	}
	for looks := 0; len(done.Items) == 0; looks++ {
		var next time.Time
		if done, next = w.lapse(); len(done.Items) > 0 {
			break
		}
		if next.IsZero() || looks > 3 {
			w.Fatalf("the run %s waits for ever; damaged: %q", run.ID, w.damaged)
		}
		time.Sleep(time.Until(next))
	}
	it := done.Items[0]
	if it.Kind != core.ResumeItem || it.Run != run.ID || it.Bot != chief {
		w.Fatalf("woken is %+v", it)
	}
	resumed, scene, err := w.store.Pick(w.Context(), []core.Item{it}, 80, 80)
	w.must(err)
	if resumed.Post == run.Post || resumed.State != core.Doing || len(scene.Steps) != 1 {
		w.Fatalf("it goes on as %+v with %+v", resumed, scene.Steps)
	}
	if !lost && !strings.Contains(fmt.Sprintf("%+v %+v", scene.Steps[0].Parts, scene.Steps[0].Parts[len(scene.Steps[0].Parts)-1].Tool), "Ann answered: red") {
		w.Errorf("the model is told %+v", scene.Steps[0].Parts)
	}
	if lost && slices.ContainsFunc(scene.Steps[0].Parts, func(p core.Part) bool { return p.Tool != nil && !strings.Contains(p.Tool.Output, "damaged") }) {
		w.Errorf("the model is told %+v", scene.Steps[0].Parts)
	}
	settled := w.settle(resumed, end("done"))
	w.deliver(settled.Rows...)
	for _, r := range w.restart().Rows { // a reply to the command, the card as it is now
		w.receipt(w.Context(), r, core.Receipt{ID: "late " + string(r.Post)})
	}
	if got := w.run(run.ID); got.State != core.Done || got.Ask != "" {
		w.Errorf("the run is %+v", got)
	}
	if done, next := w.lapse(); len(done.Items)+len(done.Rows) > 0 || !next.IsZero() {
		w.Errorf("still open: %+v, next %s", done, next)
	}
	answers := 0
	books, err := w.store.Audit(w.Context())
	w.must(err)
	for _, p := range books.Posts {
		if p.Run == run.ID && p.Kind == core.AnswerPost {
			answers++
		}
	}
	if answers != 1 {
		w.Errorf("the run has %d outcomes", answers)
	}
	found, err := w.store.Check(w.Context())
	w.must(err)
	for _, s := range found {
		if !strings.Contains(s, "stored row is damaged") {
			w.Error(s)
		}
	}
}
