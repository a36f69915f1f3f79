package adaptertest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
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

// seconds is RetryAfter as the platforms write it.
func (f Fault) seconds() int { return int((f.RetryAfter + time.Second - 1) / time.Second) }

// page is what a proxy answers in the platform's stead.
func (f Fault) page() answer {
	page := fmt.Sprintf("<html>\r\n<head><title>%d %s</title></head>\r\n</html>\r\n", f.Status, http.StatusText(f.Status))
	return answer{status: f.Status, contentType: "text/html", body: []byte(page)}
}

// fault is a Fault that waits for its calls.
type fault struct {
	Fault
	word    string   // a refusal in the platform's own word, instead of the Fault
	methods []string // lower case; empty: any
	left    int      // calls; negative: no end
	hits    int
}

// faults are what goes wrong next, guarded by the fake's mutex.
type faults []*fault

// add lets a fault wait for n calls of the methods, which are separated by
// spaces.
func (l *faults) add(methods string, n int, f Fault) *fault {
	ft := &fault{Fault: f, methods: strings.Fields(strings.ToLower(methods)), left: n}
	*l = append(*l, ft)
	return ft
}

// take finds the fault that hits a call; the zero fault: none.
func (l *faults) take(method string) fault {
	for i, f := range *l {
		if len(f.methods) > 0 && !slices.Contains(f.methods, strings.ToLower(method)) {
			continue
		}
		f.hits++
		f.left--
		if f.left == 0 {
			*l = slices.Delete(*l, i, i+1)
		}
		return *f
	}
	return fault{}
}

// Call is one request that a fake has seen.
type Call struct {
	Method string
	Params map[string]string // strings as they are, everything else as JSON
	Time   time.Time
}

// callsOf lists the calls of a method, of all methods if it is empty.
func callsOf(all []Call, method string) (calls []Call) {
	for _, c := range all {
		if method == "" || strings.EqualFold(c.Method, method) {
			calls = append(calls, c)
		}
	}
	return calls
}

// Shown is one message as a person sees it now.
type Shown struct {
	ID      string
	From    string // display name
	Own     bool   // the account under test has sent it
	Text    string // without markup
	Source  string // what was sent to be shown as Text; empty: Text itself
	Status  string // what is being done, shown apart from Text
	ReplyTo string // ID; empty: no reply, or its target is gone
	Topic   string
	Edits   int
	Pings   []string // whom it notifies, by account id; "here", "channel" and "everyone" are many
	Files   []SentFile
	Buttons []string // labels
}

// ownFiles are the files among what a person sees that we have sent.
func ownFiles(shown []Shown) (files []SentFile) {
	for _, m := range shown {
		if m.Own {
			files = append(files, m.Files...)
		}
	}
	return files
}
