package storetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"bellhop/store"
)

// queue makes a batch of closures: while one Update holds the engine, it calls
// Update with each of them in turn, lets go, and returns their results.
func queue(t *testing.T, e Engine, closures ...func(store.Tx) error) []error {
	t.Helper()
	release := hold(t, e)
	results := make([]error, len(closures))
	returned := make([]chan struct{}, len(closures))
	for i, f := range closures {
		returned[i] = make(chan struct{})
		go func() {
			defer close(returned[i])
			results[i] = errors.New("goroutine ended")
			results[i] = e.Update(t.Context(), f)
		}()
		synctest.Wait() // until it waits for its place
	}
	release()
	for _, c := range returned {
		<-c
	}
	return results
}

// hold starts an Update and returns, while its closure waits, a function that
// ends it.
func hold(t *testing.T, e Engine) (release func()) {
	t.Helper()
	gate, returned := make(chan struct{}), make(chan error)
	go func() {
		returned <- e.Update(t.Context(), func(tx store.Tx) error {
			<-gate
			return tx.Put([]byte("held"), []byte("x"))
		})
	}()
	synctest.Wait()
	return func() {
		close(gate)
		if err := <-returned; err != nil {
			t.Errorf("the Update in front: %v", err)
		}
	}
}

// wants compares results: nil wants none, errTest any error that is errTest.
func wantResults(t *testing.T, got []error, want ...error) {
	t.Helper()
	for i, w := range want {
		if !errors.Is(got[i], w) {
			t.Errorf("result %d = %v, want %v", i, got[i], w)
		}
	}
}

func putter(pairs ...string) func(store.Tx) error {
	return func(tx store.Tx) error { return putAll(tx, pairs...) }
}

func testBatch(t *testing.T, open func() Engine) {
	e := open()
	defer closeEngine(t, e)
	const n = 20
	var order []string
	var closures []func(store.Tx) error
	for i := range n {
		closures = append(closures, func(tx store.Tx) error {
			order = append(order, fmt.Sprint(i))
			// Each sees what those before it wrote.
			return tx.Put([]byte("order"), append(get(tx, "order"), byte('a'+i)))
		})
	}
	wantResults(t, queue(t, e, closures...), make([]error, n)...)
	if e.Commits() != 2 {
		t.Errorf("%d closures took %d commits, want one, after the one in front", n, e.Commits()-1)
	}
	if len(order) != n {
		t.Errorf("closures ran %d times: %v", len(order), order)
	}
	wantStored(t, e, "held", "x", "order", "abcdefghijklmnopqrst")
}

func testFailsClean(t *testing.T, open func() Engine) {
	e := open()
	defer closeEngine(t, e)
	runs := 0
	got := queue(t, e,
		func(tx store.Tx) error { runs++; return putAll(tx, "a", "1") },
		func(tx store.Tx) error {
			if _, err := tx.Seq(); err != nil {
				return err
			}
			return errTest
		},
		func(store.Tx) error { panic(errTest) },
		func(tx store.Tx) error { runs++; return putAll(tx, "c", "3") },
	)
	wantResults(t, got, nil, errTest, errTest, nil)
	if runs != 2 || e.Commits() != 2 {
		t.Errorf("the others ran %d times in %d commits; want 2 in 1", runs, e.Commits()-1)
	}
	wantStored(t, e, "a", "1", "c", "3", "held", "x")
}

func testFailsDirty(t *testing.T, open func() Engine) {
	e := open()
	defer closeEngine(t, e)
	put(t, e, "z", "0")
	got := queue(t, e,
		putter("a", "1", "z", "1"),
		func(tx store.Tx) error {
			if z := get(tx, "z"); string(z) != "1" {
				t.Errorf("z = %q when the second closure ran", z)
			}
			if err := putAll(tx, "b", "2", "z", "2"); err != nil {
				return err
			}
			return errTest
		},
		func(tx store.Tx) error {
			if err := tx.Delete([]byte("a")); err != nil {
				return err
			}
			panic(errTest)
		},
		func(tx store.Tx) error { return putAll(tx, "c", string(get(tx, "z"))) },
	)
	wantResults(t, got, nil, errTest, errTest, nil)
	wantStored(t, e, "a", "1", "c", "1", "held", "x", "z", "1")
}

func testPanic(t *testing.T, open func() Engine) {
	e := open()
	defer closeEngine(t, e)
	for _, f := range []func(store.Tx) error{
		func(tx store.Tx) error { panic(errTest) },
		func(tx store.Tx) error { defer panic(errTest); return putAll(tx, "a", "1") },
	} {
		wantPanic(t, e.Update(t.Context(), f))
	}
	wantStored(t, e)
}

// wantPanic checks the error of a closure of this package that threw errTest.
func wantPanic(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, errTest) {
		t.Errorf("a panic's error is %v", err)
		return
	}
	if strings.Contains(err.Error(), "storetest") {
		t.Errorf("the text shows the stack: %v", err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Error("x", "err", err)
	if !strings.Contains(log.String(), "storetest.test") {
		t.Errorf("the log lacks the stack: %s", &log)
	}
}

// A closure that ends its goroutine (FailNow of a test does) leaves nobody
// waiting, and nothing half done.
func testGoexit(t *testing.T, open func() Engine) {
	e := open()
	defer closeEngine(t, e)
	exit := func(tx store.Tx) error {
		if err := putAll(tx, "b", "2"); err != nil {
			return err
		}
		runtime.Goexit()
		return nil
	}
	got := queue(t, e, exit, putter("a", "1"))
	if got[1] == nil {
		t.Error("a closure of a batch that was cut short succeeded")
	}
	wantStored(t, e, "held", "x")
	put(t, e, "c", "3")
	wantStored(t, e, "c", "3", "held", "x")

	// The same while the closures of a batch run one by one, on the goroutine of
	// the first of them.
	got = queue(t, e, putter("d", "4"),
		func(tx store.Tx) error { return errors.Join(putAll(tx, "e", "5"), errTest) },
		exit, putter("f", "6"))
	wantResults(t, got[1:2], errTest)
	if got[3] == nil {
		t.Error("a closure that never ran alone succeeded")
	}
	wantStored(t, e, "c", "3", "d", "4", "held", "x")
}

func testNothingWritten(t *testing.T, open func() Engine) {
	e := open()
	defer closeEngine(t, e)
	put(t, e, "a", "1")
	err := e.Update(t.Context(), func(tx store.Tx) error {
		_, err := tx.Get([]byte("a"))
		return err
	})
	if err != nil || e.Commits() != 1 {
		t.Errorf("an Update that only read: %v, and %d commits", err, e.Commits()-1)
	}
	got := queue(t, e, func(store.Tx) error { return nil }, func(store.Tx) error { return errTest })
	wantResults(t, got, nil, errTest)
	if e.Commits() != 2 {
		t.Errorf("a batch that wrote nothing took %d commits", e.Commits()-2)
	}
}

// More closures than a batch takes still run in order.
func testBounded(t *testing.T, open func() Engine) {
	e := open()
	defer closeEngine(t, e)
	const n = 2500
	var order, want []int
	var closures []func(store.Tx) error
	for i := range n {
		want = append(want, i)
		closures = append(closures, func(tx store.Tx) error {
			order = append(order, i)
			return putAll(tx, "n", fmt.Sprint(i))
		})
	}
	wantResults(t, queue(t, e, closures...), make([]error, n)...)
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if commits := e.Commits() - 1; commits < 2 || commits > 10 {
		t.Errorf("%d closures took %d commits", n, commits)
	}
	wantStored(t, e, "held", "x", "n", fmt.Sprint(n-1))
}

func testContext(t *testing.T, open func() Engine) {
	e := open()
	defer closeEngine(t, e)
	cause := errors.New("stopping")
	ctx, cancel := context.WithCancelCause(t.Context())

	// Cancelled while it waits: it never runs.
	release := hold(t, e)
	waiting, other := make(chan error), make(chan error)
	go func() { waiting <- e.Update(ctx, putter("never", "1")) }()
	synctest.Wait()
	go func() { other <- e.Update(t.Context(), putter("other", "1")) }()
	synctest.Wait()
	cancel(cause)
	if err := <-waiting; !errors.Is(err, cause) {
		t.Errorf("Update with a context that ended while it waited = %v", err)
	}
	release()
	if err := <-other; err != nil {
		t.Error(err)
	}

	// Cancelled before: neither.
	if err := e.Update(ctx, putter("never", "2")); !errors.Is(err, cause) {
		t.Errorf("Update with a context that had ended = %v", err)
	}

	// Cancelled once it has begun: too late.
	ctx, cancel = context.WithCancelCause(t.Context())
	err := e.Update(ctx, func(tx store.Tx) error {
		cancel(cause)
		return putAll(tx, "late", "1")
	})
	if err != nil {
		t.Errorf("Update whose context ended after it had begun = %v", err)
	}
	wantStored(t, e, "held", "x", "late", "1", "other", "1")
}

func testCloseTwice(t *testing.T, open func() Engine) {
	e := open()
	put(t, e, "a", "1")
	closeEngine(t, e)
	closeEngine(t, e)
	for _, err := range []error{
		e.Update(t.Context(), putter("b", "2")),
		e.View(func(store.Tx) error { t.Error("View ran after Close"); return nil }),
	} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("a call after Close = %v", err)
		}
	}
	e = open()
	wantStored(t, e, "a", "1")
	closeEngine(t, e)
}

func testCloseWhileWriting(t *testing.T, open func() Engine) {
	e := open()
	release := hold(t, e)
	waiting := make(chan error, 1)
	go func() { waiting <- e.Update(t.Context(), putter("never", "1")) }()
	synctest.Wait()
	closed := make(chan error, 2)
	for range 2 {
		go func() { closed <- e.Close() }()
	}
	if err := <-waiting; !errors.Is(err, store.ErrClosed) {
		t.Errorf("an Update that waited when the store was closed = %v", err)
	}
	if err := e.View(func(store.Tx) error { return nil }); !errors.Is(err, store.ErrClosed) {
		t.Errorf("View while the store is being closed = %v", err)
	}
	synctest.Wait()
	if len(closed) > 0 {
		t.Error("Close did not wait for the running Update")
	}
	release()
	wantResults(t, []error{<-closed, <-closed}, nil, nil)
	e = open()
	wantStored(t, e, "held", "x")
	closeEngine(t, e)
}

func testCloseWhileReading(t *testing.T, open func() Engine) {
	e := open()
	put(t, e, "a", "1")
	gate, read := make(chan struct{}), make(chan error)
	go func() {
		read <- e.View(func(tx store.Tx) error {
			<-gate
			if a := get(tx, "a"); string(a) != "1" {
				t.Errorf("a = %q while the store is being closed", a)
			}
			return nil
		})
	}()
	synctest.Wait()
	closed := make(chan error, 1)
	go func() { closed <- e.Close() }()
	synctest.Wait()
	if len(closed) > 0 {
		t.Error("Close did not wait for the running View")
	}
	close(gate)
	wantResults(t, []error{<-read, <-closed}, nil, nil)
}
