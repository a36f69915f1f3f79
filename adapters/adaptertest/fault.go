package adaptertest

import (
	"fmt"
	"time"
)

// Net is what happens to a request besides an answer.
type Net string

// The network's faults.
const (
	NetFine   Net = ""
	NetRefuse Net = "refuse" // no connection: the request never left
	NetLost   Net = "lost"   // the request took effect, its answer never came
	NetCut    Net = "cut"    // the request took effect, its answer ends in the middle
	NetHang   Net = "hang"   // no effect and no answer, until the caller gives up
	NetStall  Net = "stall"  // the request took effect, no answer until the caller gives up
)

// Always is the number of times for a fault that lasts until it is healed.
const Always = -1

// Fault is what goes wrong with a call.
type Fault struct {
	Status     int           // HTTP status, with a proxy's HTML page for a body; with NetLost, after the effect
	RetryAfter time.Duration // the platform's own "too many requests", whole seconds; Status is ignored
	Net        Net
}

func (f Fault) String() string {
	switch {
	case f.RetryAfter > 0:
		return fmt.Sprintf("retry after %s", f.RetryAfter)
	case f.Status > 0 && f.Net == NetLost:
		return fmt.Sprintf("status %d too late", f.Status)
	case f.Status > 0:
		return fmt.Sprintf("status %d", f.Status)
	}
	return string(f.Net)
}

// Call is one request that a fake has seen.
type Call struct {
	Method string
	Params map[string]string // strings as they are, everything else as JSON
	Time   time.Time
}

// Shown is one message as a person sees it now.
type Shown struct {
	ID      string
	From    string // display name
	Own     bool   // the account under test has sent it
	Text    string // without markup
	HTML    string // the source of Text, if it was sent as HTML with tags
	ReplyTo string // ID; empty: no reply, or its target is gone
	Topic   string
	Edits   int
}
