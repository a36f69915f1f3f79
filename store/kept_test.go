package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bellhop/core"
	"bellhop/store"
	"bellhop/store/memkv"
)

// saying is what a row of the model says. Only a newer release has written news.
type saying struct {
	Title string `json:"title"`
	News  string `json:"news"`
}

// seen is what stored bytes say.
func seen(raw []byte) (s saying, err error) {
	return s, json.Unmarshal(raw[5:], &s)
}

// look compares what a transaction sees of a key, or of a range, with the model.
func look(r store.Rows, how, key string, rows map[string]saying) error {
	compare := func(raw []byte) error {
		got, err := seen(raw)
		if err != nil || got != rows[key] {
			return fmt.Errorf("%s of %s: %+v %w, want %+v", how, key, got, err, rows[key])
		}
		return nil
	}
	scan := func(kvs []store.KV, err error) error {
		var keys []string
		for _, kv := range kvs {
			if key = string(kv.Key); key == "meta/schema" {
				continue // the store's own
			}
			keys = append(keys, key)
			err = errors.Join(err, compare(kv.Value))
		}
		if how == "scan back" {
			slices.Reverse(keys)
		}
		want := slices.Sorted(maps.Keys(rows))
		want = slices.DeleteFunc(want, func(k string) bool { return k[0] == 'x' }) // beside the range
		if !slices.Equal(keys, want) {
			return fmt.Errorf("%s: %v, want %v", how, keys, want)
		}
		return err
	}
	want, stored := rows[key]
	switch how {
	case "read":
		th, ok, err := r.Thread([]byte(key))
		if err != nil || ok != stored || th.Title != want.Title {
			return fmt.Errorf("%s is %q %v %w, want %+v %v", key, th.Title, ok, err, want, stored)
		}
	case "get":
		raw, err := r.Get([]byte("xx"), []byte(key))
		if err != nil || (raw[1] != nil) != stored {
			return fmt.Errorf("%s is stored: %v %w, want %v", key, raw[1] != nil, err, stored)
		}
		if stored {
			return compare(raw[1])
		}
	case "scan":
		return scan(r.Scan([]byte("c/a"), []byte("t/c"), 0))
	case "scan back":
		return scan(r.ScanBack([]byte("c/a"), []byte("t/c"), 0))
	}
	return nil
}

// TestKeptRows does anything with the rows that a transaction keeps, and with
// others, and compares all that it sees, and what is stored in the end, with a
// model that keeps nothing.
func TestKeptRows(t *testing.T) {
	var keys []string
	for _, family := range []string{"c/", "g/", "p/", "t/", "x/"} {
		keys = append(keys, family+"a", family+"b")
	}
	ways := []string{"read", "get", "scan", "scan back"}
	type op struct{ do, key, title string }
	rapid.Check(t, func(rt *rapid.T) {
		s, err := store.Open(t.Context(), memkv.New(memkv.Options{}), store.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		stored := map[string]saying{}
		for range rapid.IntRange(1, 4).Draw(rt, "transactions") {
			ops := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) op {
				return op{
					rapid.SampledFrom(append([]string{"write", "write", "write", "newer", "delete"}, ways...)).Draw(rt, "do"),
					rapid.SampledFrom(keys).Draw(rt, "key"), rapid.StringMatching("[a-z]").Draw(rt, "title"),
				}
			}), 1, 12).Draw(rt, "ops")
			fails := rapid.Bool().Draw(rt, "fails")
			var now map[string]saying
			err := s.Update(t.Context(), func(r store.Rows) error {
				now = maps.Clone(stored)
				for _, o := range ops {
					var err error
					switch key := []byte(o.key); o.do {
					case "write":
						now[o.key] = saying{o.title, now[o.key].News}
						err = r.PutRow(key, core.Thread{Title: o.title})
					case "newer":
						now[o.key] = saying{o.title, "news"}
						err = r.Put(key, store.Seal(store.Schema+1, fmt.Sprintf(`{"title":%q,"news":"news"}`, o.title)))
					case "delete":
						delete(now, o.key)
						err = r.Delete(key)
					default:
						err = look(r, o.do, o.key, now)
					}
					if err != nil {
						return err
					}
				}
				if fails {
					return errFault
				}
				return nil
			})
			if err != nil && (!fails || !errors.Is(err, errFault)) {
				rt.Fatal(err)
			}
			if err == nil {
				stored = now
			}
			err = s.Update(t.Context(), func(r store.Rows) error {
				for _, how := range ways {
					for _, key := range keys {
						if err := look(r, how, key, stored); err != nil {
							return err
						}
					}
				}
				return nil
			})
			if err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// tally counts what a store puts, by family.
type tally struct {
	*memkv.Engine
	puts map[string]int
}

func (e *tally) Update(ctx context.Context, f func(store.Tx) error) error {
	return e.Engine.Update(ctx, func(t store.Tx) error { return f(tallyTx{t, e.puts}) })
}

type tallyTx struct {
	store.Tx
	puts map[string]int
}

func (t tallyTx) Put(key, value []byte) error {
	family, _, _ := strings.Cut(string(key), "/")
	t.puts[family]++
	return t.Tx.Put(key, value)
}

// However many messages a batch brings to a conversation, what they have in
// common is written once.
func TestABatchWritesAThreadOnce(t *testing.T) {
	w := newWorld(t)
	e := &tally{Engine: w.memory(), puts: map[string]int{}}
	s, err := store.Open(t.Context(), e, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var entries []core.Entry
	for i := range 300 {
		entry := w.spoken(fmt.Sprint("dm", i%3), "", fmt.Sprint("m", i), 0)
		entry.In.Direct = true
		entries = append(entries, entry)
	}
	clear(e.puts)
	if _, err := s.Accept(t.Context(), w.batch(entries...)); err != nil {
		t.Fatal(err)
	}
	for family, want := range map[string]int{"m": 300, "i": 300, "t": 3, "p": 3, "c": 3} {
		if e.puts[family] != want {
			t.Errorf("%d rows of %s are put, want %d", e.puts[family], family, want)
		}
	}
}
