package adaptertest

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// DiscordOptions describe the bot. The zero value is a bot with all that it
// may be given.
type DiscordOptions struct {
	Name      string // default "Bellhop"
	NoContent bool   // Message Content Intent is not enabled in the portal
	Eager     bool   // sessions may follow each other at once, and as many as one likes
}

// What the bot under test was given, and where Discord is.
const (
	discordSecret  = "not-for-your-eyes"
	discordToken   = "MTAwMA.bellhop." + discordSecret
	discordAPI     = "/api/v10/"
	discordURL     = "http://discord.test" + discordAPI
	discordGateway = "ws://gateway.discord.test"
	discordResume  = "ws://resume.discord.test"
	discordCDN     = "https://cdn.discordapp.com"
	discordFiles   = "/attachments/"
)

// discordEpoch is the beginning of the time in Discord's ids, in Unix
// milliseconds.
const discordEpoch = 1420070400000

// Discord is a strict fake of Discord with one bot in one server: the REST API,
// the gateway, the channels and the people in them. It is safe for concurrent
// use. It starts two goroutines for each connection to the gateway, which end
// with it. Used inside a synctest bubble, it must be made there.
//
// Where Discord's own documents are silent it does what was reported of it;
// what neither tells, it refuses.
type Discord struct {
	opt   DiscordOptions
	me    *DiscordUser
	guild string

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at every change
	revoked  bool
	noFiles  bool // we lack the permission to attach files
	users    map[string]*DiscordUser
	chats    map[string]*DiscordChat
	files    map[string]*discordFile     // by path
	commands []map[string]any            // nil: none were published
	tokens   map[string]*discordResponse // by the token of an interaction
	delays   []time.Duration             // from interactions to their acknowledgements
	lastID   int64
	lastEdit time.Time
	faults   faults
	calls    []Call
	buckets  map[string]*discordBucket

	sessions   []*discordSession
	sockets    []*discordSocket // open, oldest first
	history    []discordEvent   // all that has happened
	identified []time.Time      // of the last day
}

// NewDiscord makes a Discord with a server, the bot, and nobody else in it.
func NewDiscord(o DiscordOptions) *Discord {
	if o.Name == "" {
		o.Name = "Bellhop"
	}
	d := &Discord{
		opt:     o,
		changed: make(chan struct{}),
		users:   map[string]*DiscordUser{},
		chats:   map[string]*DiscordChat{},
		files:   map[string]*discordFile{},
		tokens:  map[string]*discordResponse{},
		buckets: map[string]*discordBucket{},
	}
	d.guild = d.id()
	d.me = d.join(DiscordUser{Name: o.Name, Bot: true})
	return d
}

// Token is the bot's.
func (d *Discord) Token() string { return discordToken }

// Me is the bot.
func (d *Discord) Me() *DiscordUser { return d.me }

// Client returns an HTTP client whose requests, to whatever host, the fake
// answers in the caller's goroutine, without connections. Its transport's
// DialContext connects to the gateway.
func (d *Discord) Client() *http.Client {
	t := &http.Transport{DialContext: d.Dial}
	for _, scheme := range []string{"http", "https"} {
		t.RegisterProtocol(scheme, transport{d.answer})
	}
	return &http.Client{Transport: t}
}

// ForbidFiles takes from us the permission to attach files.
func (d *Discord) ForbidFiles() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.noFiles = true
}

// Serve answers on a loopback address until the test ends, the gateway
// included, and returns the URL of the API.
func (d *Discord) Serve(tb testing.TB) string {
	server := httptest.NewServer(d)
	tb.Cleanup(func() {
		d.Drop()
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL + strings.TrimSuffix(discordAPI, "/")
}

// ServeHTTP implements http.Handler.
func (d *Discord) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !websocket.IsWebSocketUpgrade(r) {
		d.answer(r).serve(w, r)
		return
	}
	d.mu.Lock()
	f := d.faults.take("connect")
	d.notify()
	d.mu.Unlock()
	switch {
	case f.Status > 0:
		f.page().serve(w, r)
	case f.Net != NetFine:
		answer{net: f.Net}.serve(w, r)
	default:
		d.connect(w, r)
	}
}

// discordAddress is where the gateway is for who has reached the fake at a host,
// or without a network.
func discordAddress(host, otherwise string) string {
	if host == "" || strings.HasSuffix(host, ".discord.test") {
		return otherwise
	}
	return "ws://" + host
}

// Revoke makes the token worthless, as a new one in the portal does.
func (d *Discord) Revoke() {
	d.mu.Lock()
	d.revoked = true
	d.mu.Unlock()
	d.Close(4004)
}

// notify wakes who waits for a change. Called with mu held.
func (d *Discord) notify() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// Wait blocks until cond holds. cond is tried again after each change of the
// fake, without its lock, so it may call the observing methods. It fails the
// test when what was waited for does not happen.
func (d *Discord) Wait(tb testing.TB, what string, cond func() bool) {
	tb.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		d.mu.Lock()
		changed := d.changed
		d.mu.Unlock()
		if cond() {
			return
		}
		select {
		case <-changed:
		case <-late.C:
			tb.Fatalf("waited in vain for %s", what)
		}
	}
}

// await blocks until cond, which is called with mu held, and reports whether
// that came true.
func (d *Discord) await(cond func() bool) bool {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		d.mu.Lock()
		ok, changed := cond(), d.changed
		d.mu.Unlock()
		if ok {
			return true
		}
		select {
		case <-changed:
		case <-late.C:
			return false
		}
	}
}

// id makes an id: a number that tells the time and is larger than all before.
// Called with mu held.
func (d *Discord) id() string {
	now := max(time.Now().UnixMilli()-discordEpoch, 1) << 22
	d.lastID = max(d.lastID+1, now)
	return strconv.FormatInt(d.lastID, 10)
}

// ID makes an id that nothing has.
func (d *Discord) ID() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.id()
}

// discordTime is how Discord writes a time; nil for none.
func discordTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000+00:00")
}
