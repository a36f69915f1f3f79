package boltkv

import (
	"bytes"
	"time"

	bolt "go.etcd.io/bbolt"

	"bellhop/store"
)

// tx implements store.Tx. What it returns points into the mapped file or into
// bbolt's own copies; bbolt moves neither before the transaction ends.
type tx struct {
	btx     *bolt.Tx
	bucket  *bolt.Bucket
	cursor  *bolt.Cursor // every use begins with a search, so writes cannot mislead it
	now     time.Time
	damage  error // the first that was met; such a transaction must not be committed
	deleted bool  // pages may be empty until the commit
}

func (t *tx) Get(keys ...[]byte) (values [][]byte, err error) {
	defer t.caught(&err)
	values = make([][]byte, len(keys))
	for i, key := range keys {
		if k, v := t.cursor.Seek(key); k != nil && bytes.Equal(k, key) {
			values[i] = v
		}
	}
	return values, nil
}

func (t *tx) Put(key, value []byte) (err error) {
	if !t.btx.Writable() {
		return store.ErrReadOnly
	}
	if err := store.CheckKey(key); err != nil {
		return err
	}
	defer t.caught(&err)
	// bbolt keeps the value until the commit, and the caller may not. The copy is
	// not nil even if it is empty: Get returns nil only for what is missing.
	return t.bucket.Put(key, append([]byte{}, value...))
}

func (t *tx) Delete(key []byte) (err error) {
	if !t.btx.Writable() {
		return store.ErrReadOnly
	}
	defer t.caught(&err)
	t.deleted = true
	return t.bucket.Delete(key)
}

func (t *tx) Scan(from, to []byte, limit int) (kvs []store.KV, err error) {
	defer t.caught(&err)
	for k, v := t.cursor.Seek(from); k != nil && bytes.Compare(k, to) < 0; k, v = t.cursor.Next() {
		if n := len(kvs); n > 0 && bytes.Compare(kvs[n-1].Key, k) >= 0 {
			panic("keys out of order") // without this, damaged pages could be walked for ever
		}
		kvs = append(kvs, store.KV{Key: k, Value: v})
		if len(kvs) == limit {
			break
		}
	}
	return kvs, nil
}

func (t *tx) ScanBack(from, to []byte, limit int) (kvs []store.KV, err error) {
	defer t.caught(&err)
	var first []byte // only known, and only needed, after a Delete
	if t.deleted {
		first, _ = t.cursor.First()
		if first == nil {
			return nil, nil // Cursor.Last never returns when every page is empty
		}
	}
	var v []byte
	k, _ := t.cursor.Seek(to)
	if k == nil {
		k, v = t.cursor.Last()
	} else {
		k, v = t.prev(first, to)
	}
	for k != nil && bytes.Compare(k, from) >= 0 {
		if n := len(kvs); n > 0 && bytes.Compare(kvs[n-1].Key, k) <= 0 {
			panic("keys out of order")
		}
		kvs = append(kvs, store.KV{Key: k, Value: v})
		if len(kvs) == limit {
			break
		}
		k, v = t.prev(first, k)
	}
	return kvs, nil
}

// prev steps back from the key at, or from the first one above it. Cursor.Prev
// returns nil at the beginning, but also on a page that Delete has emptied.
func (t *tx) prev(first, at []byte) (k, v []byte) {
	k, v = t.cursor.Prev()
	for k == nil && t.deleted && bytes.Compare(first, at) < 0 {
		k, v = t.cursor.Prev()
	}
	return k, v
}

func (t *tx) Seq() (n uint64, err error) {
	if !t.btx.Writable() {
		return 0, store.ErrReadOnly
	}
	defer t.caught(&err)
	return t.bucket.NextSequence()
}

func (t *tx) Now() time.Time { return t.now }

// ends reads the first pair and the last.
func (t *tx) ends() (err error) {
	defer t.caught(&err)
	t.cursor.First()
	t.cursor.Last()
	return nil
}

// caught makes a panic of bbolt the error of the method that defers it. When
// bbolt returns an error instead, that too is for something it should not have
// found, as all else has been checked before.
func (t *tx) caught(err *error) {
	if v := recover(); v != nil {
		*err = damage("in a transaction", v)
	} else if *err != nil {
		*err = damage("in a transaction", *err)
	}
	if *err != nil && t.damage == nil {
		t.damage = *err
	}
}
