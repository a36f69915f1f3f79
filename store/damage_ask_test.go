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

// Whatever row is damaged while a call waits to be allowed, it is made only if
// the call that people saw is known and was allowed: else the run goes on, and
// its model is told that it was not, or that what it asked is lost.
func TestDamageOfApproval(t *testing.T) {
	for _, families := range []string{"", "k/", "ko/", "k/ ko/", "r/", "k/ r/", "s/", "k/ s/", "op/", "k/ op/", "mp/", "i/", "ro/", "k/ ko/ r/ s/ op/"} {
		for _, when := range []string{"at work", "restart"} {
			for _, by := range []string{"press", "command", "yes"} {
				t.Run(strings.ReplaceAll(families, "/", "")+"/"+when+"/"+by, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { damageApproval(t, families, when == "restart", by) })
				})
			}
		}
	}
}

func damageApproval(t *testing.T, families string, restart bool, by string) {
	w := unchecked(t)
	w.access.Approvers = core.NewApprovers([]string{"requester"})
	run := w.pick(w.say("first")...)
	step, p := parking(run)
	p.Ask = core.Ask{Kind: core.ApprovalAsk, CallID: "c1", Text: "exec: rm",
		Grant: &core.Grantable{Tool: "exec", Hash: "hash", Class: "class", Always: &core.Remembered{Agent: chief, Tool: "exec", Hash: "hash"}}}
	p.Said, p.Pieces, p.Buttons = "", piecesOf("May I?"), []core.Button{{Label: "Always", Value: "allow always nonce"}}
	parked, err := w.store.Park(t.Context(), run, step, nil, p)
	w.must(err)
	w.receipt(t.Context(), parked.Rows[0], core.Receipt{ID: "card"})
	for family := range strings.FieldsSeq(families) {
		if flip(t, w.engine, family) == 0 {
			t.Fatalf("there is nothing to damage in %s", family)
		}
	}
	if restart {
		w.restart()
	}
	time.Sleep(time.Second)
	e := w.message("yes")
	switch by {
	case "press":
		e = w.press("card", "allow always nonce")
	case "command":
		e = w.command("allow")
		e.Args = "always"
	}
	done := w.accept(e)
	woken := resumes(done.Items)
	decided := len(woken) > 0
	for looks := 0; len(woken) == 0; looks++ {
		expired, next := w.lapse()
		if woken = resumes(expired.Items); len(woken) > 0 {
			break
		}
		if next.IsZero() || looks > 3 {
			t.Fatalf("the run waits for ever; damaged: %q", w.damaged)
		}
		time.Sleep(time.Until(next))
	}
	resumed, scene, err := w.store.Pick(t.Context(), woken, 80, 80)
	w.must(err)
	last := scene.Steps[len(scene.Steps)-1].Parts
	use := last[len(last)-1].Tool
	_, permits, err := w.store.Permits(t.Context(), run.Thread, chief)
	w.must(err)
	lost := strings.Contains(families, "k/")
	switch {
	case lost && (decided || len(permits) > 0 || use != nil && use.Allowed != ""):
		t.Errorf("what nobody can read any more is allowed: %v, %+v, and for good: %v", decided, use, permits)
	case lost && use != nil && !strings.Contains(use.Output, "damaged"):
		t.Errorf("the model is told %q", use.Output)
	case use == nil && !strings.Contains(last[len(last)-1].Text, "I had asked"):
		t.Errorf("the model is told %+v", last)
	case !lost && use != nil && decided != (use.Allowed == "hash"), by != "yes" && !lost && decided != (len(permits) == 1):
		t.Errorf("decided: %v, and the call is %+v, and %v is allowed for good", decided, use, permits)
	case !lost && !decided && (families == "" || by == "command"):
		t.Error("it cannot be allowed, though what is asked is known")
	case use != nil && use.Allowed == "" && use.State != core.ToolFailed:
		t.Errorf("the call that is not allowed is %s", use.State)
	}
	w.settle(resumed, end("done"))
	if done, next := w.lapse(); len(done.Items)+len(done.Rows) > 0 || !next.IsZero() {
		t.Errorf("still open: %+v, next %s", done, next)
	}
}

// resumes are the items that have a run go on.
func resumes(items []core.Item) []core.Item {
	return slices.DeleteFunc(slices.Clone(items), func(it core.Item) bool { return it.Kind != core.ResumeItem })
}

// A permit that is damaged allows nothing any more, an owner is told of it, and
// the call can be allowed again. Nor is a conversation in which less was allowed
// than elsewhere one like the others because its row is damaged.
func TestDamageOfPermit(t *testing.T) {
	for name, fresh := range map[string]func(*testing.T) *world{"memory": unchecked, "disk": onDisk} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprint(name, "/", restart), func(t *testing.T) {
				w := fresh(t)
				thread := w.say("hello")[0].Thread
				call := core.Remembered{Agent: chief, Tool: "exec", Hash: "hash"}
				first, other := w.remember(call), w.remember(core.Remembered{Agent: scout, Tool: "exec", Hash: "hash"})
				w.desk(ann.ID, func(d core.Desk) error {
					return d.Adjust(thread, func(th *core.Thread) { th.Mode = core.ModeSmart })
				})
				permits := func(agent string) (core.Mode, []core.Remembered) {
					t.Helper()
					mode, have, err := w.store.Permits(t.Context(), thread, agent)
					w.must(err)
					return mode, have
				}
				flip(t, w.engine, "y/")
				flip(t, w.engine, "t/")
				if restart {
					w.restart()
				}
				for _, agent := range []string{chief, scout} {
					if mode, have := permits(agent); len(have) > 0 || mode != core.ModeDefault {
						t.Errorf("%s may still do %+v, in the mode %q", agent, have, mode)
					}
				}
				if len(w.damaged) != 3 {
					t.Errorf("told of %q", w.damaged)
				}
				if again := w.remember(call); again.ID == first.ID || again.ID == other.ID {
					t.Errorf("it is allowed again as %+v", again)
				}
				if _, have := permits(chief); len(have) != 1 {
					t.Errorf("allowed again are %+v", have)
				}
				found, err := w.store.Check(t.Context())
				w.must(err)
				for _, s := range found {
					t.Error(s)
				}
			})
		}
	}
}
