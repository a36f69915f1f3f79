package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"bellhop/core"
)

// actCases are about what people do besides writing, and about what is there
// besides text.
var actCases = []testCase{
	{"button", testButton},
	{"button note", testNote},
	{"reaction", testReaction},
	{"command aside", testAside},
	{"added", testAdded},
	{"said before in a channel", testBeforeChannel},
	{"said before in a thread", testBeforeThread},
	{"read back", testRead},
	{"title", testTitle},
	{"branch", testBranch},
}

// testButton: a press says who has pressed which button of which message.
func testButton(s *session) {
	for r, ann := range s.rooms(Direct, Group, Topic) {
		e := s.hear(r, Saying{From: ann, Text: "may I?"})
		o := s.open(e, string(r), "choose")
		o.Kind, o.Buttons = core.OutFinal, []core.Button{{Label: "Yes", Value: "ask:7:yes"}, {Label: "No", Value: "ask:7:no"}}
		sent := s.card(o)
		bob := s.p.Person("Bob")
		keys := map[string]bool{}
		for _, value := range []string{"ask:7:no", "ask:7:yes", "ask:7:yes"} {
			s.before = len(s.taken())
			s.can(s.p.Press(r, bob, sent.ID, value))
			b := s.event(core.InButton, sent.ID)
			if b.Button != value || b.Place != e.Place || b.Direct != e.Direct || b.From.ID != core.PersonID(s.a.Name()+":"+bob.ID) || keys[b.Key] {
				s.t.Errorf("a press of %s in %s is %+v", value, r, b)
			}
			keys[b.Key] = true
		}
		for _, text := range []string{"choose", "chosen"} { // also with the text that it has
			o.Edit, o.Text, o.Buttons = sent.ID, text, nil
			if _, err := s.a.Send(s.t.Context(), o); err != nil {
				s.t.Fatal(err)
			}
			if own := s.own(r); len(own) != 1 || own[0].Text != text || len(own[0].Buttons) > 0 {
				s.t.Errorf("once it is chosen, %+v", own)
			}
		}
	}
	s.until("everything to be acknowledged", func() bool { return s.unacked() == 0 })
}

// card shows a piece with buttons.
func (s *session) card(o core.Outbound) core.Receipt {
	s.t.Helper()
	if !s.f.Buttons {
		s.can(Unsupported("Features.Buttons is not set"))
	}
	if s.f.Once == core.OnceEdit {
		open := o
		open.Kind, open.Text, open.Buttons = core.OutOpen, "…", nil
		r, err := s.a.Send(s.t.Context(), open)
		if err != nil {
			s.t.Fatal(err)
		}
		o.Edit = r.ID
	}
	sent, err := s.a.Send(s.t.Context(), o)
	if err != nil {
		s.t.Fatal(err)
	}
	return sent
}

// testNote: what the sink notes for who presses, they learn, and nobody else;
// a press that the sink has nothing to say to is answered with silence.
func testNote(s *session) {
	for r, ann := range s.rooms(Group, Topic) {
		bob := s.p.Person("Bob")
		s.behave(nil)
		s.hear(r, Saying{From: bob, Text: "hello"})
		e := s.hear(r, Saying{From: ann, Text: "may I?"})
		o := s.open(e, string(r), "choose")
		o.Kind, o.Buttons = core.OutFinal, []core.Button{{Label: "Yes", Value: "yes"}}
		sent := s.card(o)
		refuse := true
		s.behave(func(_ context.Context, batch []core.Inbound) error {
			for i := range batch {
				if batch[i].Kind == core.InButton && batch[i].From.ID == core.PersonID(s.a.Name()+":"+bob.ID) {
					batch[i].Note = "Not <you> & me."
				}
			}
			refuse = !refuse
			if refuse {
				return nil
			}
			return errors.New("the store is full")
		})
		for _, by := range []Account{ann, bob} {
			s.before = len(s.taken())
			s.can(s.p.Press(r, by, sent.ID, "yes"))
			s.event(core.InButton, sent.ID)
		}
		s.until("everything to be acknowledged", func() bool { return s.unacked() == 0 })
		var notes []string
		s.until("the note", func() bool {
			notes = s.p.Whispers(r, bob)
			return len(notes) > 0
		})
		others := s.p.Whispers(r, ann)
		if !slices.Equal(notes, []string{"Not <you> & me."}) || len(others) > 0 {
			s.t.Errorf("in %s Bob was told %q, and Ann %q", r, notes, others)
		}
		if own := s.own(r); len(own) != 1 {
			s.t.Errorf("%s shows %+v", r, own)
		}
	}
}

// testReaction: a mark says who has put which emoji below which message.
func testReaction(s *session) {
	for r, ann := range s.rooms(Direct, Group, Topic) {
		e := s.hear(r, Saying{From: ann, Text: "look"})
		shown := s.show(e, string(r), "I see")
		keys := map[string]bool{}
		for _, message := range []string{e.MessageID, shown.ID} {
			for _, removed := range []bool{false, true} {
				s.before = len(s.taken())
				s.can(s.p.Mark(r, ann, message, "🎉", removed))
				m := s.event(core.InReaction, message)
				place := e.Place
				if m.Place.Topic == "" { // not every platform tells it
					place.Topic = ""
				}
				if m.Emoji != "🎉" || m.Removed != removed || m.From.ID != e.From.ID || m.Place != place || keys[m.Key] {
					s.t.Errorf("a mark in %s, taken away: %v, is %+v", r, removed, m)
				}
				keys[m.Key] = true
			}
		}
	}
	s.until("everything to be acknowledged", func() bool { return s.unacked() == 0 })
}

// testAside: a command that nobody sees is one all the same.
func testAside(s *session) {
	for r, ann := range s.rooms(Direct, Group, Channel) {
		s.before = len(s.taken())
		s.can(s.p.Order(r, ann, "help", "me out"))
		e := s.event(core.InMessage, "")
		if !e.Command || e.Text != "/help me out" || e.From.ID != core.PersonID(s.a.Name()+":"+ann.ID) {
			s.t.Errorf("a command in %s is %+v", r, e)
		}
	}
	s.until("everything to be acknowledged", func() bool { return s.unacked() == 0 })
}

// testAdded: who lets us into a room of several people is known, and where that
// is; what we say there stands in the room.
func testAdded(s *session) {
	rooms := 0
	for _, kind := range []RoomKind{Group, Channel} {
		ann := s.p.Person("Ann")
		s.before = len(s.taken())
		r, err := s.p.Invite(kind, ann)
		if errors.Is(err, ErrUnsupported) {
			continue
		}
		s.can(err)
		rooms++
		e := s.event(core.InAdded, "")
		if e.From.ID != core.PersonID(s.a.Name()+":"+ann.ID) || e.Place.Topic != "" || e.Direct || !strings.EqualFold(e.Text, "@"+s.p.Me().Name) {
			s.t.Errorf("being let into a %s is %+v", kind, e)
		}
		o := s.open(e, string(r), "hello")
		o.Kind, o.Answers, o.Last = core.OutFinal, nil, true
		s.card(o)
		s.shows(r, "hello")
		if s.p.Happen(r, Service) == nil { // somebody else comes
			s.quiet()
		}
		if more := of(s.taken()[s.before:], core.InAdded, ""); len(more) != 1 {
			s.t.Errorf("we are let in %d times:\n%s", len(more), list(more))
		}
	}
	if rooms == 0 {
		s.can(Unsupported("the platform does not tell who let us in"))
	}
	s.until("everything to be acknowledged", func() bool { return s.unacked() == 0 })
}

// fetches checks that a file's content can be had, where the adapter can.
func (s *session) fetches(f core.File, want []byte) {
	s.t.Helper()
	if s.f.Fetch == nil {
		return
	}
	body, err := s.f.Fetch(s.t.Context(), f)
	if err != nil {
		s.t.Errorf("fetching %s: %v", f.Name, err)
		return
	}
	defer body.Close()
	if got, err := io.ReadAll(body); err != nil || string(got) != string(want) {
		s.t.Errorf("%s contains %q, %v; want %q", f.Name, got, err, want)
	}
}

// reads asks what was said before a message, and checks it.
func (s *session) reads(n core.Need, want ...core.Quote) {
	s.t.Helper()
	got, err := s.f.Before(s.t.Context(), n)
	if err != nil {
		s.t.Fatal(err)
	}
	for i, q := range got.Quotes {
		if q.ID == "" || q.Time.IsZero() || i > 0 && got.Quotes[i-1].Time.After(q.Time) {
			s.t.Errorf("what was read back is %+v", got.Quotes)
		}
	}
	if diff := cmp.Diff(want, got.Quotes, cmpopts.IgnoreFields(core.Quote{}, "ID", "Time")); diff != "" {
		s.t.Errorf("before %s, since %q, at most %d:\n%s", n.MessageID, n.Since, n.Context, diff)
	}
}

// canRead skips the subtest for an adapter that cannot read what was said.
func (s *session) canRead() {
	s.t.Helper()
	if s.f.Before == nil {
		s.can(Unsupported("Features.Before is nil"))
	}
}

// testBeforeChannel: a mention at the top level brings along what was said
// there, no more than is wanted.
func testBeforeChannel(s *session) {
	s.canRead()
	r, ann := s.room(Channel)
	bob := s.p.Person("Bob")
	var all []core.Quote
	for i := range 3 {
		text := fmt.Sprint("remark ", i)
		s.hear(r, Saying{From: bob, Text: text})
		all = append(all, core.Quote{Author: "Bob", Text: text})
	}
	e := s.hear(r, Saying{From: ann, Mention: []Account{s.p.Me()}, Text: "what do you say?"})
	s.hear(r, Saying{From: bob, Text: "later"})
	s.reads(core.Need{Place: e.Place, MessageID: e.MessageID, Context: 10}, all...)
	s.reads(core.Need{Place: e.Place, MessageID: e.MessageID, Context: 2}, all[1:]...)
}

// testBeforeThread: a mention in the middle of a thread brings along the
// thread so far, from its root on, or what others have said since some of it
// was read.
func testBeforeThread(s *session) {
	s.canRead()
	r, ann := s.room(Channel)
	bob := s.p.Person("Bob")
	s.hear(r, Saying{From: bob, Text: "beside the point"})
	root := s.hear(r, Saying{From: bob, Text: "root"})
	thread, err := s.p.Thread(r, root.MessageID)
	s.can(err)
	one := s.hear(thread, Saying{From: ann, Text: "one & only"})
	e := s.hear(thread, Saying{From: ann, Mention: []Account{s.p.Me()}, Text: "are you there?"})
	said := []core.Quote{{Author: "Bob", Text: "root"}, {Author: ann.Name, Text: "one & only"}}
	s.reads(core.Need{Place: e.Place, MessageID: e.MessageID, Context: 10}, said...)
	s.reads(core.Need{Place: e.Place, MessageID: e.MessageID, Context: 1}, said[1:]...)
	s.reads(core.Need{Place: e.Place, MessageID: e.MessageID, Context: 10, Since: one.MessageID})
	s.show(e, "k1", "ours")
	long := core.Quote{Author: "Bob", Text: strings.TrimSpace(strings.Repeat("long ", 20))}
	s.hear(thread, Saying{From: bob, Text: long.Text})
	again := s.hear(thread, Saying{From: ann, Mention: []Account{s.p.Me()}, Text: "and now?"})
	s.reads(core.Need{Place: again.Place, MessageID: again.MessageID, Context: 10, Since: e.MessageID}, long)
	s.reads(core.Need{Place: again.Place, MessageID: again.MessageID, Context: 2}, core.Quote{Author: s.p.Me().Name, Own: true, Text: "ours"}, long)
}

// testRead: what was said is read back page by page, ours included; what
// stands in the threads of a channel is theirs.
func testRead(s *session) {
	if s.f.Read == nil {
		s.can(Unsupported("Features.Read is nil"))
	}
	r, ann := s.room(Channel)
	bob := s.p.Person("Bob")
	for i := range 3 {
		s.hear(r, Saying{From: bob, Text: fmt.Sprint("remark ", i)})
	}
	e := s.hear(r, Saying{From: ann, Mention: []Account{s.p.Me()}, Text: "what do you say?"})
	s.show(e, "k1", "ours")
	thread, err := s.p.Thread(r, e.MessageID)
	s.can(err)
	s.hear(thread, Saying{From: bob, Text: "I see"})
	asked, shown, seen := core.Quote{Author: ann.Name, Text: "what do you say?"}, core.Quote{Own: true, Text: "ours"}, core.Quote{Author: "Bob", Text: "I see"}
	s.pages(e.Place, asked, shown, seen)
	around := core.Place{Adapter: e.Place.Adapter, Channel: e.Place.Channel}
	s.pages(around, core.Quote{Author: "Bob", Text: "remark 0"}, core.Quote{Author: "Bob", Text: "remark 1"}, core.Quote{Author: "Bob", Text: "remark 2"}, asked)

	d, eve := s.room(Direct)
	private := s.hear(d, Saying{From: eve, Text: "between us"})
	s.show(private, "k2", "ours")
	s.pages(private.Place, core.Quote{Author: eve.Name, Text: "between us"}, shown)

	for place, before := range map[core.Place]string{around: "no page", {Adapter: around.Adapter, Channel: "nowhere"}: ""} {
		if page, err := s.f.Read(s.t.Context(), place, before, 5); !errors.Is(err, core.ErrRefused) {
			s.t.Errorf("before %q of %s: %+v, %v", before, place, page, err)
		}
	}
}

// pages reads a place back in pages of several sizes, and checks what is there.
func (s *session) pages(p core.Place, want ...core.Quote) {
	s.t.Helper()
	for _, limit := range []int{1, 2, 50} {
		var got []core.Quote
		before := ""
		for range 20 {
			page, err := s.f.Read(s.t.Context(), p, before, limit)
			if err != nil || len(page.Quotes) > limit {
				s.t.Fatalf("before %q, %d of %s: %+v, %v", before, limit, p, page, err)
			}
			got = append(page.Quotes, got...)
			if before = page.Before; before == "" {
				break
			}
		}
		same := slices.EqualFunc(got, want, func(g, w core.Quote) bool {
			return g.Own == w.Own && (g.Own || g.Author == w.Author) && strings.HasSuffix(g.Text, w.Text) && g.ID != "" && !g.Time.IsZero()
		})
		if !same {
			s.t.Errorf("in pages of %d, %s reads %+v; want %+v", limit, p, got, want)
		}
	}
}
