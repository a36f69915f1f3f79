package boltkv

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	bolt "go.etcd.io/bbolt"

	"bellhop/store"
)

// record is about as long as a message is.
var record = bytes.Repeat([]byte("v"), 500)

func numbered(i int64) []byte { return fmt.Appendf(nil, "m/%010d", i) }

// parallel lets n writers share b.N calls of write.
func parallel(b *testing.B, n int, write func(i int64) error) {
	var wg sync.WaitGroup
	var next atomic.Int64
	b.ResetTimer()
	for range n {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := write(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
}

// BenchmarkUpdate is what a durable write costs: through the Committer, and
// through bbolt's own two ways.
func BenchmarkUpdate(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("Committer/writers=%d", writers), func(b *testing.B) {
			b.ReportAllocs()
			e := open(b, b.TempDir())
			defer closeEngine(b, e)
			ctx := b.Context()
			parallel(b, writers, func(i int64) error {
				return e.Update(ctx, func(tx store.Tx) error { return tx.Put(numbered(i), record) })
			})
			b.ReportMetric(float64(b.N)/float64(e.Commits()), "updates/commit")
		})
		for name, run := range map[string]func(*bolt.DB, func(*bolt.Tx) error) error{
			"db.Update": (*bolt.DB).Update,
			"db.Batch":  (*bolt.DB).Batch,
		} {
			b.Run(fmt.Sprintf("%s/writers=%d", name, writers), func(b *testing.B) {
				b.ReportAllocs()
				bk, err := openFile(filepath.Join(b.TempDir(), fileName), Options{})
				if err != nil {
					b.Fatal(err)
				}
				defer func() {
					if err := bk.Close(); err != nil {
						b.Error(err)
					}
				}()
				parallel(b, writers, func(i int64) error {
					return run(bk.db, func(tx *bolt.Tx) error { return tx.Bucket(bucketName).Put(numbered(i), record) })
				})
			})
		}
	}
}

// load stores n records, many to a commit.
func load(tb testing.TB, e *Engine, n int) {
	tb.Helper()
	for i := 0; i < n; {
		err := e.Update(context.Background(), func(tx store.Tx) error {
			for end := min(i+5000, n); i < end; i++ {
				if err := tx.Put(numbered(int64(i)), record); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func BenchmarkView(b *testing.B) {
	const n = 100_000
	e := open(b, b.TempDir())
	defer closeEngine(b, e)
	load(b, e, n)
	for name, read := range map[string]func(store.Tx) error{
		"Get": func(tx store.Tx) error {
			_, err := tx.Get(numbered(rand.Int64N(n)))
			return err
		},
		"Get10": func(tx store.Tx) error {
			keys := make([][]byte, 10)
			for i := range keys {
				keys[i] = numbered(rand.Int64N(n))
			}
			_, err := tx.Get(keys...)
			return err
		},
		"Scan80": func(tx store.Tx) error {
			_, err := tx.Scan(numbered(rand.Int64N(n)), []byte("n"), 80)
			return err
		},
		"ScanBack80": func(tx store.Tx) error {
			_, err := tx.ScanBack([]byte("m"), numbered(rand.Int64N(n)), 80)
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := e.View(read); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// residentKB is the resident memory of the process that is its own: not the page
// cache's.
func residentKB(tb testing.TB) (kb float64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Skip(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		tb.Fatal(err)
	}
	return kb
}

// BenchmarkStore opens stores of several sizes and ages, and writes to them.
func BenchmarkStore(b *testing.B) {
	for _, c := range []struct {
		name    string
		records int
		prune   bool // delete nine of ten again
	}{
		{"new", 0, false},
		{"100MB", 180_000, false},
		{"1GB", 1_800_000, false},
		{"1GB pruned", 1_800_000, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			if testing.Short() && c.records > 0 {
				b.Skip("writes up to 1 GB")
			}
			dir := b.TempDir()
			e := open(b, dir)
			load(b, e, c.records)
			if c.prune {
				prune(b, e, c.records)
			}
			closeEngine(b, e)
			b.Run("Open", func(b *testing.B) {
				before := residentKB(b)
				for b.Loop() {
					e = open(b, dir)
					if err := e.Close(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(residentKB(b)-before, "anon-KB")
			})
			b.Run("Update", func(b *testing.B) { // writes the whole free list
				e = open(b, dir)
				defer closeEngine(b, e)
				for i := 0; b.Loop(); i++ {
					if err := e.Update(b.Context(), put("z", fmt.Append(nil, i))); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}

func prune(b *testing.B, e *Engine, records int) {
	for i := 0; i < records; {
		err := e.Update(b.Context(), func(tx store.Tx) error {
			for end := i + 5000; i < end; i++ {
				if i%1000 < 100 {
					continue
				}
				if err := tx.Delete(numbered(int64(i))); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
