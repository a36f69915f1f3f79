package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// missedCases are about what is said while nobody listens. A platform that
// keeps it for us passes them as well as one whose adapter must read it back.
var missedCases = []testCase{
	{"missed while down", testMissed},
	{"missed in a thread of ours", testMissedInThread},
	{"missed where we were let in", testMissedAdded},
	{"missed and not readable at once", testMissedFailing},
	{"missed and refused for long", testMissedRefused},
	{"missed where we are no more", testMissedGone},
}

// long is an outage after which no platform tells again what it told in vain.
const long = time.Hour

// down lets somebody speak while no adapter runs, and starts one long after.
func (s *session) down(speak func()) {
	s.stop()
	speak()
	time.Sleep(long)
	s.start()
}

// calling is a text that is for us, wherever it is said.
func (s *session) calling(from Account, text string) Saying {
	return Saying{From: from, Mention: []Account{s.p.Me()}, Text: text}
}

// accepts waits until the ledger has taken exactly these messages, each once,
// and those of each place in their order.
func (s *session) accepts(want map[Room][]string) {
	s.t.Helper()
	n := 0
	for _, ids := range want {
		n += len(ids)
	}
	s.until("all that was missed", func() bool { return len(s.woken()) >= n })
	s.quiet()
	got, wanted := map[string][]string{}, map[string][]string{}
	where := map[string]string{} // the place of each text
	for _, e := range s.woken() {
		where[e.Text] = e.Place.String()
		got[e.Place.String()] = append(got[e.Place.String()], e.Text)
	}
	for _, texts := range want {
		for _, text := range texts { // in a channel each mention has a place of its own
			wanted[where[text]] = append(wanted[where[text]], text)
		}
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		s.t.Errorf("accepted otherwise (by place):\n%s", diff)
	}
}

// testMissed: what was said while the process was down, killed perhaps before
// it could store what it had been told, is accepted once, and in order.
func testMissed(s *session) {
	rooms := maps.Collect(s.rooms(Direct, DirectTopic, Group, Topic, Channel))
	want := map[Room][]string{}
	say := func(format string) {
		for r, ann := range rooms {
			text := fmt.Sprintf(format, r)
			s.say(r, s.calling(ann, text))
			want[r] = append(want[r], text)
		}
	}
	say("before, in %s")
	s.accepts(want)
	for round := range 3 {
		s.behave(func(context.Context, []core.Inbound) error { return errSink })
		say(fmt.Sprint("untaken ", round, ", in %s"))
		synctest.Wait()
		s.down(func() {
			s.behave(nil)
			say(fmt.Sprint("missed ", round, ", in %s"))
			say(fmt.Sprint("missed as well ", round, ", in %s"))
		})
		say(fmt.Sprint("after ", round, ", in %s"))
		s.accepts(want)
	}
}

// testMissedInThread: in a thread that a mention has opened, or in which we
// were mentioned, people need not call us; what they say beside it is not for
// us, then as ever.
func testMissedInThread(s *session) {
	r, ann := s.room(Channel)
	id := s.say(r, s.calling(ann, "root"))
	s.accepts(map[Room][]string{r: {"root"}})
	thread, err := s.p.Thread(r, id)
	s.can(err)
	other, err := s.p.Room(Topic, ann)
	s.can(err)
	s.say(other, Saying{From: ann, Text: "not for us"})
	s.say(other, s.calling(ann, "called"))
	s.until("both", func() bool { return len(s.woken()) == 2 })
	s.down(func() {
		s.say(r, Saying{From: ann, Text: "beside it"})
		s.say(thread, Saying{From: ann, Text: "one"})
		s.say(other, Saying{From: ann, Text: "two"})
		s.say(thread, Saying{From: ann, Text: "three"})
	})
	s.accepts(map[Room][]string{thread: {"root", "one", "three"}, other: {"called", "two"}})
}

// testMissedAdded: who lets us in may call us while we are away, though nothing
// has been said there yet.
func testMissedAdded(s *session) {
	for _, kind := range []RoomKind{Channel, Group} {
		ann := s.p.Person("Ann")
		r, err := s.p.Invite(kind, ann)
		if errors.Is(err, ErrUnsupported) {
			continue
		}
		s.can(err)
		s.event(core.InAdded, "")
		s.down(func() { s.say(r, s.calling(ann, "missed")) })
		s.until("what was missed", func() bool { return s.knows("missed") })
		return
	}
	s.can(Unsupported("the platform does not tell who let us in"))
}

// testMissedFailing: a platform that fails while it is read is asked again.
func testMissedFailing(s *session) {
	for _, f := range []Fault{{Status: 502}, {Net: NetCut}, {RetryAfter: time.Second}, {Net: NetHang}, {Net: NetLost}} {
		r, ann := s.room(Direct)
		s.hear(r, Saying{From: ann, Text: "before"})
		s.down(func() {
			s.fail(Finding, 2, f)
			s.say(r, Saying{From: ann, Text: "missed, " + f.String()})
			s.say(r, Saying{From: ann, Text: "missed as well, " + f.String()})
		})
		s.until("what was missed during "+f.String(), func() bool { return s.knows("missed, "+f.String()) && s.knows("missed as well, "+f.String()) })
		s.p.Heal()
	}
}

// knows reports whether the ledger has taken a text.
func (s *session) knows(text string) bool {
	return slices.ContainsFunc(s.woken(), func(e core.Inbound) bool { return e.Text == text })
}

// testMissedRefused: when a platform lets us read nothing for a long time, what
// is said now is still heard at once, and what was missed later; the platform
// is not stormed, and a further restart forgets nothing.
func testMissedRefused(s *session) {
	const pause = time.Minute
	r, ann := s.room(Direct)
	s.hear(r, Saying{From: ann, Text: "before"})
	var hits func() int
	s.down(func() {
		hits = s.fail(Finding, Always, Fault{RetryAfter: pause})
		s.say(r, Saying{From: ann, Text: "missed"})
	})
	elsewhere, bob := s.room(Direct)
	for i := range 20 {
		text := fmt.Sprint("now ", i)
		for _, room := range []Room{r, elsewhere} {
			who := map[Room]Account{r: ann, elsewhere: bob}[room]
			start := time.Now()
			s.say(room, Saying{From: who, Text: text + string(room)})
			s.until("what is said now", func() bool { return s.knows(text + string(room)) })
			if took := time.Since(start); took > 10*time.Second {
				s.t.Errorf("%q took %s", text, took)
			}
		}
		time.Sleep(pause / 2)
	}
	if n := hits(); n > 15 {
		s.t.Errorf("%d tries in ten minutes, told to wait for one each time", n)
	}
	s.restart()
	time.Sleep(3 * pause)
	s.p.Heal()
	s.until("what was missed", func() bool { return s.knows("missed") })
	s.quiet()
	texts := map[string]int{}
	for _, e := range s.woken() {
		texts[e.Text]++
	}
	for text, n := range texts {
		if n > 1 {
			s.t.Errorf("%q was taken %d times", text, n)
		}
	}
}

// testMissedGone: one room that cannot be read any more keeps nothing from the
// others.
func testMissedGone(s *session) {
	gone, ann := s.room(Channel)
	s.say(gone, s.calling(ann, "before"))
	r, bob := s.room(Direct)
	s.say(r, Saying{From: bob, Text: "before"})
	s.until("both", func() bool { return len(s.woken()) == 2 })
	s.down(func() {
		s.say(gone, s.calling(ann, "unheard"))
		s.can(s.p.Expel(gone))
		s.say(r, Saying{From: bob, Text: "missed"})
	})
	s.until("what was missed", func() bool { return s.knows("missed") })
	s.quiet()
	if s.knows("unheard") {
		s.t.Error("what was said where we are no more was taken")
	}
	for _, e := range s.offered() {
		for _, in := range e {
			if strings.Contains(in.Text, "unheard") {
				s.t.Errorf("it was offered: %+v", in)
			}
		}
	}
}
