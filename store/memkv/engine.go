// Package memkv is the store.Engine in memory, for tests and for trials that
// need not outlive the process. It has hooks to crash and to fail at every
// commit, and works inside a testing/synctest bubble.
//
// It imports store and the standard library, and starts no goroutine.
package memkv

import (
	"bytes"
	"sync"
	"time"

	"bellhop/store"
)

// Options are the hooks of an Engine. Both are called on the goroutine of the
// commit's leader, in the order of the commits; n counts the engine's commits
// from 1 and is the same for Before and After. A commit that fails has used up
// its number.
type Options struct {
	// Fault, if set, is asked about each commit twice. The commit ends with the
	// error that it returns, if any: see When.
	Fault func(n uint64, when When) error
	// Observe, if set, is called when a commit has been stored, even if Fault
	// then hides this from the caller. It may read the engine, not write it.
	Observe func(n uint64)
}

// When says at which point of a commit a fault strikes.
type When int

const (
	// Before: nothing of the transaction is stored. With store.ErrNoSpace this
	// is a full disk.
	Before When = iota
	// After: the transaction is stored, though the callers get the error: what a
	// crash just after the effect looks like.
	After
)

func (w When) String() string { return [...]string{"before", "after"}[w] }

// Engine is a store.Engine in memory.
type Engine struct {
	*store.Committer
	backend *backend
}

// New returns an empty engine.
func New(o Options) *Engine { return open(o, state{}) }

func open(o Options, s state) *Engine {
	b := &backend{options: o, state: s}
	return &Engine{Committer: store.NewCommitter(b), backend: b}
}

// SetFault replaces Options.Fault from the next commit on.
func (e *Engine) SetFault(f func(n uint64, when When) error) {
	e.backend.mu.Lock()
	defer e.backend.mu.Unlock()
	e.backend.options.Fault = f
}

// Crash stops the engine as kill -9 would: what has not been committed is lost,
// its callers and all later ones get store.ErrClosed. It does not wait, and may
// be called from a hook or from inside a transaction.
func (e *Engine) Crash() {
	e.backend.mu.Lock()
	defer e.backend.mu.Unlock()
	e.backend.crashed = true
}

// Reopen crashes the engine, unless it is closed, and returns a new one over
// what was committed: the process after its restart. It takes over Observe, but
// not Fault.
func (e *Engine) Reopen() *Engine {
	e.Crash()
	s, o, _ := e.backend.now()
	return open(Options{Observe: o.Observe}, s)
}

// Clone returns a new engine without hooks over what is committed now. What
// either does from here on does not touch the other.
func (e *Engine) Clone() *Engine {
	s, _, _ := e.backend.now()
	return open(Options{}, s)
}

// Snapshot is everything committed, in key order; also of a closed or crashed
// engine. The slices must not be changed.
func (e *Engine) Snapshot() []store.KV {
	s, _, _ := e.backend.now()
	return s.root.all(nil)
}

// state is what is committed.
type state struct {
	root *node
	seq  uint64
}

// backend implements store.Backend.
type backend struct {
	mu      sync.Mutex // guards the fields below
	options Options
	state   state
	commits uint64
	crashed bool
}

func (b *backend) now() (s state, o Options, crashed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state, b.options, b.crashed
}

func (b *backend) View(run func(store.Tx) error) error {
	s, _, crashed := b.now()
	if crashed {
		return store.ErrClosed
	}
	return run(newTx(s, false))
}

func (b *backend) Commit(run func(store.Tx) error) error {
	s, o, crashed := b.now()
	if crashed {
		return store.ErrClosed
	}
	t := newTx(s, true)
	if err := run(t); err != nil {
		return err
	}
	b.mu.Lock()
	b.commits++
	n := b.commits
	b.mu.Unlock()
	if o.Fault != nil {
		if err := o.Fault(n, Before); err != nil {
			return err
		}
	}
	b.mu.Lock()
	if b.crashed {
		b.mu.Unlock()
		return store.ErrClosed
	}
	b.state = t.state
	b.mu.Unlock()
	if o.Observe != nil {
		o.Observe(n)
	}
	if o.Fault != nil {
		if err := o.Fault(n, After); err != nil {
			return err
		}
	}
	if _, _, crashed := b.now(); crashed {
		return store.ErrClosed // a hook crashed it: the callers never learn
	}
	return nil
}

func (b *backend) Close() error { return nil }

// tx implements store.Tx on a state of its own.
type tx struct {
	state
	writable bool
	now      time.Time
}

func newTx(s state, writable bool) *tx {
	return &tx{state: s, writable: writable, now: time.Now().UTC().Truncate(time.Millisecond)}
}

func (t *tx) Get(keys ...[]byte) ([][]byte, error) {
	values := make([][]byte, len(keys))
	for i, k := range keys {
		values[i] = t.root.get(k)
	}
	return values, nil
}

func (t *tx) Put(key, value []byte) error {
	if !t.writable {
		return store.ErrReadOnly
	}
	if err := store.CheckKey(key); err != nil {
		return err
	}
	// The copy of the value is not nil even if it is empty: Get returns nil only
	// for what is missing.
	leaf := &node{key: bytes.Clone(key), value: append([]byte{}, value...), priority: priority(key)}
	t.root = t.root.put(leaf)
	return nil
}

func (t *tx) Delete(key []byte) error {
	if !t.writable {
		return store.ErrReadOnly
	}
	if t.root.get(key) != nil {
		t.root = t.root.delete(key)
	}
	return nil
}

func (t *tx) Scan(from, to []byte, limit int) ([]store.KV, error) {
	return t.root.ascend(nil, from, to, limit), nil
}

func (t *tx) ScanBack(from, to []byte, limit int) ([]store.KV, error) {
	return t.root.descend(nil, from, to, limit), nil
}

func (t *tx) Seq() (uint64, error) {
	if !t.writable {
		return 0, store.ErrReadOnly
	}
	t.seq++
	return t.seq, nil
}

func (t *tx) Now() time.Time { return t.now }
