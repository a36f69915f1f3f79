package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

var edits = core.Features{Once: core.OnceReadback, Edits: true}

func tooMany(after time.Duration, global bool) error {
	return &core.RetryAfter{After: after, Global: global, Err: errors.New("too many requests")}
}

// A post is opened at once, shows previews once its open is durable, the latest
// at most as often as the platform allows, and none after the final.
func TestPost(t *testing.T) {
	f := edits
	f.Preview = func(core.Place) time.Duration { return time.Second }
	bubble(t, f, func(t *testing.T, r *rig) {
		run := aRun(1)
		r.Update(run, core.Preview{Text: "too early"})
		r.Open(run, core.Speaker{}, "…")
		r.Update(run, core.Preview{Text: "a"})
		synctest.Wait()
		r.wants("here open …")
		r.after(max(storeOpenAfter, gather))
		r.wants("here 1=update a")
		if got := r.ledger.read(); got != "opened r1 1" {
			t.Errorf("ledger: %s", got)
		}
		for _, text := range []string{"ab", "abc"} {
			r.Update(run, core.Preview{Text: text})
			synctest.Wait()
		}
		r.wants()
		if got := r.Shown(run.Post); got != "a" {
			t.Errorf("%q is shown", got)
		}
		r.after(time.Second)
		r.wants("here 1=update abc")
		r.Update(run, core.Preview{Text: "abcd"})
		row := aRow(here, 1, "abcde")
		row.Edit = "1"
		r.Deliver([]core.Row{row})
		r.Update(run, core.Preview{Text: "late"})
		r.after(time.Minute)
		r.wants("here 1=final abcde")
		r.Open(run, core.Speaker{}, "later still")
		r.after(time.Minute)
		r.wants()
	})
}

func TestNoPreviewWithoutEdits(t *testing.T) {
	bubble(t, core.Features{Once: core.OnceKey}, func(t *testing.T, r *rig) {
		r.Open(aRun(1), core.Speaker{}, "…")
		r.Update(aRun(1), core.Preview{Text: "a"})
		r.after(time.Minute)
		r.wants("here open …")
	})
}

// A preview waits for a ledger that cannot store the open.
func TestPreviewAfterDurableOpen(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		r.ledger.full = true
		r.Open(aRun(1), core.Speaker{}, "…")
		r.Update(aRun(1), core.Preview{Text: "a"})
		r.after(10 * time.Second)
		sent := r.chat.read()
		if len(sent) != 2 || !strings.HasPrefix(sent[1], "owner final ⚠ I cannot store messages") {
			t.Errorf("sent %q", sent)
		}
		r.ledger.mu.Lock()
		r.ledger.full = false
		r.ledger.mu.Unlock()
		r.after(2 * time.Second)
		r.wants("here 1=update a")
	})
}

// The platform's wait is kept to, by the place or by the whole adapter.
func TestWaitAsTold(t *testing.T) {
	for _, global := range []bool{false, true} {
		for _, what := range []string{"open", "final", "preview"} {
			t.Run(fmt.Sprintf("%s global=%v", what, global), func(t *testing.T) {
				bubble(t, edits, func(t *testing.T, r *rig) {
					run := aRun(1)
					if what != "final" {
						r.Open(run, core.Speaker{}, "…")
					}
					if what == "preview" {
						r.after(storeOpenAfter)
						r.chat.read()
					}
					r.chat.fails(tooMany(time.Minute, global))
					if what == "preview" {
						r.Update(run, core.Preview{Text: "a"})
						r.after(gather)
					}
					r.Deliver([]core.Row{aRow(here, 1, "answer")})
					synctest.Wait()
					r.chat.read()
					r.Deliver([]core.Row{aRow(there, 2, "elsewhere"), aRow(core.Place{Adapter: "other", Channel: "x"}, 3, "other")})
					r.after(time.Minute - time.Nanosecond)
					if got := r.other.read(); len(got) != 1 {
						t.Errorf("the other adapter sent %q", got)
					}
					var want []string
					if !global {
						want = []string{"there final elsewhere"}
					}
					r.wants(want...)
					r.after(time.Nanosecond)
					got := strings.Join(r.chat.read(), ", ")
					if !strings.Contains(got, "final answer") || strings.Contains(got, "elsewhere") != global {
						t.Errorf("sent %s", got)
					}
				})
			})
		}
	}
}

// A platform that says to wait and not how long is not asked in a tight loop.
func TestWaitWithoutTime(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		r.chat.fails(always(tooMany(0, false))...)
		r.Deliver([]core.Row{aRow(here, 1, "answer")})
		r.after(10*time.Second + time.Millisecond)
		if n := len(r.chat.read()); n != 11 {
			t.Errorf("%d calls in ten seconds", n)
		}
	})
}

// What fails for hours is given up, the owner is told, and the queue goes on.
func TestDeadLetter(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		r.chat.fails(always(core.ErrNotSent)...)
		r.Deliver([]core.Row{aRow(here, 1, "answer"), aRow(here, 2, "next")})
		r.after(30 * time.Minute)
		if n := len(r.chat.read()); n > 20 {
			t.Errorf("%d tries in half an hour", n)
		}
		r.after(3 * time.Hour)
		sent := r.chat.read()
		if got := strings.Join(sent[len(sent)-2:], ", "); !strings.Contains(got, "owner final undeliverable") || !strings.Contains(got, "here final next") {
			t.Errorf("in the end sent %s", got)
		}
		if got := r.ledger.read(); !strings.HasPrefix(got, "bury p1, tell 1") {
			t.Errorf("ledger: %s", got)
		}
	})
}

// What is refused for good is not tried again, and its status line says so.
func TestRefused(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		row := aRow(here, 1, "answer")
		row.Edit = "7"
		r.chat.fails(core.ErrRefused, core.ErrUnknown, core.ErrRefused)
		r.Deliver([]core.Row{row})
		synctest.Wait()
		r.wants("failed: here 7=final answer", "failed: here 7=final ⚠ What I wrote here cannot be shown.")
		r.after(time.Second)
		r.wants("failed: here 7=final answer", "here 7=final ⚠ What I wrote here cannot be shown.", "owner final undeliverable")
	})
}

// A deleted status line is replaced at once; a platform that goes on like that
// is not asked in a tight loop.
func TestGone(t *testing.T) {
	bubble(t, core.Features{Once: core.OnceEdit, Edits: true}, func(t *testing.T, r *rig) {
		row := aRow(here, 1, "answer")
		row.Edit = "7"
		r.chat.fails(core.ErrGone, nil, core.ErrGone)
		r.Deliver([]core.Row{row})
		synctest.Wait()
		r.wants("failed: here 7=final answer", "here open …", "failed: here 1=final answer")
		r.after(2 * time.Second)
		r.wants("here open …", "here 2=final answer")
		if got := r.ledger.read(); got != "row opened p1 1, row opened p1 2, delivered p1 2" {
			t.Errorf("ledger: %s", got)
		}
	})
}

// A channel's new id is stored and used, for signs of presence too, in either
// direction.
func TestMoved(t *testing.T) {
	f := edits
	bubble(t, f, func(t *testing.T, r *rig) {
		acc := r.accounts["chat"]
		acc.features.React = r.chat.sign
		r.chat.fails(&core.Moved{From: "here", To: "new"}, &core.Moved{From: "new", To: "new"})
		r.Deliver([]core.Row{aRow(here, 1, "answer")})
		synctest.Wait()
		r.wants("failed: here final answer", "failed: new final answer")
		r.after(time.Second)
		r.wants("new final answer")
		if got := r.ledger.read(); got != "moved here to new, delivered p1 1" {
			t.Errorf("ledger: %s", got)
		}
		in := core.Inbound{Key: "k", Kind: core.InMessage, MessageID: "m2", Place: core.Place{Adapter: "chat", Channel: "new"}, From: core.Person{ID: "chat:ann"}}
		if err := r.accept(t.Context(), acc, []core.Inbound{in}); err != nil {
			t.Fatal(err)
		}
		r.after(presence)
		r.wants("new sign m2 👀")
		r.Deliver([]core.Row{aRow(here, 2, "more")})
		synctest.Wait()
		r.wants("new final more", "new sign m2")
	})
}

// A finished adapter gets no more calls, and nobody waits for it.
func TestFatal(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		r.chat.fails(core.ErrFatal)
		r.Deliver([]core.Row{aRow(here, 1, "answer"), aRow(there, 2, "more")})
		r.Open(aRun(3), core.Speaker{}, "…")
		r.Drain(t.Context())
		if n := len(r.chat.read()); n > 2 {
			t.Errorf("%d calls", n)
		}
		r.Deliver([]core.Row{aRow(here, 4, "late")})
		r.Drain(t.Context())
		r.wants()
		if r.Up("chat") || !r.Up("other") {
			t.Errorf("up: chat %v, other %v", r.Up("chat"), r.Up("other"))
		}
	})
}

// Rows are shown in the order in which they were decided, whoever is quicker to
// hand them over, and one piece after the other.
func TestOrder(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		r.chat.fails(core.ErrNotSent)
		one, two := aRow(here, 1, "first"), aRow(here, 1, "second")
		one.Last, two.Chunk = false, 1
		r.Deliver([]core.Row{one, two})
		synctest.Wait()
		r.Deliver([]core.Row{aRow(here, 3, "fourth")})
		r.Deliver([]core.Row{aRow(here, 2, "third")})
		r.after(time.Second)
		r.wants("failed: here final first", "here final first", "here final second", "here final third", "here final fourth")
	})
}

// A ledger that cannot take a receipt does not have the text sent again.
func TestUnstored(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		r.ledger.full = true
		r.told["trouble store"] = time.Now()
		r.Deliver([]core.Row{aRow(here, 1, "answer")})
		synctest.Wait()
		r.ledger.mu.Lock()
		r.ledger.full = false
		r.ledger.mu.Unlock()
		r.after(time.Second)
		r.wants("here final answer", "here 1=final answer")
	})
}

// A probe for a lost status line leaves alone that of another run, which is not
// in the ledger yet.
func TestProbeSparesOpens(t *testing.T) {
	bubble(t, core.Features{Once: core.OnceEdit, Edits: true}, func(t *testing.T, r *rig) {
		var asked []bool
		r.accounts["chat"].features.Resolve = func(_ context.Context, o core.Outbound) (core.Receipt, error) {
			asked = append(asked, o.Known("1"), o.Known("2"))
			return core.Receipt{ID: "2"}, nil
		}
		r.Open(aRun(1), core.Speaker{}, "…")
		synctest.Wait()
		r.chat.fails(core.ErrUnknown)
		r.ledger.full = true
		r.Open(aRun(2), core.Speaker{}, "…")
		r.after(time.Second)
		if len(asked) != 2 || !asked[0] || asked[1] {
			t.Errorf("known: %v", asked)
		}
	})
}

// Kick ends a wait: somebody has come to see the place.
func TestKick(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		r.chat.fails(tooMany(time.Hour, false))
		r.Deliver([]core.Row{aRow(here, 1, "answer")})
		synctest.Wait()
		r.chat.read()
		r.Kick(here)
		synctest.Wait()
		r.wants("here final answer")
		r.Kick(there)
	})
}

// Two hundred places are served at once, and none is left waiting.
func TestManyPlaces(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		const places = 200
		r.chat.hold = make(chan struct{})
		for n := range uint64(places) {
			at := core.Place{Adapter: "chat", Channel: fmt.Sprint(n)}
			r.Deliver([]core.Row{aRow(at, n+1, "answer")})
		}
		synctest.Wait()
		close(r.chat.hold)
		r.Drain(t.Context())
		synctest.Wait()
		if n := len(r.chat.read()); n != places {
			t.Errorf("%d sent", n)
		}
		if n := len(r.places); n != 0 {
			t.Errorf("%d workers wait for nothing", n)
		}
	})
}
