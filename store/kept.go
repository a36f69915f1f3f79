package store

import (
	"bytes"
	"maps"
	"slices"
)

// A transaction that writes keeps the rows that many events of a batch have in
// common, decoded: each is read once and written once, however many messages
// its thread gets. Nobody notices, for whoever looks at stored bytes finds them
// written. As everywhere, who changes a row replaces its slices and maps, and
// leaves those that it has read as they are.

// shared are the families of such rows.
var shared = []string{famThread, famPlace, famCursor}

func isShared(key []byte) bool {
	family := key[:bytes.IndexByte(key, '/')+1]
	return slices.ContainsFunc(shared, func(f string) bool { return string(family) == f })
}

// kept is a row as it was last read or put.
type kept struct {
	row     any
	unsaved bool // put, and not written yet
}

// keep takes a row, if it is one to keep, and reports whether it is.
func (t *tx) keep(key []byte, row any, unsaved bool) bool {
	if t.kept == nil || !isShared(key) {
		return false
	}
	t.kept[string(key)] = kept{row, unsaved}
	return true
}

// save writes a kept row, if that is still to be done, keeping what a newer
// release stored in it.
func (t *tx) save(key []byte) error {
	k := t.kept[string(key)]
	if !k.unsaved {
		return nil
	}
	old, err := t.Tx.Get(key)
	if err != nil {
		return err
	}
	b, err := rewrite(old[0], k.row)
	if err != nil {
		return err
	}
	t.kept[string(key)] = kept{row: k.row}
	return t.Tx.Put(key, b)
}

// saveAll writes what is still to be written.
func (t *tx) saveAll() error {
	for _, key := range slices.Sorted(maps.Keys(t.kept)) {
		if err := t.save([]byte(key)); err != nil {
			return err
		}
	}
	return nil
}

// saveFor writes all that a scan may come upon.
func (t *tx) saveFor(from, to []byte) error {
	for _, f := range shared {
		if family := []byte(f); bytes.Compare(from, after(family)) < 0 && bytes.Compare(family, to) < 0 {
			return t.saveAll()
		}
	}
	return nil
}

// Get implements Tx.
func (t *tx) Get(keys ...[]byte) ([][]byte, error) {
	for _, key := range keys {
		if err := t.save(key); err != nil {
			return nil, err
		}
	}
	return t.Tx.Get(keys...)
}

// Put implements Tx.
func (t *tx) Put(key, value []byte) error {
	delete(t.kept, string(key))
	return t.Tx.Put(key, value)
}

// Delete implements Tx.
func (t *tx) Delete(key []byte) error {
	delete(t.kept, string(key))
	return t.Tx.Delete(key)
}

// Scan implements Tx.
func (t *tx) Scan(from, to []byte, limit int) ([]KV, error) {
	if err := t.saveFor(from, to); err != nil {
		return nil, err
	}
	return t.Tx.Scan(from, to, limit)
}

// ScanBack implements Tx.
func (t *tx) ScanBack(from, to []byte, limit int) ([]KV, error) {
	if err := t.saveFor(from, to); err != nil {
		return nil, err
	}
	return t.Tx.ScanBack(from, to, limit)
}
