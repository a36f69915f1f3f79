package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"bellhop/core"
)

// unknownCases are about sends whose outcome is unknown.
var unknownCases = []testCase{
	{"server error", testServerError},
	{"lost answer", testLostAnswer},
	{"lost answer after restart", testLostRestart},
	{"never shown", testNeverShown},
	{"cannot tell", testCannotTell},
	{"lost edit", testLostEdit},
	{"once", testOnce},
}

func testServerError(s *session) {
	r, ann := s.room(Group)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	var want, ids []string
	for _, status := range []int{500, 502, 503, 504, 429} {
		text := fmt.Sprint("answer ", status)
		s.fail(Sending, 1, Fault{Status: status})
		ids = append(ids, s.recovers(s.known(s.open(e, text, text), ids...)).ID)
		want = append(want, text)
	}
	s.shows(r, want...)
}

// bounded is a context for a call that the network may swallow.
func (s *session) bounded() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.t.Context(), 10*time.Minute)
}

// resolves skips the subtest for an adapter that cannot know what became of a
// send, and says so.
func (s *session) resolves() {
	s.t.Helper()
	if s.f.Once == core.OnceNone {
		s.can(Unsupported("Features.Once is none"))
	}
}

// recovers sends what will fail without effect, then does as the outbox does:
// it resolves what is uncertain, and sends again once that is permitted.
func (s *session) recovers(o core.Outbound) core.Receipt {
	s.t.Helper()
	ctx, cancel := s.bounded()
	defer cancel()
	_, err := s.a.Send(ctx, o)
	s.harmless(err)
	if certain(err) == "" {
		s.resolves()
		_, err = s.f.Resolve(s.t.Context(), o)
	}
	if c := certain(err); c != "not sent" && c != "retry after" {
		s.t.Errorf("a fault that passes is certain of %q: %v", c, err)
	}
	r, err := s.a.Send(s.t.Context(), o)
	if err != nil {
		s.t.Fatalf("sent again: %v", err)
	}
	s.finish(o, r)
	return r
}

// known completes what Resolve is told: the ids of all else that we show in
// the place.
func (s *session) known(o core.Outbound, ids ...string) core.Outbound {
	o.Known = func(id string) bool { return slices.Contains(ids, id) }
	return o
}

// testLostAnswer: a message whose receipt was lost is found, and shown once.
func testLostAnswer(s *session) { s.lost(func() {}) }

func testLostRestart(s *session) { s.lost(s.restart) }

func (s *session) lost(meanwhile func()) {
	s.resolves()
	bob := s.p.Person("Bob")
	noise, err := s.p.Room(Direct, bob)
	s.can(err)
	for r, ann := range s.rooms(Direct, Group, Topic) {
		var want, ids []string
		for _, kind := range s.firsts() {
			for _, f := range []Fault{{Net: NetLost}, {Net: NetCut}, {Net: NetStall}, {Net: NetLost, Status: 504}} {
				one, two := fmt.Sprint("first ", kind, f), fmt.Sprint("second ", kind, f)
				e := s.hear(r, Saying{From: ann, Text: "hello"})
				for range 3 {
					s.say(noise, Saying{From: bob, Text: "meanwhile elsewhere"})
				}
				ids = append(ids, s.show(e, one, one).ID)
				s.fail(Sending, 1, f)
				o := s.known(s.open(e, two, two), ids...)
				o.Kind = kind
				ctx, cancel := s.bounded()
				_, err := s.a.Send(ctx, o)
				cancel()
				s.wants(err, "")
				s.say(noise, Saying{From: bob, Text: "still elsewhere"})
				s.say(r, Saying{From: bob, Text: "are you there?"})
				meanwhile()
				found, err := s.f.Resolve(s.t.Context(), o)
				if err != nil {
					s.t.Fatalf("%s of %s in %s is not found: %v", f, kind, r, err)
				}
				s.finish(o, found)
				ids = append(ids, found.ID)
				want = append(want, one, two)
				s.shows(r, want...)
				if own := s.own(r); own[len(own)-1].ID != found.ID {
					s.t.Errorf("found message %s, want %+v", found.ID, own[len(own)-1])
				}
			}
		}
	}
}

// testNeverShown: what never arrived is not taken for what else we have shown,
// there or elsewhere in the channel.
func testNeverShown(s *session) {
	s.resolves()
	bob := s.p.Person("Bob")
	for _, kind := range []RoomKind{Direct, Group, Topic} {
		ann := s.p.Person("Ann")
		r, err := s.p.Room(kind, ann)
		if errors.Is(err, ErrUnsupported) {
			continue
		}
		s.can(err)
		beside, err := s.p.Room(kind, bob)
		s.can(err)
		there := s.hear(beside, Saying{From: bob, Text: "hello"})
		var want, ids, elsewhere []string
		for _, kind := range s.firsts() {
			for _, f := range []Fault{{Net: NetHang}, {Net: NetRefuse}, {Status: 502}} {
				one, two, other := fmt.Sprint("first ", kind, f), fmt.Sprint("second ", kind, f), fmt.Sprint("beside ", kind, f)
				e := s.hear(r, Saying{From: ann, Text: "hello"})
				ids = append(ids, s.show(e, one, one).ID)
				s.show(there, other, other) // of another place: not known
				s.say(r, Saying{From: ann, Text: "are you there?"})
				s.fail(Sending, 1, f)
				o := s.known(s.open(e, two, two), ids...)
				o.Kind = kind
				ids = append(ids, s.recovers(o).ID)
				want, elsewhere = append(want, one, two), append(elsewhere, other)
				s.shows(r, want...)
				s.shows(beside, elsewhere...)
			}
		}
	}
}

// testCannotTell: a search that fails has found nothing out.
func testCannotTell(s *session) {
	s.resolves()
	r, ann := s.room(Group)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	s.fail(Sending, 1, Fault{Net: NetLost})
	o := s.known(s.open(e, "k1", "answer"))
	if _, err := s.a.Send(s.t.Context(), o); err == nil {
		s.t.Fatal("a send that was never answered is a success")
	}
	for _, f := range []Fault{{RetryAfter: 7 * time.Second}, {Status: 502}, {Net: NetRefuse}, {Net: NetHang}, {Net: NetLost}} {
		hits := s.fail(Finding, 1, f)
		ctx, cancel := s.bounded()
		_, err := s.f.Resolve(ctx, o)
		cancel()
		if hits() != 1 {
			s.t.Fatalf("Resolve has met %d faults, want one", hits())
		}
		if err == nil || errors.Is(err, core.ErrNotSent) || errors.Is(err, core.ErrFatal) {
			s.t.Errorf("a search that met %s: %v", f, err)
		}
		s.harmless(err)
	}
	if _, err := s.f.Resolve(s.t.Context(), o); err != nil {
		s.t.Error(err)
	}
	s.shows(r, "answer")
}

// testLostEdit: an edit whose outcome is unknown can be made good.
func testLostEdit(s *session) {
	s.edits()
	s.resolves()
	r, ann := s.room(Group)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	shown := s.show(e, "k1", "draft")
	for _, f := range []Fault{{Net: NetLost}, {Net: NetCut}, {Net: NetStall}, {Net: NetHang}, {Status: 500}, {Net: NetLost, Status: 504}, {Net: NetRefuse}} {
		o := s.open(e, "k1", "final "+f.String())
		o.Kind, o.Edit = core.OutFinal, shown.ID
		s.fail(Sending, 1, f)
		ctx, cancel := s.bounded()
		_, err := s.a.Send(ctx, o)
		cancel()
		if certain(err) == "" {
			_, err = s.f.Resolve(s.t.Context(), s.known(o, shown.ID))
		}
		if certain(err) == "not sent" {
			_, err = s.a.Send(s.t.Context(), o)
		}
		if err != nil {
			s.t.Errorf("an edit that met %s: %v", f, err)
		}
		s.shows(r, "final "+f.String())
	}
}

// testOnce: what the adapter says about repeated sends is true.
func testOnce(s *session) {
	s.resolves()
	r, ann := s.room(Group)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	switch s.f.Once {
	case core.OnceKey:
		o := s.open(e, "k1", "once")
		first, err := s.a.Send(s.t.Context(), o)
		if err != nil {
			s.t.Fatal(err)
		}
		if again, err := s.a.Send(s.t.Context(), o); err != nil || again.ID != first.ID {
			s.t.Errorf("the same key gave %s, then %s, %v", first.ID, again.ID, err)
		}
		s.shows(r, "once")
	case core.OnceReadback:
		reads := func(o core.Outbound, sent core.Receipt) {
			if found, err := s.f.Resolve(s.t.Context(), s.known(o)); err != nil || found.ID != sent.ID {
				s.t.Errorf("%s was sent as %s and read back as %s, %v", o.Key, sent.ID, found.ID, err)
			}
		}
		var all []core.Outbound
		var receipts []core.Receipt
		for _, key := range []string{"k1", "k2", "k10"} {
			o := s.open(e, key, "the same words")
			sent, err := s.a.Send(s.t.Context(), o)
			if err != nil {
				s.t.Fatal(err)
			}
			reads(o, sent)
			all, receipts = append(all, o), append(receipts, sent)
		}
		_, err := s.f.Resolve(s.t.Context(), s.known(s.open(e, "k3", "the same words")))
		s.wants(err, "not sent")

		// The key stays with a message whose text changes, and outlives the
		// process.
		o := all[0]
		o.Kind, o.Edit, o.Text = core.OutFinal, receipts[0].ID, "other words"
		if _, err := s.a.Send(s.t.Context(), o); err != nil {
			s.t.Fatal(err)
		}
		s.restart()
		for i, o := range all {
			reads(o, receipts[i])
		}
		s.shows(r, "other words", "the same words", "the same words")
	case core.OnceEdit:
		open, err := s.a.Send(s.t.Context(), s.open(e, "k1", "…"))
		if err != nil {
			s.t.Fatal(err)
		}
		o := s.open(e, "k1", "once")
		o.Kind, o.Edit = core.OutFinal, open.ID
		for range 3 {
			if r, err := s.a.Send(s.t.Context(), o); err != nil || r.ID != open.ID {
				s.t.Errorf("an edit of %s gave %s, %v", open.ID, r.ID, err)
			}
		}
		s.shows(r, "once")

		// After a crash the outbox has the text, and does not know whether
		// that or only the status line is shown.
		s.fail(Sending, 1, Fault{Net: NetLost})
		if _, err := s.a.Send(s.t.Context(), s.open(e, "k2", "…")); err == nil {
			s.t.Fatal("a send that was never answered is a success")
		}
		o = s.open(e, "k2", "twice")
		o.Kind = core.OutFinal
		for range 2 {
			if _, err := s.f.Resolve(s.t.Context(), s.known(o, open.ID)); err != nil {
				s.t.Errorf("a lost status line that becomes the text: %v", err)
			}
			s.shows(r, "once", "twice")
		}
	}
}
