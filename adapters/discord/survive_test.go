package discord

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"bellhop/core"
)

func TestFatal(t *testing.T) {
	tests := map[int]string{
		4004: "check the token", 4010: "fault", 4011: "too many servers", 4012: "update", 4013: "update",
		4014: "enable Message Content Intent",
	}
	for code, advice := range tests {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *server, a *Adapter) {
				s.script = func(n int, g *socket) {
					if n > 1 {
						t.Error("it tries again")
					}
					g.say(helloPacket)
					g.hear()
					g.bye(code)
				}
				err := a.Run(t.Context(), new(inbox).sink)
				if !errors.Is(err, core.ErrFatal) || !strings.Contains(err.Error(), advice) {
					t.Errorf("Run = %v", err)
				}
			})
		})
	}
	t.Run("401", func(t *testing.T) {
		inBubble(t, func(t *testing.T, s *server, a *Adapter) {
			s.answer = func(call) answer { return no(401, 0, "401: Unauthorized "+testToken) }
			err := a.Run(t.Context(), new(inbox).sink)
			if !errors.Is(err, core.ErrFatal) || !strings.Contains(err.Error(), "check the token") {
				t.Errorf("Run = %v", err)
			}
			s.secret(err)
		})
	})
}

// secret checks that neither the errors nor the log show the token.
func (s *server) secret(errs ...error) {
	s.t.Helper()
	s.mu.Lock()
	log := s.log.String()
	s.mu.Unlock()
	for _, text := range append([]string{log}, fmt.Sprint(errs)) {
		for _, secret := range []string{testToken, "interaction-token"} {
			if strings.Contains(text, secret) {
				s.t.Errorf("%q is shown in %s", secret, text)
			}
		}
	}
}

func TestGatewaySurvives(t *testing.T) {
	tests := map[string]struct {
		answer  func(c call) answer
		script  func(n int, g *socket)
		trouble string
		most    int // tries in five minutes
	}{
		"no REST":          {answer: func(call) answer { return answer{status: -1} }, trouble: "no answer", most: 35},
		"a proxy's page":   {answer: func(call) answer { return answer{status: 502, body: "<html>"} }, trouble: "HTTP 502", most: 35},
		"the edge refuses": {answer: func(call) answer { return answer{status: 429, body: "<html>"} }, trouble: "", most: 2},
		"no Hello":         {script: func(_ int, g *socket) { time.Sleep(time.Minute) }, trouble: "timeout", most: 25},
		"nonsense":         {script: func(_ int, g *socket) { g.say(`{"op":7}`); g.stay() }, trouble: "operation 7", most: 35},
		"closed at once":   {script: func(int, *socket) {}, trouble: "gateway is gone", most: 35},
		"READY says nothing": {script: func(_ int, g *socket) {
			g.say(helloPacket)
			g.hear()
			g.event(1, "READY", `{"session_id":4}`)
			g.stay()
		}, trouble: "READY", most: 35},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *server, a *Adapter) {
				if tt.answer != nil {
					s.answer = tt.answer
				}
				if tt.script != nil {
					s.script = tt.script
				}
				var in inbox
				stop := run(t, a, in.sink)
				pass(5 * time.Minute)
				if h := a.state(); !strings.Contains(h.Trouble, tt.trouble) {
					t.Errorf("trouble %q, want %q", h.Trouble, tt.trouble)
				}
				if n := len(s.made("GET /gateway/bot")); n < 1 || n > tt.most {
					t.Errorf("%d tries", n)
				}
				s.heal()
				pass(10 * time.Minute)
				if h := a.state(); h.Trouble != "" || time.Since(h.LastInbound) > time.Minute {
					t.Errorf("health after it is over: %+v", h)
				}
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestIdentifyBudget(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server, a *Adapter) {
		start := time.Now()
		s.answer = func(c call) answer {
			if c.what != "GET /gateway/bot" || time.Since(start) > time.Hour {
				return answer{}
			}
			return ok(`{"url":"ws://gateway.test","session_start_limit":{"total":1000,"remaining":3,"reset_after":3600001}}`)
		}
		var began guarded[time.Duration]
		s.script = func(_ int, g *socket) {
			began.set(time.Since(start))
			g.begin()
			g.stay()
		}
		stop := run(t, a, new(inbox).sink)
		pass(time.Minute)
		if h := a.state(); !strings.Contains(h.Trouble, "only 3 of 1000") {
			t.Errorf("trouble %q", h.Trouble)
		}
		pass(2 * time.Hour)
		if began.get() < time.Hour {
			t.Errorf("identified after %s", began.get())
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
