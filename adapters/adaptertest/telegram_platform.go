package adaptertest

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"bellhop/core"
)

// TelegramHarness tests a Telegram adapter. newAdapter makes one for the token
// whose calls, to whatever host, go through the client.
func TelegramHarness(newAdapter func(token string, c *http.Client) core.Adapter) Harness {
	return Harness{New: func(*testing.T) Platform { return NewTelegramPlatform(newAdapter) }}
}

// TelegramPlatform is the fake Telegram as the suite sees it.
type TelegramPlatform struct {
	tg     *Telegram
	make   func(token string, c *http.Client) core.Adapter
	people int64
	forum  *TelegramChat
	rooms  map[Room]*TelegramChat
}

// NewTelegramPlatform makes a fresh fake whose bot reads all messages of its
// groups and has topics in private chats.
func NewTelegramPlatform(newAdapter func(token string, c *http.Client) core.Adapter) *TelegramPlatform {
	return &TelegramPlatform{
		tg:     NewTelegram(TelegramOptions{Topics: true, ReadsAll: true}),
		make:   newAdapter,
		people: 1000,
		rooms:  map[Room]*TelegramChat{},
	}
}

// Telegram is the fake itself.
func (p *TelegramPlatform) Telegram() *Telegram { return p.tg }

// Adapter implements Platform.
func (p *TelegramPlatform) Adapter(testing.TB, core.Cursors) core.Adapter {
	return p.make(p.tg.Token(), p.tg.Client())
}

// Secret implements Platform.
func (p *TelegramPlatform) Secret() string { return p.tg.Token() }

// account is a user as the suite knows them. The name of the bot is what
// people write after the @.
func (p *TelegramPlatform) account(u *TelegramUser) Account {
	if u.Bot {
		return Account{itoa(u.ID), u.Username}
	}
	return Account{itoa(u.ID), u.Name}
}

func (p *TelegramPlatform) user(a Account) *TelegramUser {
	id, err := strconv.ParseInt(a.ID, 10, 64)
	if err != nil {
		panic(err)
	}
	p.tg.mu.Lock()
	defer p.tg.mu.Unlock()
	return p.tg.users[id]
}

// Me implements Platform.
func (p *TelegramPlatform) Me() Account { return p.account(p.tg.Me()) }

// Person implements Platform. Every other person has no user name.
func (p *TelegramPlatform) Person(name string) Account {
	p.people++
	u := p.tg.User(p.people, name)
	if p.people%2 == 0 {
		u.Username = fmt.Sprint("user", p.people)
	}
	return p.account(u)
}

// Guest implements Platform.
func (p *TelegramPlatform) Guest(string) ([]Account, error) {
	return nil, Unsupported("Telegram has no guests")
}

// Program implements Platform.
func (p *TelegramPlatform) Program(name string) (Account, error) {
	p.people++
	return p.account(p.tg.Bot(p.people, name)), nil
}

// Rename implements Platform.
func (p *TelegramPlatform) Rename(a Account, name string) error {
	p.tg.User(p.user(a).ID, name)
	return nil
}

// Room implements Platform. The bot has made the topics itself: in each, what
// replies to nothing replies to a message of the bot.
func (p *TelegramPlatform) Room(kind RoomKind, with Account) (Room, error) {
	if p.forum == nil {
		p.forum = p.tg.Forum("forum")
	}
	var c *TelegramChat
	switch kind {
	case Direct:
		c = p.tg.Private(p.user(with))
	case DirectTopic:
		c = p.tg.Private(p.user(with)).Topic(p.tg.Me(), "talk")
	case Group:
		c = p.tg.Group("group")
	case Topic:
		c = p.forum.Topic(p.tg.Me(), "topic")
	case General:
		c = p.forum
	default:
		return "", Unsupported("no room of the kind " + string(kind))
	}
	r := Room(fmt.Sprintf("%s %d/%d", kind, c.ID(), c.TopicID()))
	p.rooms[r] = c
	return r, nil
}

// Invite implements Platform.
func (p *TelegramPlatform) Invite(kind RoomKind, by Account) (Room, error) {
	r, err := p.Room(kind, by)
	if err == nil {
		p.rooms[r].Add(p.user(by))
	}
	return r, err
}

// Thread implements Platform: a message that has made a topic is one.
func (p *TelegramPlatform) Thread(r Room, message string) (Room, error) {
	c := p.rooms[r]
	id, err := strconv.Atoi(message)
	if err != nil || !c.HasTopic(id) {
		return "", Unsupported("a mention opens no thread")
	}
	t := Room(fmt.Sprintf("%s %d/%d", Topic, c.ID(), id))
	p.rooms[t] = &TelegramChat{c.t, c.r, id}
	return t, nil
}

// Say implements Platform.
func (p *TelegramPlatform) Say(r Room, s Saying) (string, error) {
	post := TelegramPost{Anonymous: s.Hidden, Quote: s.Quote}
	var words []string
	for _, a := range s.Mention {
		u := p.user(a)
		if u.Username == "" {
			post.Named = append(post.Named, u)
			words = append(words, u.Name)
		} else {
			words = append(words, "@"+a.Name)
			if !u.Bot {
				words[len(words)-1] = "@" + u.Username
			}
		}
	}
	if s.Command != "" {
		c := "/" + s.Command
		if s.To.Name != "" {
			c += "@" + s.To.Name
		}
		words = append(words, c)
	}
	if s.Text != "" {
		words = append(words, s.Text)
	}
	post.Text = strings.Join(words, " ")
	if s.ReplyTo != "" {
		id, err := strconv.Atoi(s.ReplyTo)
		if err != nil {
			return "", err
		}
		post.ReplyTo = id
	}
	if s.Forward.ID != "" {
		post.Forward = p.user(s.Forward)
	}
	if f := s.File; f != nil {
		post.File = &TelegramFile{Kind: "document", Name: f.Name, MIME: f.MIME, Content: f.Content}
		switch f.MIME {
		case "image/jpeg":
			post.File.Kind, post.File.MIME = "photo", ""
		case "audio/ogg":
			post.File.Kind = "voice"
		}
	}
	c := p.rooms[r]
	id := c.Post(p.user(s.From), post)
	for range s.Signals - 1 {
		c.Again(id)
	}
	return strconv.Itoa(id), nil
}

// Edit implements Platform.
func (p *TelegramPlatform) Edit(r Room, message, text string) error {
	id, err := strconv.Atoi(message)
	if err == nil {
		p.rooms[r].Edit(id, text)
	}
	return err
}

// Delete implements Platform.
func (p *TelegramPlatform) Delete(r Room, message string) (bool, error) {
	id, err := strconv.Atoi(message)
	if err == nil {
		p.rooms[r].Delete(id)
	}
	return false, err
}

// Shown implements Platform. The forum's room shows what is outside its
// topics.
func (p *TelegramPlatform) Shown(r Room) (list []Shown) {
	c := p.rooms[r]
	for _, m := range c.Shown() {
		if c.TopicID() != 0 || m.Topic == "" {
			list = append(list, m)
		}
	}
	return list
}

// Press implements Platform.
func (p *TelegramPlatform) Press(r Room, by Account, message, value string) error {
	id, err := strconv.Atoi(message)
	if err != nil {
		return err
	}
	_, err = p.rooms[r].Press(p.user(by), id, value)
	return err
}

// Mark implements Platform.
func (p *TelegramPlatform) Mark(r Room, by Account, message, emoji string, removed bool) error {
	id, err := strconv.Atoi(message)
	if err != nil {
		return err
	}
	if removed {
		emoji = ""
	}
	p.rooms[r].React(p.user(by), id, emoji)
	return nil
}

// Order implements Platform.
func (p *TelegramPlatform) Order(Room, Account, string, string) error {
	return Unsupported("a command is a message")
}

// Marks implements Platform.
func (p *TelegramPlatform) Marks(r Room, message string) ([]string, error) {
	id, err := strconv.Atoi(message)
	if err != nil {
		return nil, err
	}
	if emoji := p.rooms[r].Reaction(id); emoji != "" {
		return []string{emoji}, nil
	}
	return nil, nil
}

// Whispers implements Platform.
func (p *TelegramPlatform) Whispers(_ Room, to Account) []string { return p.tg.Alerts(p.user(to)) }

// Files implements Platform.
func (p *TelegramPlatform) Files(r Room) ([]SentFile, error) {
	return ownFiles(p.rooms[r].Shown()), nil
}

// Happen implements Platform.
func (p *TelegramPlatform) Happen(r Room, s Strange) error {
	c := p.rooms[r]
	switch s {
	case Service:
		c.Join(p.user(p.Person("Newcomer")))
	case Novel:
		p.tg.Raw(`{"hologram":{"id":"7","chat":{"id":` + itoa(c.ID()) + `,"type":"hyperspace"},"beam":[1,2,3]}}`)
	case Unreadable:
		p.tg.Raw(`{"message":{"message_id":"seven","chat":[],"date":{},"text":7}}`)
	}
	return nil
}

// Move implements Platform.
func (p *TelegramPlatform) Move(r Room) (Room, error) {
	c := p.rooms[r].Migrate()
	fresh := Room(fmt.Sprintf("moved %d", c.ID()))
	p.rooms[fresh] = c
	return fresh, nil
}

// Shut implements Platform.
func (p *TelegramPlatform) Shut(r Room) error {
	p.rooms[r].Block()
	return nil
}

// Forbid implements Platform.
func (p *TelegramPlatform) Forbid() error {
	p.tg.ForbidFiles()
	return nil
}

// Expel implements Platform.
func (p *TelegramPlatform) Expel(Room) error {
	return Unsupported("Telegram keeps what we have not heard, and has nothing to read it from")
}

// Revoke implements Platform.
func (p *TelegramPlatform) Revoke() error {
	p.tg.Revoke()
	return nil
}

// Redeliver implements Platform.
func (p *TelegramPlatform) Redeliver() error {
	p.tg.Redeliver()
	return nil
}

// Unacked implements Platform.
func (p *TelegramPlatform) Unacked() (int, error) { return p.tg.Unconfirmed() + p.tg.Unanswered(), nil }

// Fail implements Platform.
func (p *TelegramPlatform) Fail(op Op, n int, f Fault) (func() int, error) {
	switch op {
	case Receiving:
		hits := p.tg.Fail("getUpdates", n, f)
		p.tg.Drop()
		return hits, nil
	case Sending:
		return p.tg.Fail("sendMessage editMessageText editMessageMedia createForumTopic", n, f), nil
	case Finding:
		return p.tg.Fail("editMessageText sendChatAction", n, f), nil
	}
	return nil, errors.ErrUnsupported
}

// Heal implements Platform.
func (p *TelegramPlatform) Heal() { p.tg.Heal() }

// Drop implements Platform.
func (p *TelegramPlatform) Drop() error {
	p.tg.Drop()
	return nil
}

// Deafen implements Platform.
func (p *TelegramPlatform) Deafen() error {
	return Unsupported("a poll that carries nothing ends by itself")
}

// Recycle implements Platform.
func (p *TelegramPlatform) Recycle() error { return Unsupported("there is no connection to leave") }
