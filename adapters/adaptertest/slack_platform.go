package adaptertest

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"bellhop/core"
)

// SlackAccess is how an adapter reaches the fake.
type SlackAccess struct {
	URL                string // of the Web API, with its slash at the end
	BotToken, AppToken string
	HTTP               *http.Client
	// Dial connects sockets: a websocket.Dialer's NetDialContext.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Cursors tells how far an adapter before it has heard.
	Cursors core.Cursors
}

// Access is how an adapter reaches the fake without a network.
func (s *Slack) Access() SlackAccess {
	return SlackAccess{URL: "http://slack.test/api/", BotToken: s.BotToken(), AppToken: s.AppToken(), HTTP: s.Client(), Dial: s.Dial}
}

// SlackHarness tests a Slack adapter. newAdapter makes one for the account.
func SlackHarness(newAdapter func(SlackAccess) core.Adapter) Harness {
	return Harness{New: func(*testing.T) Platform { return NewSlackPlatform(newAdapter) }}
}

// SlackPlatform is the fake Slack as the suite sees it. A Group is a direct
// conversation of several people; a Topic is a thread in a channel, and a
// DirectTopic one in a person's conversation with us, each with a root from
// before we were there. A command is written after "!", since Slack takes what begins
// with a slash for its own, and after our name where no thread is ours yet.
type SlackPlatform struct {
	Lacking
	slack   *Slack
	make    func(SlackAccess) core.Adapter
	channel *SlackChat // whose threads the Topics are
	rooms   map[Room]*SlackChat

	recycled int
}

// NewSlackPlatform makes a fresh fake.
func NewSlackPlatform(newAdapter func(SlackAccess) core.Adapter) *SlackPlatform {
	return &SlackPlatform{Lacking: "Slack", slack: NewSlack(SlackOptions{}), make: newAdapter, rooms: map[Room]*SlackChat{}}
}

// Slack is the fake itself.
func (p *SlackPlatform) Slack() *Slack { return p.slack }

// Adapter implements Platform.
func (p *SlackPlatform) Adapter(_ testing.TB, cursors core.Cursors) core.Adapter {
	a := p.slack.Access()
	a.Cursors = cursors
	return p.make(a)
}

// Secret implements Platform. It is in both tokens.
func (p *SlackPlatform) Secret() string { return slackSecret }

func slackAccount(u *SlackUser) Account { return Account{u.ID, u.Name} }

func (p *SlackPlatform) user(a Account) *SlackUser {
	p.slack.mu.Lock()
	defer p.slack.mu.Unlock()
	return p.slack.users[a.ID]
}

// Me implements Platform.
func (p *SlackPlatform) Me() Account { return slackAccount(p.slack.Me()) }

// Person implements Platform.
func (p *SlackPlatform) Person(name string) Account { return slackAccount(p.slack.User(name)) }

// Guest implements Platform.
func (p *SlackPlatform) Guest(name string) ([]Account, error) {
	return []Account{slackAccount(p.slack.Guest(name)), slackAccount(p.slack.Stranger(name))}, nil
}

// Program implements Platform.
func (p *SlackPlatform) Program(name string) (Account, error) {
	return slackAccount(p.slack.Bot(name)), nil
}

// Rename implements Platform.
func (p *SlackPlatform) Rename(a Account, name string) error {
	p.slack.Rename(p.user(a), name)
	return nil
}

// Room implements Platform.
func (p *SlackPlatform) Room(kind RoomKind, with Account) (Room, error) {
	u := p.user(with)
	if p.channel == nil {
		p.channel = p.slack.Channel("talk")
	}
	old := SlackPost{Text: "this began before you came", Silent: true}
	var c *SlackChat
	switch kind {
	case Direct:
		c = p.slack.Direct(u)
	case DirectTopic:
		c = p.slack.Direct(u)
		c = c.Thread(c.Post(u, old))
	case Group:
		c = p.slack.Group(u, p.slack.User("Eve"))
	case Channel:
		c = p.slack.Channel("channel", u)
	case Topic:
		c = p.channel.Thread(p.channel.Post(u, old))
	case General:
		return "", Unsupported("outside its threads a channel is no place: each message there is the root of one")
	default:
		return "", Unsupported("no room of the kind " + string(kind))
	}
	return p.enter(kind, c), nil
}

// Invite implements Platform.
func (p *SlackPlatform) Invite(kind RoomKind, by Account) (Room, error) {
	if kind != Channel {
		return "", Unsupported("a conversation of several people without a name is begun with us in it")
	}
	r, err := p.Room(kind, by)
	if err == nil {
		p.rooms[r].Invite(p.user(by))
	}
	return r, err
}

func (p *SlackPlatform) enter(kind RoomKind, c *SlackChat) Room {
	r := Room(fmt.Sprintf("%s %s/%s", kind, c.ID(), c.ThreadTS()))
	p.rooms[r] = c
	return r
}

// Thread implements Platform.
func (p *SlackPlatform) Thread(r Room, message string) (Room, error) {
	return p.enter(Topic, p.rooms[r].Thread(message)), nil
}

// Say implements Platform. In a thread, a reply is one more message of it.
func (p *SlackPlatform) Say(r Room, s Saying) (string, error) {
	c := p.rooms[r]
	switch {
	case s.Hidden:
		return "", Unsupported("nobody can hide")
	case s.Quote != "":
		return "", Unsupported("a quotation is part of the text")
	case s.ReplyTo != "" && c.ThreadTS() == "":
		return "", Unsupported("a reply is a thread")
	case s.Command != "" && s.To.ID != "" && s.To.ID != p.slack.Me().ID:
		return "", Unsupported("a command for another app is not told")
	}
	post := SlackPost{Text: s.Text}
	for _, a := range s.Mention {
		post.Mention = append(post.Mention, p.user(a))
	}
	if s.Command != "" {
		post.Text = strings.TrimSpace("!" + s.Command + " " + s.Text)
		if s.To.ID != "" || c.r.kind != "im" && c.ThreadTS() == "" {
			post.Mention = append(post.Mention, p.slack.Me())
		}
	}
	if s.Forward.ID != "" {
		post.Forward = p.user(s.Forward)
	}
	if s.File != nil {
		post.Files = []SentFile{*s.File}
	}
	return c.Post(p.user(s.From), post), nil
}

// Edit implements Platform.
func (p *SlackPlatform) Edit(r Room, message, text string) error {
	p.rooms[r].Edit(message, text)
	return nil
}

// Delete implements Platform.
func (p *SlackPlatform) Delete(r Room, message string) (bool, error) {
	p.rooms[r].Delete(message)
	return true, nil
}

// Press implements Platform.
func (p *SlackPlatform) Press(r Room, by Account, message, value string) error {
	return p.rooms[r].PressValue(p.user(by), message, value)
}

// slackEmoji are the names of the emoji that the suite uses.
func slackEmoji() map[string]string {
	return map[string]string{"eyes": "👀", "+1": "👍", "thumbsup": "👍", "tada": "🎉", "octagonal_sign": "🛑", "repeat": "🔁"}
}

// Mark implements Platform.
func (p *SlackPlatform) Mark(r Room, by Account, message, emoji string, removed bool) error {
	for _, name := range slices.Sorted(maps.Keys(slackEmoji())) {
		if slackEmoji()[name] != emoji {
			continue
		}
		if removed {
			p.rooms[r].Unreact(p.user(by), message, name)
		} else {
			p.rooms[r].React(p.user(by), message, name)
		}
		return nil
	}
	return Unsupported("no name for " + emoji)
}

// Order implements Platform.
func (p *SlackPlatform) Order(r Room, by Account, command, text string) error {
	p.rooms[r].Slash(p.user(by), "/bellhop", strings.TrimSpace(command+" "+text))
	return nil
}

// Shortcut uses a message shortcut of ours.
func (p *SlackPlatform) Shortcut(r Room, by Account, message, callback string) {
	p.rooms[r].Shortcut(p.user(by), message, callback)
}

// Marks implements Platform.
func (p *SlackPlatform) Marks(r Room, message string) (list []string, _ error) {
	for _, mark := range p.rooms[r].Reactions(message) {
		name, users, _ := strings.Cut(mark, " ")
		if slices.Contains(strings.Fields(users), p.slack.Me().ID) {
			list = append(list, slackEmoji()[name])
		}
	}
	return list, nil
}

// Whispers implements Platform.
func (p *SlackPlatform) Whispers(r Room, to Account) (texts []string) {
	c := p.rooms[r]
	for _, w := range p.slack.Whispers() {
		if w.Channel == c.ID() && w.Thread == c.ThreadTS() && w.To == to.ID {
			texts = append(texts, w.Text)
		}
	}
	return texts
}

// Files implements Platform.
func (p *SlackPlatform) Files(r Room) ([]SentFile, error) { return ownFiles(p.rooms[r].Shown()), nil }

// Shown implements Platform.
func (p *SlackPlatform) Shown(r Room) []Shown { return p.rooms[r].Shown() }

// Happen implements Platform. What is novel is a kind of event, or a kind of
// envelope.
func (p *SlackPlatform) Happen(r Room, s Strange) error {
	c := p.rooms[r]
	switch s {
	case Service:
		c.Join(p.slack.User("Newcomer"))
	case Novel:
		p.slack.Raw(`{"type":"hologram_beamed","channel":"` + c.ID() + `","beam":[1,2,3],"event_ts":"1.000001"}`)
		p.slack.RawEnvelope("hologram", `{"hyperspace":true}`)
	case Unreadable:
		p.slack.Raw(`{"type":"message","channel":[],"ts":{},"user":7,"text":{}}`)
	}
	return nil
}

// Shut implements Platform.
func (p *SlackPlatform) Shut(r Room) error {
	p.rooms[r].Shut("restricted_action")
	return nil
}

// Forbid implements Platform.
func (p *SlackPlatform) Forbid() error {
	p.slack.Lose("files:write")
	return nil
}

// Expel implements Platform.
func (p *SlackPlatform) Expel(r Room) error {
	p.rooms[r].Leave()
	return nil
}

// Revoke implements Platform.
func (p *SlackPlatform) Revoke() error {
	p.slack.Revoke()
	return nil
}

// Redeliver implements Platform.
func (p *SlackPlatform) Redeliver() error {
	p.slack.Redeliver()
	return nil
}

// Unacked implements Platform.
func (p *SlackPlatform) Unacked() (int, error) { return p.slack.Unacked(), nil }

// Fail implements Platform.
func (p *SlackPlatform) Fail(op Op, n int, f Fault) (func() int, error) {
	switch op {
	case Receiving:
		hits := p.slack.Fail("apps.connections.open", n, f)
		p.slack.Drop()
		return hits, nil
	case Sending:
		return p.slack.Fail("chat.postMessage chat.update chat.startStream chat.appendStream chat.stopStream files.getUploadURLExternal upload files.completeUploadExternal", n, f), nil
	case Finding:
		return p.slack.Fail("conversations.history conversations.replies", n, f), nil
	}
	return p.Lacking.Fail(op, n, f)
}

// Heal implements Platform.
func (p *SlackPlatform) Heal() { p.slack.Heal() }

// Drop implements Platform.
func (p *SlackPlatform) Drop() error {
	p.slack.Drop()
	return nil
}

// Deafen implements Platform.
func (p *SlackPlatform) Deafen() error {
	p.slack.HalfOpen()
	return nil
}

// Recycle implements Platform. Slack asks for it with a warning and without,
// by turns.
func (p *SlackPlatform) Recycle() error {
	p.recycled++
	p.slack.Disconnect([]string{"warning", "refresh_requested"}[p.recycled%2])
	return nil
}
