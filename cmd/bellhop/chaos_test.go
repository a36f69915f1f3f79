package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestChaos has a crowd of people on Telegram.
func TestChaos(t *testing.T) { survive(t, newTelegramTown(), 20) }

// TestChaosSlack has them in Slack.
func TestChaosSlack(t *testing.T) { survive(t, newSlackTown(), 10) }

// TestChaosDiscord has them on Discord.
func TestChaosDiscord(t *testing.T) { survive(t, newDiscordTown(), 10) }

// survive kills the program again and again, at random instants and right
// after calls that matter, while people write to it in several chats, the
// platform and the model fail now and then, and some of its ends are orderly.
// What the people see in the end is the test: one answer to each message, in
// order, in the right place.
//
// BELLHOP_CHAOS_KILLS is how often it is killed if not so often as by default, BELLHOP_CHAOS_SEED repeats the
// decisions of an earlier run as far as timing allows, BELLHOP_CHAOS_CROWD adds
// places.
func survive(t *testing.T, where town, most uint64) {
	kills := number(t, "BELLHOP_CHAOS_KILLS", most)
	seed := number(t, "BELLHOP_CHAOS_SEED", rand.Uint64N(1_000_000))
	t.Logf("seed %d, %d kills", seed, kills)
	c := newChaos(t, seed, where)
	c.open()
	began := time.Now()

	ctx, cancel := context.WithCancel(t.Context())
	var people sync.WaitGroup
	for i, p := range c.places {
		people.Go(func() { p.live(ctx, c.rng(100+i), c) })
	}
	people.Go(func() { c.weather(ctx, c.rng(99)) })
	for c.killed < int(kills) {
		c.life()
	}
	cancel()
	people.Wait()
	c.mayhem = time.Since(began)
	c.quiet()
	c.judge()
}

// number reads an environment variable.
func number(t *testing.T, name string, fallback uint64) uint64 {
	n, err := strconv.ParseUint(cmp.Or(os.Getenv(name), strconv.FormatUint(fallback, 10)), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// chaos is the world around one store and its many processes.
type chaos struct {
	t      *testing.T
	seed   uint64
	town   town
	model  *model
	places []*place
	start  invocation
	store  string

	dice   *rand.Rand // of the killer
	boot   time.Duration
	killed int
	sprung int // kills by a trap
	stops  int // orderly ends
	logs   []*program
	mayhem time.Duration
	lines  atomic.Int64 // connections to the platform

	mu      sync.Mutex
	polls   int        // calls of getUpdates; guarded by mu
	numbers int        // of the last question; guarded by mu
	trap    *trap      // guarded by mu
	luck    *rand.Rand // of the platform and the model; guarded by mu
}

// rng is one of the independent sources of decisions.
func (c *chaos) rng(n int) *rand.Rand { return rand.New(rand.NewPCG(c.seed, uint64(n))) }

func newChaos(t *testing.T, seed uint64, where town) *chaos {
	c := &chaos{t: t, seed: seed, town: where, boot: time.Second}
	c.dice, c.luck = c.rng(1), c.rng(2)
	c.model = &model{act: c.think}
	dir := t.TempDir()
	c.store = filepath.Join(dir, "data")
	path := write(t, dir, "config.toml", fmt.Sprintf(`
[adapters.%s]
%s
[providers.fake]
type = "openai"
api_key = "${KEY}"
base_url = "%s/v1"
[agents.assistant]
model = "fake/fake"
[access]
members = ["%s:*"]
`, where.name(), where.config(c.serve(c.platform())), serve(t, c.thinker()), where.name()))
	c.start = invocation{dir: dir, env: []string{"KEY=" + apiKey}, args: []string{"run", "--config", path}}
	for name, secret := range where.secrets() {
		c.start.env = append(c.start.env, name+"="+secret)
	}
	c.places = where.populate(os.Getenv("BELLHOP_CHAOS_CROWD") != "")
	return c
}

// serve serves the platform and counts the connections to it.
func (c *chaos) serve(h http.Handler) string {
	s := httptest.NewUnstartedServer(h)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			c.lines.Add(1)
		case http.StateClosed, http.StateHijacked:
			c.lines.Add(-1)
		}
	}
	s.Start()
	c.t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// open lets people and the program meet, where that is needed.
func (c *chaos) open() {
	if !c.town.acquainted() {
		return
	}
	do := c.model.act
	c.model.does(answers)
	p := c.launch()
	if !within(patience, c.town.online) {
		c.t.Fatalf("the process is told nothing\n%s", tail(p.log.String()))
	}
	for _, place := range c.places {
		place.ask(0, c)
	}
	if !within(patience, func() bool { return !slices.ContainsFunc(c.places, func(p *place) bool { return !p.answered() }) }) {
		c.t.Fatalf("the first questions are not answered\n%s", tail(p.log.String()))
	}
	p.kill()
	c.model.does(do)
}

// trap kills the process at a moment.
type trap struct {
	moment moment
	left   int           // such moments to let pass
	delay  time.Duration // after it
	victim *program
	sprung chan struct{} // closed when it has killed
}

// moment is something that the world sees the process do.
type moment string

const (
	polled    moment = "what has happened was told"
	sending   moment = "a message came in"
	sent      moment = "a message took effect"
	sentTold  moment = "a message was answered"
	editing   moment = "an edit came in"
	edited    moment = "an edit took effect"
	editTold  moment = "an edit was answered"
	asking    moment = "the model was asked"
	modelDone moment = "the model was done"
)

var moments = []moment{polled, sending, sent, sentTold, editing, edited, editTold, asking, modelDone}

// at springs the trap that waits for the moment, if there is one.
func (c *chaos) at(m moment) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.trap
	if t == nil || t.moment != m {
		return
	}
	if t.left--; t.left >= 0 {
		return
	}
	c.trap = nil
	kill := func() {
		t.victim.signal(syscall.SIGKILL)
		close(t.sprung)
	}
	if t.delay == 0 {
		kill()
	} else {
		time.AfterFunc(t.delay, kill)
	}
}

// upTo is a random time below d.
func upTo(r *rand.Rand, d time.Duration) time.Duration { return time.Duration(r.Int64N(int64(d))) }

// life is one process from its start to its end.
func (c *chaos) life() {
	p := c.launch()
	died := false
	switch roll := c.dice.IntN(100); {
	case roll < 15: // at start-up
		died = c.ends(p, upTo(c.dice, c.boot))
	case roll < 30: // whenever
		died = c.ready(p) || c.ends(p, upTo(c.dice, 1200*time.Millisecond))
	case roll < 80: // when it does something
		t := &trap{moment: moments[c.dice.IntN(len(moments))], left: c.dice.IntN(8), victim: p, sprung: make(chan struct{})}
		if c.dice.IntN(2) == 0 {
			t.delay = upTo(c.dice, 4*time.Millisecond)
		}
		c.set(t)
		died = c.ready(p)
		select {
		case <-t.sprung:
			c.sprung++
		case <-p.gone:
		case <-time.After(1500 * time.Millisecond):
		}
		c.set(nil)
		select {
		case <-t.sprung:
			died = false // by our hand, however it looks
		default:
		}
	default: // an order to stop, which may come too late
		died = c.ready(p) || c.ends(p, upTo(c.dice, 1200*time.Millisecond))
		if c.dice.IntN(3) == 0 {
			p.signal(syscall.SIGTERM)
			c.ends(p, upTo(c.dice, 500*time.Millisecond))
			break
		}
		if died {
			break
		}
		if code := p.stop(); code != 0 {
			c.t.Errorf("an orderly stop ended with exit code %d:\n%s", code, tail(p.log.String()))
		}
		c.stops++
		return
	}
	if died {
		c.t.Fatalf("the process ended by itself: %s\n%s", p.cmd.ProcessState, tail(p.log.String()))
	}
	p.kill()
	c.killed++
}

// launch starts a process when what the last one has sent has arrived, or is
// lost: the unit of systemd waits two seconds, and here the next process would
// look for a message that is still under way.
func (c *chaos) launch() *program {
	if !within(patience, func() bool { return c.lines.Load() == 0 }) {
		c.t.Fatalf("%d connections of a process that is gone are open", c.lines.Load())
	}
	p := launch(c.t, c.start)
	c.logs = append(c.logs, p)
	return p
}

func (c *chaos) set(t *trap) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trap = t
}

// ready waits until the process receives. It reports whether it died instead.
func (c *chaos) ready(p *program) (died bool) {
	began := time.Now()
	polls := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.polls
	}
	before := polls()
	if !within(patience, func() bool { return p.ended() || polls() > before }) {
		c.t.Fatalf("the process does not start to receive\n%s", tail(p.log.String()))
	}
	c.boot = time.Since(began)
	return p.ended()
}

// ends waits for the process, but not longer than d, and reports whether it
// ended.
func (c *chaos) ends(p *program, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.gone:
		return true
	case <-timer.C:
		return false
	}
}

// quiet lets a last process finish everything undisturbed. In each place a
// last question is asked: when it is answered, nothing before it is still to
// come.
func (c *chaos) quiet() {
	c.town.calm()
	c.model.does(answers)
	p := c.launch()
	for _, place := range c.places {
		place.ask(0, c)
	}
	done := within(2*time.Minute, func() bool {
		return c.town.told() && !slices.ContainsFunc(c.places, func(p *place) bool { return !p.answered() })
	})
	if !done {
		c.t.Errorf("the last questions are not answered\n%s", tail(p.log.String()))
	}
	if code := p.stop(); code != 0 {
		c.t.Errorf("the last stop ended with exit code %d:\n%s", code, tail(p.log.String()))
	}
}

// tail is the end of a log.
func tail(log string) string {
	lines := strings.Split(log, "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}
