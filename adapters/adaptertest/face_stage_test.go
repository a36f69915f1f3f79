package adaptertest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters/adaptertest"
	"bellhop/core"
	"bellhop/core/bus"
	"bellhop/core/coretest"
	"bellhop/core/llm/script"
	"bellhop/core/mailbox"
	"bellhop/core/run"
	"bellhop/media"
	"bellhop/store"
	"bellhop/store/memkv"
	"bellhop/tools"
	"bellhop/tools/channel"
	"bellhop/tools/history"
)

// stage is one conversation on one platform: the appliance, wired as cmd/bellhop
// wires it, and the people.
type stage struct {
	t      *testing.T
	name   string
	script *coretest.Archive
	p      adaptertest.Platform
	model  *script.Provider
	people map[string]adaptertest.Account
	rooms  []*room
	thread *room // where the last mention in #team is answered
	seen   strings.Builder
	log    bytes.Buffer

	bus   *bus.Bus
	mail  *mailbox.System
	store *store.Store
	files *media.Store
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// room is a place where people talk, and what they said last there.
type room struct {
	adaptertest.Room
	name    string
	threads map[string]*room // by root
	last    string
}

func newStage(t *testing.T, name string, harness func([]core.Command) adaptertest.Harness, a *coretest.Archive) *stage {
	s := &stage{t: t, name: name, script: a, model: script.New(), people: map[string]adaptertest.Account{}}
	log := slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	commands := append(bus.Commands(func() []bus.AdapterHealth { return s.bus.Health() }), mailbox.Commands()...)
	slices.SortFunc(commands, func(x, y core.Command) int { return strings.Compare(x.Name, y.Name) })
	s.p = harness(commands).New(t)
	var err error
	if s.store, err = store.Open(t.Context(), memkv.New(memkv.Options{}), store.Options{Log: log}); err != nil {
		t.Fatal(err)
	}
	if s.files, err = media.Open(t.TempDir(), media.Limits{}); err != nil {
		t.Fatal(err)
	}
	set, err := tools.NewSet(history.New(s.store, time.UTC), channel.New(func(name string) channel.Read { return s.bus.Features(name).Read }, s.store, time.UTC), slow())
	if err != nil {
		t.Fatal(err)
	}
	bots := []core.Bot{{Handle: "chief", Name: "Chief", Model: "script/chief", Vision: true, Steps: 40, RunTime: 15 * time.Minute,
		History: core.Budget{Tokens: 24_000, Messages: 80}}}
	cursors := func(ctx context.Context) ([]core.Cursor, error) { return s.store.Cursors(ctx, name) }
	s.bus = bus.New(t.Context(), bus.Options{Store: s.store, Adapters: []core.Adapter{s.p.Adapter(t, cursors)}, Agent: "chief", Bots: bots,
		Access: core.Access{Members: []string{name + ":*"}}, Commands: commands, Log: log})
	runner := run.New(run.Options{Store: s.store, Outbox: s.bus, Bots: bots, Tools: set, Files: s.files, Repair: tools.Repair,
		Canonical: tools.Canonical, Cap: tools.Cap, MaxHops: 20, Zone: time.UTC, Log: log,
		Provider: func(string) (core.Provider, string, error) { return s.model, "chief", nil },
		Wake:     func(items []core.Item) { s.mail.Wake(items) }})
	s.mail = mailbox.New(mailbox.Options{Store: s.store, Runner: runner, Bots: bots, MaxRuns: 8, Log: log})
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	s.ended.Go(func() {
		if err := s.mail.Run(ctx, ctx); err != nil {
			t.Error(err)
		}
	})
	s.ended.Go(func() {
		if err := s.bus.Run(ctx, s.mail); err != nil {
			t.Error(err)
		}
	})
	s.pass(5 * time.Second)
	return s
}

// slow is a tool that takes its time.
func slow() core.Tool {
	type arguments struct {
		Query string `json:"query" doc:"what to look for"`
	}
	spec := core.ToolSpec{Name: "search", Description: "looks for something", ReadOnly: true, Idempotent: true}
	return tools.Func(spec, func(ctx context.Context, _ *core.Env, in arguments) (core.ToolResult, error) {
		select {
		case <-time.After(5 * time.Second):
			return core.ToolResult{Text: "found: " + in.Query}, nil
		case <-ctx.Done():
			return core.ToolResult{}, context.Cause(ctx)
		}
	})
}

func (s *stage) end() {
	s.stop()
	s.ended.Wait()
	s.bus.Close()
	if err := errors.Join(s.store.Close(), s.files.Close()); err != nil {
		s.t.Error(err)
	}
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
