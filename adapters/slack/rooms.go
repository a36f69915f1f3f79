package slack

import (
	"sync"
	"time"

	"bellhop/core"
)

// spot is a message's address: no other has its channel and time stamp.
type spot struct{ channel, ts string }

// kind tells channels apart.
type kind string

const (
	direct  kind = "im"      // one person and us
	several kind = "mpim"    // several people, without a name
	named   kind = "channel" // public or private, of several people
)

// rooms is what this process has learned of channels and threads. All of it is
// bounded and can be lost: then a call to Slack, or something nice, is missing.
type rooms struct {
	mu       sync.Mutex
	kinds    *recent[string, kind]      // guarded by mu
	topics   *recent[spot, string]      // of messages; guarded by mu
	latest   *recent[core.Place, heard] // guarded by mu
	statuses *recent[spot, status]      // shown at the root of a thread; guarded by mu
}

// heard is the last message of a person at a place.
type heard struct{ ts, user string }

// status is "is working" below a place's thread.
type status struct {
	place core.Place
	since time.Time
}

func newRooms() *rooms {
	return &rooms{
		kinds:    newRecent[string, kind](2048),
		topics:   newRecent[spot, string](4096),
		latest:   newRecent[core.Place, heard](2048),
		statuses: newRecent[spot, status](512),
	}
}

// kind is what is known of a channel. The ids of direct ones begin with D.
func (r *rooms) kind(id string) (kind, bool) {
	if id != "" && id[0] == 'D' {
		return direct, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kinds.get(id)
}

func (r *rooms) setKind(id string, k kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kinds.put(id, k)
}

// topic is the Topic of the place where a message stands.
func (r *rooms) topic(s spot) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.topics.get(s)
}

func (r *rooms) setTopic(s spot, topic string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.topics.put(s, topic)
}

// person is who spoke last at a place, and where.
func (r *rooms) person(p core.Place) (heard, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.latest.get(p)
}

// session is the place whose status is shown in a thread.
func (r *rooms) session(s spot) (core.Place, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	st, ok := r.statuses.get(s)
	return st.place, ok
}

// heard takes note of events that go to the sink.
func (r *rooms) heard(batch []core.Inbound) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range batch {
		if in.Kind != core.InMessage || in.MessageID == "" {
			continue
		}
		r.topics.put(spot{in.Place.Channel, in.MessageID}, in.Place.Topic)
		if !in.From.Bot {
			r.latest.put(in.Place, heard{ts: in.MessageID, user: userOf(in.From.ID)})
		}
	}
}

// sent takes note of a message of ours.
func (r *rooms) sent(p core.Place, ts string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.topics.put(spot{p.Channel, ts}, p.Topic)
}
