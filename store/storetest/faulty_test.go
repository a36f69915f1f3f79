package storetest_test

import (
	"errors"
	"testing"

	"bellhop/store"
	"bellhop/store/memkv"
	"bellhop/store/storetest"
)

// reopening is memkv, opened anew over what it has stored.
func reopening() func() storetest.Engine {
	var e *memkv.Engine
	return func() storetest.Engine {
		if e == nil {
			e = memkv.New(memkv.Options{})
		} else {
			e = e.Reopen()
		}
		return e
	}
}

// Without a fault it is an engine like any other.
func TestFaultyIsAnEngine(t *testing.T) {
	storetest.RunEngine(t, func(*testing.T) func() storetest.Engine {
		open := reopening()
		return func() storetest.Engine { return storetest.NewFaulty(storetest.FaultyOptions{Open: open}) }
	})
}

// A commit that fails before is not stored, one that fails after is; one that
// writes nothing does not fail; and what has crashed is closed until it is opened
// anew.
func TestFaulty(t *testing.T) {
	observed := 0
	f := storetest.NewFaulty(storetest.FaultyOptions{Open: reopening(), Observe: func() { observed++ }})
	broken := errors.New("made by the test")
	put := func(key string) error {
		return f.Update(t.Context(), func(tx store.Tx) error { return tx.Put([]byte(key), []byte("v")) })
	}
	has := func(key string) (found bool) {
		if err := f.View(func(tx store.Tx) error {
			v, err := tx.Get([]byte(key))
			found = err == nil && v[0] != nil
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, when := range []memkv.When{memkv.Before, memkv.After} {
		f.SetFault(func(_ uint64, at memkv.When) error {
			if at == when {
				return broken
			}
			return nil
		})
		if err := put(when.String()); !errors.Is(err, broken) || has(when.String()) != (when == memkv.After) {
			t.Errorf("%s: %v, and stored: %v", when, err, has(when.String()))
		}
		if err := f.Update(t.Context(), func(store.Tx) error { return nil }); err != nil {
			t.Errorf("what writes nothing fails: %v", err)
		}
	}
	f.SetFault(func(_ uint64, at memkv.When) error {
		if at == memkv.After {
			f.Crash()
		}
		return nil
	})
	if err := put("last"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("a crash in a commit: %v", err)
	}
	if err := f.View(func(store.Tx) error { return nil }); !errors.Is(err, store.ErrClosed) {
		t.Errorf("what has crashed is read: %v", err)
	}
	var err error
	if f, err = f.Reopen(); err != nil {
		t.Fatal(err)
	}
	if !has("last") || has("before") || put("next") != nil || observed != 3 {
		t.Errorf("last: %v, before: %v, observed %d", has("last"), has("before"), observed)
	}
}
