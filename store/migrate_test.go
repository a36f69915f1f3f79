package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/store"
	"bellhop/store/memkv"
)

// steps are migrations that count how often they ran.
func steps(ran map[int]int, to ...int) []store.Migration {
	var out []store.Migration
	for _, v := range to {
		out = append(out, store.Migration{To: v, Run: func(tx store.Tx) error {
			ran[v]++
			return tx.Put(fmt.Appendf(nil, "fake/%d", v), nil)
		}})
	}
	return out
}

func TestMigrate(t *testing.T) {
	w := unchecked(t)
	ran := map[int]int{}
	w.must(w.store.Migrate(t.Context(), store.Schema+2, steps(ran, 1, store.Schema+1, store.Schema+2, store.Schema+3)))
	w.must(w.store.Migrate(t.Context(), store.Schema+2, steps(ran, store.Schema+1, store.Schema+2)))
	if diff := cmp.Diff(map[int]int{store.Schema + 1: 1, store.Schema + 2: 1}, ran); diff != "" {
		t.Error(diff)
	}
}

// Each step is a transaction of its own: one that was done is not done again.
func TestMigrateCrash(t *testing.T) {
	for crashAt := range 3 {
		for _, when := range []memkv.When{memkv.Before, memkv.After} {
			w := unchecked(t)
			ran := map[int]int{}
			first := w.engine.Commits() + 1
			w.memory().SetFault(func(n uint64, at memkv.When) error {
				if n == first+uint64(crashAt) && at == when {
					w.memory().Crash()
				}
				return nil
			})
			all := steps(ran, 2, 3, 4)
			w.wantErr(w.store.Migrate(t.Context(), 4, all), store.ErrClosed)
			done := crashAt
			if when == memkv.After {
				done++
			}
			clear(ran)
			w.engine = w.reopen()
			s, err := store.Open(t.Context(), w.engine, store.Options{})
			if err != nil {
				// Two versions ahead already: only a newer release opens it.
				if done < 2 {
					t.Fatal(err)
				}
				continue
			}
			w.must(s.Migrate(t.Context(), 4, all))
			if len(ran) != 3-done {
				t.Errorf("crash %v commit %d: then %v ran", when, crashAt, ran)
			}
		}
	}
}

func TestMigrateFails(t *testing.T) {
	w := unchecked(t)
	err := w.store.Migrate(t.Context(), 2, []store.Migration{{To: 2, Run: func(store.Tx) error { return errFault }}})
	if !errors.Is(err, errFault) || !strings.Contains(err.Error(), "schema version 2") {
		t.Error(err)
	}
	w.must(w.store.Migrate(t.Context(), 2, steps(map[int]int{}, 2)))
}

// A store that a newer release has left behind opens if it is one version
// ahead, and keeps its version.
func TestNewerStore(t *testing.T) {
	w := unchecked(t)
	item := w.say("hello")[0]
	w.must(w.store.Migrate(t.Context(), store.Schema+1, steps(map[int]int{}, store.Schema+1)))
	w.restart()
	w.settle(w.pick(item), end("hi"))
	w.must(w.store.Migrate(t.Context(), store.Schema+2, steps(map[int]int{}, store.Schema+2)))
	_, err := store.Open(t.Context(), w.reopen(), store.Options{})
	want := fmt.Sprintf("the store has schema version %d and this release reads up to %d: run a newer release, or restore a snapshot", store.Schema+2, store.Schema+1)
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// A store whose record of the version is lost is as new as its newest row, and
// not an empty one.
func TestLostVersion(t *testing.T) {
	for _, written := range []int{store.Schema, store.Schema + 1, store.Schema + 2} {
		w := unchecked(t)
		w.say("hello")
		w.must(w.engine.Update(t.Context(), func(tx store.Tx) error {
			if err := tx.Put([]byte("r/\x00\x00\x00\x00\x00\x00\x00\x09"), store.Seal(byte(written), "{}")); err != nil {
				return err
			}
			return tx.Delete([]byte("meta/schema"))
		}))
		_, err := store.Open(t.Context(), w.reopen(), store.Options{})
		if (err == nil) != (written <= store.Schema+1) {
			t.Errorf("with a row of version %d: %v", written, err)
		}
		w.engine = w.reopen()
		if err == nil {
			w.open()
			ran := map[int]int{}
			w.must(w.store.Migrate(t.Context(), store.Schema+1, steps(ran, store.Schema+1)))
			if len(ran) != store.Schema+1-written {
				t.Errorf("with a row of version %d, %v ran", written, ran)
			}
		}
	}
}

// What a newer release has added to a row outlives the older one's work on it.
func TestNewsSurviveWork(t *testing.T) {
	w := unchecked(t)
	item := w.say("hello")[0]
	run := w.pick(item)
	w.must(w.store.Begin(t.Context(), run))
	key := []byte("r/\x00\x00\x00\x00\x00\x00\x00\x03")
	if run.ID != core.NewID(core.KindRun, 3) {
		t.Fatalf("run %s", run.ID)
	}
	read := func() (raw string) {
		w.must(w.engine.View(func(tx store.Tx) error {
			v, err := tx.Get(key)
			raw = string(v[0])
			return err
		}))
		return raw
	}
	w.must(w.engine.Update(t.Context(), func(tx store.Tx) error {
		return tx.Put(key, store.Seal(store.Schema+1, `{"mood":"good",`+read()[6:]))
	}))
	w.settle(run, end("hi"))
	if raw := read(); raw[0] != store.Schema+1 || !strings.Contains(raw, `"mood":"good"`) || !strings.Contains(raw, `"state":"done"`) {
		t.Errorf("%q", raw)
	}
	w.check()
}
