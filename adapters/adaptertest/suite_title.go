package adaptertest

import (
	"errors"
	"slices"

	"bellhop/core"
)

// testTitle: a place is named that no person has named, as often as that is
// asked; a person's name stays, or is told of. Where we may not, or there is
// nothing to name, we are refused and nothing breaks.
func testTitle(s *session) {
	if s.f.Title == nil {
		s.can(Unsupported("Features.Title is nil"))
	}
	named := 0
	for r, ann := range s.rooms(Direct, DirectTopic, Group, Topic, Channel) {
		e := s.hear(r, Saying{From: ann, Mention: []Account{s.p.Me()}, Text: "how do I paint a house?"})
		s.show(e, "title "+string(r), "With a brush.")
		if t, err := s.p.Thread(r, e.MessageID); err == nil && e.Place.Topic == e.MessageID {
			r = t
		}
		if !e.Unnamed {
			if err := s.f.Title(s.t.Context(), e.Place, "Painting a house"); !errors.Is(err, core.ErrRefused) {
				s.t.Errorf("the title of %s, which has none or a person's: %v", r, err)
			}
			continue
		}
		named++
		s.stop()
		s.start() // nothing of it is remembered
		for range 2 {
			if err := s.f.Title(s.t.Context(), e.Place, "Painting a house"); err != nil {
				s.t.Fatalf("the title of %s: %v", r, err)
			}
		}
		s.called(r, "Painting a house")
		s.personNames(e, r, ann)
	}
	if named == 0 {
		s.t.Error("no place could be named")
	}
}

// personNames has a person name a place that we have named, and then shuts us out
// of it.
func (s *session) personNames(e core.Inbound, r Room, ann Account) {
	s.t.Helper()
	before := len(s.taken())
	s.can(s.p.Name(r, ann, "Paint!"))
	s.hear(r, Saying{From: ann, Mention: []Account{s.p.Me()}, Text: "so"}) // what was told before it has come
	told := false
	for _, in := range s.namings(before) {
		if in.Place != e.Place || in.Text != "Paint!" || in.From.ID != core.PersonID(s.a.Name()+":"+ann.ID) || in.Direct != e.Direct {
			s.t.Errorf("a person's title of %s is %+v", e.Place, in)
		}
		told = true
	}
	if err := s.f.Title(s.t.Context(), e.Place, "Walls"); !told && !errors.Is(err, core.ErrRefused) {
		s.t.Errorf("a title after a person's, of which nothing was told: %v", err)
	}
	if !told {
		s.called(r, "Paint!")
	}
	s.can(s.p.Shut(r))
	if err := s.f.Title(s.t.Context(), e.Place, "Roofs"); !errors.Is(err, core.ErrRefused) {
		s.t.Errorf("a title where we may not: %v", err)
	}
}

// namings are the events about a person's title since so many.
func (s *session) namings(since int) []core.Inbound {
	return slices.DeleteFunc(slices.Clone(s.taken()[since:]), func(in core.Inbound) bool { return in.Kind != core.InNamed })
}

// called checks what a room is called.
func (s *session) called(r Room, want string) {
	s.t.Helper()
	got, err := s.p.Title(r)
	s.can(err)
	if got != want {
		s.t.Errorf("%s is called %q, want %q", r, got, want)
	}
}

// begin posts, as the outbox does, what begins a thread.
func (s *session) begin(to core.Inbound, key, text, name string) core.Receipt {
	s.t.Helper()
	o := s.open(to, key, text)
	o.Kind, o.Begin, o.Last = s.firsts()[len(s.firsts())-1], name, true
	r, err := s.a.Send(s.t.Context(), o)
	if err != nil {
		s.t.Fatalf("beginning a thread: %v", err)
	}
	s.finish(o, r)
	return r
}

// testBranch: where what we send to the top level of a channel begins a
// thread, what is said there is at the place with the message's id, and what we
// say there stands in it.
func testBranch(s *session) {
	branches := 0
	for r, ann := range s.rooms(Direct, DirectTopic, Group, Topic, General, Channel) {
		if s.f.Branch == nil {
			continue
		}
		e := s.hear(r, Saying{From: ann, Mention: []Account{s.p.Me()}, Text: "how do I paint a house?"})
		if !s.f.Branch(e.Place) {
			s.hear(r, Saying{From: ann, Command: "help"}) // a command is when it must be known
		}
		if !s.f.Branch(e.Place) {
			continue
		}
		top := e
		top.Place.Topic = ""
		root := s.begin(top, "root "+string(r), "It goes on here.", "Blue paint")
		begun := top
		begun.Place.Topic = root.ID
		s.show(begun, "first "+string(r), "Write here.")
		t, err := s.p.Thread(r, root.ID)
		if errors.Is(err, ErrUnsupported) || t == r {
			continue // that room is a thread itself
		}
		s.can(err)
		branches++
		if !s.f.Threads { // no message begins it, so that its name is what is seen of it
			s.called(t, "Blue paint")
		}
		s.shows(t, "Write here.")
		if got := s.hear(t, Saying{From: ann, Text: "blue"}); got.Place != begun.Place {
			s.t.Errorf("what is said in the thread of %s is at %s", root.ID, got.Place)
		}
	}
	if s.f.Branch != nil && branches == 0 {
		s.t.Error("no message of ours has begun a thread")
	}
}
