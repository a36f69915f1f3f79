package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// dialing makes an adapter with its own client.
func dialing(t *testing.T, apiURL string, log io.Writer) *Adapter {
	a := New(Options{Name: "tg", Token: testToken, APIURL: apiURL, Log: slog.New(slog.NewJSONHandler(log, nil))})
	t.Cleanup(a.api.http.CloseIdleConnections)
	return a
}

// TestWhatAConnectionTells: only what certainly never left counts as not sent.
func TestWhatAConnectionTells(t *testing.T) {
	hangUp := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	}
	half := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "900")
		_, _ = io.WriteString(w, `{"ok":true`)
	}
	redirect := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://elsewhere.test"+r.URL.Path, http.StatusTemporaryRedirect)
	}
	for name, handler := range map[string]http.HandlerFunc{"hung up": hangUp, "half": half, "redirect": redirect} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(handler)
			defer s.Close()
			_, err := dialing(t, s.URL, io.Discard).Send(t.Context(), core.Outbound{Place: group, Text: "x"})
			only(t, err, core.ErrUnknown)
		})
	}

	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, at := range map[string]string{"refused": gone.URL, "no URL": "http://a b"} {
		t.Run(name, func(t *testing.T) {
			_, err := dialing(t, at, io.Discard).Send(t.Context(), core.Outbound{Place: group, Text: "x"})
			only(t, err, core.ErrNotSent)
		})
	}
}

// TestWithoutConnection: what never had a connection was not sent.
func TestWithoutConnection(t *testing.T) {
	for name, dial := range map[string]func(ctx context.Context) error{
		"no such host":   func(context.Context) error { return &net.DNSError{Err: "no such host", IsNotFound: true} },
		"nobody accepts": func(ctx context.Context) error { return errors.Join(sleep(ctx, time.Minute), errors.New("timed out")) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hc := &http.Client{Transport: &http.Transport{
					DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return nil, dial(ctx) },
				}}
				a := New(Options{Name: "tg", Token: testToken, HTTP: hc})
				_, err := a.Send(t.Context(), core.Outbound{Place: group, Text: "x"})
				only(t, err, core.ErrNotSent)
				pass(time.Minute)
			})
		})
	}
}

func TestConnectionIsKept(t *testing.T) {
	conns := map[string]bool{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conns[r.RemoteAddr] = true
		_, _ = io.WriteString(w, `{"ok":true,"result":{"message_id":1}}`)
	}))
	defer s.Close()
	a := dialing(t, s.URL, io.Discard)
	for range 3 {
		if _, err := a.Send(t.Context(), core.Outbound{Place: group, Text: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if len(conns) != 1 {
		t.Errorf("%d connections for three calls", len(conns))
	}
}

// TestTokenIsNowhere provokes every kind of failure and looks for the token in
// all that comes out of it.
func TestTokenIsNowhere(t *testing.T) {
	var log bytes.Buffer
	var told []string
	tell := func(err error) {
		for ; err != nil; err = errors.Unwrap(err) {
			told = append(told, err.Error(), fmt.Sprintf("%+v %#v", err, err))
		}
	}
	fails := func(a *Adapter) {
		a.current()
		_, err := a.Send(t.Context(), core.Outbound{Place: group, Text: "x"})
		if err == nil {
			t.Error("nothing failed")
		}
		tell(err)
		_, err = a.Features().Resolve(t.Context(), core.Outbound{Place: group, Text: "x", After: "3"})
		tell(err)
		told = append(told, fmt.Sprintf("%v %+v %#v", a, a, a), fmt.Sprintf("%+v %#v", a.api, a.api))
		told = append(told, fmt.Sprintf("%+v", a.Features()))
	}
	echo := "Bad Request: no method /bot" + testToken + "/sendMessage"
	for _, r := range []reply{
		no(400, echo), no(401, echo), no(403, echo), no(500, echo), tooMany(1), page(502), ok(`"` + testToken + `"`),
		{status: 200, body: testToken},
		{err: fmt.Errorf("dialing %s failed", testToken)},
		{err: &url.Error{Op: "Post", URL: "http://x/bot" + testToken + "/y", Err: errors.New("no")}},
	} {
		fails(adapter(always(r), &log))
	}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }))
	defer s.Close()
	for _, at := range []string{s.URL, "http://a b", "gopher://x"} {
		fails(dialing(t, at, &log))
	}

	synctest.Test(t, func(t *testing.T) {
		for _, r := range []reply{no(401, echo), no(409, echo), page(502), {err: errors.New(testToken)}} {
			a := adapter(always(r), &log)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			tell(a.Run(ctx, nothing))
			told = append(told, a.state().Trouble)
			cancel()
		}
	})

	told = append(told, log.String())
	for _, text := range told {
		if strings.Contains(text, "AA-secret") {
			t.Errorf("the token is in %q", text)
		}
	}
	if log.Len() == 0 {
		t.Error("nothing was logged")
	}
}

// TestCallsWaitTheirTurn: of many calls at once no more are made than Telegram
// takes, and neither polls nor downloads wait for them.
func TestCallsWaitTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inside, done atomic.Int32
		release := make(chan struct{})
		w := &wire{answer: func(ctx context.Context, c call) reply {
			if c.method == "getUpdates" {
				return ok(`[]`)
			}
			inside.Add(1)
			<-release
			return ok(`{"message_id":1}`)
		}}
		a := adapter(w, io.Discard)
		var sends sync.WaitGroup
		for range maxConns + 5 {
			sends.Go(func() {
				if _, err := a.Send(t.Context(), core.Outbound{Place: group, Text: "x"}); err != nil {
					t.Error(err)
				}
				done.Add(1)
			})
		}
		synctest.Wait()
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		sends.Go(func() {
			_, err := a.Send(impatient, core.Outbound{Place: group, Text: "x"})
			only(t, err, core.ErrNotSent)
		})
		synctest.Wait()
		if n := inside.Load(); n != maxConns {
			t.Errorf("%d calls at once", n)
		}
		if err := a.api.raw(t.Context(), time.Minute, "getUpdates", pollParams{}, nil); err != nil {
			t.Errorf("a poll waits for calls: %v", err)
		}
		time.Sleep(2 * time.Second)
		close(release)
		sends.Wait()
		if done.Load() != maxConns+5 || inside.Load() != maxConns+5 {
			t.Errorf("%d calls made, %d sends done", inside.Load(), done.Load())
		}
	})
	// The transports are three: what they bound, they bound apart.
	c := newClient(Options{Token: testToken})
	for _, hc := range []*http.Client{c.polls, c.files} {
		if hc.Transport == c.http.Transport {
			t.Error("polls or downloads share the connections of calls")
		}
	}
}
