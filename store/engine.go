package store

import (
	"context"
	"errors"
	"time"
)

// Engine is a durable, ordered map from byte keys to byte values with
// transactions. The domain transactions of this package are written once over
// it; store/boltkv and store/memkv implement it, and storetest holds them to
// this contract.
type Engine interface {
	// View calls f with a consistent snapshot. f must not wait for anything
	// else: no read transaction stays open while something blocks. Its Tx
	// refuses Put, Delete and Seq.
	View(f func(Tx) error) error
	// Update calls f and makes what it wrote durable before it returns nil; if
	// f or the commit fails, nothing of it is. Closures that wait at the same
	// time share one engine transaction, in the order of their calls, without a
	// fixed delay: a lone caller pays one commit, at once. When a closure fails
	// after it has written, the shared transaction is rolled back and its
	// closures run one by one, so f may run several times: it must touch nothing
	// but its Tx and what it sets anew on each run. A closure that fails before
	// its first write disturbs nobody. ctx only bounds the wait for a place in a
	// batch: once f has begun, Update waits for the commit's result. A panic in
	// f fails f alone, as an error.
	Update(ctx context.Context, f func(Tx) error) error
	// Close waits for running transactions, then closes. Later calls return
	// ErrClosed. Closing twice is harmless.
	Close() error
}

// Tx is one transaction. It and every slice it returns are valid until the
// closure returns; callers neither keep nor change them.
type Tx interface {
	// Get returns the values of the keys, nil where there is none. It sees
	// earlier writes of the same transaction.
	Get(keys ...[]byte) ([][]byte, error)
	Put(key, value []byte) error
	Delete(key []byte) error // of a missing key: no error
	// Scan returns the pairs with from <= key < to in key order, at most limit
	// of them (limit <= 0: all). It sees earlier writes of the same transaction.
	Scan(from, to []byte, limit int) ([]KV, error)
	// ScanBack is Scan from the end: the greatest keys below to come first.
	ScanBack(from, to []byte, limit int) ([]KV, error)
	// Seq returns the next number of the store-wide sequence: from 1, strictly
	// increasing, gaps allowed. A number is never another's: what is committed
	// keeps it for ever, and what was rolled back, or may have been, as long as
	// the engine is open.
	Seq() (uint64, error)
	// Now is the time of the transaction, to the millisecond, in UTC.
	Now() time.Time
}

// KV is one pair of a Scan.
type KV struct{ Key, Value []byte }

// Errors of engines.
var (
	ErrClosed   = errors.New("store is closed")
	ErrReadOnly = errors.New("write in a read-only transaction")
	// ErrNoSpace: the commit failed because the disk is full. Nothing of it is
	// stored, the engine stays usable, and a later Update may succeed.
	ErrNoSpace = errors.New("disk is full")
)
