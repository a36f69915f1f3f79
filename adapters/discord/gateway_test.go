package discord

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"

	"bellhop/core"
)

// inBubble runs a test against a server whose gateway follows the script.
func inBubble(t *testing.T, test func(t *testing.T, s *server, a *Adapter)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		s.heal()
		test(t, s, s.adapter())
	})
}

// wants checks what the sink has got and that Run ends well.
func wants(t *testing.T, in *inbox, stop func() error, texts ...string) {
	t.Helper()
	if diff := cmp.Diff(texts, in.texts()); diff != "" {
		t.Errorf("the sink got (-want +got):\n%s", diff)
	}
	if err := stop(); err != nil {
		t.Errorf("Run = %v", err)
	}
}

func TestIdentify(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server, a *Adapter) {
		var opening guarded[map[string]any]
		code := make(chan int, 1)
		s.script = func(_ int, g *socket) {
			g.say(helloPacket)
			p, _ := g.hear()
			opening.set(p)
			g.event(1, "READY", readyData)
			g.event(2, "MESSAGE_CREATE", said(1, "hello"))
			g.say(`{"op":0,"s":3,"t":"BRAND_NEW","d":[]}`)
			g.say(`no packet`)
			g.event(4, "MESSAGE_CREATE", said(2, "there"))
			code <- g.stay()
		}
		var in inbox
		stop := run(t, a, in.sink)
		pass(time.Minute)
		want := map[string]any{"op": 2.0, "d": map[string]any{
			"token": testToken, "intents": float64(1<<0 | 1<<9 | 1<<10 | 1<<12 | 1<<13 | 1<<15),
			"properties": map[string]any{"os": "linux", "browser": "bellhop", "device": "bellhop"},
		}}
		if diff := cmp.Diff(want, opening.get()); diff != "" {
			t.Errorf("identify: %s", diff)
		}
		if h := a.state(); h.Trouble != "" || time.Since(h.LastInbound) > time.Minute {
			t.Errorf("health %+v", h)
		}
		wants(t, &in, stop, "hello", "there")
		if c := <-code; c != websocket.CloseNormalClosure {
			t.Errorf("it said goodbye with %d", c)
		}
	})
}

func TestHeartbeats(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server, a *Adapter) {
		var beats guarded[[]string]
		s.script = func(_ int, g *socket) {
			g.begin()
			g.say(`{"op":1,"d":null}`) // asks for one at once
			for {
				_, data, err := g.ReadMessage()
				if err != nil {
					return
				}
				beats.set(append(beats.get(), strings.TrimSpace(string(data))))
				g.say(`{"op":11}`)
			}
		}
		stop := run(t, a, new(inbox).sink)
		synctest.Wait()
		if len(beats.get()) != 1 {
			t.Fatalf("asked for a heartbeat, it sent %q", beats.get())
		}
		pass(5 * 40 * time.Second)
		if b := beats.get(); len(b) < 6 || len(b) > 7 || b[1] != `{"op":1,"d":1}` {
			t.Errorf("heartbeats %q", b)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestResumeReplays(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server, a *Adapter) {
		var from guarded[int]
		var host guarded[string]
		s.script = func(n int, g *socket) {
			if n == 1 {
				g.begin()
				g.event(2, "MESSAGE_CREATE", said(1, "a"))
				g.event(3, "MESSAGE_CREATE", said(2, "b"))
				time.Sleep(time.Second)
				return // the line is cut
			}
			host.set(g.host)
			from.set(g.resume())
			g.event(3, "MESSAGE_CREATE", said(2, "b"))
			g.event(4, "MESSAGE_CREATE", said(3, "c"))
			g.event(5, "RESUMED", `{}`)
			g.stay()
		}
		var in inbox
		stop := run(t, a, in.sink)
		pass(10 * time.Second)
		if from.get() != 3 || host.get() != "resume.test" {
			t.Errorf("resumed at %s from %d", host.get(), from.get())
		}
		wants(t, &in, stop, "a", "b", "c")
	})
}

// TestSinkFailure: what the sink refuses is offered again while heartbeats go
// on, and is asked for again after a reconnection in the meantime.
func TestSinkFailure(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server, a *Adapter) {
		var from guarded[int]
		s.script = func(n int, g *socket) {
			if n == 1 {
				g.begin()
				g.event(2, "MESSAGE_CREATE", said(1, "a"))
				for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
					_, data, err := g.ReadMessage()
					if err != nil {
						t.Errorf("the connection broke: %v", err)
						return
					}
					if !strings.Contains(string(data), `"d":1`) {
						t.Errorf("acknowledged before it is durable: %s", data)
					}
					g.say(`{"op":11}`)
				}
				return
			}
			from.set(g.resume())
			g.event(2, "MESSAGE_CREATE", said(1, "a"))
			g.event(3, "MESSAGE_CREATE", said(2, "b"))
			g.stay()
		}
		var in inbox
		tries := 0
		stop := run(t, a, func(ctx context.Context, batch []core.Inbound) error {
			tries++
			if tries < 12 {
				return errors.New("the disk is full")
			}
			return in.sink(ctx, batch)
		})
		pass(10 * time.Minute)
		if from.get() != 1 {
			t.Errorf("resumed from %d, want 1", from.get())
		}
		wants(t, &in, stop, "a", "b")
	})
}

// TestFullFeed: a sink that blocks for long holds up the reading, and the
// connection is not taken for dead.
func TestFullFeed(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server, a *Adapter) {
		const many = 2*maxWaiting + 10
		s.script = func(n int, g *socket) {
			if n > 1 {
				t.Error("it connected again")
			}
			g.begin()
			go func() {
				for i := range many {
					g.event(i+2, "MESSAGE_CREATE", said(i+1, "x"))
				}
				for range 10 {
					time.Sleep(40 * time.Second)
					g.say(`{"op":11}`)
				}
			}()
			for {
				if _, _, err := g.ReadMessage(); err != nil {
					return
				}
			}
		}
		var in inbox
		release := make(chan struct{})
		stop := run(t, a, func(ctx context.Context, batch []core.Inbound) error {
			<-release
			return in.sink(ctx, batch)
		})
		pass(5 * time.Minute)
		close(release)
		pass(time.Second)
		if n := len(in.texts()); n != many {
			t.Errorf("%d of %d arrived", n, many)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		pass(time.Hour)
	})
}

func TestReconnects(t *testing.T) {
	tests := map[string]struct {
		end     func(g *socket) // of the first connection, after READY
		code    int             // with which the client closes it; 0: not checked
		resumes bool
		least   time.Duration
		most    time.Duration
	}{
		"op 7":              {func(g *socket) { g.say(`{"op":7,"d":null}`) }, 4000, true, 0, time.Second},
		"op 9, resumable":   {func(g *socket) { g.say(`{"op":9,"d":true}`) }, 4000, true, time.Second, 6 * time.Second},
		"op 9":              {func(g *socket) { g.say(`{"op":9,"d":false}`) }, 4000, false, time.Second, 6 * time.Second},
		"sequence":          {func(g *socket) { g.bye(4007) }, 0, false, 0, 6 * time.Second},
		"session timed out": {func(g *socket) { g.bye(4009) }, 0, false, 0, 6 * time.Second},
		"unknown error":     {func(g *socket) { g.bye(4000) }, 0, true, 0, time.Second},
		"going away":        {func(g *socket) { g.bye(1001) }, 0, true, 0, time.Second},
		"no acknowledgement": {func(g *socket) {
			for {
				if _, _, err := g.ReadMessage(); websocket.IsCloseError(err, 4000) {
					return
				} else if err != nil {
					g.t.Errorf("the connection ended with %v", err)
					return
				}
			}
		}, 0, true, 33 * time.Second, 82 * time.Second},
		"half open": {func(g *socket) {
			time.Sleep(3 * time.Minute) // neither reads nor writes
		}, 0, true, 3 * time.Second, 101 * time.Second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *server, a *Adapter) {
				var again guarded[time.Duration]
				var start guarded[time.Time]
				s.script = func(n int, g *socket) {
					switch {
					case n == 1 && tt.code != 0:
						g.beginWith(`{"op":10,"d":{"heartbeat_interval":3600000}}`)
						time.Sleep(6 * time.Second)
						start.set(time.Now())
						tt.end(g)
						if code := g.stay(); code != tt.code {
							t.Errorf("it closed with %d", code)
						}
						return
					case n == 1:
						g.begin()
						time.Sleep(6 * time.Second)
						start.set(time.Now())
						tt.end(g)
						return
					case again.get() == 0:
						again.set(time.Since(start.get()))
					}
					if tt.resumes {
						g.resume()
						g.event(2, "RESUMED", `{}`)
					} else {
						g.begin()
					}
					g.stay()
				}
				stop := run(t, a, new(inbox).sink)
				pass(5 * time.Minute)
				if d := again.get(); d < tt.least || d > tt.most {
					t.Errorf("connected again after %s", d)
				}
				if h := a.state(); h.Trouble != "" {
					t.Errorf("trouble %q", h.Trouble)
				}
				if err := stop(); err != nil {
					t.Errorf("Run = %v", err)
				}
			})
		})
	}
}

// bye closes the connection as the server does.
func (g *socket) bye(code int) {
	_ = g.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, "bye"), time.Now().Add(time.Second))
}
