package adaptertest

import (
	"bytes"
	"fmt"

	"bellhop/core"
)

// fileCases are about files that we show.
var fileCases = []testCase{
	{"file out", testFileOut},
	{"file out lost", testFileLost},
	{"file out lost before a restart", testFileRestart},
	{"file out forbidden", testFileForbidden},
}

// filed is a piece with a file as an answer to what was heard.
func (s *session) filed(to core.Inbound, key string) core.Outbound {
	o := s.open(to, key, "here it is")
	o.Kind, o.Last = core.OutFinal, true
	o.File = &core.Attachment{Name: "answer.md", MIME: "text/markdown", Content: fmt.Appendf(nil, "# Answer\n\nto %s\n", to.MessageID)}
	return o
}

// takesFiles skips the subtest for a platform where we cannot show files.
func (s *session) takesFiles(r Room) {
	s.t.Helper()
	_, err := s.p.Files(r)
	s.can(err)
}

// outbox shows a final as the outbox does, and again until that is done. It
// returns the last error of what cannot be done. meanwhile follows each try that
// fails.
func (s *session) outbox(o core.Outbound, meanwhile func()) error {
	s.t.Helper()
	unsure := false
	for range 5 {
		err := s.attempt(&o, unsure)
		s.harmless(err)
		switch certain(err) {
		case "success", "refused", "gone", "fatal":
			return err
		case "":
			unsure = true
		}
		meanwhile()
	}
	s.t.Fatalf("%s is not shown after five tries", o.Key)
	return nil
}

// attempt is one try of the outbox. Where a send is not idempotent, or an earlier
// one may have had an effect, the piece is opened first, or found.
func (s *session) attempt(o *core.Outbound, unsure bool) error {
	ctx, cancel := s.bounded()
	defer cancel()
	if o.Edit == "" && (s.f.Once == core.OnceEdit || unsure) {
		open := *o
		open.Kind, open.Text, open.File = core.OutOpen, "…", nil
		err := core.ErrNotSent
		var r core.Receipt
		if unsure {
			r, err = s.f.Resolve(ctx, open)
		}
		if certain(err) == "not sent" {
			r, err = s.a.Send(ctx, open)
		}
		if err != nil {
			return err
		}
		o.Edit = r.ID
	}
	_, err := s.a.Send(ctx, *o)
	return err
}

// hasFile checks that the room shows these pieces alone, each with its file.
// Whether a file is a message of its own is the platform's.
func (s *session) hasFile(r Room, pieces ...core.Outbound) {
	s.t.Helper()
	own := s.own(r)
	var texts int
	for _, m := range own {
		switch {
		case m.Text == "here it is":
			texts++
		case m.Text != "" || len(m.Files) == 0:
			s.t.Errorf("%s shows %+v", r, m)
		}
	}
	files := ownFiles(own)
	if texts != len(pieces) || len(files) != len(pieces) {
		s.t.Fatalf("%s shows %d texts and %d files, want %d of each: %+v", r, texts, len(files), len(pieces), own)
	}
	for i, o := range pieces {
		if files[i].Name != o.File.Name || !bytes.Equal(files[i].Content, o.File.Content) {
			s.t.Errorf("%s shows the file %s with %q, want %q", r, files[i].Name, files[i].Content, o.File.Content)
		}
	}
}

// testFileOut: a file is shown with its piece, and once however often that is
// asked.
func testFileOut(s *session) {
	for r, ann := range s.rooms(Direct, Group, Topic) {
		s.takesFiles(r)
		var shown []core.Outbound
		for i := range 2 {
			o := s.filed(s.hear(r, Saying{From: ann, Text: "send it"}), fmt.Sprint(r, i))
			for unsure := range 2 {
				if err := s.attempt(&o, unsure > 0); err != nil {
					s.t.Fatal(err)
				}
			}
			shown = append(shown, o)
			s.hasFile(r, shown...)
		}
	}
}

// testFileLost: whichever of the calls that show a file goes wrong, and however,
// it is shown once in the end.
func testFileLost(s *session) { s.loseFiles(func() {}) }

// testFileRestart: so it is if another process goes on.
func testFileRestart(s *session) { s.loseFiles(s.restart) }

func (s *session) loseFiles(meanwhile func()) {
	s.resolves()
	r, ann := s.room(Group)
	s.takesFiles(r)
	var shown []core.Outbound
	var ids []string
	for _, f := range []Fault{{Net: NetLost}, {Net: NetCut}, {Net: NetStall}, {Net: NetLost, Status: 504}, {Net: NetHang}, {Net: NetRefuse}, {Status: 502}} {
		for call := 0; ; call++ { // until no call is left that could fail
			o := s.known(s.filed(s.hear(r, Saying{From: ann, Text: "send it"}), fmt.Sprint("k", call, f)), ids...)
			if call > 0 {
				s.fail(Sending, call, Fault{})
			}
			hits := s.fail(Sending, 1, f)
			if err := s.outbox(o, meanwhile); err != nil {
				s.t.Fatalf("call %d met %s: %v", call+1, f, err)
			}
			shown = append(shown, o)
			s.hasFile(r, shown...)
			ids = nil
			for _, m := range s.own(r) {
				ids = append(ids, m.ID)
			}
			if hits() == 0 {
				break
			}
		}
		s.p.Heal()
	}
}

// testFileForbidden: where we may show no file, that is said, and nothing of the
// piece is shown: the outbox says in words what is missing.
func testFileForbidden(s *session) {
	r, ann := s.room(Group)
	s.takesFiles(r)
	s.can(s.p.Forbid())
	o := s.filed(s.hear(r, Saying{From: ann, Text: "send it"}), "k1")
	err := s.outbox(o, func() {})
	s.wants(err, "refused")
	for _, m := range s.own(r) {
		if m.Text != "…" || len(m.Files) > 0 {
			s.t.Errorf("%s shows %+v", r, m)
		}
	}
	if s.f.Once == core.OnceEdit {
		o.Edit = s.own(r)[0].ID
	}
	o.File, o.Text = nil, "I could not attach it"
	if _, err := s.a.Send(s.t.Context(), o); err != nil {
		s.t.Fatal(err)
	}
	s.shows(r, "I could not attach it")
}
