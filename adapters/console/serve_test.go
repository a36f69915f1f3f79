package console

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"

	"github.com/google/go-cmp/cmp"
)

func TestSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		s.run()
		c := s.raw("main")
		for _, m := range []struct {
			text    string
			command bool
		}{
			{"hello", false},
			{"/help", true},
			{"/Status now", true},
			{"/", false},
			{"/1", false},
			{"/path/to/file", true}, // the bus knows that there is no such command
			{"two\nlines", false},
		} {
			f, _ := json.Marshal(clientFrame{Say: &say{ID: "a1", Text: m.text}})
			c.write(string(f))
			c.want(`{"ack":{"id":"a1"}}`)
			got := s.inbound()
			want := core.Inbound{
				Key:       "main/a1",
				Kind:      core.InMessage,
				Place:     core.Place{Adapter: "console", Channel: "main"},
				Direct:    true,
				From:      core.Person{ID: "console:you", Name: "you"},
				MessageID: "a1",
				Text:      m.text,
				Command:   m.command,
				Time:      time.Now(),
			}
			if d := cmp.Diff(want, got[len(got)-1]); d != "" {
				t.Error(d)
			}
		}
		// What comes again is the same.
		c.write(`{"say":{"id":"a2","text":"x","time":"2026-01-02T03:04:05.678Z"}}`)
		c.want(`{"ack":{"id":"a2"}}`)
		time.Sleep(time.Hour)
		c.write(`{"say":{"id":"a2","text":"x","time":"2026-01-02T03:04:05.678Z"}}`)
		c.want(`{"ack":{"id":"a2"}}`)
		got := s.inbound()
		if d := cmp.Diff(got[len(got)-2], got[len(got)-1]); d != "" {
			t.Error(d)
		}
	})
}

func TestSayWaitsForRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		c := s.raw("main")
		c.write(`{"say":{"id":"a1","text":"early"}}`)
		time.Sleep(time.Hour)
		if got := s.inbound(); len(got) != 0 {
			t.Fatalf("accepted before Run: %v", got)
		}
		s.run()
		c.want(`{"ack":{"id":"a1"}}`)
	})
}

func TestSayIsOfferedUntilItIsAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		for range 8 {
			s.deny = append(s.deny, errors.New("disk full"))
		}
		s.deny = append(s.deny, errors.New("disk gone"))
		s.run()
		c := s.raw("main")
		began := time.Now()
		c.write(`{"say":{"id":"a1","text":"x"}}`)
		c.want(`{"trouble":{"id":"a1","text":"disk full"}}`)
		c.want(`{"trouble":{"id":"a1","text":"disk gone"}}`)
		c.want(`{"ack":{"id":"a1"}}`)
		// 0.1 + 0.2 + … + 6.4, then 10 twice.
		if d := time.Since(began); d != 32700*time.Millisecond {
			t.Errorf("accepted after %s", d)
		}
		if n := len(s.inbound()); n != 1 {
			t.Errorf("accepted %d times", n)
		}
	})
}

func TestSayOutlivesItsClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		c := s.raw("main")
		c.write(`{"say":{"id":"a1","text":"last words"}}`)
		hangUp(t, c.conn)
		s.run()
		synctest.Wait()
		if got := s.inbound(); len(got) != 1 || got[0].Text != "last words" {
			t.Errorf("got %v", got)
		}
	})
}

// TestSayAfterRun: what is not durable when Run ends is not acknowledged, and
// keeps nobody waiting.
func TestSayAfterRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- s.Run(ctx, func(context.Context, []core.Inbound) error { return errors.New("disk full") })
		}()
		stuck, idle := s.raw("main"), s.raw("main")
		stuck.write(`{"say":{"id":"a1","text":"x"}}`)
		stuck.want(`{"trouble":{"id":"a1","text":"disk full"}}`)
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		idle.write(`{"say":{"id":"a2","text":"x"}}`)
		for _, c := range []*raw{stuck, idle} {
			if line, err := c.lines.ReadString('\n'); !errors.Is(err, io.EOF) {
				t.Errorf("got %q, %v", line, err)
			}
		}

		s.run()
		late := s.raw("main")
		late.write(`{"say":{"id":"a3","text":"x"}}`)
		late.want(`{"ack":{"id":"a3"}}`)
	})
}

func TestBadLinesDoNotEndTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		s.run()
		c := s.raw("")
		long := strings.Repeat("x", maxText+1)
		for _, test := range []struct{ line, want string }{
			{`{"say":{"id":"a1","text":"x"}}`, `{"error":{"id":"a1","text":"say hello first"}}`},
			{`{"hello":{"session":"a/b"}}`, `not a session name`},
			{`{"hello":{"session":"main"}}`, ``},
			{`{"hello":{"session":"main"}}`, `{"error":{"text":"the session is open already"}}`},
			{`hello`, `not a line of this protocol`},
			{``, `not a line of this protocol`},
			{`[]`, `not a line of this protocol`},
			{`{"say":{"id":1}}`, `not a line of this protocol`},
			{"\x00\xff", `not a line of this protocol`},
			{`{}`, `either hello or say`},
			{`{"hello":{"session":"x"},"say":{"id":"a1","text":"x"}}`, `either hello or say`},
			{`{"say":{"id":"","text":"x"}}`, `a message's id is`},
			{`{"say":{"id":"a b","text":"x"}}`, `{"error":{"id":"a b","text":"a message's id is`},
			{`{"say":{"id":"a1","text":" \n"}}`, `the message is empty`},
			{`{"say":{"id":"a1","text":"` + long + `"}}`, `1048576 is the most`},
		} {
			c.write(test.line)
			if test.want == "" {
				continue
			}
			if got := c.read(); !strings.Contains(got, `{"error":`) || !strings.Contains(got, test.want) {
				t.Errorf("%.60s: got %s, want %s", test.line, got, test.want)
			}
		}
		if got := s.inbound(); len(got) != 0 {
			t.Errorf("accepted %v", got)
		}
		c.write(`{"say":{"id":"a2","text":"still here"}}`)
		c.want(`{"ack":{"id":"a2"}}`)
	})
}

func TestEndlessLineIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		near, far := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- s.Serve(s.ctx, far) }()
		go func() { _, _ = near.Write([]byte(strings.Repeat("x", 10<<20))) }()
		line, err := bufio.NewReader(near).ReadString('\n')
		if err != nil || !strings.Contains(line, `{"error":{"text":"a line is longer than`) {
			t.Errorf("client got %q, %v", line, err)
		}
		if err := <-done; err == nil {
			t.Error("Serve knows of nothing")
		}
	})
}

func TestSendReachesAllClientsOfTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		s.run()
		a, b, other := s.raw("main"), s.raw("main"), s.raw("other")
		sent := make(chan core.Receipt, 1)
		go func() {
			r, err := s.Send(t.Context(), final("main", "hi"))
			if err != nil {
				t.Error(err)
			}
			sent <- r
		}()
		gotA, gotB := a.read(), b.read()
		r := <-sent
		want := `{"show":{"post":"` + r.ID + `","kind":"final","text":"hi","speaker":"chief","answers":["a1"],"last":true}}`
		if gotA != want || gotB != want {
			t.Errorf("got  %s\nand  %s\nwant %s", gotA, gotB, want)
		}

		// With one client gone, the other is enough; and edits keep the id.
		hangUp(t, a.conn)
		edit := final("main", "ho")
		edit.Edit = r.ID
		go func() {
			if e, err := s.Send(t.Context(), edit); err != nil || e.ID != r.ID {
				t.Errorf("edit: %v, %v", e, err)
			}
		}()
		b.want(strings.Replace(want, "hi", "ho", 1))

		synctest.Wait()
		go func() {
			if _, err := s.Send(t.Context(), final("other", "x")); err != nil {
				t.Error(err)
			}
		}()
		if got := other.read(); !strings.Contains(got, `"text":"x"`) {
			t.Errorf("the other session got %s", got)
		}
	})
}

func TestSendWaitsForAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		attached := make(chan core.Place, 1)
		s.attached = func(p core.Place) { attached <- p }
		s.run()
		refused := func(o core.Outbound) {
			t.Helper()
			_, err := s.Send(t.Context(), o)
			wait, ok := errors.AsType[*core.RetryAfter](err)
			if !ok || wait.After < time.Minute || wait.Global || !errors.Is(err, core.ErrNotSent) {
				t.Errorf("%s: %v", o.Kind, err)
			}
		}
		open := final("main", "…")
		open.Kind = core.OutOpen
		refused(open)
		refused(final("main", "pending"))
		preview := final("main", "pen")
		preview.Kind, preview.Edit = core.OutUpdate, "p1"
		if r, err := s.Send(t.Context(), preview); err != nil || r.ID != "p1" {
			t.Errorf("preview: %v, %v", r, err)
		}

		c := s.raw("main")
		p := <-attached
		if p != final("main", "").Place {
			t.Fatalf("attached %v", p)
		}
		go func() {
			if _, err := s.Send(t.Context(), final("main", "pending")); err != nil {
				t.Error(err)
			}
		}()
		if got := c.read(); !strings.Contains(got, `"text":"pending"`) {
			t.Errorf("got %s", got)
		}
		hangUp(t, c.conn)
		synctest.Wait()
		refused(final("main", "later"))
	})
}

func TestStuckClientIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		s.raw("main") // never reads
		_, err := s.Send(t.Context(), final("main", "x"))
		if !errors.Is(err, core.ErrNotSent) {
			t.Errorf("sent to nobody: %v", err)
		}
		synctest.Wait()
		if n := len(s.session("main")); n != 0 {
			t.Errorf("%d clients are left", n)
		}
	})
}

func TestCancelledSendIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t)
		s.raw("main")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := s.Send(ctx, final("main", "x"))
		if !errors.Is(err, core.ErrNotSent) || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestSplit(t *testing.T) {
	split := New(Options{}).Features().Split
	long := strings.Repeat("word ", maxText)
	if got := split(long); len(got) != 1 || got[0] != long {
		t.Errorf("%d pieces", len(got))
	}
	if got := split(" \n\t"); len(got) != 0 {
		t.Errorf("blank text gives %q", got)
	}
}
