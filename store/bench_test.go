package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/store"
	"bellhop/store/boltkv"
	"bellhop/store/memkv"
)

// engines runs a benchmark on both.
func engines(b *testing.B, f func(b *testing.B, s *store.Store, e engine)) {
	for name, open := range map[string]func() engine{
		"memkv": func() engine { return memkv.New(memkv.Options{}) },
		"boltkv": func() engine {
			e, err := boltkv.Open(b.TempDir(), boltkv.Options{})
			if err != nil {
				b.Fatal(err)
			}
			return e
		},
	} {
		b.Run(name, func(b *testing.B) {
			e := open()
			s, err := store.Open(b.Context(), e, store.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			f(b, s, e)
			if err := s.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}

// entry is a person's n-th message in a channel.
func entry(channel string, n int) core.Entry {
	id := fmt.Sprintf("%s.%d", channel, n)
	return core.Entry{Role: core.Member, Agent: chief, In: core.Inbound{Key: id, Kind: core.InMessage, Direct: true, From: ann, MessageID: id,
		Place: core.Place{Adapter: "chat", Channel: channel}, Text: "What is the weather like in the mountains today?", Time: time.Now()}}
}

func accept(b *testing.B, s *store.Store, entries ...core.Entry) []core.Item {
	a, err := s.Accept(b.Context(), core.Batch{Entries: entries, Bots: bots, Split: split})
	if err != nil {
		b.Fatal(err)
	}
	return a.Items
}

func pick(b *testing.B, s *store.Store, items ...core.Item) core.Run {
	run, _, err := s.Pick(b.Context(), items, 80, 80)
	if err != nil {
		b.Fatal(err)
	}
	return run
}

func settle(b *testing.B, s *store.Store, run core.Run, open *core.Receipt) core.Row {
	done, err := s.Settle(b.Context(), run, open, end("It is sunny, and it will stay so until Thursday."))
	if err != nil {
		b.Fatal(err)
	}
	return done.Rows[0]
}

func BenchmarkAccept(b *testing.B) {
	for _, size := range []int{1, 100, 1000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			engines(b, func(b *testing.B, s *store.Store, _ engine) {
				n := 0
				for b.Loop() {
					entries := make([]core.Entry, size)
					for i := range entries {
						n++
						entries[i] = entry(fmt.Sprint("c", n%50), n)
					}
					accept(b, s, entries...)
				}
			})
		})
	}
}

// BenchmarkPick picks one message of a thread that has 80.
func BenchmarkPick(b *testing.B) {
	engines(b, func(b *testing.B, s *store.Store, _ engine) {
		var items []core.Item
		for n := range 40 {
			items = accept(b, s, entry("dm", n))
			if n < 39 {
				settle(b, s, pick(b, s, items...), nil)
			}
		}
		for b.Loop() {
			pick(b, s, items...)
		}
	})
}

// BenchmarkSettle also stores the pick, of one message; a thousand others wait.
func BenchmarkSettle(b *testing.B) {
	engines(b, func(b *testing.B, s *store.Store, _ engine) {
		for n := range 1000 {
			accept(b, s, entry(fmt.Sprint("busy", n%10), n))
		}
		n := 0
		for b.Loop() {
			b.StopTimer()
			n++
			run := pick(b, s, accept(b, s, entry(fmt.Sprint("c", n%50), n))...)
			b.StartTimer()
			settle(b, s, run, nil)
		}
	})
}

// BenchmarkTurn is a whole turn: a message, its run with an open, its answer.
func BenchmarkTurn(b *testing.B) {
	engines(b, func(b *testing.B, s *store.Store, e engine) {
		n := 0
		before := e.Commits()
		for b.Loop() {
			n++
			run := pick(b, s, accept(b, s, entry(fmt.Sprint("c", n%50), n))...)
			if err := s.Opened(b.Context(), run, core.Receipt{ID: fmt.Sprint("open", n)}); err != nil {
				b.Fatal(err)
			}
			if _, err := s.Delivered(b.Context(), settle(b, s, run, nil), core.Receipt{ID: fmt.Sprint("open", n)}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(e.Commits()-before)/float64(n), "commits/op")
	})
}

// BenchmarkRecover starts over many threads in which nothing is left to do.
func BenchmarkRecover(b *testing.B) {
	for _, threads := range []int{10, 10_000} {
		b.Run(fmt.Sprint(threads), func(b *testing.B) {
			e := memkv.New(memkv.Options{})
			s, err := store.Open(b.Context(), e, store.Options{})
			if err != nil {
				b.Fatal(err)
			}
			for n := range threads {
				row := settle(b, s, pick(b, s, accept(b, s, entry(fmt.Sprint("c", n), n))...), nil)
				if _, err := s.Delivered(b.Context(), row, core.Receipt{ID: fmt.Sprint(n)}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Recover(context.Background(), func(string) bool { return true }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPruneTasks forgets all of 100,000 turns, of two steps each. That is for
// a disk: memory would take minutes to fill.
func BenchmarkPruneTasks(b *testing.B) {
	const turns = 100_000
	engines(b, func(b *testing.B, s *store.Store, e engine) {
		if _, ok := e.(*memkv.Engine); ok {
			b.Skip("only on disk")
		}
		for b.Loop() {
			b.StopTimer()
			for n := 0; n < turns; n += 500 {
				entries := make([]core.Entry, 500)
				for i := range entries {
					entries[i] = entry(fmt.Sprint(i), n+i)
				}
				var wait sync.WaitGroup
				for _, it := range accept(b, s, entries...) {
					wait.Go(func() {
						run, _, err := s.Pick(b.Context(), []core.Item{it}, 1, 1)
						for n := range 2 {
							err = errors.Join(err, s.Step(b.Context(), run, core.Step{Run: run.ID, N: n + 1, Parts: []core.Part{core.Text("It is sunny.")}}))
						}
						if _, over := s.Settle(b.Context(), run, nil, end("Sunny.")); errors.Join(err, over) != nil {
							b.Error(err, over)
						}
					})
				}
				wait.Wait()
			}
			began, before := e.Commits(), time.Now().Add(time.Hour)
			var longest time.Duration
			b.StartTimer()
			for from, more := core.ID(""), true; more; more = from != "" {
				at := time.Now()
				var err error
				if from, err = s.PruneTasks(b.Context(), before, from); err != nil {
					b.Fatal(err)
				}
				longest = max(longest, time.Since(at))
			}
			b.ReportMetric(float64(5*turns)/float64(e.Commits()-began), "rows/commit")
			b.ReportMetric(float64(longest.Milliseconds()), "ms/longest")
		}
	})
}
