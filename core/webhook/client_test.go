package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

const secret = "canary-0123456789"

var errand = core.Errand{
	Item:   core.Item{ID: "i7", Kind: core.MessageItem, Bot: "ci", Thread: "t2", Message: "m5", Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
	Thread: core.Thread{ID: "t2", Place: core.Place{Adapter: "slack", Channel: "C1", Topic: "1.2"}},
	Message: core.Message{ID: "m5", Thread: "t2", Sender: core.Actor{Kind: core.HumanActor, ID: "slack:U1"}, Name: "Ann", Hop: 2,
		Time: time.Date(2026, 1, 2, 3, 4, 4, 0, time.FixedZone("", 3600)), Mentions: []string{"ci"}, Corrects: "m3",
		Parts: []core.Part{core.Text("@ci <b>build</b>"), {Kind: core.FilePart, File: &core.File{Name: "a.log", MIME: "text/plain", Size: 9, Ref: "secret-ref"}}}},
}

// receiver is what whoever receives webhooks writes: it takes nothing that is
// not signed, or old. It hands out what it took.
func receiver(t *testing.T, took func([]byte)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write(raw)
		want := "sha256=" + hex.EncodeToString(mac.Sum(nil))
		var in struct {
			Sent time.Time `json:"sent_at"`
		}
		if !hmac.Equal([]byte(want), []byte(r.Header.Get("X-Bellhop-Signature"))) || json.Unmarshal(raw, &in) != nil || time.Since(in.Sent).Abs() > 5*time.Minute {
			http.Error(w, "who are you?", http.StatusForbidden)
			return
		}
		for name, want := range map[string]string{"X-Bellhop-Kind": "message", "X-Bellhop-Item": "i7", "Content-Type": "application/json", "User-Agent": "bellhop"} {
			if got := r.Header.Get(name); r.Method != http.MethodPost || got != want {
				t.Errorf("%s %s: %q, want POST and %q", r.Method, name, got, want)
			}
		}
		took(raw)
		w.WriteHeader(http.StatusAccepted)
	})
}

func TestPost(t *testing.T) {
	var got []byte
	s := httptest.NewServer(receiver(t, func(raw []byte) { got = raw }))
	defer s.Close()
	c := NewClient(map[string]Hook{"ci": {s.URL + "/hook?token=x", secret}}, nil)
	if err := c.Post(t.Context(), errand); err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal(got, &body); err != nil {
		t.Fatal(err)
	}
	delete(body, "sent_at")
	want := map[string]any{
		"item_id": "i7", "kind": "message", "actor": "ci", "thread_id": "t2", "place": "slack:C1/1.2", "created_at": "2026-01-02T03:04:05Z",
		"message": map[string]any{"id": "m5", "time": "2026-01-02T02:04:04Z", "sender": map[string]any{"kind": "human", "id": "slack:U1", "name": "Ann"},
			"text": "@ci <b>build</b>", "mentions": []any{"ci"}, "hop": 2.0, "corrects": "m3",
			"files": []any{map[string]any{"name": "a.log", "mime": "text/plain", "size": 9.0}}},
		"reply": []any{"bellhop", "send", "--as", "ci", "--to", "t2", "--re", "m5"},
	}
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What is not as it should be is taken for a forgery or a replay.
func TestReceiverRefuses(t *testing.T) {
	s := httptest.NewServer(receiver(t, func([]byte) { t.Error("taken") }))
	defer s.Close()
	wrong := NewClient(map[string]Hook{"ci": {s.URL, "another secret"}}, nil)
	old := NewClient(map[string]Hook{"ci": {s.URL, secret}}, nil)
	old.now = func() time.Time { return time.Now().Add(-time.Hour) }
	for name, c := range map[string]*Client{"another secret": wrong, "an hour old": old} {
		if f := failed(t, c.Post(t.Context(), errand)); !f.Final || f.Why != "it answered 403 Forbidden" {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func failed(t *testing.T, err error) *Failure {
	t.Helper()
	f, ok := errors.AsType[*Failure](err)
	if !ok {
		t.Fatalf("%v is no failure", err)
	}
	return f
}

func TestStatuses(t *testing.T) {
	var status atomic.Int64
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Location", "/elsewhere")
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(int(status.Load()))
		io.WriteString(w, "<html>canary</html>")
	}))
	defer s.Close()
	c := NewClient(map[string]Hook{"ci": {s.URL, secret}}, nil)
	for code, want := range map[int]Failure{
		200: {}, 201: {}, 202: {}, 299: {},
		301: {"it answered 301, a redirect, which I do not follow", true, nil},
		307: {"it answered 307, a redirect, which I do not follow", true, nil},
		304: {"it answered 304, a redirect, which I do not follow", true, nil},
		400: {"it answered 400 Bad Request", true, nil},
		404: {"it answered 404 Not Found", true, nil},
		410: {"it answered 410 Gone", true, nil},
		408: {"it answered 408 Request Timeout", false, nil},
		429: {"it answered 429 Too Many Requests", false, nil},
		500: {"it answered 500 Internal Server Error", false, nil},
		503: {"it answered 503 Service Unavailable", false, nil},
		599: {"it answered 599", false, nil},
	} {
		status.Store(int64(code))
		asked.Store(0)
		err := c.Post(t.Context(), errand)
		if n := asked.Load(); n != 1 {
			t.Errorf("%d: asked %d times", code, n)
		}
		if code < 300 {
			if err != nil {
				t.Errorf("%d: %v", code, err)
			}
			continue
		}
		if f := failed(t, err); *f != want {
			t.Errorf("%d: %+v, want %+v", code, *f, want)
		}
	}
}

// A receiver that has said that it has it need not say any more.
func TestEndlessBody(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // else the server would not notice that we are gone
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer s.Close()
	c := NewClient(map[string]Hook{"ci": {s.URL, secret}}, nil)
	if err := c.Post(t.Context(), errand); err != nil {
		t.Error(err)
	}
}

func TestNoAnswer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer s.Close()
	c := NewClient(map[string]Hook{"ci": {s.URL, secret}}, nil)
	c.plain.Timeout = 50 * time.Millisecond
	if f := failed(t, c.Post(t.Context(), errand)); f.Final || f.Why != "no answer within 10s" {
		t.Errorf("%+v", f)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Post(ctx, errand); !errors.Is(err, context.Canceled) {
		t.Errorf("a stop is %v", err)
	}
}

// A connection that breaks off after the request is tried once: whoever keeps
// the item tries it again, under the same ID.
func TestCut(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		conn.Close()
	}))
	defer s.Close()
	c := NewClient(map[string]Hook{"ci": {s.URL, secret}}, nil)
	if f := failed(t, c.Post(t.Context(), errand)); f.Final || f.Why != "the connection failed" || asked.Load() != 1 {
		t.Errorf("%+v, asked %d times", f, asked.Load())
	}
}

func TestNobodyListens(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	l.Close()
	c := NewClient(map[string]Hook{"ci": {url + "/canary-path", secret}}, nil)
	f := failed(t, c.Post(t.Context(), errand))
	if f.Final || f.Why != "nobody listens there" {
		t.Errorf("%+v", f)
	}
	if strings.Contains(f.Error(), "canary") {
		t.Errorf("the log would show the address: %v", f)
	}
}

func TestCertificates(t *testing.T) {
	s := httptest.NewUnstartedServer(receiver(t, func([]byte) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	hooks := map[string]Hook{"ci": {s.URL, secret}}
	if f := failed(t, NewClient(hooks, nil).Post(t.Context(), errand)); f.Final || f.Why != "its certificate is not valid" {
		t.Errorf("%+v", f)
	}
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	if err := NewClient(hooks, &tls.Config{RootCAs: roots}).Post(t.Context(), errand); err != nil {
		t.Error(err)
	}
}

func TestGuards(t *testing.T) {
	for address, want := range map[string][2]bool{ // with https, without
		"127.0.0.1": {true, true}, "::1": {true, true}, "10.1.2.3": {true, true}, "192.168.1.1": {true, true}, "fd00::1": {true, true},
		"93.184.216.34": {true, false}, "2606:2800:220:1::1": {true, false},
		"169.254.169.254": {false, false}, "::ffff:169.254.169.254": {false, false}, "fe80::1": {false, false}, "fe80::1%eth0": {false, false},
		"0.0.0.0": {false, false}, "::": {false, false}, "224.0.0.1": {false, false}, "ff02::1": {false, false},
	} {
		ip := netip.MustParseAddr(address).Unmap().WithZone("")
		if got := [2]bool{anywhere(ip) == nil, nearby(ip) == nil}; got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
}

// The guards look at what is dialled.
func TestForbidden(t *testing.T) {
	for url, why := range map[string]string{
		"https://169.254.169.254/latest": "its address is one that I do not connect to",
		"http://93.184.216.34/hook":      "outside this machine and private networks I need https",
		"http://[::ffff:169.254.1.1]/":   "outside this machine and private networks I need https",
	} {
		c := NewClient(map[string]Hook{"ci": {url, secret}}, nil)
		if f := failed(t, c.Post(t.Context(), errand)); !f.Final || f.Why != why {
			t.Errorf("%s: %+v", url, f)
		}
	}
}
