package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"bellhop/core"
	"bellhop/store"
)

func (w *world) remember(p core.Remembered) (out core.Remembered) {
	w.Helper()
	w.must(w.store.Update(w.Context(), func(r store.Rows) (err error) {
		out, err = r.Remember(p)
		return err
	}))
	return out
}

// TestPermitsModel allows random calls for good, forgets them, sets modes and
// dies, and compares what a run reads with a list.
func TestPermitsModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := unchecked(t)
		thread := w.say("hello")[0].Thread
		var mode core.Mode
		given := map[string][]core.Remembered{}
		agent := rapid.SampledFrom([]string{chief, scout})
		rt.Repeat(map[string]func(*rapid.T){
			"remember": func(rt *rapid.T) {
				p := core.Remembered{Agent: agent.Draw(rt, "agent"), Tool: "exec", By: ann.ID, Shown: "x",
					Workspace: rapid.SampledFrom([]string{"", "/w"}).Draw(rt, "workspace"),
					Hash:      fmt.Sprint(rapid.IntRange(0, 5).Draw(rt, "hash"))}
				got := w.remember(p)
				same := func(q core.Remembered) bool { return q.Workspace == p.Workspace && q.Hash == p.Hash }
				if i := slices.IndexFunc(given[p.Agent], same); i >= 0 {
					if diff := cmp.Diff(given[p.Agent][i], got); diff != "" {
						rt.Fatalf("allowed twice (-first +second):\n%s", diff)
					}
					return
				}
				if got.ID.Kind() != core.KindPermit || got.Time.IsZero() {
					rt.Fatalf("%+v", got)
				}
				given[p.Agent] = append(given[p.Agent], got)
			},
			"forget": func(rt *rapid.T) {
				who := agent.Draw(rt, "agent")
				if len(given[who]) == 0 {
					rt.Skip("there is nothing")
				}
				i := rapid.IntRange(0, len(given[who])-1).Draw(rt, "which")
				w.desk(ann.ID, func(d core.Desk) error { return d.Forget(given[who][i]) })
				given[who] = slices.Delete(given[who], i, i+1)
			},
			"mode": func(rt *rapid.T) {
				mode = rapid.SampledFrom([]core.Mode{"", core.ModeDefault, core.ModeSmart, core.ModeBypass}).Draw(rt, "mode")
				w.desk(ann.ID, func(d core.Desk) error {
					return d.Adjust(thread, func(th *core.Thread) { th.Mode = mode })
				})
			},
			"restart": func(*rapid.T) { w.restart() },
			"": func(rt *rapid.T) {
				for _, who := range []string{chief, scout} {
					m, got, err := w.store.Permits(w.Context(), thread, who)
					if err != nil || m != mode {
						rt.Fatalf("mode %q, %v; want %q", m, err, mode)
					}
					if diff := cmp.Diff(given[who], got); diff != "" && len(given[who])+len(got) > 0 {
						rt.Fatalf("%s may (-want +got):\n%s", who, diff)
					}
					w.desk(ann.ID, func(d core.Desk) error {
						seen, err := d.Remembered(who)
						if diff := cmp.Diff(got, seen); diff != "" {
							rt.Errorf("a command sees (-want +got):\n%s", diff)
						}
						return err
					})
				}
				w.check()
			},
		})
	})
}

// Only so much is allowed for good; the oldest is asked about again.
func TestPermitsAreBounded(t *testing.T) {
	w := newWorld(t)
	thread := w.say("hello")[0].Thread
	other := w.remember(core.Remembered{Agent: scout, Tool: "exec", Hash: "x"})
	for i := range 203 {
		w.remember(core.Remembered{Agent: chief, Tool: "exec", Hash: fmt.Sprint(i)})
	}
	_, got, err := w.store.Permits(w.Context(), thread, chief)
	if err != nil || len(got) != 200 || got[0].Hash != "3" || got[199].Hash != "202" {
		t.Errorf("%d, %v", len(got), err)
	}
	if _, got, err := w.store.Permits(w.Context(), thread, scout); err != nil || len(got) != 1 || got[0].ID != other.ID {
		t.Errorf("another's: %+v, %v", got, err)
	}
}

func TestPermitsOfNoThread(t *testing.T) {
	w := newWorld(t)
	if _, _, err := w.store.Permits(w.Context(), "t99", chief); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("%v, want that there is no such thread", err)
	}
}

// A permission that is damaged is one that nobody has given.
func TestDamagedPermit(t *testing.T) {
	w := newWorld(t)
	thread := w.say("hello")[0].Thread
	w.remember(core.Remembered{Agent: chief, Tool: "exec", Hash: "1"})
	flip(t, w.engine, "y/")
	kept := w.remember(core.Remembered{Agent: chief, Tool: "exec", Hash: "1"})
	_, got, err := w.store.Permits(w.Context(), thread, chief)
	if err != nil || len(got) != 1 || got[0].ID != kept.ID || len(w.damaged) != 1 {
		t.Errorf("%+v, %v, damaged %q", got, err, w.damaged)
	}
}

func TestCheckFindsWrongPermits(t *testing.T) {
	w := unchecked(t)
	p := w.remember(core.Remembered{Agent: chief, Tool: "exec", Hash: "1"})
	q := p
	q.ID = "y8"
	key := func(agent string, n byte) []byte { return append([]byte("y/"+agent), 0, 0, 0, 0, 0, 0, 0, 0, n) }
	w.must(w.store.Update(w.Context(), func(r store.Rows) error {
		return errors.Join(r.PutRow(key(chief, 8), q), r.PutRow(key(scout, 9), core.Remembered{Agent: scout, ID: "y9"}))
	}))
	wrong, err := w.store.Check(w.Context())
	want := []string{fmt.Sprintf("y8 allows what %s does", p.ID), `row "y/scout\x00\x00\x00\x00\x00\x00\x00\x00\t" allows no call`}
	if diff := cmp.Diff(want, wrong); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
