package bus

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// Work that says nothing for ten minutes is told of at growing distances, in
// few edits, and never more often than the platform allows.
func TestLongWork(t *testing.T) {
	for _, pause := range []time.Duration{0, 3 * time.Second, 70 * time.Second} {
		t.Run(pause.String(), func(t *testing.T) {
			f := edits
			f.Preview = func(core.Place) time.Duration { return pause }
			bubble(t, f, func(t *testing.T, r *rig) {
				run := aRun(1)
				r.Open(run, core.Speaker{}, "…")
				r.Update(run, core.Preview{Text: "Let me see.", Status: "digging"})
				var at []time.Duration
				var last string
				for range 10 * 60 {
					r.after(time.Second)
					if sent := r.chat.read(); len(sent) > 1 && at != nil {
						t.Errorf("at once: %q", sent)
					} else if len(sent) > 0 {
						at, last = append(at, time.Since(r.began)), sent[len(sent)-1]
					}
				}
				if n := len(at); n > 15 || n < 5 {
					t.Errorf("%d edits: %s", n, at)
				}
				for i := range at[1:] {
					if d := at[i+1] - at[i]; d < pause {
						t.Errorf("%s after the one before: %s", d, at)
					}
				}
				if pause < time.Minute && last != "here 1=update Let me see. (Still digging, 10 min…)" {
					t.Errorf("at last it shows %q", last)
				}
			})
		})
	}
}

// A usual status is told when it lasts, another at once; a quick one between
// two usual ones not at all.
func TestStatus(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		run := aRun(1)
		thinking := core.Preview{Text: "a", Status: "thinking", Usual: true}
		r.Open(run, core.Speaker{}, "…")
		r.Update(run, core.Preview{Status: "thinking", Usual: true})
		r.after(lasting - time.Millisecond)
		r.wants("here open …")
		r.after(time.Millisecond)
		r.wants("here 1=update (Thinking…)")
		r.Update(run, thinking)
		r.after(gather)
		r.wants("here 1=update a")
		r.Update(run, thinking) // nothing is new
		r.after(time.Second)
		r.Update(run, core.Preview{Text: "a", Status: "digging"})
		r.after(gather / 2)
		r.Update(run, thinking)
		r.after(lasting - time.Millisecond)
		r.wants()
		r.after(time.Millisecond)
		r.wants("here 1=update a (Thinking…)")
		r.Update(run, core.Preview{Text: "a", Status: "digging"})
		r.after(gather)
		r.wants("here 1=update a (Digging…)")
		if got := r.Shown(run.Post); got != "a" {
			t.Errorf("%q is shown", got)
		}
	})
}

// A status that the open shows already is not sent again.
func TestStatusOfOpen(t *testing.T) {
	bubble(t, edits, func(t *testing.T, r *rig) {
		r.Open(aRun(1), core.Speaker{}, "Waiting for a free slot…")
		r.Update(aRun(1), core.Preview{Status: "waiting for a free slot"})
		r.after(19 * time.Second)
		r.wants("here open Waiting for a free slot…")
		r.after(time.Second)
		r.wants("here 1=update (Still waiting for a free slot, 20 s…)")
	})
}

// The outcome waits for no preview, however many are due.
func TestFinalBeforePreviews(t *testing.T) {
	f := edits
	f.Preview = func(core.Place) time.Duration { return time.Second }
	bubble(t, f, func(t *testing.T, r *rig) {
		for n := range uint64(20) {
			r.Open(aRun(n+1), core.Speaker{}, "…")
		}
		r.after(time.Minute) // until the opens are paid for
		r.chat.read()
		for n := range uint64(20) {
			r.Update(aRun(n+1), core.Preview{Text: strings.Repeat("a", int(n)+1)})
		}
		r.after(time.Second)
		if sent := r.chat.read(); len(sent) != 1 {
			t.Errorf("previews: %q", sent)
		}
		r.Deliver([]core.Row{aRow(here, 20, "answer")})
		synctest.Wait()
		r.wants("here 20=final answer")
	})
}

// A message holds the text's beginning together with the status.
func TestFit(t *testing.T) {
	const most = 40
	split := func(text string) (pieces []string) {
		for piece := range slices.Chunk([]rune(text), most) {
			pieces = append(pieces, string(piece))
		}
		return pieces
	}
	long := strings.Repeat("0123456789", 5)
	for name, test := range map[string][4]string{
		"nothing":        {"", "", "", ""},
		"text":           {"a", "", "a", ""},
		"long text":      {long, "", long[:most], ""},
		"status":         {"", "Still…", "", "Still…"},
		"both":           {"a", "Still…", "a", "Still…"},
		"both, long":     {long, "Still…", long[:most-14], "Still…"},
		"no room at all": {long, strings.Repeat("x", most), long[:most], ""},
	} {
		t.Run(name, func(t *testing.T) {
			text, status, _ := fit(split, test[0], test[1], "")
			if diff := cmp.Diff(test[2:], []string{text, status}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlainly(t *testing.T) {
	for d, want := range map[time.Duration]string{20 * time.Second: "20 s", time.Minute: "1 min", 90 * time.Second: "1 min 30 s",
		time.Hour: "1 h", 65 * time.Minute: "1 h 5 min"} {
		if got := plainly(d); got != want {
			t.Errorf("%s is %q", d, got)
		}
	}
}

// BenchmarkUpdate is what a piece of a reply costs.
func BenchmarkUpdate(b *testing.B) {
	bus := New(b.Context(), Options{})
	run := aRun(1)
	bus.drafts[run.Post] = &draft{}
	bus.Update(run, core.Preview{Status: "thinking", Usual: true})
	text := strings.Repeat("a word ", 1000)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		bus.Update(run, core.Preview{Text: text[:n%len(text)], Status: "thinking", Usual: true})
	}
}
