package bus

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"bellhop/core"
)

// choice is where a schedule leaves the default: at a step, counted from the
// start of the process, a fault, or another actor going first.
type choice struct {
	at   int
	what string
}

// isSwitch reports whether the choice is an actor and not a fault.
func (c choice) isSwitch() bool { return strings.HasPrefix(c.what, "-> ") }

func (c choice) isCrash() bool { return c.what == string(faultBefore) || c.what == string(faultAfter) }

// schedule is one life of a message: the choices of each process.
type schedule [][]choice

// String is what -schedule takes: the processes apart by "|".
func (s schedule) String() string {
	var lives []string
	for _, path := range s {
		var words []string
		for _, c := range path {
			words = append(words, fmt.Sprintf("%d=%s", c.at, c.what))
		}
		lives = append(lives, strings.Join(words, ", "))
	}
	return strings.Join(lives, " | ")
}

func parseSchedule(text string) (schedule, error) {
	var s schedule
	for life := range strings.SplitSeq(text, "|") {
		var path []choice
		for word := range strings.SplitSeq(life, ",") {
			if word = strings.TrimSpace(word); word == "" {
				continue
			}
			at, what, _ := strings.Cut(word, "=")
			n, err := strconv.Atoi(at)
			if err != nil {
				return nil, fmt.Errorf("%q in a schedule: want STEP=CHOICE", word)
			}
			path = append(path, choice{n, what})
		}
		s = append(s, path)
	}
	return s, nil
}

// step is one thing that an actor did, and what could have happened instead.
type step struct {
	actor         string
	op            op
	choice        string
	others        []string // choices that the process survives
	before, after *world   // what a crash would have left; nil: not asked for
	rest          state    // where it began, if all were at rest
}

func (s step) String() string {
	what := [...]string{turn: "looks for work", commit: "commits", call: "calls the platform:", model: "asks the model", wait: "waits for the open's receipt", past: "is done"}[s.op.kind]
	text := strings.TrimSpace(fmt.Sprintf("%s %s %s %s", s.actor, what, s.op.name, s.op.detail))
	if s.choice != "" {
		text += "  <-- " + s.choice
	}
	return text
}

// most is how many steps a process may need; one that needs more goes round in
// circles.
const most = 500

// play lets the process live along the path and then by default, until nothing
// is left to do, or what follows is known. From the step after the path on, it
// notes what a crash would leave, if asked.
func (p *process) play(path []choice, crashes bool, known func(*step) (uint64, bool)) (steps []step, n uint64) {
	for len(steps) < most {
		a := p.pick()
		if a == nil {
			return steps, 0
		}
		s := step{actor: a.name, op: a.op, others: p.choices(a)}
		free := len(path) == 0
		if free {
			if n, ok := known(&s); ok {
				return steps, n
			}
		} else if path[0].at == len(steps) {
			s.choice, path = path[0].what, path[1:]
		}
		p.fault, p.noting = fault(s.choice), nil
		switch {
		case choice{what: s.choice}.isSwitch():
			a = p.actors[slices.IndexFunc(p.actors, func(b *actor) bool { return "-> "+b.name == s.choice })]
			if p.current = a; a.mid() {
				steps = append(steps, s)
				continue
			}
		case free && crashes && a.op.kind.fails():
			s.before = p.snap()
			p.noting = &s
		}
		p.current = a
		a.resume()
		steps = append(steps, s)
	}
	p.wrong = append(p.wrong, "it goes round in circles")
	return steps, 0
}

// replay lets the process live along the path and returns what is left of the
// world, if the path ends with a crash.
func (p *process) replay(path []choice) (steps []step, left *world) {
	unknown := func(*step) (uint64, bool) { return 0, false }
	if len(path) == 0 || !path[len(path)-1].isCrash() {
		steps, _ = p.play(path, false, unknown)
		return steps, nil
	}
	last := path[len(path)-1]
	steps, _ = p.play(path[:len(path)-1], true, unknown)
	steps = steps[:last.at+1]
	s := &steps[last.at]
	s.choice = last.what
	if fault(last.what) == faultBefore {
		return steps, s.before
	}
	return steps, s.after
}

func (a *actor) resume() {
	var ok bool
	if a.op, ok = a.next(); !ok {
		a.over = true
	}
}

// mid reports whether the actor is in the middle of something.
func (a *actor) mid() bool { return a.op.kind == commit || a.op.kind == call || a.op.kind == past }

// pick is the actor that goes on by default; nil: nothing is left to do.
func (p *process) pick() *actor {
	if !p.boot.over {
		return p.boot
	}
	if p.current != nil && p.current.mid() {
		return p.current
	}
	running := p.run.op.kind != turn || p.ready() >= 0
	idle := func(a *actor) bool {
		return p.waits(a) && (p.scenario.slow || !running && len(p.world.chat.pending) == 0)
	}
	for _, a := range []*actor{p.talk, p.owner, p.people, p.run} {
		if a.mid() {
			return a
		}
	}
	switch {
	case p.busy(talkPlace):
		return p.talk
	case p.busy(ownerPlace):
		return p.owner
	case idle(p.talk):
		return p.talk
	case running:
		return p.run
	case len(p.world.chat.pending)+len(p.world.chat.script) > 0:
		return p.people
	}
	return nil
}

// waits reports whether the worker has something to do in its idle time.
func (p *process) waits(a *actor) bool {
	return a == p.talk && !p.settled && len(p.bus.places[talkPlace].posts) > 0
}

// choices are what could happen instead of the actor's next step, other than
// the end of the process.
func (p *process) choices(a *actor) []string {
	var out []string
	switch a.op.kind {
	case commit:
		if a.op.name != "recover" {
			out = append(out, string(faultRefused))
		}
	case call:
		out = append(out, string(faultTimeout), string(faultRefused))
		if a.op.name != "read back" {
			out = append(out, string(faultLost))
		}
		if p.scenario.never && (a.op.name == "open" || strings.HasSuffix(a.op.name, "final")) && !strings.Contains(a.op.detail, "⚠ What I wrote") {
			out = append(out, string(faultNever))
		}
	}
	if !p.boot.over {
		return out
	}
	for _, b := range p.actors[1:] {
		if b == a {
			continue
		}
		ready := b.op.kind != turn
		switch b {
		case p.talk:
			ready = ready || p.busy(talkPlace) || p.waits(b)
		case p.owner:
			ready = ready || p.busy(ownerPlace)
		case p.run:
			ready = ready || p.ready() >= 0
		case p.people:
			ready = ready || len(p.world.chat.pending)+len(p.world.chat.script) > 0
		}
		if ready {
			out = append(out, "-> "+b.name)
		}
	}
	return out
}

// explorer goes through every schedule of a scenario, depth first. What follows
// from a state depends on the state alone, so it is explored once: where a crash
// has left the world as another has, and where all actors of a process are at
// rest and remember the same.
type explorer struct {
	ctx      context.Context
	strategy strategy
	scenario *scenario
	seed     maphash.Seed
	known    map[state]uint64    // schedules that begin there
	judged   map[uint64][]string // verdicts by world
	trail    schedule
	lives    int // processes run
	failed   []failure
}

// state is all that decides what can follow.
type state struct {
	world, memory    uint64 // memory: of the process; 0 at its start
	faults, switches int    // that may still come
}

type failure struct {
	schedule schedule
	wrong    []string
}

// explore returns how many schedules begin in the world w with at most so many
// faults and switches.
func (x *explorer) explore(w *world, faults, switches int) uint64 {
	key := state{w.hash(x.seed), 0, faults, switches}
	n, ok := x.known[key]
	if !ok {
		n = x.extend(w, nil, faults, switches)
		x.known[key] = n
	}
	return n
}

// extend returns how many schedules there are whose process in the world w
// begins with the path.
func (x *explorer) extend(w *world, path []choice, faults, switches int) uint64 {
	if len(x.failed) >= maxFailures {
		return 0
	}
	steps, n, wrong := x.live(w, path, faults, switches)
	if wrong != nil {
		x.failed = append(x.failed, failure{append(slices.Clone(x.trail), path), wrong})
	}
	from := 0
	if len(path) > 0 {
		from = path[len(path)-1].at + 1
	}
	for i := len(steps) - 1; i >= from; i-- {
		s := &steps[i]
		for _, what := range s.others {
			c := choice{i, what}
			switch {
			case c.isSwitch() && switches > 0:
				n += x.extend(w, append(slices.Clip(path), c), faults, switches-1)
			case !c.isSwitch() && faults > 0:
				n += x.extend(w, append(slices.Clip(path), c), faults-1, switches)
			}
		}
		for _, crash := range []struct {
			what fault
			left *world
		}{{faultBefore, s.before}, {faultAfter, s.after}} {
			if crash.left != nil {
				x.trail = append(x.trail, append(slices.Clip(path), choice{i, string(crash.what)}))
				n += x.explore(crash.left, faults-1, switches)
				x.trail = x.trail[:len(x.trail)-1]
			}
		}
		if s.rest != (state{}) {
			x.known[s.rest] = n
		}
	}
	return n
}

// maxFailures is when a search ends: more of them say nothing new.
const maxFailures = 3

// live runs one process in a copy of the world along the path, and returns its
// steps and how many schedules go on from the last of them: one, if it came to a
// quiet end, which is then judged.
func (x *explorer) live(w *world, path []choice, faults, switches int) (steps []step, n uint64, wrong []string) {
	x.lives++
	p := newProcess(x.ctx, x.strategy, x.scenario, w.clone())
	defer p.end()
	known := func(s *step) (uint64, bool) {
		if !p.atRest() {
			return 0, false
		}
		s.rest = state{p.world.hash(x.seed), p.memory(x.seed), faults, switches}
		n, ok := x.known[s.rest]
		return n, ok
	}
	steps, n = p.play(path, faults > 0, known)
	if n > 0 {
		return steps, n, p.wrong
	}
	end := p.world.hash(x.seed)
	if _, ok := x.judged[end]; !ok {
		x.judged[end] = p.verdict(x.ctx)
	}
	return steps, 1, slices.Concat(p.wrong, x.judged[end])
}

// hash is the same for worlds in which the same will happen.
func (w *world) hash(seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, kv := range w.engine.Snapshot() {
		h.Write(kv.Key)
		h.WriteByte(0)
		h.Write(kv.Value)
		h.WriteByte(0)
	}
	for _, m := range w.chat.messages {
		maphash.WriteComparable(&h, m)
	}
	for _, in := range slices.Concat(w.chat.pending, w.chat.last) {
		h.WriteString(in.Key)
		h.WriteByte(0)
	}
	maphash.WriteComparable(&h, [3]int{len(w.chat.script), len(w.chat.pending), w.deeds})
	for _, p := range w.promises {
		maphash.WriteComparable(&h, p)
	}
	return h.Sum64()
}

// atRest reports whether all that the process remembers is in the bus and in
// the mailbox, and nothing on an actor's stack.
func (p *process) atRest() bool {
	return p.boot.over && !slices.ContainsFunc(p.actors[1:], func(a *actor) bool { return a.op.kind != turn })
}

// memory is the same for processes at rest that will do the same in the same
// world.
func (p *process) memory(seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	soon := time.Now().Add(time.Minute)
	for _, at := range []core.Place{talkPlace, ownerPlace} {
		w := p.bus.places[at]
		fmt.Fprintln(&h, at, w.in)
		for _, j := range w.queue {
			fmt.Fprintln(&h, j.tries, j.unsure, j.opened)
			if j.open != nil {
				fmt.Fprintln(&h, *j.open)
			} else {
				fmt.Fprintln(&h, *j.row)
			}
		}
		for _, id := range slices.Sorted(maps.Keys(w.posts)) {
			l := w.posts[id]
			run := l.run
			run.Open = nil // a pointer says nothing; l.open is the same
			fmt.Fprintln(&h, run, l.open, l.stored, l.storeAt.Before(soon), l.opening, len(l.ask))
			if d := p.bus.drafts[id]; d != nil {
				fmt.Fprintln(&h, d.want, d.shown, d.next.IsZero(), d.next.Before(soon), l.text, l.status)
			}
		}
	}
	fmt.Fprintln(&h, p.mail, p.parked, p.settled, p.bus.elder)
	return h.Sum64()
}
