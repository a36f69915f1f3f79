package coretest

import (
	"fmt"
	"slices"

	"bellhop/core"
	"bellhop/store"
)

// Check says what is wrong with a ledger: the invariants of ARCHITECTURE.md
// that it shows by itself, at any moment.
func Check(books store.Books) []string {
	c := newChecker(books)
	c.checkItems()
	c.checkQueue()
	c.checkRuns()
	c.checkPosts()
	c.checkMessages()
	if books.Damaged > 0 {
		c.problem("%d rows are damaged", books.Damaged)
	}
	return c.problems
}

// CheckRest says what a ledger has left undone, for a moment when nothing is
// under way any more: every item has its outcome, and every outcome is shown.
func CheckRest(books store.Books) []string {
	c := newChecker(books)
	for _, it := range books.Items {
		if !it.State.Terminal() && it.State != core.Waiting {
			c.problem("%s of %s is still %s", it.ID, it.Bot, it.State)
		}
	}
	for _, r := range books.Rows {
		c.problem("piece %d of %s is not delivered", r.Chunk, r.Post)
	}
	for _, p := range books.Posts {
		if p.Chunks == 0 {
			c.problem("%s has no end", p.ID)
		}
		if p.Dead == "" && p.Ended.IsZero() {
			c.problem("%s is not shown to its end", p.ID)
		}
	}
	return c.problems
}

// checker checks one moment of a ledger.
type checker struct {
	store.Books
	threads  map[core.ID]core.Thread
	messages map[core.ID]core.Message
	items    map[core.ID]core.Item
	runs     map[core.ID]core.Run
	posts    map[core.ID]core.Post
	problems []string
}

func newChecker(b store.Books) *checker {
	return &checker{Books: b,
		threads:  byID(b.Threads, func(v core.Thread) core.ID { return v.ID }),
		messages: byID(b.Messages, func(v core.Message) core.ID { return v.ID }),
		items:    byID(b.Items, func(v core.Item) core.ID { return v.ID }),
		runs:     byID(b.Runs, func(v core.Run) core.ID { return v.ID }),
		posts:    byID(b.Posts, func(v core.Post) core.ID { return v.ID }),
	}
}

func byID[T any](list []T, id func(T) core.ID) map[core.ID]T {
	m := make(map[core.ID]T, len(list))
	for _, v := range list {
		m[id(v)] = v
	}
	return m
}

func (c *checker) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// checkItems: an item belongs to one thread and points at a message or a run;
// a terminal one names the outcome that it shares with its run, a withdrawn
// one none (invariant 1).
func (c *checker) checkItems() {
	for _, it := range c.Items {
		if _, ok := c.threads[it.Thread]; !ok {
			c.problem("%s has no thread", it.ID)
		}
		run, joined := c.runs[it.Run]
		switch msg, ok := c.messages[it.Message]; {
		case it.Kind == core.ResumeItem:
			if !joined || run.Thread != it.Thread || it.Message != "" {
				c.problem("%s resumes no run of its thread", it.ID)
			}
		case !ok || msg.Thread != it.Thread:
			c.problem("%s points at no message of its thread", it.ID)
		}
		switch it.State {
		case core.Queued, core.Withdrawn:
			if it.Outcome != "" {
				c.problem("%s is %s and has the outcome %s", it.ID, it.State, it.Outcome)
			}
		case core.Doing, core.Waiting:
			if !joined || run.State.Terminal() || !slices.Contains(run.Items, it.ID) {
				c.problem("%s is %s in no open run", it.ID, it.State)
			}
		default:
			if _, ok := c.posts[it.Outcome]; !ok || !joined || run.Post != it.Outcome || run.State != it.State {
				c.problem("%s is %s, its outcome is %q and its run %q", it.ID, it.State, it.Outcome, it.Run)
			}
		}
	}
}

// checkQueue: the mailboxes hold the queued items, and nothing else.
func (c *checker) checkQueue() {
	queue := byID(c.Queue, func(it core.Item) core.ID { return it.ID })
	for _, it := range c.Items {
		if _, waits := queue[it.ID]; waits != (it.State == core.Queued) {
			c.problem("%s is %s and its mailbox has it: %t", it.ID, it.State, waits)
		}
	}
	for id := range queue {
		if _, ok := c.items[id]; !ok {
			c.problem("%s waits and does not exist", id)
		}
	}
}

// checkRuns: a run has items of its own bot and thread; a terminal one has one
// post; the open ones are those that start-up finds; at most one is in flight
// for a bot and thread (invariants 1 to 3).
func (c *checker) checkRuns() {
	seats := map[seat]core.ID{}
	for _, r := range c.Runs {
		if len(r.Items) == 0 {
			c.problem("%s has no items", r.ID)
		}
		for _, id := range r.Items {
			if it := c.items[id]; it.Bot != r.Bot || it.Thread != r.Thread || it.Run != r.ID {
				c.problem("%s is an item of %s and of another bot, thread or run", id, r.ID)
			}
		}
		if open := slices.Contains(c.Open, r.ID); open == r.State.Terminal() {
			c.problem("%s is %s and among the open runs: %t", r.ID, r.State, open)
		}
		if r.State.Terminal() {
			if p := c.posts[r.Post]; p.Run != r.ID || p.Chunks == 0 {
				c.problem("%s is %s and its post %s is not its outcome", r.ID, r.State, r.Post)
			}
			continue
		}
		if other := seats[seat{r.Bot, r.Thread}]; other != "" {
			c.problem("%s and %s are in flight at once", other, r.ID)
		}
		seats[seat{r.Bot, r.Thread}] = r.ID
	}
	for _, id := range c.Open {
		if _, ok := c.runs[id]; !ok {
			c.problem("%s is open and does not exist", id)
		}
	}
}

// checkPosts: a post is a run's, or a command's, a refusal or a notice; each
// of its pieces is either shown or waits in the outbox (invariant 1).
func (c *checker) checkPosts() {
	waiting := map[core.ID]int{}
	for _, row := range c.Rows {
		waiting[row.Post]++
		if p, ok := c.posts[row.Post]; !ok || row.Chunk >= p.Chunks || row.Chunk < len(p.Shown) || row.Place != p.Place {
			c.problem("piece %d of %s waits and should not", row.Chunk, row.Post)
		}
	}
	for _, p := range c.Posts {
		switch p.Kind {
		case core.AnswerPost, core.ErrorPost, core.StoppedPost:
			if r, ok := c.runs[p.Run]; !ok || r.Post != p.ID {
				c.problem("%s is the %s of no run", p.ID, p.Kind)
			}
		case core.CommandPost, core.RefusalPost, core.NoticePost:
			if p.Run != "" {
				c.problem("%s is a %s and has the run %s", p.ID, p.Kind, p.Run)
			}
		default:
			c.problem("%s is a %q", p.ID, p.Kind)
		}
		if p.Dead == "" && len(p.Shown)+waiting[p.ID] != p.Chunks {
			c.problem("%s has %d pieces, of which %d are shown and %d wait", p.ID, p.Chunks, len(p.Shown), waiting[p.ID])
		}
		if p.Dead != "" && waiting[p.ID] > 0 {
			c.problem("%s is given up and %d pieces of it wait", p.ID, waiting[p.ID])
		}
	}
}

// checkMessages: a run writes at most one message, and only by posting.
func (c *checker) checkMessages() {
	by := map[core.ID]core.ID{}
	for _, m := range c.Messages {
		if m.Run == "" {
			continue
		}
		if p := c.posts[m.Post]; p.Message != m.ID {
			c.problem("%s was never posted", m.ID)
		}
		if other := by[m.Run]; other != "" {
			c.problem("%s has written %s and %s", m.Run, other, m.ID)
		}
		by[m.Run] = m.ID
	}
}
