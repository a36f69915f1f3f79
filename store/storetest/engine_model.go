package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"bellhop/store"
)

// model is the plainest store there is.
type model map[string]string

func (m model) scan(from, to string, limit int, back bool) []store.KV {
	var kvs []store.KV
	keys := slices.Sorted(maps.Keys(m))
	if back {
		slices.Reverse(keys)
	}
	for _, k := range keys {
		if from <= k && k < to && (limit <= 0 || len(kvs) < limit) {
			kvs = append(kvs, store.KV{Key: []byte(k), Value: []byte(m[k])})
		}
	}
	return kvs
}

// Keys are short, of few letters, so that operations meet.
var (
	someKey = rapid.OneOf(
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 'a', 'b', 0xfe, 0xff}), 1, 3), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.IntRange(0, 9), func(n int) string { return longKey(n) }),
	)
	someValue = rapid.Custom(func(t *rapid.T) string {
		n := rapid.SampledFrom([]int{0, 0, 1, 10, 300, 5000, 70_000}).Draw(t, "length")
		return string(bytes.Repeat([]byte{rapid.Byte().Draw(t, "fill")}, n))
	})
	someLimit = rapid.SampledFrom([]int{-1, 0, 1, 2, 7})
)

func longKey(n int) string { return string(bytes.Repeat([]byte{byte('0' + n)}, 700*n+1)) }

// testModel runs random operations against the engine and the model.
func testModel(t *testing.T, fresh func(*testing.T) func() Engine) {
	rapid.Check(t, func(rt *rapid.T) {
		open := fresh(t)
		e, committed := open(), model{}
		defer func() { closeEngine(t, e) }()
		rt.Repeat(map[string]func(*rapid.T){
			"update": func(rt *rapid.T) {
				want := rapid.SampledFrom([]error{nil, nil, nil, errTest}).Draw(rt, "result")
				m := maps.Clone(committed)
				err := e.Update(context.Background(), func(tx store.Tx) error {
					for range rapid.IntRange(1, 8).Draw(rt, "operations") {
						step(rt, tx, m, true)
					}
					return want
				})
				if !errors.Is(err, want) {
					rt.Fatalf("Update = %v, want %v", err, want)
				}
				if err == nil {
					committed = m
				}
			},
			"view": func(rt *rapid.T) {
				err := e.View(func(tx store.Tx) error { step(rt, tx, committed, false); return nil })
				if err != nil {
					rt.Fatal(err)
				}
			},
			"reopen": func(*rapid.T) {
				closeEngine(t, e)
				e = open()
			},
		})
	})
}

// step is one operation on both.
func step(t *rapid.T, tx store.Tx, m model, write bool) {
	ops := []string{"get", "scan", "back"}
	if write {
		ops = append(ops, "put", "put", "put", "delete", "fill", "clear")
	}
	var err error
	switch op := rapid.SampledFrom(ops).Draw(t, "op"); op {
	case "get":
		var keys [][]byte
		var want [][]byte
		for _, k := range rapid.SliceOfN(someKey, 1, 4).Draw(t, "keys") {
			keys = append(keys, []byte(k))
			var v []byte
			if s, ok := m[k]; ok {
				v = []byte(s)
			}
			want = append(want, v)
		}
		got, err := tx.Get(keys...)
		same := func(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }
		if err != nil || !slices.EqualFunc(got, want, same) {
			t.Fatalf("Get(%.20q) = %.20q, %v, want %.20q", keys, got, err, want)
		}
	case "scan", "back":
		from, to := someKey.Draw(t, "from"), someKey.Draw(t, "to")
		limit := someLimit.Draw(t, "limit")
		scan := tx.Scan
		if op == "back" {
			scan = tx.ScanBack
		}
		got, err := scan([]byte(from), []byte(to), limit)
		want := m.scan(from, to, limit, op == "back")
		same := func(a, b store.KV) bool { return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value) }
		if err != nil || !slices.EqualFunc(got, want, same) {
			t.Fatalf("%s(%.20q, %.20q, %d) = %.20q, %v, want %.20q", op, from, to, limit, got, err, want)
		}
	case "put":
		k, v := someKey.Draw(t, "key"), someValue.Draw(t, "value")
		err = tx.Put([]byte(k), []byte(v))
		m[k] = v
	case "delete":
		k := someKey.Draw(t, "key")
		err = tx.Delete([]byte(k))
		delete(m, k)
	case "fill": // enough for several pages
		for i := range 300 {
			k := fmt.Sprintf("a%03d", i)
			err = errors.Join(err, tx.Put([]byte(k), []byte(k)))
			m[k] = k
		}
	case "clear":
		from, to := someKey.Draw(t, "from"), someKey.Draw(t, "to")
		for _, kv := range m.scan(from, to, 0, false) {
			err = errors.Join(err, tx.Delete(kv.Key))
			delete(m, string(kv.Key))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// testWriters lets many goroutines count, and some of them fail, while others
// look on: the count is the number of successes, and nobody sees half of one.
func testWriters(t *testing.T, fresh func(*testing.T) func() Engine) {
	open := fresh(t)
	e := open()
	const writers, each = 8, 40
	var succeeded atomic.Int64
	count := func(tx store.Tx, fail bool) error {
		n := 0
		if v := get(tx, "count"); v != nil {
			if _, err := fmt.Sscan(string(v), &n); err != nil {
				return err
			}
		}
		for _, k := range []string{"count", "copy"} {
			if err := putAll(tx, k, fmt.Sprint(n+1)); err != nil {
				return err
			}
		}
		if fail {
			return errTest
		}
		return nil
	}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				fail := (w+i)%11 == 0
				err := e.Update(t.Context(), func(tx store.Tx) error { return count(tx, fail) })
				if errors.Is(err, errTest) != fail || err != nil && !fail {
					t.Errorf("Update = %v, should fail: %v", err, fail)
				}
				if err == nil {
					succeeded.Add(1)
				}
			}
		})
		wg.Go(func() {
			for range each {
				err := e.View(func(tx store.Tx) error {
					if a, b := get(tx, "count"), get(tx, "copy"); !bytes.Equal(a, b) {
						t.Errorf("a View saw half a transaction: %q and %q", a, b)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	closeEngine(t, e)
	e = open()
	n := fmt.Sprint(succeeded.Load())
	wantStored(t, e, "copy", n, "count", n)
	closeEngine(t, e)
}
