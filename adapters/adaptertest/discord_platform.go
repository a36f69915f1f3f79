package adaptertest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"bellhop/core"
)

// DiscordAccess is how an adapter reaches the fake.
type DiscordAccess struct {
	URL   string // of the API
	Token string
	HTTP  *http.Client
	// Cursors tells how far an adapter before it has heard.
	Cursors core.Cursors
}

// Access is how an adapter reaches the fake without a network.
func (d *Discord) Access() DiscordAccess {
	return DiscordAccess{URL: discordURL, Token: d.Token(), HTTP: d.Client()}
}

// DiscordHarness tests a Discord adapter. newAdapter makes one for the
// account, which knows the command "help".
func DiscordHarness(newAdapter func(DiscordAccess) core.Adapter) Harness {
	return Harness{
		New: func(*testing.T) Platform {
			// A bubble begins before Discord's time does.
			time.Sleep(time.Until(time.UnixMilli(discordEpoch).AddDate(10, 0, 0)))
			return NewDiscordPlatform(newAdapter)
		},
	}
}

// DiscordPlatform is the fake Discord as the suite sees it. A Group is a
// thread that somebody has opened, and so is each Topic. A command is one of
// the client's own.
type DiscordPlatform struct {
	Lacking
	discord *Discord
	make    func(DiscordAccess) core.Adapter
	channel *DiscordChat // whose threads the Topics are
	waiting bool         // an adapter was made that has not come online
	turn    int          // how Recycle asks
}

// NewDiscordPlatform makes a fresh fake.
func NewDiscordPlatform(newAdapter func(DiscordAccess) core.Adapter) *DiscordPlatform {
	d := NewDiscord(DiscordOptions{})
	return &DiscordPlatform{Lacking: "Discord", discord: d, make: newAdapter, channel: d.Channel("talk")}
}

// Discord is the fake itself.
func (p *DiscordPlatform) Discord() *Discord { return p.discord }

// Adapter implements Platform.
func (p *DiscordPlatform) Adapter(_ testing.TB, cursors core.Cursors) core.Adapter {
	p.waiting = true
	a := p.discord.Access()
	a.Cursors = cursors
	return p.make(a)
}

// online waits for an adapter that has just been made: Discord keeps nothing
// for who has no session.
func (p *DiscordPlatform) online() {
	if !p.waiting {
		return
	}
	p.waiting = false
	p.discord.await(func() bool { return p.discord.current() != nil })
}

// Secret implements Platform. It is in the token.
func (p *DiscordPlatform) Secret() string { return discordSecret }

func discordAccount(u *DiscordUser) Account { return Account{u.ID, u.Name} }

func (p *DiscordPlatform) user(a Account) *DiscordUser {
	p.discord.mu.Lock()
	defer p.discord.mu.Unlock()
	return p.discord.users[a.ID]
}

func (p *DiscordPlatform) chat(r Room) *DiscordChat {
	p.discord.mu.Lock()
	defer p.discord.mu.Unlock()
	return p.discord.chats[string(r)]
}

// Me implements Platform.
func (p *DiscordPlatform) Me() Account { return discordAccount(p.discord.Me()) }

// Person implements Platform.
func (p *DiscordPlatform) Person(name string) Account { return discordAccount(p.discord.User(name)) }

// Program implements Platform.
func (p *DiscordPlatform) Program(name string) (Account, error) {
	return discordAccount(p.discord.Bot(name)), nil
}

// Rename implements Platform.
func (p *DiscordPlatform) Rename(a Account, name string) error {
	p.discord.Rename(p.user(a), name)
	return nil
}

// Room implements Platform.
func (p *DiscordPlatform) Room(kind RoomKind, with Account) (Room, error) {
	u := p.user(with)
	switch kind {
	case Direct:
		return Room(p.discord.Direct(u).ID()), nil
	case Group:
		return Room(p.discord.Channel("group").Open(u, "group", "").ID()), nil
	case Topic:
		return Room(p.channel.Open(u, "topic", "").ID()), nil
	case Channel:
		return Room(p.discord.Channel("channel").ID()), nil
	case General:
		return "", Unsupported("outside its threads a channel is no place: each message there may open one")
	}
	return "", Unsupported("no room of the kind " + string(kind))
}

// Thread implements Platform.
func (p *DiscordPlatform) Thread(r Room, message string) (Room, error) {
	return Room(p.chat(r).Thread(message).ID()), nil
}

// Say implements Platform. Who hides writes through a webhook.
func (p *DiscordPlatform) Say(r Room, s Saying) (string, error) {
	p.online()
	u := p.user(s.From)
	switch {
	case s.Quote != "":
		return "", Unsupported("a reply quotes all of a message")
	case s.Forward.ID != "":
		return "", Unsupported("what is forwarded does not tell who wrote it")
	case s.Command != "" && s.To.ID != "" && s.To.ID != p.discord.Me().ID:
		return "", Unsupported("a command for another bot is not told")
	case s.Command != "":
		return p.slash(r, u, strings.ToLower(s.Command), s.Text), nil
	case s.Hidden:
		u = p.discord.Webhook(u.Name)
	}
	post := DiscordPost{Text: s.Text, ReplyTo: s.ReplyTo, Signals: s.Signals}
	for _, a := range s.Mention {
		post.Mention = append(post.Mention, p.user(a))
	}
	if s.File != nil {
		post.Files = []SentFile{*s.File}
	}
	return p.chat(r).Post(u, post), nil
}

// slash uses a command once it is published.
func (p *DiscordPlatform) slash(r Room, u *DiscordUser, name, text string) string {
	p.online()
	p.discord.await(func() bool { return p.discord.command(name) })
	return p.chat(r).Slash(u, name, text)
}

// Edit implements Platform.
func (p *DiscordPlatform) Edit(r Room, message, text string) error {
	p.chat(r).Edit(message, text)
	return nil
}

// Delete implements Platform.
func (p *DiscordPlatform) Delete(r Room, message string) (bool, error) {
	p.chat(r).Delete(message)
	return true, nil
}

// Press implements Platform.
func (p *DiscordPlatform) Press(r Room, by Account, message, value string) error {
	return p.chat(r).Press(p.user(by), message, value)
}

// Mark implements Platform.
func (p *DiscordPlatform) Mark(r Room, by Account, message, emoji string, removed bool) error {
	if removed {
		p.chat(r).Unreact(p.user(by), message, emoji)
	} else {
		p.chat(r).React(p.user(by), message, emoji)
	}
	return nil
}

// Order implements Platform.
func (p *DiscordPlatform) Order(r Room, by Account, command, text string) error {
	p.slash(r, p.user(by), command, text)
	return nil
}

// Marks implements Platform.
func (p *DiscordPlatform) Marks(r Room, message string) ([]string, error) {
	return p.chat(r).Marks(p.discord.Me(), message), nil
}

// Whispers implements Platform.
func (p *DiscordPlatform) Whispers(r Room, to Account) (texts []string) {
	for _, m := range p.chat(r).Whispers(p.user(to)) {
		texts = append(texts, m.Text)
	}
	return texts
}

// Files implements Platform.
func (p *DiscordPlatform) Files(r Room) ([]SentFile, error) { return ownFiles(p.chat(r).Shown()), nil }

// Shown implements Platform.
func (p *DiscordPlatform) Shown(r Room) []Shown { return p.chat(r).Shown() }

// Happen implements Platform. What is novel is a kind of event, of packet, of
// message and of component.
func (p *DiscordPlatform) Happen(r Room, s Strange) error {
	c := p.chat(r)
	where := `"id":"` + p.discord.ID() + `","channel_id":"` + c.ID() + `","guild_id":"` + p.discord.guild + `"`
	switch s {
	case Service:
		c.Join(p.discord.User("Newcomer"))
	case Novel:
		p.discord.Raw("HOLOGRAM_BEAM", `{`+where+`,"beam":[1,2,3]}`)
		p.discord.Packet(`{"op":77,"d":{"hyperspace":true}}`)
		p.discord.Raw("MESSAGE_CREATE", `{`+where+`,"type":99,"content":"?","author":{"id":"1","username":"x"},
			"components":[{"type":98,"components":[{"type":97,"beam":{}}]}]}`)
	case Unreadable:
		p.discord.Raw("MESSAGE_CREATE", `{`+where+`,"content":{},"author":[]}`)
	}
	return nil
}

// Shut implements Platform.
func (p *DiscordPlatform) Shut(r Room) error {
	p.chat(r).Shut()
	return nil
}

// Forbid implements Platform.
func (p *DiscordPlatform) Forbid() error {
	p.discord.ForbidFiles()
	return nil
}

// Expel implements Platform.
func (p *DiscordPlatform) Expel(r Room) error {
	p.chat(r).Hide()
	return nil
}

// Revoke implements Platform.
func (p *DiscordPlatform) Revoke() error {
	p.discord.Revoke()
	return nil
}

// Redeliver implements Platform.
func (p *DiscordPlatform) Redeliver() error {
	p.online()
	p.discord.Redeliver()
	return nil
}

// Unacked implements Platform.
func (p *DiscordPlatform) Unacked() (int, error) { return p.discord.Unacked(), nil }

// Fail implements Platform. Only a new session can be told to wait, so the old
// one ends.
func (p *DiscordPlatform) Fail(op Op, n int, f Fault) (func() int, error) {
	switch {
	case op == Receiving && f.RetryAfter > 0:
		hits := p.discord.Fail("gateway.bot", n, f)
		p.discord.Close(4009)
		return hits, nil
	case op == Receiving:
		hits := p.discord.Fail("gateway.bot connect", n, f)
		p.discord.Drop()
		return hits, nil
	case op == Sending:
		return p.discord.Fail("message.create message.edit", n, f), nil
	case op == Finding:
		return p.discord.Fail("message.list", n, f), nil
	}
	return p.Lacking.Fail(op, n, f)
}

// Heal implements Platform.
func (p *DiscordPlatform) Heal() { p.discord.Heal() }

// Drop implements Platform.
func (p *DiscordPlatform) Drop() error {
	p.discord.Drop()
	return nil
}

// Deafen implements Platform.
func (p *DiscordPlatform) Deafen() error {
	p.discord.HalfOpen()
	return nil
}

// Recycle implements Platform. Discord asks for it in three ways, by turns.
func (p *DiscordPlatform) Recycle() error {
	p.turn++
	ways := []func(){p.discord.Reconnect, func() { p.discord.Invalidate(true) }, func() { p.discord.Invalidate(false) }}
	ways[p.turn%len(ways)]()
	return nil
}
