package store

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// Errors of engines that keep a file.
var (
	// ErrDamaged: what is stored cannot be read; the text says what was found.
	// The transaction that met it fails alone, and others may go on.
	ErrDamaged = errors.New("store is damaged")
	// ErrReopen: a write failed in a way that leaves unknown what the disk holds,
	// so the engine refuses further writes. Closing it and opening it anew, which
	// reads back what there is, is the only way on.
	ErrReopen = errors.New("store takes no more writes until it is opened again")
)

// MaxKey is the greatest length of a key; the least is 1. An engine refuses
// others with an error.
const MaxKey = 32 << 10

// CheckKey is the error of an engine for a key it cannot store.
func CheckKey(key []byte) error {
	if n := len(key); n == 0 || n > MaxKey {
		return fmt.Errorf("key of %d bytes: 1 to %d are allowed", n, MaxKey)
	}
	return nil
}

// PanicError is the error of a closure that panicked. Its text is short; a log
// record also gets the stack.
type PanicError struct {
	Value any // what was thrown
	Stack []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("panic in a transaction: %v", e.Value)
}

// Unwrap gives the thrown error, if it was one.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// LogValue adds the stack.
func (e *PanicError) LogValue() slog.Value {
	return slog.GroupValue(slog.String("msg", e.Error()), slog.String("stack", string(e.Stack)))
}

// Thrown turns what recover returned into an error: ErrDamaged for a fault in
// mapped memory, which debug.SetPanicOnFault makes a panic, else a PanicError.
// It must be called by the deferred function itself, for the stack's sake.
func Thrown(v any) error {
	if fault, ok := v.(interface {
		error
		Addr() uintptr
	}); ok {
		return fmt.Errorf("%w: a page cannot be read: %w", ErrDamaged, fault)
	}
	return &PanicError{Value: v, Stack: debug.Stack()}
}
