package slack

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"bellhop/core"
)

const (
	botToken = "xoxb-secret-bot"
	appToken = "xapp-secret-app"
)

// call is one request as a test sees it.
type call struct {
	method string
	params url.Values
	body   string
	header http.Header
	at     time.Time
}

// reply is what a call gets: an answer, or a transport's error.
type reply struct {
	status int
	header http.Header
	body   string
	err    error
}

// ok is an answer with these members.
func ok(members string) reply {
	if members != "" {
		members = "," + members
	}
	return reply{status: 200, body: `{"ok":true` + members + `}`}
}

func no(code string) reply {
	return reply{status: 200, body: fmt.Sprintf(`{"ok":false,"error":%q}`, code)}
}

func tooManyCalls(seconds int) reply {
	return reply{status: 429, header: http.Header{"Retry-After": {fmt.Sprint(seconds)}}, body: "slow down"}
}

func htmlPage(status int) reply {
	return reply{status: status, body: "<html><h1>" + http.StatusText(status) + "</h1></html>"}
}

// office is a Slack without sockets of the operating system: calls are
// answered in the caller's goroutine, and a Socket Mode connection is a pipe.
type office struct {
	answer func(ctx context.Context, c call) reply // status 0: what is normal
	dials  chan *websocket.Conn                    // our side of each new connection

	mu   sync.Mutex
	seen []call
}

func newOffice(answer func(ctx context.Context, c call) reply) *office {
	return &office{answer: answer, dials: make(chan *websocket.Conn, 64)}
}

// always answers every call alike.
func always(r reply) *office {
	return newOffice(func(context.Context, call) reply { return r })
}

// script answers each method with its replies in order, the last one for ever.
func script(replies map[string][]reply) *office {
	var mu sync.Mutex
	return newOffice(func(_ context.Context, c call) reply {
		mu.Lock()
		defer mu.Unlock()
		rs := replies[c.method]
		if len(rs) == 0 {
			return reply{}
		}
		if len(rs) > 1 {
			replies[c.method] = rs[1:]
		}
		return rs[0]
	})
}

func (o *office) RoundTrip(r *http.Request) (*http.Response, error) {
	c := call{method: path.Base(r.URL.Path), header: r.Header, at: time.Now()}
	if r.Body != nil {
		defer r.Body.Close()
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		c.body = string(data)
		c.params, _ = url.ParseQuery(c.body)
	}
	o.mu.Lock()
	o.seen = append(o.seen, c)
	o.mu.Unlock()
	a := o.answer(r.Context(), c)
	if a.status == 0 && a.err == nil {
		a = normal(c)
	}
	if a.err == nil {
		a.err = r.Context().Err()
	}
	if a.err != nil {
		return nil, a.err
	}
	if a.header == nil {
		a.header = http.Header{}
	}
	return &http.Response{StatusCode: a.status, Header: a.header, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}, nil
}

// normal is the answer of a healthy workspace.
func normal(c call) reply {
	switch c.method {
	case "auth.test":
		return ok(`"user_id":"UBOT","bot_id":"BBOT","user":"bellhop","team_id":"T1"`)
	case "apps.connections.open":
		return ok(`"url":"ws://wss.slack.test/link?ticket=secret-ticket"`)
	case "users.info":
		return ok(person(c.params.Get("user")))
	case "conversations.history", "conversations.replies":
		return ok(`"messages":[]`)
	case "chat.postMessage", "chat.update":
		return ok(`"ts":"1700000100.000100","channel":"C1"`)
	case "chat.startStream", "agents.sessions.setStatus":
		return no("unknown_method")
	}
	return ok("")
}

// person is what Slack says of the people of the tests.
func person(id string) string {
	switch id {
	case "UANN":
		return `"user":{"id":"UANN","team_id":"T1","name":"ann","tz":"Europe/Vienna","profile":{"display_name":"Ann","real_name":"Ann Lee"}}`
	case "UBOB":
		return `"user":{"id":"UBOB","team_id":"T1","name":"bob","real_name":"Bob"}`
	case "UGUEST":
		return `"user":{"id":"UGUEST","team_id":"T1","real_name":"Gus","is_restricted":true}`
	case "UELSE":
		return `"user":{"id":"UELSE","team_id":"T9","real_name":"Eve"}`
	case "UROB":
		return `"user":{"id":"UROB","team_id":"T1","real_name":"Rob","is_bot":true}`
	}
	return `"user":{"id":"` + id + `","team_id":"T1","real_name":"` + strings.ToLower(id) + `"}`
}

// calls lists what was called of a method.
func (o *office) calls(method string) []call {
	o.mu.Lock()
	defer o.mu.Unlock()
	var cs []call
	for _, c := range o.seen {
		if c.method == method {
			cs = append(cs, c)
		}
	}
	return cs
}

// methods lists what was called, in order, but for looking people up.
func (o *office) methods() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var ms []string
	for _, c := range o.seen {
		if c.method != "users.info" {
			ms = append(ms, c.method)
		}
	}
	return ms
}

// dial makes one Socket Mode connection and greets it.
func (o *office) dial(context.Context, string, string) (net.Conn, error) {
	theirs, ours := net.Pipe()
	go func() {
		rw := bufio.NewReadWriter(bufio.NewReader(ours), bufio.NewWriter(ours))
		r, err := http.ReadRequest(rw.Reader)
		if err != nil {
			return
		}
		var up websocket.Upgrader
		conn, err := up.Upgrade(hijacked{ours, rw}, r, nil)
		if err != nil {
			return
		}
		if conn.WriteJSON(map[string]any{"type": "hello", "num_connections": 1}) == nil {
			o.dials <- conn
		}
	}()
	return theirs, nil
}

// hijacked is a ResponseWriter that is nothing but its connection.
type hijacked struct {
	conn net.Conn
	rw   *bufio.ReadWriter
}

func (h hijacked) Header() http.Header                          { return http.Header{} }
func (h hijacked) Write(p []byte) (int, error)                  { return h.conn.Write(p) }
func (h hijacked) WriteHeader(int)                              {}
func (h hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) { return h.conn, h.rw, nil }

// peer is Slack's end of one connection. Its goroutine ends with it.
type peer struct {
	conn *websocket.Conn

	mu   sync.Mutex
	acks []string // envelope ids, in order
	last map[string]any
}

// next waits for the next connection.
func (o *office) next() *peer {
	p := &peer{conn: <-o.dials}
	go func() {
		for {
			var ack map[string]any
			if err := p.conn.ReadJSON(&ack); err != nil {
				_ = p.conn.Close()
				return
			}
			p.mu.Lock()
			id, _ := ack["envelope_id"].(string)
			p.acks, p.last = append(p.acks, id), ack
			p.mu.Unlock()
		}
	}()
	return p
}

func (p *peer) acked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.acks...)
}

// send sends a frame; it reports whether the connection took it.
func (p *peer) send(frame string) bool {
	return p.conn.WriteMessage(websocket.TextMessage, []byte(frame)) == nil
}

// adapter makes an adapter in the office.
func adapter(o *office, log io.Writer) *Adapter {
	return New(Options{
		Name: "slack", BotToken: botToken, AppToken: appToken, APIURL: "https://slack.test/api",
		HTTP: &http.Client{Transport: o}, Dial: o.dial,
		Commands: []core.Command{{Name: "new"}, {Name: "help"}, {Name: "stop"}},
		Log:      slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
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

// pass lets time pass in a bubble.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// inbox keeps the events that its sink gets.
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
		places := []core.Place{in.Place}
		if !in.Direct {
			places = append(places, core.Place{Adapter: in.Place.Adapter, Channel: in.Place.Channel})
		}
		for _, p := range places {
			list = slices.DeleteFunc(list, func(c core.Cursor) bool { return c.Place == p })
			list = slices.Insert(list, 0, core.Cursor{Place: p, Direct: in.Direct, ID: in.MessageID, Time: in.Time})
		}
	}
	return list, nil
}

func (b *inbox) texts() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var texts []string
	for _, in := range b.events {
		texts = append(texts, in.Text)
	}
	return texts
}

func nothing(context.Context, []core.Inbound) error { return nil }

// envelope wraps an event as Slack sends it.
func envelope(id, event string) string {
	return fmt.Sprintf(`{"type":"events_api","envelope_id":%q,"accepts_response_payload":false,"payload":{"token":"t","team_id":"T1",
		"api_app_id":"A1","type":"event_callback","event_id":"Ev%s","event":%s}}`, id, id, event)
}

// said is a message of Ann in a channel.
func said(ts, text string, more ...string) string {
	return event("message", ts, text, append([]string{`"user":"UANN"`, `"channel_type":"channel"`}, more...)...)
}

func event(kind, ts, text string, more ...string) string {
	encoded, _ := json.Marshal(text)
	return fmt.Sprintf(`{"type":%q,"channel":"C1","ts":%q,"text":%s,%s}`, kind, ts, encoded, strings.Join(more, ","))
}

// only checks that err matches want and none of the other promises.
func only(t *testing.T, err, want error) {
	t.Helper()
	for _, e := range []error{core.ErrFatal, core.ErrUnknown, core.ErrNotSent, core.ErrRefused, core.ErrGone} {
		if errors.Is(err, e) != (e == want) {
			t.Errorf("error %q: matches %q: %t", err, e, errors.Is(err, e))
		}
	}
}
