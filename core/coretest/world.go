package coretest

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
	"bellhop/core/llm/script"
	"bellhop/store"
	"bellhop/store/memkv"
)

// world is one talk: the platforms and models, which stay, and the appliance,
// which comes and goes.
type world struct {
	t         *testing.T
	scene     scene
	platforms []*platform
	owner     core.Place
	minds     *minds
	moments   moments
	journal   journal
	hooks     hooks
	engine    engine
	reopen    opener
	store     *store.Store // also while the appliance is stopped
	commits   atomic.Int64
	starts    int
	codes     atomic.Int64
	life      *life // nil: stopped
	log       *slog.Logger
	logged    syncBuffer // of a talk that fails

	costs    []cost // of each line
	acts     int    // lines so far that were more than a preparation
	failed   int    // calls and commits that have been made to fail so far
	troubled bool   // something has failed since nothing was left to do
	clean    clean  // what is known to hold no secret

	mu       sync.Mutex // guards the fields below
	problems []string
	effects  []string
	disk     *fault // of commits
	diskHits int
}

// people can be mentioned.
var people = []string{"alice", "bob", "carol", "dave", "mallory"}

// cost is what a line made the ledger do.
type cost struct {
	line    string
	names   []string
	commits int64
}

// problem notes a broken invariant. Any goroutine may call it.
func (w *world) problem(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// found are the problems so far.
func (w *world) found() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.problems)
}

func (w *world) effect(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.effects = append(w.effects, strings.TrimSpace(what))
}

// newWorld makes the world that the script's header describes, with an appliance
// in it, and returns the script's other lines. It is called in a bubble.
func newWorld(t *testing.T, text string) (*world, []line) { return newWorldOn(t, text, "memkv") }

// newWorldOn is newWorld on one of the engines.
func newWorldOn(t *testing.T, text, on string) (*world, []line) {
	w := &world{t: t, journal: journal{order: map[string]decided{}}}
	w.scene.access.Approvers = core.NewApprovers([]string{"requester"})
	w.log = slog.New(slog.NewTextHandler(&w.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.minds = newMinds(w.problem)
	script := lines(text)
	for len(script) > 0 {
		header, err := w.scene.set(script[0])
		if err != nil {
			t.Fatalf("line %d: %s: %v", script[0].n, script[0].text, err)
		}
		if !header {
			break
		}
		script = script[1:]
	}
	w.scene.complete()
	for _, o := range w.scene.adapters {
		w.platforms = append(w.platforms, newPlatform(o, w.scene.zones, w.scene.guests))
	}
	w.owner = core.Place{Adapter: w.platforms[0].name, Channel: "#owner"}
	w.reopen = engines[on](t, func() { w.commits.Add(1) })
	w.start()
	synctest.Wait()
	return w, script
}

// code makes the codes of pairing: 0000-0001, 0000-0002 and so on.
func (w *world) code() string { return fmt.Sprintf("%08d", w.codes.Add(1)) }

// end leaves no goroutine behind.
func (w *world) end() {
	if w.life != nil {
		w.life.kill()
		<-w.life.ended
	}
	if err := w.engine.Close(); err != nil {
		w.t.Error(err)
	}
	if w.t.Failed() {
		w.t.Logf("log:\n%s", w.logged.String())
	}
}

// hold goes through the lines until one shows something wrong.
func (w *world) hold(script []line) {
	for _, l := range append(script, line{text: "(the end)", verb: "rest"}) {
		w.journal.next()
		done, commits := len(w.journal.since(0)), w.commits.Load()
		if err := w.do(l); err != nil {
			w.problem("%v", err)
		}
		w.settle()
		if l.verb != "llm" && l.verb != "fault" && !(l.verb == "crash" && l.rest != "") {
			w.acts++
		}
		w.costs = append(w.costs, cost{l.text, w.journal.since(done), w.commits.Load() - commits})
		w.check()
		for _, p := range w.found() {
			w.t.Errorf("line %d: %s:\n\t%s", l.n, l.text, p)
		}
		if w.t.Failed() {
			return
		}
	}
}

// used reports what the script has prepared in vain.
func (w *world) used() {
	if left := w.moments.left(); len(left) > 0 {
		w.t.Errorf("nothing came to these moments: %s", strings.Join(left, ", "))
	}
	if s := w.scene.sorting; s != nil && w.minds.Pending(strings.TrimPrefix(s.Model, "script/")) > 0 {
		w.t.Errorf("fewer choices were made than there are replies for")
	}
	for _, b := range w.scene.bots {
		if n := w.minds.Pending(b.Handle); n > 0 {
			w.t.Errorf("the model of %s was not asked for %d of its replies", b.Handle, n)
		}
	}
}

// start begins a life. A process that cannot start is started again.
func (w *world) start() {
	w.starts++
	var err error
	for range 100 {
		w.open()
		if w.life, err = begin(w); err == nil {
			return
		}
		time.Sleep(time.Second)
	}
	w.t.Fatalf("the appliance does not start: %v", err)
}

// open opens the store over what is stored, as after a start.
func (w *world) open() {
	var err error
	if w.engine, err = w.reopen(w.engine); err != nil {
		w.t.Fatalf("the engine does not open: %v", err)
	}
	w.engine.SetFault(w.strike)
	if w.store, err = store.Open(w.t.Context(), w.engine, store.Options{Log: w.log}); err != nil {
		w.t.Fatalf("the store does not open: %v", err)
	}
}

// settle lets everything run until it waits. A process that has died is
// followed by another.
func (w *world) settle() {
	for synctest.Wait(); w.life != nil && w.life.over(); synctest.Wait() {
		<-w.life.ended
		w.start()
	}
}

// strike is the fault of a commit.
func (w *world) strike(_ uint64, when memkv.When) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.disk
	if f == nil || (f.how == "after") != (when == memkv.After) {
		return nil
	}
	if f.n > 1 {
		f.n--
		return nil
	}
	if f.n != every {
		w.disk = nil
	}
	w.diskHits++
	return outcomes[f.how]
}

// failures counts what has been made to fail so far.
func (w *world) failures() int {
	w.mu.Lock()
	n := w.diskHits + w.hooks.failures()
	w.mu.Unlock()
	for _, p := range w.platforms {
		p.mu.Lock()
		n += p.failed
		p.mu.Unlock()
	}
	return n
}

// busy reports whether something is under way that time or the script ends.
func (w *world) busy() bool {
	if w.life == nil || w.life.calls() > 0 || w.moments.holding() {
		return true
	}
	return slices.ContainsFunc(w.platforms, func(p *platform) bool { return !p.quiet() })
}

// restless is the most that a talk may take to come to rest.
const restless = 6 * time.Hour

// rest lets time pass until no work is left.
func (w *world) rest() error {
	if w.life == nil {
		return nil
	}
	began := time.Now()
	for {
		w.settle()
		books, err := w.store.Audit(w.t.Context())
		if err != nil {
			return err
		}
		left := w.left(books)
		if len(left) == 0 && !w.busy() {
			return nil
		}
		waited := time.Since(began)
		if waited > restless {
			return fmt.Errorf("no rest after %s: %s", waited, strings.Join(left, ", "))
		}
		time.Sleep(min(max(waited/8, 100*time.Millisecond), time.Minute))
	}
}

// do executes one line.
func (w *world) do(l line) error {
	s := scan(l.rest)
	switch l.verb {
	case "say":
		return w.say(&s)
	case "aside":
		p, at := w.place(s.word(), "")
		who := s.word()
		_, file, _ := s.option("file")
		text, err := s.text()
		p.aside(at, who, file, text)
		return err
	case "reply":
		return w.reply(&s)
	case "send":
		return w.send(&s)
	case "edit", "delete":
		p, at := w.place(s.word(), "")
		id := s.word()
		if l.verb == "delete" {
			return p.delete(at, id)
		}
		text, err := s.text()
		if err != nil {
			return err
		}
		return p.edit(at, id, text, people)
	case "react", "unreact":
		where, who := s.word(), s.word()
		p, at := w.place(where, who)
		return p.react(at, who, s.word(), s.word(), l.verb == "unreact")
	case "invite":
		where, who := s.word(), s.word()
		p, at := w.place(where, who)
		p.invite(at, who)
	case "name":
		where, who := s.word(), s.word()
		p, at := w.place(where, who)
		p.entitle(at, who, s.rest)
	case "press":
		where, who := s.word(), s.word()
		p, at := w.place(where, who)
		return p.press(at, who, s.word(), s.rest)
	case "garble":
		p, at := w.place(s.word(), "")
		p.garble(at, s.rest)
	case "again":
		return w.platforms[0].again(s.word())
	case "llm":
		return w.think(&s)
	case "advance":
		d, err := time.ParseDuration(s.word())
		time.Sleep(d)
		return err
	case "rest":
		return w.rest()
	case "forget":
		return w.forget(s.word())
	case "stop", "start", "kill", "crash", "hold", "release":
		return w.control(l.verb, &s)
	case "fault":
		return w.fault(&s)
	case "move":
		w.platforms[0].move(s.word(), s.word(), s.word() == "silently")
	case "revoke":
		p, _ := w.place(s.word()+":#", "")
		p.revoke()
	case "expect":
		return w.expect(&s)
	default:
		return fmt.Errorf("there is no such line")
	}
	return nil
}

// place reads a place; who is the person whose direct conversation dm is.
func (w *world) place(text, who string) (*platform, core.Place) {
	p := w.platforms[0]
	if name, rest, ok := strings.Cut(text, ":"); ok {
		i := slices.IndexFunc(w.platforms, func(p *platform) bool { return p.name == name })
		if i < 0 {
			w.t.Fatalf("there is no adapter %s", name)
		}
		p, text = w.platforms[i], rest
	}
	at := core.Place{Adapter: p.name}
	at.Channel, at.Topic, _ = strings.Cut(text, "/")
	switch {
	case text == "dm":
		at.Channel = who
	case at.Channel == "dm":
		at.Channel, at.Topic, _ = strings.Cut(at.Topic, "/")
	}
	return p, at
}

func (w *world) say(s *scanner) error {
	where, who := s.word(), s.word()
	p, at := w.place(where, who)
	given := map[string]string{}
	for name, v, ok := s.option("re", "quote", "file"); ok; name, v, ok = s.option("re", "quote", "file") {
		given[name] = v
	}
	text, err := s.text()
	if err != nil {
		return err
	}
	return p.say(at, who, given["re"], given["quote"], given["file"], text, people)
}

// think queues what a model says.
func (w *world) think(s *scanner) error {
	bot := s.word()
	if !slices.ContainsFunc(w.scene.bots, func(b core.Bot) bool { return b.Handle == bot }) && !(w.scene.titles && bot == "title") && (w.scene.sorting == nil || w.scene.sorting.Model != "script/"+bot) {
		return fmt.Errorf("there is no bot %s", bot)
	}
	line, always := strings.CutPrefix(s.rest, "always ")
	reply, err := script.Parse(line)
	if always {
		w.minds.always[bot] = reply
	} else if err == nil {
		w.minds.Queue(bot, reply)
	}
	return err
}

// control starts and ends processes, and holds them up.
func (w *world) control(verb string, s *scanner) error {
	switch verb {
	case "hold":
		return w.moments.set(s, true)
	case "release":
		w.moments.release()
		return nil
	case "crash":
		if s.rest != "" {
			return w.moments.set(s, false)
		}
		w.life.kill()
		return nil
	case "start":
		if w.life != nil {
			return fmt.Errorf("it runs already")
		}
		w.start()
		return nil
	}
	if w.life == nil {
		return fmt.Errorf("it does not run")
	}
	if verb == "kill" {
		w.life.kill()
		<-w.life.ended
	} else {
		w.life.stop()
	}
	w.life = nil
	w.open()
	return nil
}

func (w *world) fault(s *scanner) error {
	op := s.word()
	if op == "hook" {
		return w.hooks.setFault(s)
	}
	if op != "commit" {
		p := w.platforms[0]
		if name, rest, ok := strings.Cut(op, ":"); ok {
			p, _ = w.place(name+":#", "")
			op = rest
		}
		if !slices.Contains(operations, op) {
			return fmt.Errorf("%q is no call of a platform", op)
		}
		return p.setFault(op, s)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.disk = &fault{op: op, n: s.number(1), how: s.word()}
	switch w.disk.how {
	case "off":
		w.disk = nil
	case "before", "after", "full":
	default:
		return fmt.Errorf("%q is no way for a commit to fail", w.disk.how)
	}
	return nil
}

// expect states what no golden section can.
func (w *world) expect(s *scanner) error {
	what := s.word()
	switch what {
	case "asked":
		bot := s.word()
		if want, n := s.number(0), len(w.minds.of(bot)); n != want {
			return fmt.Errorf("the model of %s was asked %d times", bot, n)
		}
	case "queued":
		books, err := w.store.Audit(w.t.Context())
		if err != nil {
			return err
		}
		if want := s.number(0); len(books.Queue) != want {
			return fmt.Errorf("%d messages wait", len(books.Queue))
		}
	case "stored", "forgotten":
		found := false
		if err := w.engine.View(func(tx store.Tx) error {
			kvs, err := tx.Scan(nil, []byte{0xff}, 0)
			found = slices.ContainsFunc(kvs, func(kv store.KV) bool { return bytes.Contains(kv.Value, []byte(s.rest)) })
			return err
		}); err != nil {
			return err
		}
		if found != (what == "stored") {
			return fmt.Errorf("the text is in the store: %t", found)
		}
	default:
		p, at := w.place(what, "")
		has := s.word()
		if has == "titled" {
			return p.called(at, s.rest)
		}
		chat := p.render(at)
		if strings.Contains(chat, s.rest) != (has == "has") {
			return fmt.Errorf("it reads:\n%s", chat)
		}
	}
	return nil
}
