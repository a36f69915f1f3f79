package store_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"bellhop/store"
)

// fakeBackend is a Backend that stores nothing and fails as told.
type fakeBackend struct {
	fail    func() error // the result of each commit, if set
	batches []int        // Puts, per call of Commit
	closed  int
}

var errFake = errors.New("made by the test")

func (b *fakeBackend) View(run func(store.Tx) error) error { return run(fakeTx{b: b}) }

func (b *fakeBackend) Commit(run func(store.Tx) error) error {
	b.batches = append(b.batches, 0)
	if err := run(fakeTx{b: b}); err != nil {
		return err
	}
	if b.fail != nil {
		return b.fail()
	}
	return nil
}

func (b *fakeBackend) Close() error {
	b.closed++
	return errFake
}

// fakeTx counts the Puts. It has no other method.
type fakeTx struct {
	store.Tx
	b *fakeBackend
}

func (t fakeTx) Put(_, _ []byte) error {
	t.b.batches[len(t.b.batches)-1]++
	return nil
}

type fault struct{ error }

func (fault) Addr() uintptr { return 0xbad }

func put(tx store.Tx) error { return tx.Put(nil, nil) }

// batch calls Update with each of the closures while one in front holds the
// engine, and returns the results.
func batch(t *testing.T, c *store.Committer, closures ...func(store.Tx) error) []error {
	t.Helper()
	gate := make(chan struct{})
	results := make([]chan error, len(closures)+1)
	for i, f := range append([]func(store.Tx) error{func(tx store.Tx) error { <-gate; return put(tx) }}, closures...) {
		results[i] = make(chan error, 1)
		go func() { results[i] <- c.Update(t.Context(), f) }()
		synctest.Wait()
	}
	close(gate)
	errs := make([]error, len(results))
	for i, r := range results {
		errs[i] = <-r
	}
	return errs[1:]
}

// When the commit fails, it fails for all: what a closure found wrong may have
// rested on what another had written.
func TestCommitFailsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeBackend{}
		c := store.NewCommitter(b)
		b.fail = func() error {
			if len(b.batches) > 1 {
				return store.ErrNoSpace
			}
			return nil
		}
		for i, err := range batch(t, c, put, func(store.Tx) error { return errFake }, put) {
			if !errors.Is(err, store.ErrNoSpace) || errors.Is(err, errFake) {
				t.Errorf("result %d = %v, want that of the commit", i, err)
			}
		}
		if c.Commits() != 1 {
			t.Errorf("%d commits are counted, one succeeded", c.Commits())
		}
		b.fail = nil
		if err := c.Update(t.Context(), put); err != nil || c.Commits() != 2 {
			t.Errorf("the next Update = %v, and %d commits", err, c.Commits())
		}
	})
}

// Damage that one closure meets fails that one alone, although it has written
// nothing.
func TestDamageIsNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeBackend{}
		c := store.NewCommitter(b)
		errs := batch(t, c, put, func(store.Tx) error { panic(fault{errFake}) }, put)
		if errs[0] != nil || !errors.Is(errs[1], store.ErrDamaged) || errs[2] != nil {
			t.Errorf("results = %v", errs)
		}
		if got := fmt.Sprint(b.batches); got != "[1 1 1 0 1]" {
			t.Errorf("writes per transaction = %s: want the one in front, the batch, and each alone", got)
		}
	})
}

func TestBatchIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeBackend{}
		closures := make([]func(store.Tx) error, 2500)
		for i := range closures {
			closures[i] = put
		}
		batch(t, store.NewCommitter(b), closures...)
		if got := fmt.Sprint(b.batches); got != "[1 1024 1024 452]" {
			t.Errorf("closures per transaction = %s", got)
		}
	})
}

func TestCloseReturnsTheBackendsError(t *testing.T) {
	b := &fakeBackend{}
	c := store.NewCommitter(b)
	if err := c.Close(); !errors.Is(err, errFake) {
		t.Errorf("Close = %v", err)
	}
	if err := c.Close(); err != nil || b.closed != 1 {
		t.Errorf("the second Close = %v, after %d of the backend", err, b.closed)
	}
}

// A caller that finds nobody at work must not pay for those who would wait.
func TestLoneUpdateAllocates(t *testing.T) {
	c := store.NewCommitter(&fakeBackend{batches: make([]int, 0, 10_000)})
	ctx := t.Context()
	if n := testing.AllocsPerRun(1000, func() { _ = c.Update(ctx, put) }); n > 5 {
		t.Errorf("a lone Update allocates %v times beside its engine", n)
	}
}
