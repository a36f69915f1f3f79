package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"bellhop/core"
)

const testToken = "123456:AA-secret-secret"

// call is one request as a test sees it.
type call struct {
	method string
	params map[string]any
	at     time.Time
}

func (c call) number(key string) int {
	f, _ := c.params[key].(float64)
	return int(f)
}

// reply is what a call gets: an answer, or a transport's error.
type reply struct {
	status int
	body   string
	err    error
}

func ok(result string) reply {
	return reply{status: 200, body: `{"ok":true,"result":` + result + `}`}
}

func no(code int, description string) reply {
	return reply{status: code, body: fmt.Sprintf(`{"ok":false,"error_code":%d,"description":%q}`, code, description)}
}

func tooMany(seconds int) reply {
	return reply{status: 429, body: fmt.Sprintf(
		`{"ok":false,"error_code":429,"description":"Too Many Requests: retry after %[1]d","parameters":{"retry_after":%[1]d}}`, seconds)}
}

func page(status int) reply {
	return reply{status: status, body: "<html><h1>" + http.StatusText(status) + "</h1></html>"}
}

// wire is a Bot API without sockets, which answers in the caller's goroutine.
type wire struct {
	answer func(ctx context.Context, c call) reply

	mu    sync.Mutex
	seen  []call
	polls int // in flight
	most  int // polls in flight at once
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	c := call{method: path.Base(r.URL.Path), at: time.Now()}
	if r.Body != nil {
		defer r.Body.Close()
		if err := json.NewDecoder(r.Body).Decode(&c.params); err != nil {
			return nil, err
		}
	}
	if want := "/bot" + testToken + "/" + c.method; r.URL.Path != want || r.Method != http.MethodPost {
		return nil, fmt.Errorf("%s %s, want POST %s", r.Method, r.URL.Path, want)
	}
	w.mu.Lock()
	w.seen = append(w.seen, c)
	if c.method == "getUpdates" {
		w.polls++
		w.most = max(w.most, w.polls)
		defer func() { w.mu.Lock(); w.polls--; w.mu.Unlock() }()
	}
	w.mu.Unlock()
	a := w.answer(r.Context(), c)
	if a.err == nil {
		a.err = r.Context().Err()
	}
	if a.err != nil {
		return nil, a.err
	}
	return &http.Response{
		StatusCode: a.status,
		Header:     http.Header{},
		Body:       io.NopCloser(strings.NewReader(a.body)),
		Request:    r,
	}, nil
}

// calls lists what was called of a method.
func (w *wire) calls(method string) []call {
	w.mu.Lock()
	defer w.mu.Unlock()
	var cs []call
	for _, c := range w.seen {
		if c.method == method {
			cs = append(cs, c)
		}
	}
	return cs
}

// normal is the answer of a healthy platform that has nothing to tell.
func normal(ctx context.Context, c call) reply {
	switch c.method {
	case "getMe":
		return ok(`{"id":123456,"is_bot":true,"first_name":"Bellhop","username":"Bellhop_Bot"}`)
	case "getUpdates":
		return waits(ctx, time.Duration(c.number("timeout"))*time.Second, ok(`[]`))
	}
	return ok(`true`)
}

// waits gives the reply after d, or nothing when the caller goes away first.
func waits(ctx context.Context, d time.Duration, r reply) reply {
	if err := sleep(ctx, d); err != nil {
		return reply{err: err}
	}
	return r
}

// adapter makes an adapter on the wire.
func adapter(w *wire, log io.Writer) *Adapter {
	return New(Options{
		Name:     "tg",
		Token:    testToken,
		APIURL:   "http://telegram.test/",
		HTTP:     &http.Client{Transport: w},
		Commands: []core.Command{{Name: "new", Help: "start afresh"}, {Name: "bad-name", Help: "x"}, {Name: "mute"}},
		Log:      slog.New(slog.NewTextHandler(log, nil)),
	})
}

// awake is an adapter that has taken in what came before.
func awake(w *wire) *Adapter {
	a := adapter(w, io.Discard)
	a.current()
	return a
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

// message is a plain update of a private chat.
func message(update int, text string) string {
	return fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%d,"date":1700000000,"text":%q,
		"chat":{"id":7,"type":"private"},"from":{"id":7,"first_name":"Ann"}}}`, update, update+1000, text)
}
