package bus

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bellhop/core"
)

// Ten minutes of two talkative runs in two topics of one chat, whose outcomes
// and successors come in between, never cost more calls in a minute than a
// platform takes from the chat.
func TestPreviewsOfChat(t *testing.T) {
	const most = 20 // Telegram, in a group
	f := core.Features{Once: core.OnceEdit, Edits: true, Preview: func(core.Place) time.Duration { return 4 * time.Second }}
	bubble(t, f, func(t *testing.T, r *rig) {
		var runs []core.Run
		var calls []time.Time
		n := uint64(0)
		for second := range 600 {
			for i := range 2 {
				if second%75 == i {
					if len(runs) == 2 {
						row := aRow(runs[i].Reply.Place, n, "done")
						row.Post, row.Edit = runs[i].Post, "1"
						r.Deliver([]core.Row{row})
					}
					n++
					run := aRun(n)
					run.Reply.Place.Topic = fmt.Sprint(i)
					r.Open(run, core.Speaker{}, "…")
					runs = append(runs[:min(i, len(runs))], append([]core.Run{run}, runs[min(i+1, len(runs)):]...)...)
				}
			}
			for _, run := range runs {
				r.Update(run, core.Preview{Text: fmt.Sprint(second)})
			}
			r.after(time.Second)
			for range r.chat.read() {
				calls = append(calls, time.Now())
			}
		}
		for i := range calls[most:] {
			if d := calls[i+most].Sub(calls[i]); d < time.Minute {
				t.Fatalf("%d calls in %s", most+1, d)
			}
		}
		if len(calls) < 140 {
			t.Errorf("%d calls", len(calls))
		}
	})
}

// What a chat has cost counts on when nothing was left to show there for a
// moment: runs that follow one another at short distances get few previews.
func TestPreviewsAfterRest(t *testing.T) {
	f := core.Features{Once: core.OnceEdit, Edits: true, Preview: func(core.Place) time.Duration { return 4 * time.Second }}
	bubble(t, f, func(t *testing.T, r *rig) {
		previews := 0
		const runs, length = 60, 7 // seconds
		for n := range uint64(runs) {
			run := aRun(n + 1)
			r.Open(run, core.Speaker{}, "…")
			for second := range length - 1 {
				r.Update(run, core.Preview{Text: fmt.Sprint(second)})
				r.after(time.Second)
			}
			row := aRow(here, n+1, "done")
			row.Edit = "1"
			r.Deliver([]core.Row{row})
			r.after(time.Second)
			if len(r.places) != 0 {
				t.Fatal("a worker goes on")
			}
			previews += len(r.chat.read()) - 2
		}
		if most := runs*length/4 - 2*runs + 2; previews > max(most, 2) {
			t.Errorf("%d previews beside %d opens and finals in %d s", previews, 2*runs, runs*length)
		}
		r.after(time.Hour)
		run := aRun(1000)
		r.Open(run, core.Speaker{}, "…")
		r.Update(run, core.Preview{Text: "a"})
		r.after(time.Second)
		r.wants("here open …", "here 61=update a")
	})
}

// Where a platform counts by account, the places share, and none starves.
func TestPreviewsOfAccount(t *testing.T) {
	const places = 5
	f := edits
	f.Previews = 1200 * time.Millisecond
	bubble(t, f, func(t *testing.T, r *rig) {
		var runs []core.Run
		for n := range uint64(places) {
			run := aRun(n + 1)
			run.Reply.Place.Channel = fmt.Sprint("c", n)
			r.Open(run, core.Speaker{}, "…")
			runs = append(runs, run)
		}
		r.after(time.Minute)
		r.chat.read()
		shown := map[string]int{}
		for n := range 600 {
			for _, run := range runs {
				r.Update(run, core.Preview{Text: fmt.Sprint(n)})
			}
			r.after(100 * time.Millisecond)
			sent := r.chat.read()
			if len(sent) > 1 {
				t.Errorf("at once: %q", sent)
			}
			for _, line := range sent {
				place, _, _ := strings.Cut(line, " ")
				shown[place]++
			}
		}
		for _, run := range runs {
			if n := shown[run.Reply.Place.Channel]; n < 9 || n > 11 {
				t.Errorf("previews: %v", shown)
			}
		}
	})
}
