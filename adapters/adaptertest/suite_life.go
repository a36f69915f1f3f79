package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"bellhop/core"
)

// lifeCases are about starting, surviving and ending.
var lifeCases = []testCase{
	{"features", testFeatures},
	{"preview", testPreview},
	{"status", testStatus},
	{"thinking", testThinking},
	{"reactions", testReactions},
	{"send at once", testSendAtOnce},
	{"reconnect", testReconnect},
	{"deaf", testDeaf},
	{"recycled", testRecycled},
	{"outage", testOutage},
	{"health", testHealth},
	{"revoked", testRevoked},
	{"stop while idle", testStopIdle},
	{"stop while the sink works", testStopSink},
	{"stop while the sink fails", testStopFailing},
	{"stop while disconnected", testStopDisconnected},
	{"stop before start", testStopAtOnce},
}

// testFeatures: the facts are of the known kinds and do not change.
func testFeatures(s *session) {
	f := s.f
	if !slices.Contains([]core.Once{core.OnceKey, core.OnceReadback, core.OnceEdit, core.OnceNone}, f.Once) {
		s.t.Errorf("Once is %q", f.Once)
	}
	if !slices.Contains([]core.ReplyMode{core.ReplyMention, core.ReplyThread, core.ReplyAlways}, f.Reply) {
		s.t.Errorf("Reply is %q", f.Reply)
	}
	if f.Split == nil {
		s.t.Fatal("there is no Split")
	}
	if (f.Resolve == nil) != (f.Once == core.OnceNone) {
		s.t.Errorf("Once is %q, and Resolve is there: %v", f.Once, f.Resolve != nil)
	}
	if f.Once == core.OnceEdit && !f.Edits {
		s.t.Error("Once is edit, and nothing can be edited")
	}
	if diff := cmp.Diff(f, s.a.Features(), cmpopts.IgnoreTypes(f.Split, f.Resolve, f.Typing, f.React, f.Before, f.Read, f.Fetch, f.Health, f.Invite, f.Preview, f.Title, f.Branch)); diff != "" {
		s.t.Errorf("the features change:\n%s", diff)
	}
	if again := s.p.Adapter(s.t, s.ledger.cursors); s.a.Name() == "" || again.Name() != s.a.Name() {
		s.t.Errorf("the adapter is %q, then %q", s.a.Name(), again.Name())
	}
	r, ann := s.room(Direct)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	if f.Typing != nil {
		if err := f.Typing(s.t.Context(), e.Place); err != nil {
			s.t.Errorf("Typing: %v", err)
		}
	}
	if f.Preview != nil && f.Preview(e.Place) < 0 || f.Previews < 0 {
		s.t.Error("Preview or Previews is less than nothing")
	}
}

// testPreview: a post is opened, updated and finished as one message.
func testPreview(s *session) {
	s.edits()
	for r, ann := range s.rooms(Direct, Group, Topic) {
		e := s.hear(r, Saying{From: ann, Text: "hello"})
		o := s.open(e, "k1", "…")
		if !e.Direct {
			o.ReplyTo = e.MessageID
		}
		open, err := s.a.Send(s.t.Context(), o)
		if err != nil {
			s.t.Fatal(err)
		}
		o.Edit, o.ReplyTo = open.ID, ""
		for _, text := range []string{"The", "The **ans", "The **answer** is `4", "The answer is 42."} {
			o.Kind, o.Text = core.OutUpdate, text
			if got, err := s.a.Send(s.t.Context(), o); err != nil || got.ID != open.ID {
				s.t.Errorf("the preview %q: %+v, %v", text, got, err)
			}
		}
		o.Kind, o.Last = core.OutFinal, true
		if _, err := s.a.Send(s.t.Context(), o); err != nil {
			s.t.Error(err)
		}
		s.shows(r, "The answer is 42.")
	}
}

// testStatus: what is being done stands below the text, whatever that leaves
// open, and is gone when something else is done or the post has its outcome.
func testStatus(s *session) {
	s.edits()
	for r, ann := range s.rooms(Direct, Group, Topic) {
		s.working(r, s.hear(r, Saying{From: ann, Text: "hello"}))
	}
	for r, ann := range s.rooms(Channel) {
		e := s.hear(r, Saying{From: ann, Text: "hello", Mention: []Account{s.p.Me()}})
		thread, err := s.p.Thread(r, e.MessageID)
		s.can(err)
		s.working(thread, e)
	}
}

// working shows work in a room, as an answer to what was heard there.
func (s *session) working(r Room, e core.Inbound) {
	s.t.Helper()
	o := s.open(e, "k1", "…")
	open, err := s.a.Send(s.t.Context(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	o.Edit, o.Kind = open.ID, core.OutUpdate
	last := func() string {
		shown := s.p.Shown(r)
		return shown[len(shown)-1].Text
	}
	for _, u := range []struct{ text, status string }{
		{"", "Thinking…"}, {"One moment.", "Looking it up…"}, {"One moment. Like so: `x", "Using read_it, 20 s…"},
		{"One moment. Like so: `x` and\n```\ny", "Still looking it up…"}, {"So it is 4", "Thinking…"},
	} {
		o.Text, o.Status = u.text, u.status
		if got, err := s.a.Send(s.t.Context(), o); err != nil || got.ID != open.ID {
			s.t.Errorf("the preview %q: %+v, %v", u, got, err)
		}
		words, _, _ := strings.Cut(u.text, "`")
		at := strings.Index(last(), u.status)
		if at < 0 || !strings.Contains(last()[:at], words) || strings.Contains(last()[at+len(u.status):], "…") {
			s.t.Errorf("the preview %q shows %q", u, last())
		}
	}
	o.Text, o.Status = "So it is 42", ""
	if _, err := s.a.Send(s.t.Context(), o); err != nil || strings.Contains(last(), "…") {
		s.t.Errorf("the last preview shows %q, %v", last(), err)
	}
	o.Kind, o.Last, o.Text = core.OutFinal, true, "So it is 42."
	if _, err := s.a.Send(s.t.Context(), o); err != nil || last() != "So it is 42." {
		s.t.Errorf("in the end it shows %q, %v", last(), err)
	}
}

// testThinking: what a model has thought stands above the text, in a preview
// and in the end, and calls nobody.
func testThinking(s *session) {
	s.edits()
	r, ann := s.room(Group)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	o := s.open(e, "k1", "…")
	open, err := s.a.Send(s.t.Context(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	o.Edit, o.Thinking = open.ID, "So 2<3 & @everyone *knows* it, "+strings.Repeat("surely ", 60)
	for _, o.Kind = range []core.OutKind{core.OutUpdate, core.OutFinal} {
		o.Text, o.Last = "It is **less**.", o.Kind == core.OutFinal
		if _, err := s.a.Send(s.t.Context(), o); err != nil {
			s.t.Error(err)
		}
		shown := s.p.Shown(r)
		last := shown[len(shown)-1]
		above, _, ok := strings.Cut(last.Text, "It is less.")
		for _, words := range []string{"So 2<3 & ", "knows", "surely surely"} {
			if !ok || !strings.Contains(above, words) {
				s.t.Errorf("%s: %q is not above the text: %q", o.Kind, words, last.Text)
			}
		}
		if len(last.Pings) > 0 {
			s.t.Errorf("%s: it calls %q", o.Kind, last.Pings)
		}
	}
	o.Thinking, o.Text = "", "It is less."
	if _, err := s.a.Send(s.t.Context(), o); err != nil {
		s.t.Error(err)
	}
	s.shows(r, "It is less.")
}

func testReactions(s *session) {
	if s.f.React == nil {
		s.can(Unsupported("Features.React is nil"))
	}
	r, ann := s.room(Group)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	for _, emoji := range []string{"👀", "👍", ""} {
		if err := s.f.React(s.t.Context(), e.Place, e.MessageID, emoji); err != nil {
			s.t.Errorf("reaction %q: %v", emoji, err)
		}
		marks, err := s.p.Marks(r, e.MessageID)
		if s.can(err); strings.Join(marks, " ") != emoji {
			s.t.Errorf("the marks are %q, want %q alone", marks, emoji)
		}
	}
}

// testSendAtOnce: an outbox need not wait for the first event.
func testSendAtOnce(s *session) {
	r, ann := s.room(Direct)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	s.restart()
	s.show(e, "k1", "answer")
	s.shows(r, "answer")
}

// testReconnect: a connection that breaks, once or often, loses nothing.
func testReconnect(s *session) {
	r, ann := s.room(Group)
	s.hear(r, Saying{From: ann, Text: "before"})
	for i := range 5 {
		s.can(s.p.Drop())
		s.say(r, Saying{From: ann, Text: fmt.Sprint("during ", i)})
		synctest.Wait()
	}
	s.hear(r, Saying{From: ann, Text: "after"})
	s.heard("before", "during 0", "during 1", "during 2", "during 3", "during 4", "after")
}

// testDeaf: a connection that has died in silence is noticed.
func testDeaf(s *session) {
	r, ann := s.room(Group)
	s.hear(r, Saying{From: ann, Text: "before"})
	for range 2 {
		time.Sleep(10 * time.Minute)
		s.can(s.p.Deafen())
		s.hear(r, Saying{From: ann, Text: "during"})
		s.hear(r, Saying{From: ann, Text: "after"})
	}
	s.heard("before", "during", "after", "during", "after")
}

// testRecycled: what is said while the platform wants us to connect anew is
// heard once, at once and in order.
func testRecycled(s *session) {
	r, ann := s.room(Group)
	s.hear(r, Saying{From: ann, Text: "before"})
	want := []string{"before"}
	for i := range 6 {
		time.Sleep(time.Hour)
		s.can(s.p.Recycle())
		for j := range 3 {
			text := fmt.Sprint("during ", i, j)
			start := time.Now()
			s.hear(r, Saying{From: ann, Text: text})
			if took := time.Since(start); took > time.Minute {
				s.t.Errorf("%q took %s", text, took)
			}
			want = append(want, text)
		}
	}
	s.heard(want...)
}

// heard checks which messages came, in which order, taking repeated ones as
// one.
func (s *session) heard(want ...string) {
	s.t.Helper()
	var got []string
	keys := map[string]bool{}
	for _, e := range of(s.taken(), core.InMessage, "") {
		if !keys[e.Key] {
			got = append(got, e.Text)
		}
		keys[e.Key] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("heard otherwise:\n%s", diff)
	}
}

// testOutage: the platform is away for long, in every way it can be, and the
// adapter neither gives up nor storms it.
func testOutage(s *session) {
	r, ann := s.room(Group)
	want := []string{"before"}
	s.hear(r, Saying{From: ann, Text: "before"})
	const minutes = 30
	for _, f := range []Fault{{Net: NetRefuse}, {Status: 502}, {Net: NetCut}, {Net: NetHang}, {RetryAfter: 3 * time.Minute}} {
		hits := s.fail(Receiving, Always, f)
		text := "during " + f.String()
		s.say(r, Saying{From: ann, Text: text})
		time.Sleep(minutes * time.Minute)
		most := minutes * 30 // one every two seconds
		if f.RetryAfter > 0 {
			most = minutes/3 + 2 // as told
		}
		if n := hits(); n < 2 || n > most {
			s.t.Errorf("%s: %d tries in %d minutes, want at most %d", f, n, minutes, most)
		}
		s.p.Heal()
		s.hear(r, Saying{From: ann, Text: "after " + f.String()})
		want = append(want, text, "after "+f.String())
	}
	s.heard(want...)
}

// testHealth: an adapter that hears nothing says so.
func testHealth(s *session) {
	if s.f.Health == nil {
		s.can(Unsupported("Features.Health is nil"))
	}
	r, ann := s.room(Direct)
	s.hear(r, Saying{From: ann, Text: "hello"})
	fine := func() bool {
		h := s.f.Health()
		return h.Trouble == "" && time.Since(h.LastInbound) < 2*time.Minute
	}
	s.until("good health", fine)
	time.Sleep(time.Hour)
	if !fine() {
		s.t.Errorf("after an hour without news: %+v", s.f.Health())
	}
	last := time.Now()
	s.fail(Receiving, Always, Fault{Status: 502})
	s.until("an account of the trouble", func() bool { return s.f.Health().Trouble != "" })
	time.Sleep(time.Hour)
	h := s.f.Health()
	if h.LastInbound.After(last.Add(time.Minute)) || strings.Contains(h.Trouble, "\n") {
		s.t.Errorf("an hour after %s: %+v", last, h)
	}
	s.harmless(errors.New(h.Trouble))
	s.p.Heal()
	s.until("good health again", fine)
}

// testRevoked: without credentials there is no going on, and the error tells
// a person what to check.
func testRevoked(s *session) {
	r, ann := s.room(Direct)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	s.can(s.p.Revoke())
	s.until("Run to return", func() bool {
		select {
		case <-s.ended:
			return true
		default:
			return false
		}
	})
	s.wants(s.err, "fatal")
	if s.err != nil && len(s.err.Error()) < len("fatal: check it") {
		s.t.Errorf("the error says nothing: %v", s.err)
	}
	_, err := s.a.Send(s.t.Context(), s.open(e, "k1", "answer"))
	s.wants(err, "fatal")
	s.shows(r)
}

// testStopIdle: stop, in the end of every subtest, does the checking.
func testStopIdle(s *session) {
	r, ann := s.room(Direct)
	s.hear(r, Saying{From: ann, Text: "hello"})
	s.quiet()
	s.stop()
	if errors.Is(s.err, core.ErrFatal) {
		s.t.Errorf("a stop is fatal: %v", s.err)
	}
	before := len(s.offered())
	s.say(r, Saying{From: ann, Text: "too late"})
	time.Sleep(10 * time.Minute)
	if len(s.offered()) != before {
		s.t.Error("the sink was called after Run had returned")
	}
}

func testStopSink(s *session) {
	r, ann := s.room(Direct)
	s.hear(r, Saying{From: ann, Text: "before"}) // what nobody has heard of yet, some platforms cannot find
	s.behave(func(ctx context.Context, _ []core.Inbound) error {
		<-ctx.Done()
		return ctx.Err()
	})
	id := s.say(r, Saying{From: ann, Text: "hello"})
	s.until("the sink to be called", func() bool { return len(s.offered()) > 1 })
	s.stop()
	if len(s.taken()) > 1 {
		s.t.Errorf("taken:\n%s", list(s.taken()))
	}
	s.behave(nil)
	s.restart()
	s.event(core.InMessage, id)
}

func testStopFailing(s *session) {
	r, ann := s.room(Direct)
	s.behave(func(context.Context, []core.Inbound) error { return errSink })
	s.say(r, Saying{From: ann, Text: "hello"})
	time.Sleep(time.Hour)
	if n := len(s.offered()); n < 10 || n > 7200 {
		s.t.Errorf("the sink failed %d times in an hour", n)
	}
	s.stop()
}

func testStopDisconnected(s *session) {
	for _, f := range []Fault{{Net: NetRefuse}, {Net: NetHang}, {RetryAfter: time.Hour}} {
		s.fail(Receiving, Always, f)
		s.can(s.p.Drop())
		time.Sleep(10 * time.Minute)
		s.stop()
		s.p.Heal()
		s.start()
	}
}

func testStopAtOnce(s *session) {
	for range 3 {
		s.stop()
		s.start()
	}
	s.stop()
	ctx, cancel := context.WithCancel(s.t.Context())
	cancel()
	if err := s.p.Adapter(s.t, s.ledger.cursors).Run(ctx, func(context.Context, []core.Inbound) error {
		s.t.Error("the sink was called though the context had ended")
		return nil
	}); errors.Is(err, core.ErrFatal) {
		s.t.Errorf("a stop is fatal: %v", err)
	}
}
