package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// sendCases are about what is known of a send.
var sendCases = []testCase{
	{"send", testSend},
	{"rate limit", testRateLimit},
	{"edit unchanged", testEditUnchanged},
	{"edit missing", testEditMissing},
	{"refused", testRefused},
	{"moved", testMoved},
	{"reply target gone", testReplyGone},
	{"thread gone", testThreadGone},
	{"cancel during send", testCancelSend},
	{"concurrent sends", testConcurrent},
}

func testSend(s *session) {
	for r, ann := range s.rooms(Direct, Group, Topic) {
		e := s.hear(r, Saying{From: ann, Text: "count"})
		var want, ids []string
		for i := range 5 {
			text := fmt.Sprint("number ", i)
			ids = append(ids, s.show(e, text, text).ID)
			want = append(want, text)
		}
		s.shows(r, want...)
		for i, m := range s.own(r) {
			if m.ID != ids[i] {
				s.t.Errorf("%q is message %s, its receipt says %s", m.Text, m.ID, ids[i])
			}
		}
	}
}

// testRateLimit: the platform's own number reaches the caller, nobody waits
// in its stead, and a later try works.
func testRateLimit(s *session) {
	r, ann := s.room(Group)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	for i, after := range []time.Duration{7 * time.Second, 35 * time.Minute} {
		hits := s.fail(Sending, 1, Fault{RetryAfter: after})
		start, key := time.Now(), fmt.Sprint("answer ", i)
		_, err := s.a.Send(s.t.Context(), s.open(e, key, key))
		s.wants(err, "retry after")
		if ra, _ := errors.AsType[*core.RetryAfter](err); ra != nil && (ra.After < after || ra.After > after+2*time.Second) {
			s.t.Errorf("retry after %s, the platform said %s", ra.After, after)
		}
		if hits() != 1 || time.Since(start) > promptly {
			s.t.Errorf("the limit was met %d times in %s", hits(), time.Since(start))
		}
		time.Sleep(after)
		s.show(e, key, key)
	}
	s.shows(r, "answer 0", "answer 1")
	if s.f.Edits {
		o := s.open(e, "answer 1", "edited")
		o.Edit = s.own(r)[1].ID
		s.fail(Sending, 1, Fault{RetryAfter: 7 * time.Second})
		_, err := s.a.Send(s.t.Context(), o)
		s.wants(err, "retry after")
		if _, err := s.a.Send(s.t.Context(), o); err != nil {
			s.t.Error(err)
		}
		s.shows(r, "answer 0", "edited")
	}
}

// edits skips the subtest for an adapter without edits.
func (s *session) edits() {
	s.t.Helper()
	if !s.f.Edits {
		s.can(Unsupported("Features.Edits is false"))
	}
}

func testEditUnchanged(s *session) {
	s.edits()
	r, ann := s.room(Group)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	for _, text := range []string{"plain", "some **bold** and `code` & <angles>"} {
		shown := s.show(e, text, text)
		o := s.open(e, text, text)
		o.Edit = shown.ID
		for _, kind := range []core.OutKind{core.OutUpdate, core.OutFinal} {
			o.Kind = kind
			if got, err := s.a.Send(s.t.Context(), o); err != nil || got.ID != shown.ID {
				s.t.Errorf("an edit to the same text: %+v, %v", got, err)
			}
		}
	}
	if n := len(s.own(r)); n != 2 {
		s.t.Errorf("%d messages are shown, want 2", n)
	}
}

func testEditMissing(s *session) {
	s.edits()
	r, ann := s.room(Group)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	shown := s.show(e, "k1", "text")
	_, err := s.p.Delete(r, shown.ID)
	s.can(err)
	o := s.open(e, "k1", "other text")
	o.Kind, o.Edit = core.OutFinal, shown.ID
	_, err = s.a.Send(s.t.Context(), o)
	s.wants(err, "gone")
	s.shows(r)
	s.show(e, "k2", "text once more")
	s.shows(r, "text once more")
}

// testRefused: a place that shuts us out is no reason to give up another.
func testRefused(s *session) {
	r, ann := s.room(Direct)
	bob := s.p.Person("Bob")
	open, err := s.p.Room(Direct, bob)
	s.can(err)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	other := s.hear(open, Saying{From: bob, Text: "hello"})
	s.can(s.p.Shut(r))
	_, err = s.a.Send(s.t.Context(), s.open(e, "k1", "are you there?"))
	s.wants(err, "refused")
	s.show(other, "k2", "I am here")
	s.shows(open, "I am here")
	s.shows(r)
}

func testMoved(s *session) {
	r, ann := s.room(Group)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	fresh, err := s.p.Move(r)
	s.can(err)
	after := s.hear(fresh, Saying{From: ann, Text: "here we are"})
	moved := of(s.taken(), core.InMoved, "")
	if len(moved) != 1 || moved[0].Place.Channel != e.Place.Channel || moved[0].To != after.Place.Channel || moved[0].Key == "" {
		s.t.Errorf("%s became %s, and we heard %+v", e.Place, after.Place, moved)
	}
	o := s.open(e, "k1", "found you")
	_, err = s.a.Send(s.t.Context(), o)
	s.wants(err, "moved")
	if m, _ := errors.AsType[*core.Moved](err); m != nil && (m.From != e.Place.Channel || m.To != after.Place.Channel) {
		s.t.Errorf("%s became %s, and a send says %+v", e.Place, after.Place, m)
	}
	s.show(after, "k1", "found you")
	s.shows(fresh, "found you")
}

func testReplyGone(s *session) {
	for r, ann := range s.rooms(Direct, Group) {
		e := s.hear(r, Saying{From: ann, Text: "hello"})
		_, err := s.p.Delete(r, e.MessageID)
		s.can(err)
		o := s.open(e, "k1", "answer")
		o.ReplyTo = e.MessageID
		if _, err := s.a.Send(s.t.Context(), o); err != nil {
			s.t.Errorf("a reply to what is gone from %s: %v", r, err)
		}
		s.shows(r, "answer")
	}
}

// testThreadGone: what was said in a thread is answered there, though its root
// is deleted. A thread of which nothing is left is no reason to say it to the
// whole channel.
func testThreadGone(s *session) {
	if !s.f.Threads {
		s.can(Unsupported("Features.Threads is false"))
	}
	r, ann := s.room(Channel)
	root := s.hear(r, Saying{From: ann, Mention: []Account{s.p.Me()}, Text: "root"})
	thread, err := s.p.Thread(r, root.MessageID)
	s.can(err)
	e := s.hear(thread, Saying{From: ann, Text: "more"})
	_, err = s.p.Delete(r, root.MessageID)
	s.can(err)
	s.show(e, "k1", "answer")
	s.shows(thread, "answer")

	lone := s.hear(r, Saying{From: ann, Mention: []Account{s.p.Me()}, Text: "lone"})
	_, err = s.p.Delete(r, lone.MessageID)
	s.can(err)
	o := s.open(lone, "k2", "answer")
	for _, o.Kind = range s.firsts() {
		if _, err := s.a.Send(s.t.Context(), o); err != nil {
			s.wants(err, "refused")
		}
	}
	s.shows(r)
}

// testCancelSend: a send ends with its context; what it did is found later.
func testCancelSend(s *session) {
	s.resolves()
	r, ann := s.room(Group)
	var ids []string
	for _, n := range []Net{NetHang, NetStall} {
		e := s.hear(r, Saying{From: ann, Text: "hello"})
		s.fail(Sending, 1, Fault{Net: n})
		o := s.known(s.open(e, string(n), "answer "+string(n)), ids...)
		ctx, cancel := context.WithCancel(s.t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := s.a.Send(ctx, o)
			done <- err
		}()
		synctest.Wait()
		cancel()
		var err error
		select {
		case err = <-done:
		case <-time.After(promptly):
			s.t.Fatalf("Send has not returned %s after its context ended", promptly)
		}
		if err == nil {
			s.t.Fatal("a send that was never answered is a success")
		}
		shown, err := s.f.Resolve(s.t.Context(), o)
		if n == NetHang {
			s.wants(err, "not sent")
			shown, err = s.a.Send(s.t.Context(), o)
		}
		if err != nil {
			s.t.Fatal(err)
		}
		ids = append(ids, shown.ID)
	}
	s.shows(r, "answer hang", "answer stall")
	ctx, cancel := context.WithCancel(s.t.Context())
	cancel()
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	if _, err := s.a.Send(ctx, s.open(e, "k", "too late")); err == nil {
		s.t.Error("a send whose context has ended is a success")
	}
}

// testConcurrent: places do not wait for each other, and each keeps its order.
func testConcurrent(s *session) {
	const places, each = 5, 10
	type place struct {
		r Room
		e core.Inbound
	}
	var all []place
	for i := range places {
		p := s.p.Person(fmt.Sprint("Person ", i))
		r, err := s.p.Room(Direct, p)
		s.can(err)
		all = append(all, place{r, s.hear(r, Saying{From: p, Text: "hello"})})
	}
	done := make(chan error)
	var want []string
	for i := range each {
		want = append(want, fmt.Sprint("answer ", i))
	}
	for _, p := range all {
		go func() {
			var failed error
			for _, text := range want {
				_, err := s.try(s.t.Context(), p.e, text, text)
				failed = errors.Join(failed, err)
			}
			done <- failed
		}()
	}
	for range all {
		if err := <-done; err != nil {
			s.t.Error(err)
		}
	}
	for _, p := range all {
		s.shows(p.r, want...)
	}
}
