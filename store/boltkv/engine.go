// Package boltkv is the store.Engine on bbolt: one file, a folder and a lock
// file around it. It imports store and bbolt, and starts no goroutine.
//
// bbolt's panics do not leave the package, nor do its own error values. A page that cannot
// be read (bbolt panics, or touching the mapped file faults) is
// store.ErrDamaged for the transaction that met it. What no process survives
// is a stack that overflows on a cycle of damaged pages, so a file that is
// suspected belongs into a child process first.
package boltkv

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"

	"bellhop/store"
)

// fillPercent is how full a page stays when it splits. Most keys are added at
// the end of their family, so what is behind them changes no more: with bbolt's
// own 0.5 a store of messages was 1.6 to 2 times as large, at as many writes.
const fillPercent = 0.9

// backend implements store.Backend.
type backend struct {
	db   *bolt.DB
	file *os.File // db's descriptor
	lock *os.File // nil while the file is being created

	readOnly atomic.Pointer[error] // why writes are refused, once they are
	jammed   atomic.Pointer[error] // bbolt panicked and may hold its locks: it must not be called again
}

func (b *backend) View(run func(store.Tx) error) error {
	return b.view(func(t *tx) error { return run(t) })
}

func (b *backend) view(run func(*tx) error) error {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	t, err := b.begin(false)
	if err != nil {
		return err
	}
	defer b.end(t)
	err = run(t)
	if t.damage != nil {
		return t.damage
	}
	return err
}

func (b *backend) Commit(run func(store.Tx) error) error {
	if err := b.readOnly.Load(); err != nil {
		return *err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	t, err := b.begin(true)
	if err != nil {
		return err
	}
	defer b.end(t)
	if err := run(t); err != nil {
		return err
	}
	if t.damage != nil {
		return t.damage
	}
	return b.commit(t)
}

// Close implements store.Backend.
func (b *backend) Close() error {
	var err error
	if b.jammed.Load() != nil {
		// bbolt's Close might wait for ever. Closing the descriptor lets go of
		// the file; the mapping stays until the process ends.
		err = b.file.Close()
	} else {
		err = b.call("closing the file", b.db.Close)
	}
	if b.lock != nil {
		err = errors.Join(err, b.lock.Close())
	}
	return err
}

func (b *backend) begin(writable bool) (*tx, error) {
	var t *tx
	err := b.call("beginning a transaction", func() error {
		btx, err := b.db.Begin(writable)
		if err != nil {
			return b.refuse(fmt.Errorf("%w: %w", store.ErrReopen, err))
		}
		t = &tx{btx: btx, bucket: btx.Bucket(bucketName), now: time.Now().UTC().Truncate(time.Millisecond)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if t.bucket == nil {
		b.end(t)
		return nil, fmt.Errorf("%w: it has no bucket %q", store.ErrDamaged, bucketName)
	}
	t.bucket.FillPercent = fillPercent
	t.cursor = t.bucket.Cursor()
	return t, nil
}

// end ends a transaction, by a rollback if it has not been committed.
func (b *backend) end(t *tx) {
	_ = b.call("ending a transaction", t.btx.Rollback) // fails only if it is over already
}

// commit commits and decides what a failure means.
func (b *backend) commit(t *tx) error {
	id := t.btx.ID()
	err := b.call("committing a transaction", t.btx.Commit)
	switch {
	case err == nil || b.jammed.Load() != nil:
		return err
	case noSpace(err) && !b.reached(id):
		return fmt.Errorf("%w: %w", store.ErrNoSpace, err)
	}
	// The kernel drops pages that it could not write back and reports this once,
	// so that after a failed sync no later one proves anything.
	return b.refuse(fmt.Errorf("%w: %w", store.ErrReopen, err))
}

// reached reports whether the failed transaction id took effect all the same:
// if it was the last sync that failed, readers see it, and whether the disk
// holds it is unknown.
func (b *backend) reached(id int) bool {
	t, err := b.begin(false)
	if err != nil {
		return true
	}
	defer b.end(t)
	return t.btx.ID() >= id
}

// refuse makes err the result of all later writes.
func (b *backend) refuse(err error) error {
	b.readOnly.CompareAndSwap(nil, &err)
	return err
}

// call calls into bbolt outside of a transaction's own methods. Once bbolt has
// panicked there, nobody may call it any more.
func (b *backend) call(what string, f func() error) (err error) {
	if err := b.jammed.Load(); err != nil {
		return *err
	}
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w; %w", damage(what, v), store.ErrReopen)
			b.jammed.Store(&err)
		}
	}()
	return f()
}

// damage is the error for what bbolt threw or returned.
func damage(what string, v any) error {
	return fmt.Errorf("%w: %s: %v", store.ErrDamaged, what, v)
}

// noSpace reports whether the disk, a quota, or the process's own limit has no
// room for the file.
func noSpace(err error) bool {
	for _, e := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		// bbolt wraps the error of a write, but only quotes that of growing the
		// file.
		if errors.Is(err, e) || strings.HasSuffix(err.Error(), e.Error()) {
			return true
		}
	}
	return false
}
