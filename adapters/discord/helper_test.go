package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"bellhop/core"
)

const (
	testToken = "MTIz.secret.secret-secret"
	meID      = "1000"
	annID     = "2000"
)

// call is one request as a test sees it.
type call struct {
	what   string // method and path
	header http.Header
	body   string
	params map[string]any
	at     time.Time
}

// answer is what a call gets. A negative status breaks the connection.
type answer struct {
	status int
	header map[string]string
	body   string
}

func ok(body string) answer { return answer{status: 200, body: body} }

func no(status, code int, text string) answer {
	return answer{status: status, body: fmt.Sprintf(`{"message":%q,"code":%d}`, text, code)}
}

// server is a Discord in the bubble of a test, over pipes.
type server struct {
	t      *testing.T
	answer func(c call) answer    // nil: normal
	script func(n int, g *socket) // the nth connection to the gateway, from 1 on
	conns  chan net.Conn
	client *http.Client
	served sync.WaitGroup

	mu    sync.Mutex
	calls []call
	n     int
	log   bytes.Buffer
}

func newServer(t *testing.T) *server {
	s := &server{t: t, conns: make(chan net.Conn)}
	ended := make(chan struct{})
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case s.conns <- theirs:
			return ours, nil
		case <-ended:
			return nil, errors.New("connection refused")
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.client = &http.Client{Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 4}}
	srv := &http.Server{Handler: s}
	l := &listener{conns: s.conns, ended: ended}
	s.served.Go(func() { _ = srv.Serve(l) })
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		_ = srv.Close()
		s.served.Wait()
	})
	return s
}

type listener struct {
	conns <-chan net.Conn
	once  sync.Once
	ended chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.ended:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.ended) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.UnixAddr{} }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.served.Add(1) // of what it took over, the http.Server knows no more
	defer s.served.Done()
	if websocket.IsWebSocketUpgrade(r) {
		up := websocket.Upgrader{}
		ws, err := up.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = ws.Close() }()
		s.mu.Lock()
		s.n++
		n := s.n
		if r.URL.RawQuery != "v=10&encoding=json" {
			s.t.Errorf("the gateway is asked for %q", r.URL)
		}
		script := s.script
		s.mu.Unlock()
		script(n, &socket{Conn: ws, t: s.t, host: r.Host})
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	c := call{what: r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), "/api/v10"), header: r.Header, body: string(body), at: time.Now()}
	_ = json.Unmarshal(body, &c.params) // a form is none
	s.mu.Lock()
	s.calls = append(s.calls, c)
	reply := s.answer
	s.mu.Unlock()
	var a answer
	if reply != nil {
		a = reply(c)
	}
	if a.status == 0 {
		a = normal(c)
	}
	if a.status < 0 {
		panic(http.ErrAbortHandler)
	}
	for k, v := range a.header {
		w.Header().Set(k, v)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body) // the caller may be gone
}

// normal is the answer of a healthy platform.
func normal(c call) answer {
	switch {
	case c.what == "GET /gateway/bot":
		return ok(`{"url":"ws://gateway.test","shards":1,"session_start_limit":{"total":1000,"remaining":900,"reset_after":0,"max_concurrency":1}}`)
	case c.what == "GET /users/@me":
		return ok(`{"id":"` + meID + `","username":"bellhop","bot":true}`)
	case strings.HasPrefix(c.what, "GET "):
		return ok(`[]`)
	case strings.HasSuffix(c.what, "/messages"):
		text, _ := c.params["content"].(string)
		return ok(fmt.Sprintf(`{"id":"7777","channel_id":"1","content":%q,"author":{"id":"1000"},"timestamp":"2026-01-02T03:04:05+00:00"}`, text))
	}
	return answer{status: 200, body: `{}`}
}

// heal makes it answer as usual.
func (s *server) heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.script = nil, func(_ int, g *socket) { g.begin(); g.stay() }
}

// made lists the calls of a kind.
func (s *server) made(prefix string) (cs []call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if strings.HasPrefix(c.what, prefix) {
			cs = append(cs, c)
		}
	}
	return cs
}

// Write takes the log.
func (s *server) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(p)
}

// adapter makes an adapter that talks to the server.
func (s *server) adapter() *Adapter {
	return New(Options{
		Name: "dc", Token: testToken, APIURL: "http://discord.test/api/v10/", HTTP: s.client,
		Commands: []core.Command{{Name: "new", Help: "start afresh"}, {Name: "Bad Name", Help: "x"}, {Name: "mute"}},
		Log:      slog.New(slog.NewTextHandler(s, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
}

// socket is the server's end of a connection to the gateway.
type socket struct {
	*websocket.Conn
	t    *testing.T
	host string
	mu   sync.Mutex // of saying
}

// say sends a packet.
func (g *socket) say(packet string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = g.WriteMessage(websocket.TextMessage, []byte(packet)) // what reads tells
}

// event sends an event.
func (g *socket) event(seq int, kind, data string) {
	g.say(fmt.Sprintf(`{"op":0,"s":%d,"t":%q,"d":%s}`, seq, kind, data))
}

const helloPacket = `{"op":10,"d":{"heartbeat_interval":40000}}`

const readyData = `{"session_id":"s1","resume_gateway_url":"ws://resume.test","user":{"id":"` + meID + `"},"application":{"id":"1001"},"guilds":[{"id":"1","unavailable":true},{"id":"3"}]}`

// hear reads the next packet that is no heartbeat; it acknowledges those. The
// code is that of the close that came instead.
func (g *socket) hear() (p map[string]any, code int) {
	for {
		_, data, err := g.ReadMessage()
		if e, ok := errors.AsType[*websocket.CloseError](err); ok {
			return nil, e.Code
		}
		if err != nil {
			return nil, -1
		}
		p = nil
		if err := json.Unmarshal(data, &p); err != nil {
			g.t.Errorf("the client sent %q", data)
		}
		if p["op"] != 1.0 {
			return p, 0
		}
		g.say(`{"op":11}`)
	}
}

// begin greets and expects identify.
func (g *socket) begin() { g.beginWith(helloPacket) }

func (g *socket) beginWith(hello string) {
	g.say(hello)
	if p, _ := g.hear(); p["op"] != 2.0 {
		g.t.Errorf("the client opens with %v, want identify", p)
	}
	g.event(1, "READY", readyData)
}

// resume greets and returns the sequence that the client resumes from.
func (g *socket) resume() int {
	g.say(helloPacket)
	p, _ := g.hear()
	d, _ := p["d"].(map[string]any)
	if p["op"] != 6.0 || d["session_id"] != "s1" || d["token"] != testToken {
		g.t.Errorf("the client opens with %v, want resume", p)
	}
	seq, _ := d["seq"].(float64)
	return int(seq)
}

// stay keeps the connection until the client ends it, and returns how.
func (g *socket) stay() int {
	for {
		if _, code := g.hear(); code != 0 {
			return code
		}
	}
}

// run runs the adapter until the returned function is called, which gives
// Run's error.
func run(t *testing.T, a *Adapter, sink core.Sink) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx, sink) }()
	return func() error {
		cancel()
		return <-done
	}
}

// inbox keeps the texts that its sink gets.
type inbox struct {
	mu     sync.Mutex
	events []core.Inbound
}

func (b *inbox) sink(_ context.Context, batch []core.Inbound) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, batch...)
	return nil
}

// cursors are those that the ledger would have of what the inbox has got.
func (b *inbox) cursors(context.Context) (list []core.Cursor, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, in := range b.events {
		if !in.Heard {
			continue
		}
		p := in.Place
		if p.Topic == in.MessageID {
			p.Topic = ""
		}
		list = slices.DeleteFunc(list, func(c core.Cursor) bool { return c.Place == p })
		list = slices.Insert(list, 0, core.Cursor{Place: p, Direct: in.Direct, ID: in.MessageID, Time: in.Time})
	}
	return list, nil
}

func (b *inbox) texts() (out []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		out = append(out, e.Text)
	}
	return out
}

// said is a direct message of Ann's.
func said(id int, text string) string {
	return fmt.Sprintf(`{"id":"%d","channel_id":"50","type":0,"content":%q,"author":{"id":%q,"username":"ann"},"timestamp":"2026-01-02T03:04:05+00:00"}`, id, text, annID)
}

// guarded is a value that a test and its server share.
type guarded[T any] struct {
	mu sync.Mutex
	v  T
}

func (g *guarded[T]) set(v T) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.v = v
}

func (g *guarded[T]) get() T {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.v
}

// pass lets time pass in a bubble.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// idAt is an id of a time, which Discord's epoch may be after in a bubble.
func idAt(t time.Time) string {
	return strconv.FormatInt(max(t.UnixMilli()-epoch, 1)<<22, 10)
}
