package coretest

import (
	"fmt"
	"slices"
	"strings"

	"bellhop/core"
	"bellhop/store"
)

// check holds the whole world to the invariants: the ledger, what people see,
// and what the models were asked.
func (w *world) check() {
	books, err := w.store.Audit(w.t.Context())
	if err != nil {
		w.problem("the ledger cannot be read: %v", err)
		return
	}
	c := checker{sorts: w.scene.sorting != nil, restarted: w.starts > 1, Books: books}
	if c.problems, err = w.store.Check(w.t.Context()); err != nil {
		w.problem("the ledger cannot be read: %v", err)
		return
	}
	for _, p := range w.platforms {
		c.checkShown(p)
	}
	c.checkOrder(w)
	c.checkRoutes(w.scene.bots, w.scene.maxHops)
	for _, id := range c.Unlogged() {
		c.problem("%s has ended without a word in the activity log", id)
	}
	c.checkCalls(slices.DeleteFunc(w.minds.of(""), func(a *asked) bool { return a.attempt == nil })) // titles are no runs

	unfinished := len(w.left(books)) > 0
	c.checkSecrets(w)
	if n := w.failures(); n > w.failed {
		w.failed, w.troubled = n, true
	}
	w.troubled = w.troubled && (unfinished || w.life == nil)
	if !w.busy() && !w.troubled {
		c.problems = append(c.problems, w.left(books)...)
		for _, p := range w.platforms {
			if w.life.bus.Up(p.name) {
				c.checkComplete(p)
			}
		}
	}
	for _, p := range c.problems {
		w.problem("%s", p)
	}
}

// checker gathers what is wrong at one moment.
type checker struct {
	store.Books
	sorts     bool // a model chooses who answers
	restarted bool // it has been started more than once
	problems  []string
}

func (c *checker) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// left is what the ledger still has to do, as far as it can be done: what
// belongs to an adapter that has failed for good waits for a person.
func (w *world) left(books store.Books) []string {
	if w.life == nil {
		return nil
	}
	down := func(at core.Place) bool { return !w.life.bus.Up(at.Adapter) }
	books.Rows = slices.DeleteFunc(slices.Clone(books.Rows), func(r core.Row) bool { return down(r.Place) })
	books.Posts = slices.DeleteFunc(slices.Clone(books.Posts), func(p core.Post) bool { return down(p.Place) })
	out := undone(books)
	for _, p := range w.platforms {
		p.mu.Lock()
		if n := len(p.pending); n > 0 && !p.revoked {
			out = append(out, fmt.Sprintf("%s has %d events that are not acknowledged", p.name, n))
		}
		p.mu.Unlock()
	}
	return out
}

// undone is what a ledger has left to do: at rest, every item has its outcome
// and every outcome is shown.
func undone(books store.Books) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, it := range books.Items {
		waits := slices.ContainsFunc(books.Runs, func(r core.Run) bool {
			return r.Bot == it.Bot && r.Thread == it.Thread && r.State == core.Waiting && (it.Kind == core.MessageItem || slices.Contains(r.Items, it.ID))
		})
		if !it.State.Terminal() && it.State != core.Waiting && !waits {
			say("%s of %s is still %s", it.ID, it.Bot, it.State)
		}
	}
	for _, r := range books.Rows {
		say("piece %d of %s is not delivered", r.Chunk, r.Post)
	}
	for _, p := range books.Posts {
		if p.Chunks == 0 {
			say("%s has no end", p.ID)
		}
		if p.Dead == "" && p.Ended.IsZero() {
			say("%s is not shown to its end", p.ID)
		}
	}
	return out
}

// beyond reports whether a status line is out of reach: of a notice outside all
// conversations, where the ledger knows of nothing after which to look for a
// lost one.
func (c *checker) beyond(m *message) bool {
	id, _, _ := strings.Cut(m.key, "/")
	return m.kind == core.OutOpen && slices.ContainsFunc(c.Posts, func(p core.Post) bool {
		return string(p.ID) == id && p.Thread == "" && !slices.ContainsFunc(c.Threads, func(th core.Thread) bool { return th.Place == p.Place })
	})
}

// trouble reports whether a key is that of a word to the owner about trouble,
// which goes past the ledger.
func trouble(key string) bool { return strings.HasPrefix(key, "trouble/") }

// chunkKey is the Outbound.Key of a piece.
func chunkKey(post core.ID, chunk int) string { return fmt.Sprintf("%s/%d", post, chunk) }

// checkShown: at most one message shows a piece, and every message of ours is
// a piece of an outcome, or a word to the owner about trouble.
func (c *checker) checkShown(p *platform) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := map[string]string{}
	for at, room := range p.rooms {
		for _, m := range room {
			if m.person != "" || trouble(m.key) || c.beyond(m) {
				continue
			}
			if other := seen[m.key]; other != "" {
				c.problem("messages %s and %s of %s both show %s", other, m.id, at, m.key)
			}
			seen[m.key] = m.id
		}
	}
}

// states are those of the bots' items of a message of the place.
func (c *checker) states(at core.Place, id string) (states []core.State) {
	var msg core.ID
	for _, m := range c.Messages {
		if m.PlatformID == id && slices.ContainsFunc(c.Threads, func(th core.Thread) bool { return th.ID == m.Thread && th.Place == at }) {
			msg = m.ID
		}
	}
	for _, it := range c.Items {
		if msg != "" && it.Message == msg && !it.External() {
			states = append(states, it.State)
		}
	}
	return states
}

// checkComplete: every outcome is shown, with all that it says, and no status
// line or mark is left.
func (c *checker) checkComplete(p *platform) {
	p.mu.Lock()
	defer p.mu.Unlock()
	shown := map[string]*message{}
	for at, room := range p.rooms {
		for _, m := range room {
			for _, mark := range m.marks {
				states := c.states(at, m.id)
				if slices.ContainsFunc(states, func(s core.State) bool { return !s.Terminal() }) {
					continue // behind a run that waits for a person
				}
				if c.restarted && m.edited && !slices.ContainsFunc(states, func(s core.State) bool { return s != core.Withdrawn }) {
					continue // it has no outcome, and the mark was an earlier process's
				}
				c.problem("message %s of %s is still marked %s", m.id, at, mark)
			}
			if m.person != "" {
				continue
			}
			if c.beyond(m) {
				continue
			}
			shown[m.key] = m
			if m.kind != core.OutFinal {
				c.problem("message %s of %s still shows %q", m.id, at, m.text)
			}
		}
	}
	for _, post := range c.Posts {
		if post.Place.Adapter != p.name || post.Dead != "" {
			continue
		}
		var text strings.Builder
		complete := true
		for i := range post.Chunks {
			key := chunkKey(post.ID, i)
			m := shown[key]
			switch {
			case m != nil && m.file != nil:
				text.Reset()
				text.Write(m.file.Content)
			case m != nil:
				text.WriteString(m.text)
			case slices.Contains(p.deleted, key):
				complete = false
			default:
				c.problem("piece %d of %s is not to be seen", i, post.ID)
				complete = false
			}
		}
		said := c.said(post)
		shows := strings.Contains(dense(text.String()), dense(said))
		if post.Ask != "" && post.Chunks > 0 && !shows {
			complete = complete && c.open(post.Ask) // what became of it takes the place of a last piece that is full
		}
		if complete && !p.heavy && !shows {
			c.problem("%s shows %q instead of %q", post.ID, text.String(), said)
		}
	}
}

// dense is a text without its blanks: a piece may end at one.
func dense(text string) string { return strings.Join(strings.Fields(text), "") }

// said is what the post's message says.
func (c *checker) said(post core.Post) string {
	for _, m := range c.Messages {
		if m.ID == post.Message {
			return strings.TrimSpace(m.Text())
		}
	}
	return ""
}

// open reports whether people can still decide the ask.
func (c *checker) open(id core.ID) bool {
	return slices.ContainsFunc(c.Asks, func(a core.Ask) bool { return a.ID == id && a.State == core.AskOpen })
}

// checkOrder: at each place, outcomes are shown in the order in which they were
// decided, each piece after the one before it.
func (c *checker) checkOrder(w *world) {
	w.journal.mu.Lock()
	defer w.journal.mu.Unlock()
	for _, p := range w.platforms {
		p.mu.Lock()
		last := map[core.Place]shown{}
		for _, s := range p.finals {
			if trouble(s.key) {
				continue
			}
			before, ok := last[s.place]
			x, y := w.journal.order[before.key], w.journal.order[s.key]
			if ok && (y.before(x) || x.seq == y.seq && before.chunk() > s.chunk()) {
				c.problem("%s was shown before %s at %s", before.key, s.key, s.place)
			}
			last[s.place] = s
		}
		p.mu.Unlock()
	}
}
