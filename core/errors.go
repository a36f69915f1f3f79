package core

import (
	"errors"
	"fmt"
	"time"
)

// What a failed Send, Run or Resolve knows. See Adapter.
var (
	// ErrFatal: it can never work again without a person's help.
	ErrFatal = errors.New("fatal")
	// ErrUnknown: whether the message is shown cannot be told.
	ErrUnknown = errors.New("outcome unknown")
	// ErrNotSent: nothing was shown; trying again is safe.
	ErrNotSent = errors.New("not sent")
	// ErrRefused: the platform will never take this content at this place.
	ErrRefused = errors.New("refused")
	// ErrGone: the message to edit does not exist.
	ErrGone = errors.New("message is gone")
)

// Causes with which a run's context ends.
var (
	// ErrStopping: the process is shutting down; the run stays running in the
	// store and is resumed at the next start.
	ErrStopping = errors.New("shutting down")
	// ErrStale: a message of the run was edited before anything of the run was
	// stored; it begins again with the new text.
	ErrStale = errors.New("a message was edited meanwhile")
	// ErrRunOver: the store says that the run is over (a person stopped it, or
	// another settled it first). Its writes are refused.
	ErrRunOver = errors.New("run is over")
	// ErrWaiting: the run waits for a person; it goes on with the resume item
	// that their answer queues.
	ErrWaiting = errors.New("the run waits for a person")
)

// ErrNotFound: the store has no such row.
var ErrNotFound = errors.New("not found")

// RetryAfter is a platform's refusal for now: nothing was shown, and nothing
// should be tried before After has passed.
type RetryAfter struct {
	After  time.Duration
	Global bool // holds for the whole adapter, not only the place
	Err    error
}

func (e *RetryAfter) Error() string {
	return fmt.Sprintf("rate limited, retry after %s: %v", e.After, e.Err)
}

func (e *RetryAfter) Unwrap() error { return e.Err }

// Moved says that a channel has another id now; nothing was shown.
type Moved struct {
	From, To string // channels
}

func (e *Moved) Error() string { return fmt.Sprintf("channel %s is %s now", e.From, e.To) }

// UserError carries the text that a person sees for it.
type UserError struct {
	Text string
}

func (e *UserError) Error() string { return e.Text }
