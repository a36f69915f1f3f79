package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// deliveryCases are about how events arrive.
var deliveryCases = []testCase{
	{"redelivery", testRedelivery},
	{"two signals", testTwoSignals},
	{"ack after commit", testAck},
	{"unacked after restart", testUnacked},
	{"order per place", testOrder},
	{"service message", testService},
	{"unknown event", testNovel},
	{"unreadable event", testUnreadable},
}

// testRedelivery: an event that comes again is the same, key and all.
func testRedelivery(s *session) {
	r, ann := s.room(Group)
	var first []core.Inbound
	for i := range 3 {
		first = append(first, s.hear(r, Saying{From: ann, Text: fmt.Sprint("message ", i)}))
	}
	s.until("everything to be acknowledged", func() bool { return s.unacked() == 0 })
	s.can(s.p.Redeliver())
	s.until("everything once more", func() bool { return len(of(s.taken(), core.InMessage, "")) == 2*len(first) })
	if diff := cmp.Diff(first, of(s.taken(), core.InMessage, "")[len(first):]); diff != "" {
		s.t.Errorf("the redelivered events differ:\n%s", diff)
	}
	s.until("that to be acknowledged", func() bool { return s.unacked() == 0 })
	s.restart()
	s.can(s.p.Redeliver())
	s.until("everything for a new adapter", func() bool { return len(of(s.taken(), core.InMessage, "")) == len(first) })
	if diff := cmp.Diff(first, of(s.taken(), core.InMessage, "")); diff != "" {
		s.t.Errorf("the events differ for a new adapter:\n%s", diff)
	}
}

// testTwoSignals: whichever signal of a message comes, its key is the same.
func testTwoSignals(s *session) {
	for r, ann := range s.rooms(Group, Channel) {
		for range 2 { // where the signals are of two kinds, in either order
			before := len(s.taken())
			id := s.say(r, Saying{From: ann, Mention: []Account{s.p.Me()}, Text: "once", Signals: 2})
			after := s.hear(r, Saying{From: ann, Text: "after"})
			signals := of(s.taken()[before:], core.InMessage, id)
			if len(signals) == 0 || after.Key == signals[0].Key {
				s.t.Fatalf("the signals are lost:\n%s", list(s.taken()))
			}
			for _, e := range signals {
				if diff := cmp.Diff(signals[0], e); diff != "" || e.Text != "once" || !e.Mentioned {
					s.t.Errorf("one message is\n%s", list(signals))
				}
			}
		}
	}
}

var errSink = errors.New("the disk is full")

// testAck: what the sink does not take is offered again as it was, and is not
// acknowledged before it is taken.
func testAck(s *session) {
	r, ann := s.room(Direct)
	s.hear(r, Saying{From: ann, Text: "before"})
	s.until("it to be acknowledged", func() bool { return s.unacked() == 0 })
	failures := 0
	var offers [][]core.Inbound
	s.behave(func(_ context.Context, batch []core.Inbound) error {
		if !slices.ContainsFunc(batch, func(e core.Inbound) bool { return e.Text == "stubborn" }) {
			return nil
		}
		failures++
		offers = append(offers, slices.Clone(batch))
		if n := s.unacked(); n == 0 {
			s.t.Error("acknowledged before the sink has returned")
		}
		if failures <= 3 {
			return errSink
		}
		return nil
	})
	id := s.say(r, Saying{From: ann, Text: "stubborn"})
	e := s.event(core.InMessage, id)
	s.until("it to be acknowledged", func() bool { return s.unacked() == 0 })
	offers = offers[:4]
	for _, batch := range offers {
		if diff := cmp.Diff(offers[0], batch); diff != "" {
			s.t.Errorf("the batch was offered again otherwise:\n%s", diff)
		}
	}
	if len(of(offers[0], core.InMessage, id)) != 1 || len(distinct(of(s.taken(), core.InMessage, id))) != 1 {
		s.t.Errorf("%s was not taken once:\n%s", e.Key, list(s.taken()))
	}
}

// testUnacked: what was acknowledged does not come back after a restart; what
// was not does, under the same key.
func testUnacked(s *session) {
	r, ann := s.room(Direct)
	done := s.hear(r, Saying{From: ann, Text: "done"})
	s.until("it to be acknowledged", func() bool { return s.unacked() == 0 })
	s.behave(func(context.Context, []core.Inbound) error { return errSink })
	id := s.say(r, Saying{From: ann, Text: "open"})
	s.until("it to be offered", func() bool { return len(of(slices.Concat(s.offered()...), core.InMessage, id)) > 0 })
	offered := of(slices.Concat(s.offered()...), core.InMessage, id)[0]
	s.restart()
	s.behave(nil)
	again := s.event(core.InMessage, id)
	if diff := cmp.Diff(offered, again); diff != "" {
		s.t.Errorf("the event differs after a restart:\n%s", diff)
	}
	s.quiet()
	if len(of(s.taken(), core.InMessage, done.MessageID)) > 0 {
		s.t.Errorf("an acknowledged event came back:\n%s", list(s.taken()))
	}
	s.until("everything to be acknowledged", func() bool { return s.unacked() == 0 })
}

// testOrder: each place's events come in the platform's order, under a sink
// that fails now and then.
func testOrder(s *session) {
	rooms := maps.Collect(s.rooms(Direct, Group, Topic))
	calls := 0
	s.behave(func(context.Context, []core.Inbound) error {
		if calls++; calls%3 == 2 {
			return errSink
		}
		return nil
	})
	const each = 120 // more than one batch
	want := map[string][]string{}
	for i := range each {
		for r, ann := range rooms {
			id := s.say(r, Saying{From: ann, Text: fmt.Sprint(i)})
			want[string(r)] = append(want[string(r)], id)
		}
		if i%7 == 0 {
			synctest.Wait()
		}
	}
	heard := func() []core.Inbound { return distinct(of(s.taken(), core.InMessage, "")) }
	s.until("all messages", func() bool { return len(heard()) >= each*len(rooms) })
	got := map[core.Place][]string{}
	for _, e := range heard() {
		got[e.Place] = append(got[e.Place], e.MessageID)
	}
	for _, ids := range want {
		found := false
		for _, g := range got {
			found = found || slices.Equal(g, ids)
		}
		if !found {
			s.t.Errorf("no place has heard %v", ids)
		}
	}
}

// testService: that somebody joined is not something that somebody said.
func testService(s *session) {
	kind := Group
	if s.f.Threads {
		kind = Channel
	}
	r, ann := s.room(kind)
	s.strange(r, ann, Service)
}

func testNovel(s *session) {
	r, ann := s.room(Group)
	s.strange(r, ann, Novel)
}

// testUnreadable: an event that cannot be decoded is handed over as it is.
func testUnreadable(s *session) {
	r, ann := s.room(Group)
	strange := s.strange(r, ann, Unreadable)
	if len(strange) != 2 {
		s.t.Errorf("two unreadable events became\n%s", list(strange))
	}
	for _, e := range strange {
		if e.Kind != core.InUnreadable || len(e.Raw) == 0 {
			s.t.Errorf("an unreadable event is %+v", e)
		}
	}
}

// strange puts two strange events among messages of one batch, checks that
// the messages survive and that all is acknowledged, and returns what the
// events became.
func (s *session) strange(r Room, ann Account, kind Strange) (strange []core.Inbound) {
	block := make(chan struct{})
	s.behave(func(ctx context.Context, _ []core.Inbound) error {
		select {
		case <-block:
		case <-ctx.Done():
		}
		return ctx.Err()
	})
	s.say(r, Saying{From: ann, Text: "first"})
	var ids []string
	for i := range 2 {
		synctest.Wait()
		s.can(s.p.Happen(r, kind))
		ids = append(ids, s.say(r, Saying{From: ann, Text: fmt.Sprint("message ", i)}))
	}
	s.behave(nil)
	close(block)
	for _, id := range ids {
		s.event(core.InMessage, id)
	}
	s.until("everything to be acknowledged", func() bool { return s.unacked() == 0 })
	if n := len(distinct(of(s.taken(), core.InMessage, ""))); n != 3 {
		s.t.Errorf("%d messages were heard, want 3:\n%s", n, list(s.taken()))
	}
	keys := map[string]bool{}
	for _, e := range distinct(s.taken()) {
		if e.Key == "" {
			s.t.Errorf("an event has no key:\n%s", list(s.taken()))
		}
		keys[e.Key] = true
		if e.Kind != core.InMessage {
			strange = append(strange, e)
		}
	}
	before := s.taken()
	s.can(s.p.Redeliver())
	s.until("everything once more", func() bool { return len(s.taken()) >= 2*len(before) })
	for _, e := range s.taken()[len(before):] {
		if !keys[e.Key] {
			s.t.Errorf("an event has another key when it comes again: %s", e.Key)
		}
	}
	return strange
}
