package discord

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"bellhop/core"
)

// in2026 is inBubble in a time that Discord's ids know.
func in2026(t *testing.T, test func(t *testing.T, s *server, a *Adapter)) {
	inBubble(t, func(t *testing.T, s *server, a *Adapter) {
		time.Sleep(time.Until(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		test(t, s, a)
	})
}

// directs are cursors of so many direct conversations, heard at a time.
func directs(n int, at time.Time) core.Cursors {
	return func(context.Context) (list []core.Cursor, err error) {
		for i := range n {
			list = append(list, core.Cursor{Place: core.Place{Adapter: "dc", Channel: fmt.Sprint(1000 + i)}, Direct: true, ID: idAt(at.Add(-time.Duration(i) * time.Second))})
		}
		return list, nil
	}
}

const histories = "GET /channels/"

// TestCatchUpIsPaced: some conversations are read at once, the others as fast as
// is decent, the ones where something was said last before the others, and not
// without bounds.
func TestCatchUpIsPaced(t *testing.T) {
	in2026(t, func(t *testing.T, s *server, a *Adapter) {
		a.cursors = directs(maxReads+100, time.Now().Add(-time.Hour))
		stop := run(t, a, new(inbox).sink)
		pass(time.Second)
		if n := len(s.made(histories)); n < historyBurst || n > historyBurst+6 {
			t.Errorf("%d are read at once", n)
		}
		pass(10 * time.Second)
		if n := len(s.made(histories)); n < historyBurst+50 || n > historyBurst+60 {
			t.Errorf("%d are read in eleven seconds", n)
		}
		pass(time.Hour)
		calls := s.made(histories)
		if len(calls) != maxReads || !strings.HasPrefix(calls[0].what, histories+"1000/") || !strings.HasPrefix(calls[maxReads-1].what, histories+fmt.Sprint(1000+maxReads-1)+"/") {
			t.Errorf("%d are read, from %s to %s", len(calls), calls[0].what, calls[len(calls)-1].what)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestCatchUpGoesBackADay, however old a cursor is.
func TestCatchUpGoesBackADay(t *testing.T) {
	in2026(t, func(t *testing.T, s *server, a *Adapter) {
		a.cursors = directs(1, time.Now().Add(-20*24*time.Hour))
		want := fmt.Sprintf("GET /channels/1000/messages?after=%s&limit=100", idAt(time.Now().Add(-readBackFor)))
		stop := run(t, a, new(inbox).sink)
		pass(time.Millisecond)
		if calls := s.made(histories); len(calls) != 1 || calls[0].what != want {
			t.Errorf("read: %q, want %s", s.whats(), want)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestFirstStartReadsNothing: who has heard nothing yet has missed nothing, nor
// has who joins a server.
func TestFirstStartReadsNothing(t *testing.T) {
	const guild = `{"id":"%d","channels":[{"id":"10","type":0,"last_message_id":"%s"}]}`
	for name, cursors := range map[string]core.Cursors{"first start": directs(0, time.Time{}), "new server": directs(1, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))} {
		t.Run(name, func(t *testing.T) {
			in2026(t, func(t *testing.T, s *server, a *Adapter) {
				a.cursors = cursors
				id := 1
				if name == "new server" {
					id = 2
				}
				s.script = func(_ int, g *socket) {
					g.begin()
					g.event(2, "GUILD_CREATE", fmt.Sprintf(guild, id, idAt(time.Now().Add(time.Second))))
					g.stay()
				}
				stop := run(t, a, new(inbox).sink)
				pass(time.Minute)
				if calls := s.made(histories + "10/"); len(calls) > 0 {
					t.Errorf("read: %q", s.whats())
				}
				if err := stop(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestCatchUpWaitsForTheLedger: nothing is taken before it is known how far each
// channel was heard, for that would move the cursors.
func TestCatchUpWaitsForTheLedger(t *testing.T) {
	in2026(t, func(t *testing.T, s *server, a *Adapter) {
		tries := 0
		a.cursors = func(context.Context) ([]core.Cursor, error) {
			if tries++; tries < 4 {
				return nil, errors.New("the disk fails")
			}
			return nil, nil
		}
		s.script = func(_ int, g *socket) {
			g.begin()
			g.event(2, "MESSAGE_CREATE", said(400, "now"))
			g.stay()
		}
		var in inbox
		stop := run(t, a, in.sink)
		pass(time.Second)
		if len(in.texts()) > 0 {
			t.Errorf("taken: %q", in.texts())
		}
		pass(time.Minute)
		wants(t, &in, stop, "now")
	})
}

// TestHangingHistoryHoldsNothingUp: while a history does not come, what is said
// there is taken all the same, and moves no cursor; an interaction is
// acknowledged in time.
func TestHangingHistoryHoldsNothingUp(t *testing.T) {
	in2026(t, func(t *testing.T, s *server, a *Adapter) {
		a.cursors = directs(2, time.Now().Add(-time.Hour))
		var hangs guarded[bool]
		hangs.set(true)
		s.answer = func(c call) answer {
			if strings.HasPrefix(c.what, histories) && hangs.get() {
				time.Sleep(callTimeout)
			}
			return answer{}
		}
		say := make(chan string)
		s.script = func(_ int, g *socket) {
			g.begin()
			seq := 1
			go func() {
				for data := range say {
					seq++
					kind := "MESSAGE_CREATE"
					if strings.Contains(data, "token") {
						kind = "INTERACTION_CREATE"
					}
					g.event(seq, kind, data)
				}
			}()
			g.stay()
		}
		var in inbox
		stop := run(t, a, in.sink)
		pass(time.Minute)
		message := func(text string) string {
			return fmt.Sprintf(`{"id":%q,"channel_id":"1001","type":0,"content":%q,"author":{"id":%q}}`, idAt(time.Now()), text, annID)
		}
		for i := range 10 {
			start := time.Now()
			say <- message(fmt.Sprint("now ", i))
			say <- fmt.Sprintf(`{"id":%q,"type":2,"token":"interaction-token","channel_id":"1001","user":{"id":%q},"data":{"name":"new"}}`, idAt(start), annID)
			for len(in.texts()) < 2*i+2 || len(s.made("POST /interactions")) <= i {
				pass(100 * time.Millisecond)
			}
			if took := time.Since(start); took > quietly+orderly {
				t.Errorf("message and interaction %d took %s", i, took)
			}
			pass(20 * time.Second)
		}
		for _, e := range in.events {
			if e.Heard {
				t.Errorf("%q moves the cursor", e.Text)
			}
		}
		hangs.set(false)
		pass(3 * time.Minute)
		say <- message("last")
		pass(time.Second)
		if last := in.events[len(in.events)-1]; last.Text != "last" || !last.Heard {
			t.Errorf("afterwards: %+v", last)
		}
		close(say)
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
