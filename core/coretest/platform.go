package coretest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"bellhop/core"
)

// self is the name of our account on every platform.
const self = "bellhop"

// platform is a chat platform in memory: what people see, what they do, and
// the events that nobody has acknowledged yet. It outlives the appliance.
type platform struct {
	adapterOptions
	zones  map[string]string // by person
	guests []string          // ids of persons

	mu       sync.Mutex // guards the fields below
	rooms    map[core.Place][]*message
	titles   map[core.Place]string   // what places are called
	notes    map[core.Place][]string // what one person alone has been told
	ids      map[string]int          // last message id by channel
	moved    map[string]string       // channels that have another id now
	events   int                     // ever made
	history  []core.Inbound          // all events
	pending  []core.Inbound          // not acknowledged
	wake     chan struct{}           // closed and replaced when pending grows
	faults   []*fault
	revoked  bool
	calls    int // in flight
	failed   int // calls that a fault has hit
	finals   []shown
	deleted  []string // keys of our messages that somebody has deleted
	began    time.Time
	previews []preview
	nonces   []string // of the buttons that were ever to be shown
}

// message is one message on the platform.
type message struct {
	id       string
	author   string
	person   string // who wrote it; empty: us
	at       time.Time
	text     string
	file     *core.Attachment
	re       string // id
	edited   bool   // by a person
	key      string // Outbound.Key of what sent it
	kind     core.OutKind
	thinking string   // folded, above the text
	marks    []string // our reactions
	buttons  []core.Button
	tags     []string // people's reactions: "Alice 👍"
}

// preview is one that was shown, and when.
type preview struct {
	place core.Place
	id    string
	text  string
	at    time.Time
}

// shown notes that a piece of an outcome became visible.
type shown struct {
	key   string
	place core.Place
}

// chunk is the number of the piece in its post.
func (s shown) chunk() int {
	_, n, _ := strings.Cut(s.key, "/")
	chunk, _ := strconv.Atoi(n)
	return chunk
}

// fault makes calls fail.
type fault struct {
	op     string
	n      int // calls until it strikes; every: each
	how    string
	after  time.Duration
	global bool
}

// operations are the calls of a platform.
var operations = []string{"open", "post", "edit", "update", "resolve", "read", "title"}

func newPlatform(o adapterOptions, zones map[string]string, guests []string) *platform {
	return &platform{adapterOptions: o, zones: zones, guests: guests, rooms: map[core.Place][]*message{}, notes: map[core.Place][]string{}, titles: map[core.Place]string{}, ids: map[string]int{}, moved: map[string]string{}, wake: make(chan struct{}), began: time.Now()}
}

// deliver queues an event for whoever listens. The caller holds mu.
func (p *platform) deliver(in core.Inbound) {
	p.history = append(p.history, in)
	p.pending = append(p.pending, in)
	close(p.wake)
	p.wake = make(chan struct{})
}

// event makes the rest of an event about a message. The caller holds mu.
func (p *platform) event(kind core.InboundKind, at core.Place, who, id string) core.Inbound {
	p.events++
	return core.Inbound{Key: fmt.Sprintf("event/%d", p.events), Kind: kind, Place: at, Direct: direct(at), MessageID: id,
		From: core.Person{ID: core.PersonID(p.name + ":" + who), Name: title(who), Zone: p.zones[who], Guest: slices.Contains(p.guests, p.name+":"+who)}, Time: time.Now().UTC()}
}

// direct reports whether the place is one person and us: its channel is the
// person's name.
func direct(at core.Place) bool { return !strings.HasPrefix(at.Channel, "#") }

// title is a person's display name.
func title(who string) string { return strings.ToUpper(who[:1]) + who[1:] }

func (p *platform) add(at core.Place, m *message) {
	p.ids[at.Channel]++
	m.id, m.at = strconv.Itoa(p.ids[at.Channel]), time.Now().UTC()
	p.rooms[at] = append(p.rooms[at], m)
}

func (p *platform) find(at core.Place, id string) *message {
	for _, m := range p.rooms[at] {
		if m.id == id {
			return m
		}
	}
	return nil
}

// relative are the names of messages that may not be there, in which case nothing
// happens, by what the newest of them has, or the oldest for the first.
var relative = map[string]func(*message) bool{
	"first": func(m *message) bool { return m.person != "" },
	"last":  func(m *message) bool { return m.person != "" },
	"ours":  func(m *message) bool { return m.person == "" },
	"card":  func(m *message) bool { return len(m.buttons) > 0 },
}

// named is the message with the id, or the one that a name is for; nil: there is
// none, which is an error if it should be there.
func (p *platform) named(at core.Place, id string) (*message, error) {
	is, room := relative[id], p.rooms[at]
	if is == nil {
		if m := p.find(at, id); m != nil {
			return m, nil
		}
		return nil, fmt.Errorf("there is no message %s", id)
	}
	if id != "first" {
		room = slices.Clone(room)
		slices.Reverse(room)
	}
	if i := slices.IndexFunc(room, is); i >= 0 {
		return room[i], nil
	}
	return nil, nil
}

// say is a person's message. people are those who can be mentioned.
func (p *platform) say(at core.Place, who, re, quote, file, text string, people []string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := &message{author: title(who), person: who, text: text, re: re}
	if file != "" {
		m.file = &core.Attachment{Name: file}
	}
	p.add(at, m)
	in := p.event(core.InMessage, at, who, m.id)
	if file != "" {
		in.Files = []core.File{{Name: file, Ref: file}}
	}
	in.Key = "message/" + at.Channel + "/" + m.id
	in.Unnamed = p.names
	if p.threads && !direct(at) && at.Topic == "" && strings.Contains(text, "@"+self) {
		in.Place.Topic = m.id // the mention begins a thread
	}
	if re != "" {
		target := p.find(at, re)
		if target == nil {
			return fmt.Errorf("there is no message %s to reply to", re)
		}
		in.Mentioned, in.ReplyTo = target.person == "", re
		in.Quotes = []core.Quote{{Author: target.author, Own: target.person == "", Text: target.text}}
		if quote != "" {
			in.Quotes[0].Text = quote
		}
	}
	p.decode(&in, text, people)
	p.deliver(in)
	return nil
}

// aside is a person's message of which nobody tells us.
func (p *platform) aside(at core.Place, who, file, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := &message{author: title(who), person: who, text: text}
	if file != "" {
		m.file = &core.Attachment{Name: file}
	}
	p.add(at, m)
}

// decode reads a text as an adapter does.
func (p *platform) decode(in *core.Inbound, text string, people []string) {
	if word, _, _ := strings.Cut(text, " "); strings.HasPrefix(word, "/") {
		name, to, addressed := strings.Cut(word, "@")
		in.Foreign = addressed && to != self
		in.Command = !in.Foreign
		text = name + strings.TrimPrefix(text, word)
	}
	if rest := strings.ReplaceAll(text, "@"+self, ""); rest != text {
		in.Mentioned, text = true, strings.TrimSpace(rest)
	}
	for _, who := range people {
		in.Others = in.Others || !in.Mentioned && strings.Contains(text, "@"+who)
	}
	in.Text = text
}

func (p *platform) edit(at core.Place, id, text string, people []string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, err := p.named(at, id)
	if m == nil {
		return err
	}
	if m.person == "" {
		return fmt.Errorf("the message %s is no person's", id)
	}
	m.edited = m.edited || m.text != text
	m.text = text
	in := p.event(core.InEdit, at, m.person, m.id)
	p.decode(&in, text, people)
	p.deliver(in)
	return nil
}

func (p *platform) delete(at core.Place, id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, err := p.named(at, id)
	if m == nil {
		return err
	}
	p.rooms[at] = slices.DeleteFunc(p.rooms[at], func(o *message) bool { return o == m })
	if m.person == "" {
		p.deleted = append(p.deleted, m.key)
		return nil
	}
	p.deliver(p.event(core.InDelete, at, m.person, m.id))
	return nil
}

// react is a person's mark on a message, or its end.
func (p *platform) react(at core.Place, who, id, emoji string, removed bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, err := p.named(at, id)
	if m == nil {
		return err
	}
	tag := title(who) + " " + emoji
	m.tags = slices.DeleteFunc(m.tags, func(t string) bool { return t == tag })
	if !removed {
		m.tags = append(m.tags, tag)
	}
	in := p.event(core.InReaction, at, who, m.id)
	in.Emoji, in.Removed = emoji, removed
	if p.once == core.OnceEdit {
		in.Place.Topic = "" // Telegram does not tell it
	}
	p.deliver(in)
	return nil
}

// invite is that a person lets us into a channel.
func (p *platform) invite(at core.Place, who string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.event(core.InAdded, at, who, "")
	in.Text = "@" + self
	p.deliver(in)
}

// press is a person's press of a button.
func (p *platform) press(at core.Place, who, id, button string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m, err := p.named(at, id)
	if m == nil {
		return err
	}
	for _, b := range m.buttons {
		if b.Label == button {
			button = b.Value
		}
	}
	in := p.event(core.InButton, at, who, m.id)
	in.Button = button
	p.deliver(in)
	return nil
}

// garble makes an event that no adapter can decode.
func (p *platform) garble(at core.Place, raw string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.event(core.InUnreadable, at, self, "")
	in.Raw = []byte(raw)
	p.deliver(in)
}

// again delivers the last event once more, or the message with the id.
func (p *platform) again(id string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, in := range slices.Backward(p.history) {
		if id == "" || in.Kind == core.InMessage && in.MessageID == id {
			p.deliver(in)
			p.history = p.history[:len(p.history)-1]
			return nil
		}
	}
	return errors.New("there is no such event")
}

// move gives a channel another id. Silently: the next call learns it.
func (p *platform) move(from, to string, silently bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moved[from] = to
	p.ids[to] = p.ids[from]
	for at, room := range p.rooms {
		if at.Channel == from {
			delete(p.rooms, at)
			at.Channel = to
			p.rooms[at] = room
		}
	}
	if !silently {
		in := p.event(core.InMoved, core.Place{Adapter: p.name, Channel: from}, self, "")
		in.To = to
		p.deliver(in)
	}
}

func (p *platform) revoke() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.revoked = true
	close(p.wake)
	p.wake = make(chan struct{})
}

// quiet reports whether nothing of the platform's is under way.
func (p *platform) quiet() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls == 0
}

// setFault reads "[N|every] HOW", or "off".
func (p *platform) setFault(op string, s *scanner) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := &fault{op: op, n: s.number(1), how: s.word()}
	switch f.how {
	case "off":
		p.faults = slices.DeleteFunc(p.faults, func(f *fault) bool { return f.op == op })
		return nil
	case "rate", "slow", "hang":
		f.after = 30 * time.Second
		if s.rest != "" {
			var err error
			if f.after, err = time.ParseDuration(s.word()); err != nil {
				return err
			}
		}
		f.global = s.rest != "" && s.word() == "global"
	default:
		if _, ok := outcomes[f.how]; !ok || op == "resolve" && f.how != "unknown" {
			return fmt.Errorf("%q is no way to fail", f.how)
		}
	}
	p.faults = append(p.faults, f)
	return nil
}

// strike finds the fault of a call that begins. The caller holds mu.
func (p *platform) strike(op string) *fault {
	for i, f := range p.faults {
		if f.op != op {
			continue
		}
		if f.n > 1 {
			f.n--
			continue
		}
		if f.n != every {
			p.faults = slices.Delete(p.faults, i, i+1)
		}
		p.failed++
		return f
	}
	return nil
}
