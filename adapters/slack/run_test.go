package slack

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

func TestSocketsAreNotStormed(t *testing.T) {
	tests := map[string]struct {
		open  reply
		frame string // sent on each socket, which is closed then
		words string
		most  int // tries in ten minutes
	}{
		"server error":  {htmlPage(503), "", "HTTP 503", 45},
		"no connection": {reply{err: errors.New("connection\nrefused")}, "", "connection refused", 45},
		"limited":       {tooManyCalls(60), "", "too many requests", 11},
		"limited in ok": {reply{status: 200, header: map[string][]string{"Retry-After": {"60"}}, body: `{"ok":false,"error":"ratelimited"}`}, "", "ratelimited", 11},
		"no address":    {ok(`"url":"gopher://x"`), "", "no address", 45},
		"too many":      {reply{}, `{"type":"disconnect","reason":"too_many_websockets"}`, "too many sockets", 25},
		"switched off":  {reply{}, `{"type":"disconnect","reason":"link_disabled"}`, "Socket Mode is switched off", 25},
		"refreshed":     {reply{}, `{"type":"disconnect","reason":"refresh_requested"}`, "refresh_requested", 45},
		"hung up":       {reply{}, "", "", 45},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := script(map[string][]reply{"apps.connections.open": {tt.open}})
				a := adapter(o, io.Discard)
				stop := run(t, a, nothing)
				over := make(chan struct{})
				go func() {
					for {
						select {
						case c := <-o.dials:
							if tt.frame != "" {
								_ = c.WriteMessage(1, []byte(tt.frame))
							}
							_ = c.Close()
						case <-over:
							return
						}
					}
				}()
				pass(10 * time.Minute)
				if n := len(o.calls("apps.connections.open")); n < 5 || n > tt.most {
					t.Errorf("%d tries in ten minutes, want 5 to %d", n, tt.most)
				}
				if h := a.state(); !strings.Contains(h.Trouble, tt.words) || strings.Contains(h.Trouble, "\n") {
					t.Errorf("health %+v", h)
				}
				if err := stop(); err != nil {
					t.Errorf("Run = %v", err)
				}
				close(over)
			})
		})
	}
}

func TestFatal(t *testing.T) {
	tests := map[string]struct {
		o     Options
		calls map[string][]reply
		words []string
	}{
		"revoked":      {Options{}, map[string][]reply{"auth.test": {no("token_revoked")}}, []string{"bot token", "OAuth & Permissions"}},
		"wrong token":  {Options{}, map[string][]reply{"auth.test": {no("invalid_auth")}}, []string{"bot token"}},
		"app token":    {Options{}, map[string][]reply{"apps.connections.open": {no("invalid_auth")}}, []string{"connections:write", "Basic Information"}},
		"app scope":    {Options{}, map[string][]reply{"apps.connections.open": {reply{status: 200, body: `{"ok":false,"error":"missing_scope","needed":"connections:write"}`}}}, []string{"connections:write"}},
		"kind":         {Options{}, map[string][]reply{"apps.connections.open": {no("not_allowed_token_type")}}, []string{"xapp"}},
		"while asking": {Options{}, map[string][]reply{"users.info": {no("account_inactive")}}, []string{"bot token"}},
		"swapped":      {Options{BotToken: appToken, AppToken: botToken}, nil, []string{"each other's place", "bot_token"}},
		"none":         {Options{BotToken: " ", AppToken: appToken}, nil, []string{"needs a bot token"}},
		"a person's":   {Options{BotToken: "xoxp-secret", AppToken: appToken}, nil, []string{"needs a bot token"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := script(tt.calls)
				a := adapter(o, io.Discard)
				if tt.o.AppToken != "" {
					tt.o.Name, tt.o.Dial = "slack", o.dial
					a = New(tt.o)
				}
				done := make(chan error)
				go func() { done <- a.Run(t.Context(), nothing) }()
				go func() {
					select {
					case c := <-o.dials:
						_ = c.WriteMessage(1, []byte(envelope("1", said(ts, "x"))))
					case <-t.Context().Done():
					}
				}()
				err := <-done
				only(t, err, core.ErrFatal)
				for _, w := range append(tt.words, `"slack"`) {
					if !strings.Contains(err.Error(), w) {
						t.Errorf("%q does not say %q", err, w)
					}
				}
				if strings.Contains(err.Error(), "secret") {
					t.Errorf("a token is in %q", err)
				}
			})
		})
	}
}

// TestRevocationIsHeardOf: no call need fail before it is noticed.
func TestRevocationIsHeardOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := script(map[string][]reply{"auth.test": {{}, no("account_inactive")}})
		done := make(chan error)
		go func() { done <- adapter(o, io.Discard).Run(t.Context(), nothing) }()
		o.next().send(envelope("1", `{"type":"app_uninstalled"}`))
		only(t, <-done, core.ErrFatal)
	})
}

// TestCatchUp: what was said while no socket was open is read before what is
// said now, and once.
func TestCatchUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		histories := map[string]string{
			"C1": `[{"type":"message","user":"UANN","text":"missed 2","ts":"1700000000.000900"},{"type":"message","user":"UANN","text":"missed 1","ts":"1700000000.000800"},{"text":5}]`,
			"D1": `[{"type":"message","user":"UBOB","text":"psst","ts":"1700000000.000850"}]`,
		}
		o := newOffice(func(_ context.Context, c call) reply {
			switch c.method {
			case "conversations.history":
				return ok(`"messages":` + histories[c.params.Get("channel")])
			case "conversations.replies":
				return ok(`"messages":[{"type":"message","user":"UANN","text":"<@UBOT> root","ts":"1700000000.000100"},{"type":"message","user":"UBOB","text":"reply","ts":"1700000000.000700","thread_ts":"1700000000.000100"}]`)
			}
			return reply{}
		})
		var in inbox
		a := adapter(o, io.Discard)
		a.cursors = in.cursors
		stop := run(t, a, in.sink)
		p := o.next()
		p.send(envelope("1", said("1700000000.000100", "<@UBOT> root")))
		p.send(envelope("2", `{"type":"message","channel":"D1","channel_type":"im","user":"UBOB","text":"hi","ts":"1700000000.000200"}`))
		pass(time.Minute)
		_ = p.conn.Close()
		p = o.next()
		p.send(envelope("3", said("1700000000.001000", "now")))
		pass(time.Minute)
		// The other places come in any order between them.
		channel := slices.DeleteFunc(in.texts(), func(text string) bool { return text == "hi" || text == "psst" || text == "reply" })
		if diff := cmp.Diff([]string{"root", "missed 1", "missed 2", "now"}, channel); diff != "" {
			t.Error(diff)
		}
		if got := in.texts(); len(got) != 7 {
			t.Errorf("heard %q, want 7 messages", got)
		}
		for _, e := range in.events {
			if e.Text == "reply" && (e.Place.Topic != "1700000000.000100" || e.Key != "m/T1/C1/1700000000.000700") || e.Text == "psst" && !e.Direct {
				t.Errorf("%+v", e)
			}
		}
		if oldest := o.calls("conversations.replies")[0].params.Get("oldest"); oldest != "1700000000.000100" {
			t.Errorf("read from %s on", oldest)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// TestWhoMustBeKnown: a message waits until it is known whether its author is
// a guest, and not for a name that would only be nice.
func TestWhoMustBeKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, slow := 0, 0
		o := newOffice(func(ctx context.Context, c call) reply {
			switch {
			case c.method == "users.info" && c.params.Get("user") == "UGUEST":
				if asked++; asked < 4 {
					return htmlPage(502)
				}
			case c.method == "users.info" && c.params.Get("user") == "USLOW":
				slow++
				if err := sleep(ctx, 10*time.Second); err != nil {
					return reply{err: err}
				}
			case c.method == "users.info" && c.params.Get("user") == "UBOB":
				<-ctx.Done()
				return reply{err: ctx.Err()}
			}
			return reply{}
		})
		var in inbox
		stop := run(t, adapter(o, io.Discard), in.sink)
		p := o.next()
		p.send(envelope("1", event("message", ts, "<@UBOB> x", `"user":"UGUEST","channel_type":"channel"`)))
		pass(time.Minute)
		if len(in.events) != 1 || !in.events[0].From.Guest || in.events[0].From.Name != "Gus" || in.events[0].Text != "@UBOB x" || asked != 4 {
			t.Errorf("after %d tries: %+v", asked, in.events)
		}
		// Who is both named and must be known is waited for.
		p.send(envelope("3", event("message", "1700000000.000350", "<@USLOW> x", `"user":"USLOW","channel_type":"channel"`)))
		pass(time.Minute)
		if len(in.events) != 2 || in.events[1].From.Guest || slow > 2 {
			t.Errorf("after %d tries: %+v", slow, in.events)
		}
		before := time.Now()
		p.send(envelope("2", event("message", "1700000000.000400", "<@UBOB> y", `"user":"UANN","channel_type":"channel"`)))
		time.Sleep(2900 * time.Millisecond)
		synctest.Wait()
		if len(p.acked()) != 3 {
			t.Errorf("not acknowledged after %s", time.Since(before))
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestStopEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := always(reply{})
		stop := run(t, adapter(o, &log), func(ctx context.Context, _ []core.Inbound) error { <-ctx.Done(); return ctx.Err() })
		o.next().send(envelope("1", said(ts, "x")))
		synctest.Wait()
		start := time.Now()
		if err := stop(); err != nil || time.Since(start) > time.Second {
			t.Errorf("Run = %v after %s", err, time.Since(start))
		}
	})
}
