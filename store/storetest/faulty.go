package storetest

import (
	"context"
	"sync"

	"bellhop/store"
	"bellhop/store/memkv"
)

// Faulty is an engine that can be made to fail and to crash, as memkv can,
// whatever engine it stands before. Where closures share a commit, a fault is
// that of one of them.
type Faulty struct {
	inner Engine
	o     FaultyOptions

	mu      sync.Mutex // guards the fields below
	fault   func(n uint64, when memkv.When) error
	writes  uint64
	crashed bool
}

// FaultyOptions of a Faulty. Open opens what the engine before it has stored,
// once that is closed; Observe, if set, is called when something was stored.
type FaultyOptions struct {
	Open    func() Engine
	Observe func()
}

// NewFaulty opens an engine that has no faults yet.
func NewFaulty(o FaultyOptions) *Faulty { return &Faulty{inner: o.Open(), o: o} }

// SetFault is memkv.Engine's.
func (f *Faulty) SetFault(fault func(n uint64, when memkv.When) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault = fault
}

// Crash is memkv.Engine's: what has not been committed is lost, and nobody
// reads or writes any more.
func (f *Faulty) Crash() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.crashed = true
}

// Reopen crashes the engine and opens it anew, without faults.
func (f *Faulty) Reopen() (*Faulty, error) {
	f.Crash()
	if err := f.inner.Close(); err != nil {
		return nil, err
	}
	return NewFaulty(f.o), nil
}

// Commits implements Engine.
func (f *Faulty) Commits() uint64 { return f.inner.Commits() }

// Close implements Engine.
func (f *Faulty) Close() error { return f.inner.Close() }

// View implements Engine.
func (f *Faulty) View(run func(store.Tx) error) error {
	if err := f.strike(0, -1); err != nil {
		return err
	}
	return f.inner.View(run)
}

// Update implements Engine.
func (f *Faulty) Update(ctx context.Context, run func(store.Tx) error) error {
	var n uint64 // of the write; 0: nothing was written
	var failed error
	err := f.inner.Update(ctx, func(tx store.Tx) error {
		if failed != nil { // it shared a commit, which is made again without it
			return failed
		}
		if err := f.strike(0, -1); err != nil {
			return err
		}
		t := writing{Tx: tx}
		if err := run(&t); err != nil || !t.wrote {
			return err
		}
		if n == 0 {
			n = f.number()
		}
		failed = f.strike(n, memkv.Before)
		return failed
	})
	if err != nil || n == 0 {
		return err
	}
	if f.o.Observe != nil {
		f.o.Observe()
	}
	return f.strike(n, memkv.After)
}

func (f *Faulty) number() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.writes++
	return f.writes
}

// strike is how the n-th write ends there; of 0, whether the engine has crashed.
func (f *Faulty) strike(n uint64, when memkv.When) error {
	f.mu.Lock()
	fault := f.fault
	f.mu.Unlock()
	if n > 0 && fault != nil {
		if err := fault(n, when); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.crashed {
		return store.ErrClosed
	}
	return nil
}

// writing notes whether its closure has written.
type writing struct {
	store.Tx
	wrote bool
}

func (t *writing) Put(key, value []byte) error {
	t.wrote = true
	return t.Tx.Put(key, value)
}

func (t *writing) Delete(key []byte) error {
	t.wrote = true
	return t.Tx.Delete(key)
}
