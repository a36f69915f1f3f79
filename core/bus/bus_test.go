package bus

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// Receipt gives the open's receipt to whoever can store it along: nothing when
// it is stored or there is none, and it waits for an open on its way, briefly.
func TestReceipt(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		run := aRun(1)
		if got := r.Receipt(t.Context(), run); got != nil {
			t.Errorf("without an open: %v", got)
		}
		r.chat.hold = make(chan struct{})
		r.Open(run, core.Speaker{}, "…")
		began := time.Now()
		if got := r.Receipt(t.Context(), run); got != nil || time.Since(began) != receiptWait {
			t.Errorf("for an open that takes long: %v after %s", got, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if got := r.Receipt(ctx, run); got != nil || time.Since(began) != receiptWait {
			t.Errorf("after the context's end: %v after %s", got, time.Since(began))
		}
		time.AfterFunc(50*time.Millisecond, func() { close(r.chat.hold) })
		if got := r.Receipt(t.Context(), run); got == nil || got.ID != "1" {
			t.Errorf("for an open on its way: %v", got)
		}
		if got := r.Receipt(t.Context(), run); got == nil {
			t.Error("gone after it has been asked for once")
		}
		r.after(storeOpenAfter)
		if got := r.Receipt(t.Context(), run); got != nil {
			t.Errorf("when it is stored: %v", got)
		}
	})
}

// An open is given up after some tries, or at once if it is refused; the final
// then shows itself.
func TestOpenGivenUp(t *testing.T) {
	for _, c := range []struct {
		fail []error
		want []string
	}{
		{[]error{core.ErrNotSent, core.ErrNotSent, core.ErrNotSent}, []string{"failed: here open …", "failed: here open …", "failed: here open …"}},
		{[]error{core.ErrRefused}, []string{"failed: here open …"}},
	} {
		bubble(t, edits, func(t *testing.T, r *rig) {
			r.chat.fails(c.fail...)
			r.Open(aRun(1), core.Speaker{}, "…")
			r.after(10 * time.Second)
			r.wants(c.want...)
			if got := r.Receipt(t.Context(), aRun(1)); got != nil {
				t.Errorf("receipt %v", got)
			}
			r.Deliver([]core.Row{aRow(here, 1, "answer")})
			synctest.Wait()
			r.wants("here final answer")
		})
	}
}

// A status line that is not sent yet when its final is here is not sent at all,
// where a text needs none.
func TestOpenOvertaken(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		r.Open(aRun(1), core.Speaker{}, "…")
		r.Deliver([]core.Row{aRow(here, 1, "answer")})
		r.after(time.Minute)
		r.wants("here final answer")
	})
}

// Signs of presence come only if there is no answer for a while, are renewed,
// and end with the answer.
func TestPresence(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		acc := r.accounts["chat"]
		acc.features.React = r.chat.sign
		acc.features.Typing = func(ctx context.Context, p core.Place) error { return r.chat.sign(ctx, p, "typing", "") }
		say := func(id string) {
			in := core.Inbound{Key: id, Kind: core.InMessage, MessageID: id, Place: here, From: core.Person{ID: "chat:ann"}}
			if err := r.accept(t.Context(), acc, []core.Inbound{in}); err != nil {
				t.Fatal(err)
			}
		}
		say("m1")
		r.Open(aRun(1), core.Speaker{}, "…")
		r.after(time.Second)
		r.Deliver([]core.Row{aRow(here, 1, "quick")})
		r.after(time.Minute)
		r.wants("here open …", "here 1=final quick")

		say("m2")
		say("m3")
		r.Open(aRun(2), core.Speaker{}, "…")
		r.after(presence - time.Millisecond)
		r.wants("here open …")
		r.after(time.Millisecond)
		if got := strings.Join(r.chat.read(), ", "); !strings.Contains(got, "here sign typing") || !strings.Contains(got, "sign m2 👀, here sign m3 👀") {
			t.Errorf("signs: %s", got)
		}
		r.after(typingEvery)
		r.wants("here sign typing")
		row := aRow(here, 2, "slow")
		row.Edit = "2"
		r.Deliver([]core.Row{row})
		r.after(time.Minute)
		r.wants("here 2=final slow", "here sign m2")

		in := core.Inbound{Key: "d", Kind: core.InDelete, MessageID: "m3", Place: here, From: core.Person{ID: "chat:ann"}}
		if err := r.accept(t.Context(), acc, []core.Inbound{in}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := len(r.places); n != 0 {
			t.Errorf("%d workers wait for an answer to a deleted message", n)
		}
	})
}

// Drain waits for what is queued and no longer than it may; Close ends what
// still waits.
func TestDrain(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		r.Drain(t.Context())
		r.chat.fails(tooMany(time.Minute, false))
		r.Deliver([]core.Row{aRow(here, 1, "answer")})
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r.Drain(ctx)
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("a drain of 10 s took %s", took)
		}
		r.Drain(t.Context())
		if took := time.Since(began); took != time.Minute {
			t.Errorf("drained after %s", took)
		}
		r.chat.hold = make(chan struct{})
		r.Deliver([]core.Row{aRow(here, 2, "held"), aRow(here, 3, "behind")})
		r.Open(aRun(4), core.Speaker{}, "…")
		synctest.Wait()
		r.Close()
		r.Deliver([]core.Row{aRow(here, 5, "late")})
		r.Drain(t.Context())
	})
}

// A stranger hears one refusal an hour.
func TestRefusalPacing(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		from := func(id core.PersonID) string {
			in := core.Inbound{Key: "k", Kind: core.InMessage, Direct: true, Place: here, From: core.Person{ID: id}, Text: "hi"}
			if err := r.accept(t.Context(), r.accounts["chat"], []core.Inbound{in}); err != nil {
				t.Fatal(err)
			}
			return r.ledger.read()
		}
		for i, c := range []struct {
			id   core.PersonID
			want string
		}{
			{"chat:eve", "refuse chat:eve, accept"}, {"chat:eve", "accept"}, {"chat:mallory", "refuse chat:mallory, accept"}, {"chat:ann", "accept"},
		} {
			if got := from(c.id); got != c.want {
				t.Errorf("%d: %s, want %s", i, got, c.want)
			}
		}
		time.Sleep(refuseEvery)
		if got := from("chat:eve"); got != "refuse chat:eve, accept" {
			t.Errorf("an hour later: %s", got)
		}
	})
}

// A platform's clock may tell a time that no ledger can keep: then ours holds.
func TestImpossibleTimes(t *testing.T) {
	resolves := func(clock time.Time) core.Features {
		f := edits
		f.Resolve = func(context.Context, core.Outbound) (core.Receipt, error) {
			return core.Receipt{ID: "found", Time: clock}, nil
		}
		return f
	}
	for _, clock := range []time.Time{{}, time.Unix(1796071421000, 0), time.Unix(-1<<40, 0)} {
		bubble(t, resolves(clock), func(t *testing.T, r *rig) {
			r.chat.clock = clock
			r.chat.fails(core.ErrUnknown)
			in := core.Inbound{Key: "k", Kind: core.InMessage, Direct: true, Place: here, From: core.Person{ID: "chat:ann"}, Text: "hi", Time: clock}
			if err := r.accept(t.Context(), r.accounts["chat"], []core.Inbound{in}); err != nil {
				t.Fatal(err)
			}
			r.Open(aRun(1), core.Speaker{}, "…") // unknown, then found
			r.after(time.Minute)
			r.Deliver([]core.Row{aRow(there, 2, "sent")})
			r.after(time.Minute)
			if len(r.ledger.times) < 3 {
				t.Fatalf("the ledger was told %v", r.ledger.times)
			}
			for _, at := range r.ledger.times {
				if at.Before(r.began) || at.After(time.Now()) {
					t.Errorf("of %v, the ledger is told %v", clock, at)
				}
			}
		})
	}
}

// The owner hears of a trouble once, and again when it comes back after it was
// over, or lasts.
func TestTroubleOnce(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		told := func(want int, what string) {
			t.Helper()
			synctest.Wait()
			if n := strings.Count(strings.Join(r.chat.read(), "\n"), "⚠ "+what); n != want {
				t.Errorf("%q was told %d times, want %d", what, n, want)
			}
		}
		broken := errors.New("disk is full")
		r.troubled(t.Context(), broken)
		r.troubled(t.Context(), broken)
		told(1, "I cannot store messages: disk is full")
		if got := r.ledger.read(); strings.Contains(got, "notify") {
			t.Errorf("the ledger was asked to tell of itself: %s", got)
		}
		r.Trouble(t.Context(), "else", "Something else.")
		r.Trouble(t.Context(), "else", "Something else.")
		told(1, "Something else.")
		if got := r.ledger.read(); !strings.Contains(got, "notify ⚠ Something else.") {
			t.Errorf("the ledger was asked for %q: all but its own trouble goes through it", got)
		}
		r.recovered()
		r.troubled(t.Context(), broken)
		r.after(time.Hour)
		r.troubled(t.Context(), broken)
		told(2, "I cannot store messages")
		// The end of the process is no trouble.
		r.recovered()
		r.troubled(t.Context(), context.Canceled)
		r.troubled(t.Context(), errors.Join(core.ErrStopping))
		told(0, "I cannot store messages")
		r.wants()
	})
}

// Adapters fail one by one; the bus ends when the last has.
func TestRunEnds(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		if err := r.Run(ctx, r.ledger); err != nil {
			t.Errorf("an orderly end: %v", err)
		}
	})
}
