package memkv_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"bellhop/store"
	"bellhop/store/memkv"
)

var errFault = errors.New("fault")

func put(key string) func(store.Tx) error {
	return func(tx store.Tx) error { return tx.Put([]byte(key), []byte("v")) }
}

func keys(e *memkv.Engine) (keys []string) {
	for _, kv := range e.Snapshot() {
		keys = append(keys, string(kv.Key))
	}
	return keys
}

func wantKeys(t *testing.T, e *memkv.Engine, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, keys(e)); diff != "" {
		t.Errorf("committed (-want +got):\n%s", diff)
	}
}

// Each commit can be failed before it is stored or after.
func TestFault(t *testing.T) {
	var observed []uint64
	e := memkv.New(memkv.Options{
		Fault: func(n uint64, when memkv.When) error {
			switch {
			case n == 2 && when == memkv.Before:
				return store.ErrNoSpace
			case n == 3 && when == memkv.After:
				return errFault
			}
			return nil
		},
		Observe: func(n uint64) { observed = append(observed, n) },
	})
	for i, want := range []error{nil, store.ErrNoSpace, errFault, nil} {
		if err := e.Update(t.Context(), put(fmt.Sprint(i+1))); !errors.Is(err, want) {
			t.Errorf("commit %d = %v, want %v", i+1, err, want)
		}
	}
	wantKeys(t, e, "1", "3", "4")
	if diff := cmp.Diff([]uint64{1, 3, 4}, observed); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
	e.SetFault(func(uint64, memkv.When) error { return errFault })
	if err := e.Update(t.Context(), put("5")); !errors.Is(err, errFault) {
		t.Errorf("Update = %v after SetFault", err)
	}
	if err := e.Reopen().Update(t.Context(), put("6")); err != nil {
		t.Errorf("Update = %v: Reopen took over the fault", err)
	}
}

// A crash at any point of a commit loses it or keeps it whole; its callers, who
// died with the process, learn nothing.
func TestCrash(t *testing.T) {
	for name, kept := range map[string]bool{"in the closure": false, "before": false, "observed": true, "after": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var e *memkv.Engine
				crash := func(at string, n uint64) {
					if n == 2 && at == name {
						e.Crash()
					}
				}
				e = memkv.New(memkv.Options{
					Fault:   func(n uint64, when memkv.When) error { crash(when.String(), n); return nil },
					Observe: func(n uint64) { crash("observed", n) },
				})
				if err := e.Update(t.Context(), put("1")); err != nil {
					t.Fatal(err)
				}
				gate, results := make(chan struct{}), make(chan error, 2)
				go func() {
					results <- e.Update(t.Context(), func(tx store.Tx) error {
						<-gate
						crash("in the closure", 2)
						return put("2")(tx)
					})
				}()
				synctest.Wait()
				go func() { results <- e.Update(t.Context(), put("waiting")) }()
				synctest.Wait()
				close(gate)
				for range 2 {
					if err := <-results; !errors.Is(err, store.ErrClosed) {
						t.Errorf("an Update that the crash cut = %v", err)
					}
				}
				if err := e.View(func(store.Tx) error { return nil }); !errors.Is(err, store.ErrClosed) {
					t.Errorf("View after the crash = %v", err)
				}
				if err := e.Close(); err != nil {
					t.Errorf("Close after the crash = %v", err)
				}
				e = e.Reopen()
				if kept {
					wantKeys(t, e, "1", "2")
				} else {
					wantKeys(t, e, "1")
				}
				if err := e.Update(t.Context(), put("3")); err != nil {
					t.Errorf("Update after Reopen = %v", err)
				}
			})
		})
	}
}

// A View that began before the crash ends on what it saw.
func TestCrashDuringView(t *testing.T) {
	e := memkv.New(memkv.Options{})
	if err := e.Update(t.Context(), put("1")); err != nil {
		t.Fatal(err)
	}
	err := e.View(func(tx store.Tx) error {
		e.Crash()
		if v, err := tx.Get([]byte("1")); v[0] == nil || err != nil {
			t.Errorf("Get = %v, %v", v, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func BenchmarkUpdate(b *testing.B) {
	e := memkv.New(memkv.Options{})
	ctx := context.Background()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := e.Update(ctx, put(fmt.Sprintf("key/%08d", i))); err != nil {
			b.Fatal(err)
		}
	}
}
