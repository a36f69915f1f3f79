package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/store"
)

func testKeysAndValues(t *testing.T, open func() Engine) {
	e := open()
	long, huge := strings.Repeat("k", store.MaxKey), strings.Repeat("v", 1<<20)
	pairs := []string{
		"\x00", "zero",
		"\x00\x00", "two zeros",
		"a", "",
		"a\x00", "b",
		"a\xff", huge,
		"a\xff\xff", "c",
		"b", "d",
		long, "long",
	}
	put(t, e, pairs...)
	for range 2 {
		wantStored(t, e, pairs...)
		closeEngine(t, e)
		e = open()
	}
	defer closeEngine(t, e)
	err := e.View(func(tx store.Tx) error {
		got, err := tx.Get([]byte("a"), []byte("nobody"), nil, []byte("b"), []byte("a"))
		if diff := cmp.Diff([][]byte{{}, nil, nil, []byte("d"), {}}, got); diff != "" {
			t.Errorf("Get: empty, missing, no key, found, again (-want +got):\n%s", diff)
		}
		if none, err := tx.Get(); len(none) != 0 || err != nil {
			t.Errorf("Get() = %v, %v", none, err)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, key := range []string{"", long + "k"} {
		err := e.Update(t.Context(), func(tx store.Tx) error {
			if err := tx.Delete([]byte(key)); err != nil {
				t.Errorf("Delete of a key of %d bytes, which is missing: %v", len(key), err)
			}
			return tx.Put([]byte(key), nil)
		})
		if err == nil {
			t.Errorf("Put took a key of %d bytes", len(key))
		}
	}
	wantStored(t, e, pairs...)
}

// Callers may use their buffers again as soon as a method has returned.
func testArguments(t *testing.T, open func() Engine) {
	e := open()
	buf := []byte("key-value")
	err := e.Update(t.Context(), func(tx store.Tx) error {
		err := tx.Put(buf[:3], buf[4:])
		copy(buf, "XXXXXXXXX")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	wantStored(t, e, "key", "value")
	closeEngine(t, e)
	e = open()
	wantStored(t, e, "key", "value")
	closeEngine(t, e)
}

// A transaction that deletes whole runs of keys still scans right: engines keep
// emptied pages until the commit.
func testEmptiedPages(t *testing.T, open func() Engine) {
	e := open()
	defer closeEngine(t, e)
	const n = 500
	key := func(i int) []byte { return fmt.Appendf(nil, "%04d", i) }
	fill := func(tx store.Tx) error {
		for i := range n {
			if err := tx.Put(key(i), bytes.Repeat([]byte("v"), 200)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, gap := range [][2]int{{100, 400}, {0, 300}, {200, n}, {0, n}} {
		if err := e.Update(t.Context(), fill); err != nil {
			t.Fatal(err)
		}
		err := e.Update(t.Context(), func(tx store.Tx) error {
			for i := gap[0]; i < gap[1]; i++ {
				if err := tx.Delete(key(i)); err != nil {
					return err
				}
			}
			left := n - (gap[1] - gap[0])
			for name, scan := range map[string]func(from, to []byte, limit int) ([]store.KV, error){"Scan": tx.Scan, "ScanBack": tx.ScanBack} {
				if kvs, err := scan(nil, []byte("x"), 0); len(kvs) != left || err != nil {
					t.Errorf("after deleting %v, %s found %d, %v; want %d", gap, name, len(kvs), err, left)
				}
				if kvs, err := scan(key(gap[0]), key(gap[1]), 0); len(kvs) != 0 || err != nil {
					t.Errorf("%s found %d, %v in the gap %v", name, len(kvs), err, gap)
				}
				if kvs, err := scan(nil, key(gap[1]), 0); len(kvs) != gap[0] || err != nil {
					t.Errorf("%s found %d, %v below the gap %v", name, len(kvs), err, gap)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	wantStored(t, e)
}

func testSeq(t *testing.T, open func() Engine) {
	e := open()
	var last, kept uint64 // the last of all, and of what is committed
	next := func(want error) {
		t.Helper()
		var got uint64
		err := e.Update(t.Context(), func(tx store.Tx) error {
			for range 3 {
				n, err := tx.Seq()
				if err != nil {
					return err
				}
				if n <= max(last, got) {
					t.Errorf("Seq = %d after %d and %d", n, last, got)
				}
				got = n
			}
			return want
		})
		if !errors.Is(err, want) {
			t.Fatalf("Update = %v, want %v", err, want)
		}
		last = got
		if err == nil {
			kept = got
		}
	}
	next(nil)
	if last != 3 {
		t.Errorf("the sequence began with %d, not with 1", last-2)
	}
	for range 3 {
		next(errTest)
		next(nil)
		next(errTest)
		closeEngine(t, e)
		e, last = open(), kept
	}
	next(nil)
	closeEngine(t, e)
}

func testNow(t *testing.T, open func() Engine) {
	e := open()
	defer closeEngine(t, e)
	time.Sleep(1234567 * time.Nanosecond) // of the bubble's clock
	check := func(tx store.Tx) error {
		now := tx.Now()
		if want := time.Now().UTC().Truncate(time.Millisecond); now != want {
			t.Errorf("Now = %v, want %v", now, want)
		}
		return nil
	}
	if err := errors.Join(e.View(check), e.Update(t.Context(), check)); err != nil {
		t.Error(err)
	}
}

func testReadOnly(t *testing.T, open func() Engine) {
	e := open()
	defer closeEngine(t, e)
	put(t, e, "a", "1")
	err := e.View(func(tx store.Tx) error {
		_, err := tx.Seq()
		for _, err := range []error{err, tx.Put([]byte("a"), nil), tx.Delete([]byte("a"))} {
			if !errors.Is(err, store.ErrReadOnly) {
				t.Errorf("a write in View = %v", err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	wantStored(t, e, "a", "1")
}

// A View sees one state, whatever is committed meanwhile.
func testSnapshot(t *testing.T, open func() Engine) {
	e := open()
	defer closeEngine(t, e)
	put(t, e, "a", "1", "b", "1")
	err := e.View(func(tx store.Tx) error {
		for _, n := range []string{"2", "3"} {
			put(t, e, "a", n, "c", n)
			kvs, err := tx.Scan(nil, []byte{0xff}, 0)
			if err != nil {
				return err
			}
			if a := get(tx, "a"); string(a) != "1" || get(tx, "c") != nil || len(kvs) != 2 {
				t.Errorf("the snapshot changed: a = %q, %d pairs", a, len(kvs))
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	wantStored(t, e, "a", "3", "b", "1", "c", "3")
}

func testViewFails(t *testing.T, open func() Engine) {
	e := open()
	defer closeEngine(t, e)
	if err := e.View(func(store.Tx) error { return errTest }); !errors.Is(err, errTest) {
		t.Errorf("View = %v, want the closure's error", err)
	}
	wantPanic(t, e.View(func(store.Tx) error { panic(errTest) }))
	wantStored(t, e)
}
