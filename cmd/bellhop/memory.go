package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// gcFloor is how large the heap may grow before it is collected at all. At
	// rest and in single turns about 1 MB of it is alive, so this is a collection
	// every 30 turns or so.
	gcFloor = 9 << 19
	// gcRoom is how much garbage may gather above what is alive when more is: in
	// a burst of 500 messages about 5 MB, which Go's default would let double.
	gcRoom = 1 << 20
	// gcLeast bounds the room from below, in per cent of what is alive, so that
	// a large heap is not collected all the time.
	gcLeast = 20
	// goHeap is the heap that Go lets grow before the first collection, at
	// GOGC=100. Source: runtime.
	goHeap = 4 << 20
	// beside is what the runtime may hold beside the heap and the goroutines'
	// stacks before it gives unused pages back at once instead of by and by;
	// fragments grow with the heap, a quarter of it. In a burst it needs 7 MB at
	// least: below that it collects all the time.
	beside     = 15 << 19
	fragmentBy = 4
)

// frugal has the garbage collector leave little room above what is alive, but
// never less than a small heap needs, and give back what it does not use: a
// burst peaks about 5 MB lower than with Go's default, and a single turn costs no
// more processor time. GOGC or GOMEMLIMIT in the environment wins.
func frugal() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	held := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	var adjust func()
	adjust = func() {
		metrics.Read(held)
		alive, stacks := max(int64(held[0].Value.Uint64()), 1<<20), int64(held[1].Value.Uint64())
		goal := max(gcFloor, alive+gcRoom)
		percent := max(min((goal-alive)*100/alive, goal*100/goHeap), gcLeast)
		debug.SetGCPercent(int(percent))
		debug.SetMemoryLimit(beside + stacks + max(goal, alive+alive*percent/100)*(fragmentBy+1)/fragmentBy)
		// The next collection finds this mark unused and calls adjust again.
		runtime.AddCleanup(new([16]byte), func(struct{}) { adjust() }, struct{}{})
	}
	adjust()
}
