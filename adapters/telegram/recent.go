package telegram

import (
	"slices"
	"sync"
)

// recent remembers the latest messages that this process has sent. All topics
// of a chat share its ids, and an Outbound's Known speaks of one topic only: a
// probe for a lost message must not rewrite one that stands in another topic.
type recent struct {
	mu   sync.Mutex
	sent []sentMessage // a ring once it is full; guarded by mu
	next int           // guarded by mu
}

type sentMessage struct {
	target
	id int
}

// maxRecent spans far more than the ids that a probe looks at.
const maxRecent = 512

// add remembers a message.
func (r *recent) add(to target, id int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.sent) < maxRecent {
		r.sent = append(r.sent, sentMessage{to, id})
		return
	}
	r.sent[r.next] = sentMessage{to, id}
	r.next = (r.next + 1) % maxRecent
}

// elsewhere reports whether the message is known to stand in another topic of
// the chat.
func (r *recent) elsewhere(to target, id int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.sent, func(m sentMessage) bool {
		return m.chat == to.chat && m.id == id && m.topic != to.topic
	})
}
