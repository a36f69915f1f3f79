package store

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Backend is what an engine has to provide; a Committer makes an Engine of it.
// The Committer calls View from many goroutines, Commit from one at a time, and
// Close once, when nothing runs and nothing will.
type Backend interface {
	// View begins a read transaction, calls run, and ends it whatever run does.
	View(run func(Tx) error) error
	// Commit begins a write transaction and calls run. If run returns nil it
	// makes what was written durable, else it rolls back and returns run's error
	// as it is. It rolls back, too, if run does not return at all. An engine
	// whose transactions can collide may begin again and call run again.
	Commit(run func(Tx) error) error
	// Close releases what the engine holds.
	Close() error
}

// Committer is the Engine over a Backend: the group commit and the life cycle
// that all engines share. It starts no goroutine and no timer. A caller of
// Update that finds no commit running commits at once, on its own goroutine;
// those who come meanwhile wait and become the next batch, which the first of
// them leads. No mutex is held while a closure or a commit runs.
//
// A closure may call neither Update nor Close of its own engine: both would
// wait for the transaction that it is part of.
type Committer struct {
	backend Backend
	closed  chan struct{} // closed when the backend is
	seq     uint64        // the last number that a closure got; the leader's

	mu      sync.Mutex // guards the fields below
	leading bool       // a batch is running, or its leader has been named
	queue   []*call    // waiting for a place, in the order of their calls
	running int        // views, plus one for the leader
	idle    chan struct{}
	closing bool // nothing new may begin
	commits uint64
}

// call is one Update.
type call struct {
	f    func(Tx) error
	err  error     // its result
	wake chan bool // gets one value: true to lead the next batch, false when err is set
}

// maxBatch bounds the closures that share one engine transaction: when one of
// them fails after it has written, no more than these run again.
const maxBatch = 1024

var (
	// errClean and errRerun end a batch without a commit. Callers never see them.
	errClean = errors.New("nothing was written")
	errRerun = errors.New("a closure failed after it had written")
	// errCut is the result of closures whose batch one of them cut short by
	// ending its goroutine: runtime.Goexit, as FailNow of a test does.
	errCut = errors.New("transaction was cut short by runtime.Goexit")
)

// NewCommitter returns the Engine over b, which nothing else may use any more.
func NewCommitter(b Backend) *Committer {
	return &Committer{backend: b, closed: make(chan struct{})}
}

// Commits is how many engine transactions have been committed. Updates that
// shared one count once, those that wrote nothing not at all.
func (c *Committer) Commits() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.commits
}

// View implements Engine.
func (c *Committer) View(f func(Tx) error) error {
	c.mu.Lock()
	if c.closing {
		c.mu.Unlock()
		return ErrClosed
	}
	c.running++
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.leave()
	}()
	return c.backend.View(func(tx Tx) error { return protect(f, tx) })
}

// Update implements Engine. When ctx ends before f has a place in a batch, it
// returns the context's cause.
func (c *Committer) Update(ctx context.Context, f func(Tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.mu.Lock()
	if c.closing {
		c.mu.Unlock()
		return ErrClosed
	}
	k := &call{f: f}
	if !c.leading {
		c.leading = true
		c.running++
		c.mu.Unlock()
		c.lead([]*call{k})
		return k.err
	}
	k.wake = make(chan bool, 1)
	c.queue = append(c.queue, k)
	c.mu.Unlock()

	var leads bool
	select {
	case leads = <-k.wake:
	case <-ctx.Done():
		if c.withdraw(k) {
			return context.Cause(ctx)
		}
		leads = <-k.wake
	}
	if leads {
		c.lead(c.batch(k))
	}
	return k.err
}

// Close implements Engine. Updates that still wait for a place are refused.
func (c *Committer) Close() error {
	c.mu.Lock()
	if c.closing {
		c.mu.Unlock()
		<-c.closed
		return nil
	}
	c.closing = true
	for _, k := range c.queue {
		k.err = ErrClosed
		k.wake <- false
	}
	c.queue = nil
	c.idle = make(chan struct{})
	if c.running == 0 {
		close(c.idle)
	}
	c.mu.Unlock()

	<-c.idle
	defer close(c.closed)
	return c.backend.Close()
}

// leave ends one running view or the leadership. c.mu is held.
func (c *Committer) leave() {
	c.running--
	if c.running == 0 && c.idle != nil {
		close(c.idle)
	}
}

// withdraw takes k out of the queue and reports whether it was still there.
func (c *Committer) withdraw(k *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.queue, k)
	if i < 0 {
		return false
	}
	c.queue = slices.Delete(c.queue, i, i+1)
	return true
}

// batch returns the batch that k, named leader, leads: itself and who waits by
// now.
func (c *Committer) batch(k *call) []*call {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.queue), maxBatch-1)
	b := make([]*call, 1, 1+n)
	b[0] = k
	b = append(b, c.queue[:n]...)
	c.queue = slices.Delete(c.queue, 0, n)
	return b
}

// lead runs the batch, hands out the results, and names the next leader. All
// but the first of the batch wait for it.
func (c *Committer) lead(batch []*call) {
	// Deferred, for a closure may end this goroutine, and then nobody must be
	// left waiting.
	defer func() {
		for _, k := range batch[1:] {
			k.wake <- false
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.queue) == 0 {
			c.leading = false
			c.leave()
			return
		}
		next := c.queue[0]
		c.queue = slices.Delete(c.queue, 0, 1)
		next.wake <- true
	}()
	if !errors.Is(c.run(batch), errRerun) {
		return
	}
	for _, k := range batch {
		k.err = errCut
	}
	for i := range batch {
		_ = c.run(batch[i : i+1]) // which has set the result
	}
}

// run runs the batch in one engine transaction and sets the results. If it
// returns errRerun, the results stand for nothing.
func (c *Committer) run(batch []*call) (err error) {
	err = errCut
	defer func() {
		if err == nil || errors.Is(err, errClean) || errors.Is(err, errRerun) {
			return
		}
		// What a closure found wrong may have rested on what another had
		// written, so the failed commit is the result of all.
		for _, k := range batch {
			k.err = err
		}
	}()
	err = c.backend.Commit(func(tx Tx) error {
		keep := false
		for _, k := range batch {
			t := batchTx{Tx: tx, seq: &c.seq}
			k.err = protect(k.f, &t)
			switch {
			case k.err == nil:
				keep = keep || t.wrote || t.counted
			case !t.wrote && !errors.Is(k.err, ErrDamaged):
			case len(batch) == 1:
				return k.err
			default:
				// Also after damage, which may leave the engine's transaction in
				// a state that must not be committed.
				return errRerun
			}
		}
		if !keep {
			return errClean
		}
		return nil
	})
	if err == nil {
		c.mu.Lock()
		c.commits++
		c.mu.Unlock()
	}
	return err
}

// batchTx is the Tx of one closure of a batch; it notes what the closure did.
type batchTx struct {
	Tx
	wrote   bool    // called Put or Delete
	counted bool    // called Seq; a number lost to a failed closure is only a gap
	seq     *uint64 // the last number of any closure, also of one that was rolled back
}

func (t *batchTx) Put(key, value []byte) error {
	t.wrote = true
	return t.Tx.Put(key, value)
}

func (t *batchTx) Delete(key []byte) error {
	t.wrote = true
	return t.Tx.Delete(key)
}

func (t *batchTx) Seq() (uint64, error) {
	t.counted = true
	for {
		n, err := t.Tx.Seq()
		if err != nil || n > *t.seq {
			*t.seq = max(*t.seq, n)
			return n, err
		}
	}
}

// protect calls f and makes a panic its error.
func protect(f func(Tx) error, tx Tx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = Thrown(v)
		}
	}()
	return f(tx)
}
