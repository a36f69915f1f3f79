package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"bellhop/core"
)

// The places of the model: where the talk is, and where the owner is told.
var (
	talkPlace  = core.Place{Adapter: "chat", Channel: "ann"}
	ownerPlace = core.Place{Adapter: "chat", Channel: "owner"}
)

// chat is the platform of the model: what people see, what they will still do,
// and the events that nobody has acknowledged. It outlives every process and is
// a value: a copy of it is a snapshot, for its slices only ever grow by clone.
type chat struct {
	messages []chatMessage
	pending  []core.Inbound // not acknowledged
	last     []core.Inbound // the event acknowledged last: a crash brings it again
	script   []string       // what people will still do
	said     int            // messages by people
}

type chatMessage struct {
	place core.Place
	ours  bool
	key   string // Outbound.Key of the send that made it
	shows string // Outbound.Key of what it shows
	kind  core.OutKind
	text  string
	gone  bool
}

func (c *chat) clone() chat {
	d := *c
	d.messages = slices.Clone(c.messages)
	d.pending = slices.Clone(c.pending)
	return d
}

// act does what people do next.
func (c *chat) act() {
	what := c.script[0]
	c.script = c.script[1:]
	in := core.Inbound{Kind: core.InMessage, Place: talkPlace, Direct: true, From: core.Person{ID: "chat:ann", Name: "Ann"}}
	in.Key = fmt.Sprintf("event/%s/%d", what, len(c.script))
	switch what {
	case "say":
		c.said++
		in.Text = fmt.Sprintf("question %d", c.said)
		in.MessageID = c.add(chatMessage{place: talkPlace, text: in.Text})
	case "red", "yes":
		if what == "red" { // what allows a call is no message of the thread
			c.said++
		}
		in.Text, in.MessageID = what, c.add(chatMessage{place: talkPlace, text: what})
	case "edit":
		in.Kind, in.MessageID, in.Text = core.InEdit, "1", "question 1, in other words"
	case "delete":
		in.Kind, in.MessageID = core.InDelete, "1"
	case "wipe":
		for i := range c.messages {
			c.messages[i].gone = c.messages[i].ours
		}
		return
	case "again":
		c.pending = append(c.pending, c.last...)
		return
	default:
		in.Text, in.Command = what, true
		in.MessageID = c.add(chatMessage{place: talkPlace, text: what})
	}
	c.pending = append(c.pending, in)
}

// add shows a message and returns its id: one more than that before it.
func (c *chat) add(m chatMessage) string {
	c.messages = append(c.messages, m)
	return strconv.Itoa(len(c.messages))
}

func (c *chat) find(p core.Place, id string) *chatMessage {
	n, err := strconv.Atoi(id)
	if err != nil || n < 1 || n > len(c.messages) {
		return nil
	}
	if m := &c.messages[n-1]; m.ours && !m.gone && m.place == p {
		return m
	}
	return nil
}

// keyed is the message that a send with the key made, with its id.
func (c *chat) keyed(key string) (*chatMessage, string) {
	for i := range c.messages {
		if m := &c.messages[i]; m.ours && !m.gone && m.key == key {
			return &c.messages[i], strconv.Itoa(i + 1)
		}
	}
	return nil, ""
}

// strategy is how the platform keeps a send from happening twice.
type strategy struct {
	name  string
	once  core.Once
	far   bool // probes find nothing: too much was written in between
	blind bool // the adapter lies: it has no key, or no way to resolve
	naive bool // the adapter lies: Resolve says that everything was shown
}

// features are those of an adapter for the platform.
func (p *process) features() core.Features {
	f := core.Features{Once: p.once, Edits: true, Split: func(text string) []string {
		return slices.DeleteFunc(strings.Split(text, "|"), func(s string) bool { return strings.TrimSpace(s) == "" })
	}}
	switch {
	case p.blind:
	case p.naive:
		f.Resolve = func(context.Context, core.Outbound) (core.Receipt, error) { return core.Receipt{ID: "1"}, nil }
	case p.once == core.OnceReadback:
		f.Resolve = p.readBack
	case p.once == core.OnceEdit:
		f.Resolve = p.probe
	}
	return f
}

// connection is one process's adapter.
type connection struct{ *process }

func (connection) Name() string              { return talkPlace.Adapter }
func (c connection) Features() core.Features { return c.features() }
func (connection) Run(context.Context, core.Sink) error {
	return errors.New("the model hands over the events itself")
}

// Send implements core.Adapter.
func (c connection) Send(_ context.Context, o core.Outbound) (core.Receipt, error) {
	if strings.HasPrefix(o.Key, "trouble/") {
		return core.Receipt{}, nil // beside the ledger, and not part of the model
	}
	what := string(o.Kind)
	if o.Edit != "" {
		what = "edit to " + what
	}
	return c.call(op{call, what, fmt.Sprintf("%s %q", o.Key, o.Text)}, func() (core.Receipt, error) { return c.show(o) })
}

// show does what the platform does with a request.
func (p *process) show(o core.Outbound) (core.Receipt, error) {
	c := &p.world.chat
	if o.Edit != "" {
		m := c.find(o.Place, o.Edit)
		if m == nil {
			return core.Receipt{}, core.ErrGone
		}
		m.text, m.kind, m.shows = o.Text, o.Kind, o.Key
		return core.Receipt{ID: o.Edit}, nil
	}
	if _, id := c.keyed(o.Key); id != "" && p.once == core.OnceKey && !p.blind {
		return core.Receipt{ID: id}, nil
	}
	return core.Receipt{ID: c.add(chatMessage{place: o.Place, ours: true, key: o.Key, shows: o.Key, kind: o.Kind, text: o.Text})}, nil
}

func (p *process) readBack(_ context.Context, o core.Outbound) (core.Receipt, error) {
	return p.call(op{call, "read back", o.Key}, func() (core.Receipt, error) {
		if m, id := p.world.chat.keyed(o.Key); m != nil {
			return core.Receipt{ID: id}, nil
		}
		return core.Receipt{}, core.ErrNotSent
	})
}

// probe edits what comes after the message that is answered: what is ours and
// not known is what was lost.
func (p *process) probe(_ context.Context, o core.Outbound) (core.Receipt, error) {
	return p.call(op{call, "probe", fmt.Sprintf("%s %q after %s", o.Key, o.Text, o.After)}, func() (core.Receipt, error) {
		after, err := strconv.Atoi(o.After)
		if p.far || err != nil {
			return core.Receipt{}, core.ErrNotSent
		}
		for id := after + 1; id <= len(p.world.chat.messages); id++ {
			o.Edit = strconv.Itoa(id)
			if o.Known(o.Edit) {
				continue
			}
			if r, err := p.show(o); err == nil {
				return r, nil
			}
		}
		return core.Receipt{}, core.ErrNotSent
	})
}

// call makes one request: it may be lost on its way there or on its way back.
func (p *process) call(o op, do func() (core.Receipt, error)) (core.Receipt, error) {
	fault := p.pause(o)
	if p.dead {
		return core.Receipt{}, core.ErrUnknown
	}
	switch fault {
	case faultRefused:
		return core.Receipt{}, &core.RetryAfter{Err: errors.New("too many requests")}
	case faultNever:
		return core.Receipt{}, core.ErrRefused
	case faultTimeout:
		return core.Receipt{}, core.ErrUnknown
	}
	r, err := do()
	p.effect()
	if fault == faultLost {
		return core.Receipt{}, core.ErrUnknown
	}
	return r, err
}
