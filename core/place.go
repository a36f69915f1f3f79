package core

import (
	"cmp"
	"fmt"
	"path"
	"strings"
)

// Place is an address on a platform. Adapter is the adapter's configured
// name, a durable identity. Channel and Topic are opaque: only the adapter
// that made them may read meaning into them. A place has exactly one current
// thread.
type Place struct {
	Adapter string `json:"adapter"`
	Channel string `json:"channel"`
	Topic   string `json:"topic,omitempty"`
}

// String is the form people write: adapter:channel or adapter:channel/topic.
func (p Place) String() string {
	if p.Topic == "" {
		return p.Adapter + ":" + p.Channel
	}
	return p.Adapter + ":" + p.Channel + "/" + p.Topic
}

// IsZero reports whether p names nothing.
func (p Place) IsZero() bool { return p == Place{} }

// ParsePlace reads String's form.
func ParsePlace(s string) (Place, error) {
	adapter, rest, ok := strings.Cut(s, ":")
	if !ok || adapter == "" || rest == "" {
		return Place{}, fmt.Errorf("%q is not a place: write adapter:channel or adapter:channel/topic", s)
	}
	channel, topic, _ := strings.Cut(rest, "/")
	return Place{adapter, channel, topic}, nil
}

// Binding ties places to an agent. The first that matches a place wins.
type Binding struct {
	Place string // glob over Place.String(); one without a topic covers the channel's topics too
	Agent string // default bot of the place; empty: the configured default
	Reply ReplyMode
	// Workspace is the folder in which all bots work there; empty: each in its own.
	Workspace string
	// Thinking: what the model has thought is shown, folded, above its answers.
	Thinking bool
	// Rules are those for tools at the places, and Mode is how freely they may be
	// used in threads there of which nobody has said otherwise; empty: ModeDefault.
	Rules []Rule
	Mode  Mode
	// Context is the most messages to quote before a mention at the top level of
	// a channel; nil: UsualContext.
	Context *int
}

// UsualContext is how many messages are quoted before a mention at the top
// level of a channel. Source: architecture D-19.
const UsualContext = 10

// Matches reports whether the binding covers the place.
func (b Binding) Matches(p Place) bool {
	ok, _ := path.Match(b.Place, p.String())
	if !ok && p.Topic != "" {
		ok, _ = path.Match(b.Place, Place{p.Adapter, p.Channel, ""}.String())
	}
	return ok
}

// Bound is the default agent of the place: that of the first binding that covers
// it, else fallback.
func Bound(bindings []Binding, p Place, fallback string) string {
	for _, b := range bindings {
		if b.Matches(p) {
			return cmp.Or(b.Agent, fallback)
		}
	}
	return fallback
}

// ReplyMode says when a message in a shared place is for us. A direct
// conversation always is.
type ReplyMode string

// The reply modes.
const (
	ReplyMention ReplyMode = "mention" // only when mentioned or replied to
	ReplyThread  ReplyMode = "thread"  // a mention opens a thread, then all of it
	ReplyAlways  ReplyMode = "always"
)
