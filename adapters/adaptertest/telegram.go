package adaptertest

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// TelegramOptions describe the bot account. The zero value is a bot in privacy
// mode whose private chats have no topics.
type TelegramOptions struct {
	Token    string // default "123456:fake"
	Username string // default "bellhop_bot"
	Name     string // default "Bellhop"
	Topics   bool   // getMe.has_topics_enabled: private chats have topics
	ReadsAll bool   // getMe.can_read_all_group_messages: privacy mode is off
}

// Telegram is a strict fake of the Telegram Bot API with one bot account, its
// chats, and the people in them. It starts no goroutine and is safe for
// concurrent use. Used inside a synctest bubble, it must be made there.
//
// It models HTML only: the Markdown parse modes are refused.
type Telegram struct {
	token string
	opt   TelegramOptions
	me    *TelegramUser

	mu         sync.Mutex
	changed    chan struct{} // closed and replaced at every change
	revoked    bool
	noFiles    bool // nobody lets the bot show files
	webhook    string
	users      map[int64]*TelegramUser
	rooms      map[int64]*room
	files      map[string]*tgFile
	presses    map[string]*TelegramUser // callback queries that may be answered
	alerts     map[int64][]string       // what answers to them have told people
	commands   map[string]string        // JSON lists by scope and language
	queue      []*update                // not confirmed, oldest first
	confirmed  []*update
	lastUpdate int64
	allowed    map[string]bool // nil: the default
	poll       chan struct{}   // closed when another poll takes over; nil: none waits
	dropped    chan struct{}   // the poll that Drop has broken
	lastID     int             // private chats and basic groups share it
	lastGroup  int64
	faults     faults
	calls      []Call
}

// NewTelegram makes a fake with one bot account and no chats.
func NewTelegram(o TelegramOptions) *Telegram {
	def := func(s *string, v string) {
		if *s == "" {
			*s = v
		}
	}
	def(&o.Token, "123456:fake")
	def(&o.Username, "bellhop_bot")
	def(&o.Name, "Bellhop")
	t := &Telegram{
		token:      o.Token,
		opt:        o,
		changed:    make(chan struct{}),
		users:      map[int64]*TelegramUser{},
		rooms:      map[int64]*room{},
		files:      map[string]*tgFile{},
		presses:    map[string]*TelegramUser{},
		alerts:     map[int64][]string{},
		commands:   map[string]string{},
		lastUpdate: 500_000,
		lastID:     10,
		lastGroup:  4_000,
	}
	t.me = &TelegramUser{ID: 123456, Name: o.Name, Username: o.Username, Bot: true}
	t.users[t.me.ID] = t.me
	return t
}

// Token is the bot's token.
func (t *Telegram) Token() string { return t.token }

// Me is the bot account.
func (t *Telegram) Me() *TelegramUser { return t.me }

// Revoke makes the token worthless: every call answers 401.
func (t *Telegram) Revoke() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.revoked = true
	if t.poll != nil {
		close(t.poll)
		t.poll = nil
	}
	t.notify()
}

// Client returns an HTTP client whose requests, to whatever host, the fake
// answers in the caller's goroutine, without sockets.
func (t *Telegram) Client() *http.Client { return &http.Client{Transport: transport{t.answer}} }

// Serve answers on a loopback address until the test ends, and returns the
// base URL. A connection cannot be refused there: such a fault closes it
// before an answer.
func (t *Telegram) Serve(tb testing.TB) string {
	s := httptest.NewServer(t)
	tb.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// ServeHTTP implements http.Handler.
func (t *Telegram) ServeHTTP(w http.ResponseWriter, r *http.Request) { t.answer(r).serve(w, r) }

// notify wakes who waits for a change. Called with mu held.
func (t *Telegram) notify() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// patience is how long a wait lasts at most; inside a bubble it takes no time.
const patience = 5 * time.Minute

// Wait blocks until cond holds. cond is tried again after each change of the
// fake, without its lock, so it may call the observing methods. It fails the
// test when what was waited for does not happen.
func (t *Telegram) Wait(tb testing.TB, what string, cond func() bool) {
	tb.Helper()
	end := time.NewTimer(patience)
	defer end.Stop()
	for {
		t.mu.Lock()
		changed := t.changed
		t.mu.Unlock()
		if cond() {
			return
		}
		select {
		case <-changed:
		case <-end.C:
			tb.Fatalf("waited in vain for %s\n%s", what, t)
		}
	}
}
