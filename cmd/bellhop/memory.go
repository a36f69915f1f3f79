package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// gcRoom is how much garbage may gather between two collections. At rest and
	// in single turns about 1 MB is alive, in a burst 5 MB. A fixed GOGC either
	// lets a burst peak too high or collects every other turn for nothing.
	gcRoom = 3 << 19
	// gcLeast bounds the room from below, in per cent of what is alive, so that
	// a large heap is not collected all the time.
	gcLeast = 30
	// goHeap is the heap that Go lets grow before the first collection, at
	// GOGC=100. Source: runtime.
	goHeap = 4 << 20
)

// frugal has the garbage collector leave gcRoom of room, whatever is alive. The
// peak of a burst of 500 messages is about 5 MB lower than with Go's default,
// and a single turn costs no more processor time. GOGC in the environment wins.
func frugal() {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var adjust func()
	adjust = func() {
		metrics.Read(live)
		alive := max(int64(live[0].Value.Uint64()), 1<<20)
		percent := min(gcRoom*100/alive, (alive+gcRoom)*100/goHeap)
		debug.SetGCPercent(int(max(percent, gcLeast)))
		// The next collection finds this mark unused and calls adjust again.
		runtime.AddCleanup(new([16]byte), func(struct{}) { adjust() }, struct{}{})
	}
	adjust()
}
