package adaptertest_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters/adaptertest"
	"bellhop/core"
	"bellhop/core/coretest"
	"bellhop/core/llm/script"
	"bellhop/store/memkv"
)

// stage is one conversation on one platform: the appliance and the people.
type stage struct {
	*house
	t      *testing.T
	name   string
	script *coretest.Archive
	p      adaptertest.Platform
	people map[string]adaptertest.Account
	rooms  []*room
	thread *room // where the last mention in #team is answered
	seen   strings.Builder
	log    bytes.Buffer
}

// room is a place where people talk, and what they said last there.
type room struct {
	adaptertest.Room
	name    string
	threads map[string]*room // by root
	last    string
}

func newStage(t *testing.T, name string, harness func([]core.Command) adaptertest.Harness, a *coretest.Archive) *stage {
	s := &stage{t: t, name: name, script: a, people: map[string]adaptertest.Account{}}
	log := slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.house = newHouse(t, memkv.New(memkv.Options{}), log, name, func(commands []core.Command, cursors core.Cursors) core.Adapter {
		s.p = harness(commands).New(t)
		return s.p.Adapter(t, cursors)
	})
	s.pass(5 * time.Second)
	return s
}

func (s *stage) end() {
	s.house.end(s.t)
	if s.t.Failed() {
		s.t.Logf("log:\n%s", s.log.String())
	}
}

// pass lets time pass, and then what is under way come to rest.
func (s *stage) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// hold goes through the script.
func (s *stage) hold() {
	for l := range strings.Lines(s.script.Script) {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		if err := s.do(l); err != nil {
			s.t.Fatalf("%s: %v", l, err)
		}
		s.pass(300 * time.Millisecond)
	}
	s.pass(time.Minute)
	if n := s.model.Pending("chief"); n > 0 {
		s.t.Errorf("the model was not asked for %d of its replies", n)
	}
}

// do executes one line.
func (s *stage) do(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "say":
		return s.say(rest)
	case "edit":
		where, text, _ := strings.Cut(rest, " ")
		r := s.room(where, adaptertest.Account{})
		return s.p.Edit(r.Room, r.last, text)
	case "press", "mark":
		return s.act(verb, rest)
	case "llm":
		reply, err := s.reply(rest)
		s.model.Queue("chief", reply)
		return err
	case "advance":
		d, err := time.ParseDuration(rest)
		s.pass(d)
		return err
	case "look":
		s.seen.WriteString("~ meanwhile ~\n" + s.render() + "~ in the end ~\n")
		return nil
	}
	return fmt.Errorf("there is no such line")
}

func (s *stage) say(rest string) error {
	where, rest, _ := strings.Cut(rest, " ")
	who, text, _ := strings.Cut(rest, " ")
	from, known := s.people[who]
	if !known {
		from = s.p.Person(who)
		s.people[who] = from
	}
	r := s.room(where, from)
	saying := adaptertest.Saying{From: from}
	if more, ok := strings.CutPrefix(text, "re "); ok {
		own := slices.DeleteFunc(s.p.Shown(r.Room), func(m adaptertest.Shown) bool { return !m.Own })
		saying.ReplyTo, text = own[len(own)-1].ID, more
	}
	if more, ok := strings.CutPrefix(text, "file="); ok {
		var name string
		name, text, _ = strings.Cut(more, " ")
		saying.File = &adaptertest.SentFile{Name: name, MIME: "image/png", Content: picture()}
	}
	mention := false
	if saying.Text, mention = strings.CutPrefix(text, "@bot "); mention {
		saying.Mention = []adaptertest.Account{s.p.Me()}
	}
	if command, ok := strings.CutPrefix(saying.Text, "/"); ok {
		saying.Command, saying.Text, _ = strings.Cut(command, " ")
	}
	id, err := s.p.Say(r.Room, saying)
	if err != nil {
		return err
	}
	r.last = id
	if r.name == "#team" && mention {
		s.thread = r
		s.pass(300 * time.Millisecond)
		t, err := s.p.Thread(r.Room, id)
		if err == nil {
			s.thread = &room{Room: t}
			r.threads[id] = s.thread
		} else if !errors.Is(err, adaptertest.ErrUnsupported) {
			return err
		}
	}
	return nil
}

// act presses a button of our last message that has any, or marks our last one.
func (s *stage) act(verb, rest string) error {
	where, rest, _ := strings.Cut(rest, " ")
	who, what, _ := strings.Cut(rest, " ")
	by, known := s.people[who]
	if !known {
		by = s.p.Person(who)
		s.people[who] = by
	}
	r := s.room(where, by)
	for _, m := range slices.Backward(s.p.Shown(r.Room)) {
		switch {
		case !m.Own || verb == "press" && len(m.Buttons) == 0:
		case verb == "press":
			return s.p.Press(r.Room, by, m.ID, what)
		default:
			return s.p.Mark(r.Room, by, m.ID, what, false)
		}
	}
	return errors.New("there is no such message of ours")
}

// room finds a room, or makes it; dm is the one of the person.
func (s *stage) room(name string, who adaptertest.Account) *room {
	kinds := []adaptertest.RoomKind{adaptertest.Direct}
	switch name {
	case "thread":
		return s.thread
	case "#team":
		kinds = []adaptertest.RoomKind{adaptertest.Channel, adaptertest.Group}
	}
	if i := slices.IndexFunc(s.rooms, func(r *room) bool { return r.name == name }); i >= 0 {
		return s.rooms[i]
	}
	for _, kind := range kinds {
		if r, err := s.p.Room(kind, who); err == nil {
			s.rooms = append(s.rooms, &room{Room: r, name: name, threads: map[string]*room{}})
			return s.rooms[len(s.rooms)-1]
		}
	}
	s.t.Fatalf("there is no room %s", name)
	return nil
}

// reply is what a line llm says.
func (s *stage) reply(line string) (script.Reply, error) {
	verb, what, _ := strings.Cut(line, " ")
	switch verb {
	case "reply":
		for _, section := range s.script.Sections {
			if section.Name == "reply/"+what {
				return script.Say(strings.TrimSpace(section.Text)), nil
			}
		}
		return nil, fmt.Errorf("there is no section reply/%s", what)
	case "long":
		n, err := strconv.Atoi(what)
		return script.Say(prose(n)), err
	}
	return script.Parse(line)
}

// prose is a text of about n characters.
func prose(n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		fmt.Fprintf(&b, "## Part %d\n\n%s\n\n", i, strings.TrimSpace(strings.Repeat("The quick brown fox jumps over the lazy dog. ", 12)))
	}
	return strings.TrimSpace(b.String())
}

// picture is a small image.
func picture() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		panic(err)
	}
	return b.Bytes()
}
