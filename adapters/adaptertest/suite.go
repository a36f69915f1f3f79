package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// Harness makes what an adapter is tested with.
type Harness struct {
	// New makes a fresh platform. It is called inside the subtest's bubble.
	New func(t *testing.T) Platform
	// Skip names subtests that cannot be run, with the reason, which is
	// printed.
	Skip map[string]string
}

// testCase is one subtest.
type testCase struct {
	name string
	run  func(*session)
}

// Run is the conformance suite. Every subtest lives in a bubble of its own,
// with a fresh platform and an adapter that runs; when it ends, the adapter
// must stop promptly and leave no goroutine.
func Run(t *testing.T, h Harness) {
	cases := slices.Concat(inboundCases, deliveryCases, actCases, sendCases, unknownCases, fileCases, textCases, lifeCases, missedCases)
	for name := range h.Skip {
		if !slices.ContainsFunc(cases, func(c testCase) bool { return c.name == name }) {
			t.Errorf("there is no subtest %q to skip", name)
		}
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if reason := h.Skip[c.name]; reason != "" {
				t.Skip(reason)
			}
			var skip error
			synctest.Test(t, func(t *testing.T) {
				s := &session{t: t, p: h.New(t), ledger: newLedger(t)}
				defer func() { skip = s.skipped }()
				defer s.stop()
				s.start()
				c.run(s)
			})
			if skip != nil {
				t.Skip(skip)
			}
		})
	}
}

// session is one subtest: a platform, and the adapter that runs on it.
type session struct {
	t       *testing.T
	p       Platform
	a       core.Adapter
	f       core.Features
	ledger  *ledger
	skipped error // why the subtest cannot be run
	before  int   // how many events were taken before the last saying: ids are unique in a room only

	cancel context.CancelFunc
	ended  chan struct{} // closed when Run has returned; nil: it does not run
	err    error         // what Run returned, once ended is closed

	mu     sync.Mutex
	sink   func(context.Context, []core.Inbound) error // what the sink does first; nil: nothing
	events []core.Inbound                              // what it has taken
	offers [][]core.Inbound                            // what it was called with
}

// start runs a new adapter.
func (s *session) start() {
	ctx, cancel := context.WithCancel(s.t.Context())
	ended := make(chan struct{})
	s.a, s.cancel, s.ended = s.p.Adapter(s.t, s.ledger.cursors), cancel, ended
	s.f = s.a.Features()
	s.ledger.name, s.ledger.f = s.a.Name(), s.f
	busy := false
	go func() {
		defer close(ended)
		s.err = s.a.Run(ctx, func(ctx context.Context, batch []core.Inbound) error {
			select {
			case <-ended:
				s.t.Error("the sink was called after Run had returned")
			default:
			}
			s.mu.Lock()
			if busy {
				s.t.Error("the sink was called twice at once")
			}
			busy = true
			s.offers = append(s.offers, slices.Clone(batch))
			do := s.sink
			s.mu.Unlock()
			var err error
			if do != nil {
				err = do(ctx, batch)
			}
			var stored []core.Inbound
			if err == nil {
				stored, err = s.ledger.accept(ctx, batch)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			busy = false
			if err == nil {
				s.events = append(s.events, batch...)
				s.ledger.stored = append(s.ledger.stored, stored...)
			}
			return err
		})
	}()
}

// promptly is the time in which what is cancelled must have ended.
const promptly = 2 * time.Second

// stop ends the adapter and fails the test if it does not end at once.
func (s *session) stop() {
	if s.ended == nil {
		return
	}
	s.cancel()
	select {
	case <-s.ended:
		s.harmless(s.err)
	case <-time.After(promptly):
		s.t.Errorf("Run has not returned %s after its context ended", promptly)
	}
	s.ended = nil
	// Whatever the adapter has left behind has its chance to call the sink.
	time.Sleep(time.Minute)
}

// restart runs a new adapter on the same account, with no events taken yet.
func (s *session) restart() {
	s.stop()
	s.mu.Lock()
	s.events, s.offers, s.before = nil, nil, 0
	s.mu.Unlock()
	s.start()
}

// behave sets what the sink does before it takes a batch.
func (s *session) behave(sink func(context.Context, []core.Inbound) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink = sink
}

// can skips the rest of the subtest if the platform cannot do what it asked
// for, and fails it on any other error.
func (s *session) can(err error) {
	s.t.Helper()
	if errors.Is(err, ErrUnsupported) {
		s.skipped = err
		s.t.SkipNow()
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// until blocks until cond holds.
func (s *session) until(what string, cond func() bool) {
	s.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		synctest.Wait()
		if cond() {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("waited in vain for %s; events so far:\n%s", what, list(s.taken()))
		}
	}
}

// quiet lets time pass in which nothing should happen.
func (s *session) quiet() {
	time.Sleep(time.Minute)
	synctest.Wait()
}

// taken lists the events that the sink has taken.
func (s *session) taken() []core.Inbound {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

// offered lists the batches that the sink was called with.
func (s *session) offered() [][]core.Inbound {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.offers)
}

// of lists the events of a kind about a message; an empty id: about any.
func of(events []core.Inbound, kind core.InboundKind, id string) (found []core.Inbound) {
	for _, e := range events {
		if e.Kind == kind && (id == "" || e.MessageID == id) {
			found = append(found, e)
		}
	}
	return found
}

// distinct leaves out the events whose keys have come before.
func distinct(events []core.Inbound) (list []core.Inbound) {
	seen := map[string]bool{}
	for _, e := range events {
		if !seen[e.Key] {
			list = append(list, e)
		}
		seen[e.Key] = true
	}
	return list
}

// list is events as a person reads them.
func list(events []core.Inbound) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "\t%s %s %s message %s from %s: %.80q\n", e.Key, e.Kind, e.Place, e.MessageID, e.From.ID, e.Text)
	}
	return b.String()
}

// room is a room with a person in it.
func (s *session) room(kind RoomKind) (Room, Account) {
	s.t.Helper()
	ann := s.p.Person("Ann")
	r, err := s.p.Room(kind, ann)
	s.can(err)
	return r, ann
}

// rooms makes a room of each of the kinds that the platform has, with a person
// in it.
func (s *session) rooms(kinds ...RoomKind) iter.Seq2[Room, Account] {
	return func(yield func(Room, Account) bool) {
		for _, kind := range kinds {
			ann := s.p.Person("Ann")
			r, err := s.p.Room(kind, ann)
			if errors.Is(err, ErrUnsupported) {
				continue
			}
			if s.can(err); !yield(r, ann) {
				return
			}
		}
	}
}

// say writes a message and returns its id.
func (s *session) say(r Room, what Saying) string {
	s.t.Helper()
	s.before = len(s.taken())
	id, err := s.p.Say(r, what)
	s.can(err)
	return id
}

// hear writes a message and returns the event that it became.
func (s *session) hear(r Room, what Saying) core.Inbound {
	s.t.Helper()
	id := s.say(r, what)
	return s.event(core.InMessage, id)
}

// event waits for an event about a message since the last saying, and checks
// what holds for all.
func (s *session) event(kind core.InboundKind, id string) core.Inbound {
	s.t.Helper()
	var found []core.Inbound
	s.until(fmt.Sprintf("an event %q about message %s", kind, id), func() bool {
		found = of(s.taken()[s.before:], kind, id)
		return len(found) > 0
	})
	e := found[0]
	if e.Key == "" || e.Place.Adapter != s.a.Name() || e.Place.Channel == "" || e.Time.IsZero() {
		s.t.Errorf("the event lacks its key, place or time: %+v", e)
	}
	return e
}

// open is a status line as an answer to what was heard. Its key is that of a
// post's first piece.
func (s *session) open(to core.Inbound, key, text string) core.Outbound {
	return core.Outbound{Key: key + "/0", Kind: core.OutOpen, Place: to.Place, Text: text, Answers: []string{to.MessageID}, After: to.MessageID}
}

// show posts a piece as the outbox does: where a send cannot be made
// idempotent, the piece is opened and then edited.
func (s *session) show(to core.Inbound, key, text string) core.Receipt {
	s.t.Helper()
	r, err := s.try(s.t.Context(), to, key, text)
	if err != nil {
		s.t.Fatalf("sending %.80q: %v", text, err)
	}
	return r
}

// try is show for what may fail.
func (s *session) try(ctx context.Context, to core.Inbound, key, text string) (core.Receipt, error) {
	o := s.open(to, key, text)
	o.Kind, o.Last = core.OutFinal, true
	if s.f.Once == core.OnceEdit {
		open, err := s.a.Send(ctx, s.open(to, key, "…"))
		if err != nil {
			return open, err
		}
		o.Edit = open.ID
	}
	r, err := s.a.Send(ctx, o)
	if err == nil && o.Edit != "" && r.ID != o.Edit {
		s.t.Errorf("an edit of %s has the receipt of %s", o.Edit, r.ID)
	}
	return r, err
}

// firsts are the kinds of a piece that may be the first to be sent.
func (s *session) firsts() []core.OutKind {
	if s.f.Once == core.OnceEdit {
		return []core.OutKind{core.OutOpen}
	}
	return []core.OutKind{core.OutOpen, core.OutFinal}
}

// finish makes an opened piece its final text, where that is another step: a
// status line may be shown in another form than as its text.
func (s *session) finish(o core.Outbound, opened core.Receipt) {
	s.t.Helper()
	if o.Kind != core.OutOpen || !s.f.Edits {
		return
	}
	o.Kind, o.Edit = core.OutFinal, opened.ID
	if r, err := s.a.Send(s.t.Context(), o); err != nil || r.ID != opened.ID {
		s.t.Errorf("the final of %s: %s, %v", opened.ID, r.ID, err)
	}
}

// own lists what we show in a room, once all that is under way has arrived.
func (s *session) own(r Room) (own []Shown) {
	synctest.Wait()
	for _, m := range s.p.Shown(r) {
		if m.Own {
			own = append(own, m)
		}
	}
	return own
}

// shows checks that our messages in a room are exactly these.
func (s *session) shows(r Room, want ...string) {
	s.t.Helper()
	var got []string
	for _, m := range s.own(r) {
		got = append(got, m.Text)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("%s shows %q, want %q", r, got, want)
	}
}

// fail makes calls go wrong.
func (s *session) fail(op Op, n int, f Fault) func() int {
	s.t.Helper()
	hits, err := s.p.Fail(op, n, f)
	s.can(err)
	return hits
}

// unacked is the number of events that the platform still holds.
func (s *session) unacked() int {
	s.t.Helper()
	n, err := s.p.Unacked()
	s.can(err)
	return n
}

// certain names what an error of Send or Resolve says for certain; empty: it
// leaves the outcome open.
func certain(err error) string {
	_, later := errors.AsType[*core.RetryAfter](err)
	_, moved := errors.AsType[*core.Moved](err)
	switch {
	case err == nil:
		return "success"
	case later:
		return "retry after"
	case moved:
		return "moved"
	case errors.Is(err, core.ErrNotSent):
		return "not sent"
	case errors.Is(err, core.ErrRefused):
		return "refused"
	case errors.Is(err, core.ErrGone):
		return "gone"
	case errors.Is(err, core.ErrFatal):
		return "fatal"
	}
	return ""
}

// wants checks what an error is certain of, and that it gives nothing away.
func (s *session) wants(err error, want string) {
	s.t.Helper()
	if got := certain(err); got != want {
		s.t.Errorf("the error is certain of %q, want %q: %v", got, want, err)
	}
	s.harmless(err)
}

// harmless checks that an error does not contain the platform's secret.
func (s *session) harmless(err error) {
	s.t.Helper()
	if secret := s.p.Secret(); err != nil && secret != "" && strings.Contains(err.Error(), secret) {
		s.t.Errorf("the error contains the secret: %v", err)
	}
}
