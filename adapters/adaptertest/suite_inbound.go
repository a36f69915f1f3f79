package adaptertest

import (
	"strings"

	"bellhop/core"
)

// inboundCases are about what an event says.
var inboundCases = []testCase{
	{"identity", testIdentity},
	{"mention", testMention},
	{"no mention", testNoMention},
	{"direct", testDirect},
	{"thread", testThread},
	{"topic", testTopic},
	{"direct topic", testDirectTopic},
	{"general topic", testGeneral},
	{"command", testCommand},
	{"command for another", testForeignCommand},
	{"edit", testEdit},
	{"delete", testDelete},
	{"reply", testReply},
	{"quote", testQuote},
	{"forward", testForward},
	{"file in", testFileIn},
	{"own message", testOwn},
	{"foreign bot", testForeignBot},
	{"anonymous", testAnonymous},
	{"guest", testGuest},
}

// testIdentity: people and places have ids that no renaming changes, and that
// are the same after a restart.
func testIdentity(s *session) {
	r, ann := s.room(Direct)
	bob := s.p.Person("Bob")
	other, err := s.p.Room(Direct, bob)
	s.can(err)
	first := s.hear(r, Saying{From: ann, Text: "one"})
	if want := core.PersonID(s.a.Name() + ":" + ann.ID); first.From.ID != want || first.From.Name != ann.Name || first.From.Bot {
		s.t.Errorf("from %+v, want %s, called %s", first.From, want, ann.Name)
	}
	if e := s.hear(other, Saying{From: bob, Text: "two"}); e.From.ID == first.From.ID || e.Place == first.Place {
		s.t.Errorf("two people are one: %+v and %+v", first, e)
	}
	s.until("everything to be acknowledged", func() bool { return s.unacked() == 0 })
	s.restart()
	s.can(s.p.Rename(ann, "Anna"))
	again := s.hear(r, Saying{From: ann, Text: "three"})
	if again.From.ID != first.From.ID || again.From.Name != "Anna" || again.Place != first.Place {
		s.t.Errorf("after a renaming and a restart %+v is %+v", first, again)
	}
	if again.MessageID == first.MessageID || again.Key == first.Key {
		s.t.Errorf("two messages have one id or key: %s, %s", again.MessageID, again.Key)
	}
}

func testMention(s *session) {
	for r, ann := range s.rooms(Group, Channel) {
		s.mention(r, ann)
	}
}

func (s *session) mention(r Room, ann Account) {
	s.t.Helper()
	bob := s.p.Person("Bob")
	for _, c := range []struct {
		mention           []Account
		mentioned, others bool
	}{
		{[]Account{s.p.Me()}, true, false},
		{[]Account{bob}, false, true},
		{[]Account{bob, s.p.Me()}, true, false},
	} {
		e := s.hear(r, Saying{From: ann, Mention: c.mention, Text: "what is up?"})
		if e.Mentioned != c.mentioned || e.Others != c.others || e.Direct || e.Command {
			s.t.Errorf("a message that mentions %v is %+v", c.mention, e)
		}
		if !c.others && len(c.mention) == 1 && e.Text != "what is up?" {
			s.t.Errorf("our mention is still in %q", e.Text)
		}
		if !strings.HasSuffix(e.Text, "what is up?") || strings.Contains(e.Text, "@"+s.p.Me().Name) {
			s.t.Errorf("the text became %q", e.Text)
		}
	}
	if e := s.hear(r, Saying{From: ann, Mention: []Account{s.p.Me()}}); !e.Mentioned || strings.TrimSpace(e.Text) != "" {
		s.t.Errorf("a message that is nothing but our mention is %+v", e)
	}
}

func testNoMention(s *session) {
	r, ann := s.room(Group)
	e := s.hear(r, Saying{From: ann, Text: "nobody in particular, see https://example.org/help"})
	if e.Mentioned || e.Others || e.Command || e.Foreign || e.Direct {
		s.t.Errorf("a message to nobody is %+v", e)
	}
	if e.Text != "nobody in particular, see https://example.org/help" {
		s.t.Errorf("the text became %q", e.Text)
	}
}

func testDirect(s *session) {
	r, ann := s.room(Direct)
	e := s.hear(r, Saying{From: ann, Text: "just us"})
	if !e.Direct || e.Others || e.Text != "just us" {
		s.t.Errorf("a direct message is %+v", e)
	}
	s.show(e, "k1", "answer")
	s.shows(r, "answer")
}

// testThread: a mention opens a thread, whose first message it is. What is
// said there, changed there and taken back there is at its place.
func testThread(s *session) {
	if !s.f.Threads {
		s.can(Unsupported("Features.Threads is false"))
	}
	r, ann := s.room(Channel)
	root := s.hear(r, Saying{From: ann, Mention: []Account{s.p.Me()}, Text: "root"})
	other := s.hear(r, Saying{From: ann, Mention: []Account{s.p.Me()}, Text: "another"})
	if root.Place.Topic == "" || root.Place == other.Place || root.Place.Channel != other.Place.Channel {
		s.t.Errorf("two mentions are at %s and %s", root.Place, other.Place)
	}
	s.show(root, "k1", "answer")
	thread, err := s.p.Thread(r, root.MessageID)
	s.can(err)
	more := s.hear(thread, Saying{From: ann, Text: "more"})
	again := s.hear(thread, Saying{From: ann, Mention: []Account{s.p.Me()}, Text: "again"})
	if more.Place != root.Place || again.Place != root.Place || !again.Mentioned {
		s.t.Errorf("the thread of %s goes on with %+v and %+v", root.Place, more, again)
	}
	s.show(again, "k2", "once more")
	s.shows(thread, "answer", "once more")
	s.shows(r)
	s.changes(thread, more)
	s.withdraws(thread, again)
	s.withdraws(r, root)
}

// testTopic: a topic is part of the address, both ways.
func testTopic(s *session) { s.topics(Topic) }

func testDirectTopic(s *session) { s.topics(DirectTopic) }

func (s *session) topics(kind RoomKind) {
	one, ann := s.room(kind)
	two, err := s.p.Room(kind, ann)
	s.can(err)
	a := s.hear(one, Saying{From: ann, Text: "in one"})
	b := s.hear(two, Saying{From: ann, Text: "in two"})
	if a.Place.Topic == "" || a.Place == b.Place || a.Place.Channel != b.Place.Channel {
		s.t.Errorf("two topics are at %s and %s", a.Place, b.Place)
	}
	if a.Mentioned || a.Direct != (kind == DirectTopic) || len(a.Quotes) > 0 {
		s.t.Errorf("a message to nobody in a topic is %+v", a)
	}
	if e := s.hear(one, Saying{From: ann, ReplyTo: a.MessageID, Text: "more"}); e.Place != a.Place {
		s.t.Errorf("a reply at %s is at %s", a.Place, e.Place)
	}
	s.show(a, "k1", "to one")
	s.show(b, "k2", "to two")
	s.shows(one, "to one")
	s.shows(two, "to two")
	if s.f.Typing != nil {
		if err := s.f.Typing(s.t.Context(), a.Place); err != nil {
			s.t.Errorf("typing in a topic: %v", err)
		}
	}
}

// testGeneral: outside its topics, a chat with topics is like any other. A
// reply there opens no topic.
func testGeneral(s *session) {
	r, ann := s.room(General)
	topic, err := s.p.Room(Topic, ann)
	s.can(err)
	e := s.hear(r, Saying{From: ann, Text: "to all"})
	in := s.hear(topic, Saying{From: ann, Text: "in a topic"})
	answer := s.hear(r, Saying{From: ann, ReplyTo: e.MessageID, Text: "to that"})
	if e.Place.Topic != "" || answer.Place != e.Place || in.Place.Channel != e.Place.Channel {
		s.t.Errorf("outside the topics is %s, a reply there %s, a topic %s", e.Place, answer.Place, in.Place)
	}
	s.show(answer, "k1", "here")
	s.shows(topic)
	s.shows(r, "here")
}

// testCommand: a command, as people can type it there, is one for us.
func testCommand(s *session) {
	for _, kind := range []RoomKind{Direct, Group} {
		r, ann := s.room(kind)
		for _, c := range []Saying{
			{Command: "help"},
			{Command: "help", Text: "me out"},
			{Command: "help", To: s.p.Me(), Text: "me out"},
			{Command: "HELP", To: Account{ID: s.p.Me().ID, Name: strings.ToUpper(s.p.Me().Name)}, Text: "Me Out"},
		} {
			c.From = ann
			e := s.hear(r, c)
			addressed := e.Command || s.f.Mark != "" && (e.Direct || e.Mentioned)
			if !addressed || e.Foreign || !strings.HasPrefix(strings.ToLower(e.Text), s.f.Command("help")) {
				s.t.Errorf("the command %+v is %+v", c, e)
			}
			if _, args, _ := strings.Cut(e.Text, " "); strings.TrimSpace(args) != c.Text || strings.Contains(e.Text, "@") {
				s.t.Errorf("the command %+v has the text %q", c, e.Text)
			}
		}
		if e := s.hear(r, Saying{From: ann, Text: "and what does /help do?"}); e.Command || e.Text != "and what does /help do?" {
			s.t.Errorf("the name of a command amid a text is %+v", e)
		}
	}
}

func testForeignCommand(s *session) {
	r, ann := s.room(Group)
	other, err := s.p.Program("other_bot")
	s.can(err)
	if e := s.hear(r, Saying{From: ann, Command: "help", To: other}); e.Command || !e.Foreign || e.Mentioned {
		s.t.Errorf("a command for another is %+v", e)
	}
}

func testEdit(s *session) {
	for r, ann := range s.rooms(Direct, Group, Topic) {
		s.changes(r, s.hear(r, Saying{From: ann, Text: "typo"}))
	}
}

// changes checks what we hear of the edits of a message.
func (s *session) changes(r Room, m core.Inbound) {
	s.t.Helper()
	keys := map[string]bool{m.Key: true}
	for _, text := range []string{"text", "better text"} {
		s.can(s.p.Edit(r, m.MessageID, text))
		var e core.Inbound
		s.until("the edit to "+text, func() bool {
			edits := of(s.taken(), core.InEdit, m.MessageID)
			if len(edits) > 0 {
				e = edits[len(edits)-1]
			}
			return e.Text == text
		})
		if e.Place != m.Place || e.From.ID != m.From.ID || keys[e.Key] {
			s.t.Errorf("an edit of %+v is %+v", m, e)
		}
		keys[e.Key] = true
	}
}

func testDelete(s *session) {
	for r, ann := range s.rooms(Direct, Group, Topic) {
		s.withdraws(r, s.hear(r, Saying{From: ann, Text: "never mind"}))
	}
}

// withdraws deletes a message and checks what we hear of it.
func (s *session) withdraws(r Room, m core.Inbound) {
	s.t.Helper()
	told, err := s.p.Delete(r, m.MessageID)
	s.can(err)
	if !told {
		s.can(Unsupported("the platform tells nobody of a deletion"))
	}
	if e := s.event(core.InDelete, m.MessageID); e.Place != m.Place || e.Direct != m.Direct || e.Key == m.Key {
		s.t.Errorf("the deletion of %+v is %+v", m, e)
	}
}

// testReply: a reply to us is for us; ours is shown as one.
func testReply(s *session) {
	r, ann := s.room(Group)
	first := s.hear(r, Saying{From: ann, Text: "hello"})
	shown := s.show(first, "k1", "ours to quote")
	e := s.hear(r, Saying{From: ann, ReplyTo: shown.ID, Text: "and?"})
	if !e.Mentioned || e.Text != "and?" || e.Place != first.Place || e.ReplyTo != shown.ID {
		s.t.Errorf("a reply to us, %s, is %+v", shown.ID, e)
	}
	if len(e.Quotes) != 1 || !e.Quotes[0].Own || e.Quotes[0].Text != "ours to quote" {
		s.t.Errorf("a reply to us quotes %+v", e.Quotes)
	}
	o := s.open(e, "k2", "because")
	o.ReplyTo = e.MessageID
	if _, err := s.a.Send(s.t.Context(), o); err != nil {
		s.t.Fatal(err)
	}
	own := s.own(r)
	if last := own[len(own)-1]; last.ReplyTo != e.MessageID {
		s.t.Errorf("our reply to %s is %+v", e.MessageID, last)
	}
}

func testQuote(s *session) {
	r, ann := s.room(Group)
	bob := s.p.Person("Bob")
	first := s.hear(r, Saying{From: bob, Text: "a long story with a point in it"})
	e := s.hear(r, Saying{From: ann, Mention: []Account{s.p.Me()}, ReplyTo: first.MessageID, Text: "true?"})
	if len(e.Quotes) != 1 || e.Quotes[0].Text != "a long story with a point in it" || e.Quotes[0].Own || e.Quotes[0].Author != "Bob" {
		s.t.Errorf("a reply to Bob quotes %+v", e.Quotes)
	}
	e = s.hear(r, Saying{From: ann, Mention: []Account{s.p.Me()}, ReplyTo: first.MessageID, Quote: "a point", Text: "which?"})
	if len(e.Quotes) == 0 || e.Quotes[0].Text != "a point" || e.Text != "which?" {
		s.t.Errorf("a quote of a part is %+v", e)
	}
	if e := s.hear(r, Saying{From: ann, ReplyTo: first.MessageID, Text: "nice"}); e.Mentioned {
		s.t.Errorf("a reply to Bob is for us: %+v", e)
	}
}

// testForward: what is forwarded is data, not the sender's own words.
func testForward(s *session) {
	r, ann := s.room(Direct)
	e := s.hear(r, Saying{From: ann, Forward: s.p.Person("Bob"), Text: "/new delete everything"})
	if len(e.Quotes) != 1 || e.Quotes[0].Text != "/new delete everything" || e.Quotes[0].Author != "Bob" || e.Command || strings.Contains(e.Text, "delete") {
		s.t.Errorf("what Bob wrote elsewhere is %+v", e)
	}
}

func testFileIn(s *session) {
	r, ann := s.room(Direct)
	for _, c := range []Saying{
		{Text: "look", File: &SentFile{"report.pdf", "application/pdf", []byte("%PDF-1.7 ...")}},
		{File: &SentFile{"report.pdf", "application/pdf", []byte("%PDF-1.7 ...")}},
		{Text: "look", File: &SentFile{"photo.jpg", "image/jpeg", []byte("\xff\xd8\xff\xe0....")}},
		{File: &SentFile{"voice.ogg", "audio/ogg", []byte("OggS....")}},
	} {
		c.From = ann
		e := s.hear(r, c)
		if len(e.Files) != 1 || e.Text != c.Text {
			s.t.Errorf("a message with %s is %+v", c.File.Name, e)
			continue
		}
		f := e.Files[0]
		if f.Ref == "" || f.Name == "" || f.MIME != c.File.MIME || f.Size != int64(len(c.File.Content)) {
			s.t.Errorf("%s is %+v", c.File.Name, f)
		}
		s.fetches(f, c.File.Content)
	}
}

// testOwn: we never hear ourselves.
func testOwn(s *session) {
	r, ann := s.room(Group)
	e := s.hear(r, Saying{From: ann, Text: "hello"})
	s.show(e, "k1", "hello yourself")
	s.quiet()
	if n := len(of(s.taken(), core.InMessage, "")); n != 1 {
		s.t.Errorf("%d messages, want only Ann's:\n%s", n, list(s.taken()))
	}
}

func testForeignBot(s *session) {
	r, _ := s.room(Group)
	other, err := s.p.Program("other_bot")
	s.can(err)
	e := s.hear(r, Saying{From: other, Mention: []Account{s.p.Me()}, Text: "ping"})
	if !e.From.Bot || s.stranger(e) != core.Stranger {
		s.t.Errorf("another program is %+v", e.From)
	}
}

// testAnonymous: who hides is nobody, whatever the lists allow.
func testAnonymous(s *session) {
	r, ann := s.room(Group)
	e := s.hear(r, Saying{From: ann, Hidden: true, Mention: []Account{s.p.Me()}, Text: "obey"})
	if e.From.ID == core.PersonID(s.a.Name()+":"+ann.ID) || s.stranger(e) != core.Stranger {
		s.t.Errorf("somebody who hides is %+v", e.From)
	}
}

// testGuest: no pattern lets in somebody who is only visiting.
func testGuest(s *session) {
	r, _ := s.room(Group)
	guests, err := s.p.Guest("Gus")
	s.can(err)
	for _, gus := range guests {
		e := s.hear(r, Saying{From: gus, Mention: []Account{s.p.Me()}, Text: "let me in"})
		if !e.From.Guest || s.stranger(e) != core.Stranger {
			s.t.Errorf("a guest is %+v", e.From)
		}
	}
}

// stranger is the role of who wrote, if everybody is let in.
func (s *session) stranger(e core.Inbound) core.Role {
	return core.Access{Members: []string{s.a.Name() + ":*"}}.Role(e.From)
}
