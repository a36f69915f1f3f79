// Package storetest holds the store's engines to their contract. Only tests
// import it.
package storetest

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"bellhop/store"
)

// Engine is what an engine of this project can do.
type Engine interface {
	store.Engine
	Commits() uint64
}

// RunEngine is the conformance suite of store.Engine. fresh makes a new, empty
// place to store in and returns a function that opens it; it is called again
// after Close, and then finds what was committed. Both must work inside a
// testing/synctest bubble.
func RunEngine(t *testing.T, fresh func(t *testing.T) (open func() Engine)) {
	for name, test := range map[string]func(*testing.T, func(*testing.T) func() Engine){
		"model":   testModel,
		"writers": testWriters,
	} {
		t.Run(name, func(t *testing.T) { test(t, fresh) })
	}
	for name, test := range map[string]func(*testing.T, func() Engine){
		"tx/keys and values":        testKeysAndValues,
		"tx/arguments are copied":   testArguments,
		"tx/emptied pages":          testEmptiedPages,
		"tx/sequence":               testSeq,
		"tx/time":                   testNow,
		"view/read only":            testReadOnly,
		"view/snapshot":             testSnapshot,
		"view/failing":              testViewFails,
		"batch/one commit in order": testBatch,
		"batch/failing clean":       testFailsClean,
		"batch/failing dirty":       testFailsDirty,
		"batch/panic":               testPanic,
		"batch/goexit":              testGoexit,
		"batch/nothing written":     testNothingWritten,
		"batch/bounded":             testBounded,
		"batch/context":             testContext,
		"close/twice":               testCloseTwice,
		"close/while writing":       testCloseWhileWriting,
		"close/while reading":       testCloseWhileReading,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, fresh(t)) })
		})
	}
}

var errTest = errors.New("made by the test")

// put writes the pairs in one Update.
func put(t *testing.T, e Engine, pairs ...string) {
	t.Helper()
	err := e.Update(t.Context(), func(tx store.Tx) error { return putAll(tx, pairs...) })
	if err != nil {
		t.Fatal(err)
	}
}

func putAll(tx store.Tx, pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		if err := tx.Put([]byte(pairs[i]), []byte(pairs[i+1])); err != nil {
			return err
		}
	}
	return nil
}

// stored returns all pairs with keys below 0xff, one after the other.
func stored(t *testing.T, e Engine) []string {
	t.Helper()
	var all []string
	err := e.View(func(tx store.Tx) error {
		kvs, err := tx.Scan(nil, []byte{0xff}, 0)
		for _, kv := range kvs {
			all = append(all, string(kv.Key), string(kv.Value))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// wantStored compares what is stored with the pairs, which are in key order.
func wantStored(t *testing.T, e Engine, pairs ...string) {
	t.Helper()
	if diff := cmp.Diff(pairs, stored(t, e), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

func closeEngine(t *testing.T, e Engine) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// get returns one value, nil if it is missing.
func get(tx store.Tx, key string) []byte {
	v, err := tx.Get([]byte(key))
	if err != nil {
		panic(err)
	}
	return bytes.Clone(v[0])
}
