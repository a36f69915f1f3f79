package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"bellhop/core"
	"bellhop/store"
	"bellhop/store/memkv"
)

// RunLedger does random things with a ledger, as the bus, the mailboxes and the
// runs do them, and with a model of it, and compares them after each; then the
// ledger must keep its invariants, too. Commits fail, whether they were stored
// or not, and the process dies. fresh is as for RunEngine. It begins anew until it
// has done so many operations, or -rapid.checks times.
func RunLedger(t *testing.T, operations int, fresh func(t *testing.T) (open func() Engine)) {
	broken, began, done, ledgers := false, time.Now(), 0, 0
	defer func() {
		t.Logf("%d operations on %d ledgers, in %s", done, ledgers, time.Since(began).Round(time.Second))
	}()
	rapid.Check(t, func(rt *rapid.T) {
		if done >= operations && !broken {
			return
		}
		ledgers++
		defer func() { broken = broken || rt.Failed() }() // it will be looked into with more runs
		h := &house{T: rt, ctx: t.Context(), engine: NewFaulty(FaultyOptions{Open: fresh(t)}), ledger: newLedger(), at: map[desk]*flight{}, rows: map[string][]core.Row{}, listed: map[string][]core.Thread{}}
		h.sorts = rapid.Bool().Draw(rt, "sorts")
		h.start()
		defer func() {
			done += h.done
			closeEngine(t, h.engine)
		}()
		rt.Repeat(map[string]func(*rapid.T){
			"":        h.compare,
			"accept":  h.accept,
			"pick":    h.pick,
			"sort":    h.sort,
			"work":    h.work,
			"join":    h.join,
			"ask":     h.askPeople,
			"time":    h.pass,
			"reply":   h.answerAs,
			"settle":  h.settle,
			"rush":    h.rush,
			"deliver": h.deliver,
			"notify":  h.notify,
			"speak":   h.speak,
			"errand":  h.errand,
			"restart": h.restart,
			"forget":  h.forget,
			"prune":   h.prune,
		})
	})
}

// What the appliance says by itself, for the model's purposes.
const (
	failed  = "failed"
	stopped = "(stopped by Ann)"
	notice  = "notice"
	replied = "replied"
	redrawn = "what became of what was asked"
)

func split(_ core.Place, text string) (pieces []core.Piece) {
	for piece := range strings.SplitSeq(text, "|") {
		pieces = append(pieces, core.Piece{Text: piece})
	}
	return pieces
}

// house is the ledger with those who use it.
type house struct {
	*rapid.T
	*ledger
	ctx    context.Context
	engine *Faulty
	store  *store.Store
	events int
	done   int         // operations so far
	last   *core.Entry // the newest event
	twice  bool        // the last operation had been stored when it was tried again
	at     map[desk]*flight
	rows   map[string][]core.Row    // to deliver, by channel
	untold []*item                  // that a transaction which seemed to fail has queued
	listed map[string][]core.Thread // archived threads, by the event that asked for them
}

// desk is where a bot does one thing at a time.
type desk struct {
	th  *thread
	bot string
}

// flight is a run that a bot has picked, or was found with at the start.
type flight struct {
	run      core.Run // zero: to be resumed
	resume   core.Item
	model    *run
	items    []*item
	versions []int
	read     int  // how many of the thread's messages it has read
	scoped   bool // of these, only what is for its bot
	whose    core.PersonID
}

var errFault = errors.New("made by the test")

// clock is an engine with the time that it is told.
type clock struct {
	Engine
	now *time.Time
}

func (c clock) View(f func(store.Tx) error) error {
	return c.Engine.View(func(tx store.Tx) error { return f(clockTx{tx, *c.now}) })
}

func (c clock) Update(ctx context.Context, f func(store.Tx) error) error {
	return c.Engine.Update(ctx, func(tx store.Tx) error { return f(clockTx{tx, *c.now}) })
}

type clockTx struct {
	store.Tx
	now time.Time
}

func (t clockTx) Now() time.Time { return t.now }

// do is one operation: call does it, then apply does it to the model and learn
// takes in what call was told. The commit may fail, and is tried again, or the
// process may die before or after it.
func (h *house) do(call func() error, apply, learn func()) {
	h.Helper()
	h.done++
	fates := []string{"fails", "seems to fail", "dies before", "dies after"}
	for range 20 {
		fates = append(fates, "well")
	}
	fate := rapid.SampledFrom(fates).Draw(h.T, "it goes")
	when := memkv.Before
	if fate == "seems to fail" || fate == "dies after" {
		when = memkv.After
	}
	struck := fate == "well"
	if !struck {
		h.fault(when, func() {
			struck = true
			if strings.HasPrefix(fate, "dies") {
				h.engine.Crash()
			}
		})
	}
	err := call()
	h.twice = struck && fate == "seems to fail"
	died := struck && strings.HasPrefix(fate, "dies")
	if struck && fate != "well" && !errors.Is(err, errFault) {
		h.Fatalf("the commit %s, and the call: %v", fate, err)
	}
	if !struck {
		h.engine.SetFault(nil)
	}
	if struck && fate != "well" && !died {
		err = call()
	}
	if err != nil && !died {
		h.Fatal(err)
	}
	if !died || when == memkv.After {
		apply()
	}
	if died {
		h.start()
		return
	}
	learn()
}

// fault has the next commit fail, and calls then.
func (h *house) fault(when memkv.When, then func()) {
	struck := false
	h.engine.SetFault(func(_ uint64, at memkv.When) error {
		if struck || at != when {
			return nil
		}
		struck = true
		then()
		return errFault
	})
}

// start opens the ledger, as a process does that begins, and compares what
// there is to do.
func (h *house) start() {
	h.Helper()
	var err error
	if h.engine, err = h.engine.Reopen(); err != nil {
		h.Fatal(err)
	}
	s, err := store.Open(h.ctx, clock{h.engine, &h.now}, store.Options{Damaged: func(key string, err error) { h.Errorf("%s: %v", key, err) }})
	if err != nil {
		h.Fatal(err)
	}
	h.store = s
	threads, err := s.Threads(h.ctx)
	if err != nil {
		h.Fatal(err)
	}
	h.meetThreads(threads)
	b, err := s.Recover(h.ctx, func(string) bool { return true })
	if err != nil {
		h.Fatal(err)
	}
	clear(h.at)
	clear(h.rows)
	h.goOn, h.untold = nil, nil
	h.sameParked(b)
	h.took(b.Rows)
	queued := map[desk][]core.Item{}
	for _, it := range b.Items {
		at := desk{h.byID(it.Thread), it.Bot}
		if it.Kind == core.ResumeItem {
			r := at.th.open(it.Bot)
			if r == nil || r.id != it.Run || h.at[at] != nil {
				h.Fatalf("%+v resumes what is not in progress", it)
			}
			h.at[at] = &flight{resume: it, model: r}
			if !r.clean {
				r.resumes++
			}
			r.clean = false
			continue
		}
		queued[at] = append(queued[at], it)
	}
	for _, th := range h.threads {
		h.told(th.waiting(), queued[desk{th, ci}])
		for _, bot := range team {
			at := desk{th, bot}
			h.told(th.queued(bot), queued[at])
			if r := th.open(bot); r != nil && h.at[at] == nil {
				h.Fatalf("run %s of %s is not resumed", r.id, bot)
			}
		}
	}
}

// told takes in items that the store has announced.
func (h *house) told(want []*item, got []core.Item) {
	h.Helper()
	want, h.untold = append(h.untold, want...), nil
	got = h.resumed(got)
	if len(want) != len(got) {
		h.Fatalf("%d items are announced, want %d: %+v", len(got), len(want), got)
	}
	for i, it := range got {
		if it.Bot != want[i].bot || want[i].told.ID != "" && want[i].told.ID != it.ID {
			h.Fatalf("announced is %+v, want %s for %s", it, want[i].told.ID, want[i].bot)
		}
		want[i].told, want[i].line.th.id = it, it.Thread
	}
}

// resumed takes in the runs that go on, and returns the other items.
func (h *house) resumed(got []core.Item) []core.Item {
	h.Helper()
	var want, woken []core.ID
	for _, r := range h.goOn {
		want = append(want, r.id)
	}
	var rest []core.Item
	for _, it := range got {
		if it.Kind != core.ResumeItem {
			rest = append(rest, it)
			continue
		}
		if woken = append(woken, it.Run); len(woken) <= len(h.goOn) {
			r := h.goOn[len(woken)-1]
			h.at[desk{h.byID(it.Thread), it.Bot}] = &flight{resume: it, model: r}
		}
	}
	if !slices.Equal(want, woken) {
		h.Fatalf("the runs %v go on, want %v", woken, want)
	}
	h.goOn = nil
	return rest
}

// sameParked compares the runs that a start finds waiting.
func (h *house) sameParked(b core.Backlog) {
	h.Helper()
	var want, got []string
	for _, a := range h.openAsks(nil) {
		want = append(want, fmt.Sprintf("%s in %s", a.run.bot, a.th.id))
	}
	for _, p := range b.Parked {
		got = append(got, fmt.Sprintf("%s in %s", p.Bot, p.Thread))
	}
	h.same("parked", want, got)
	if !b.Next.Equal(h.next()) {
		h.Fatalf("to be looked at %s, want %s", b.Next, h.next())
	}
}

// took takes in rows to deliver.
func (h *house) took(rows []core.Row) {
	for _, r := range rows {
		h.rows[r.Place.Channel] = append(h.rows[r.Place.Channel], r)
	}
}

// meetThreads learns the IDs of threads.
func (h *house) meetThreads(all []core.Thread) {
	h.Helper()
	if len(all) != len(h.threads) {
		h.Fatalf("%d threads, want %d", len(all), len(h.threads))
	}
	for i, th := range all {
		h.threads[i].id = th.ID
	}
}

func (h *house) byID(id core.ID) *thread {
	h.Helper()
	i := slices.IndexFunc(h.threads, func(th *thread) bool { return th.id == id })
	if i < 0 {
		h.Fatalf("there is no thread %s", id)
	}
	return h.threads[i]
}

// compare checks what is stored.
func (h *house) compare(*rapid.T) {
	h.Helper()
	books, err := h.store.Audit(h.ctx)
	if err != nil {
		h.Fatal(err)
	}
	h.meetThreads(books.Threads)
	var have, want []string
	for i, got := range books.Threads {
		th := h.threads[i]
		if got.Place.Channel != th.channel || got.Archived.IsZero() == th.archived || got.HopTold != th.hopTold ||
			slices.Contains(got.Externals, ci) != th.external || (got.Unreached[ci] != "") != (th.notice != nil) {
			h.Fatalf("%+v, want %+v", got, th)
		}
		for _, ln := range th.lines {
			want = append(want, fmt.Sprintf("in %s: %s (version %d)", th.id, ln.text, ln.version))
		}
	}
	for _, m := range books.Messages {
		have = append(have, fmt.Sprintf("in %s: %s (version %d)", m.Thread, m.Text(), m.Version))
	}
	h.same("messages", want, have)
	items := map[core.ID]core.Item{}
	for _, it := range books.Items {
		items[it.ID] = it
	}
	for _, th := range h.threads {
		for _, it := range th.itemsThat(func(it *item) bool { return it.told.ID != "" }) {
			got := items[it.told.ID]
			if got.State != it.state || it.run != nil && it.run.id != "" && got.Run != it.run.id {
				h.Fatalf("%+v, want %s", got, it.state)
			}
		}
	}
	h.samePruned(books)
	h.sameAsks(books.Asks, books.Steps)
	h.sameTasks()
	h.sameHistories()
	for _, got := range books.Runs {
		for _, r := range h.byID(got.Thread).runs {
			if r.id == got.ID && (r.state != got.State || r.resumes != got.Resumes || r.whose != got.For.ID && r.state != core.Cancelled) {
				h.Fatalf("%+v, want %+v", got, r)
			}
		}
	}
	for _, channel := range channels {
		var texts []string
		for _, r := range h.rows[channel] {
			texts = append(texts, plain(r))
		}
		h.same("outbox of "+channel, h.waiting(channel), texts)
	}
	cursors, err := h.store.Cursors(h.ctx, "chat")
	if err != nil {
		h.Fatal(err)
	}
	heard := map[string]string{}
	for _, c := range cursors {
		heard[c.Place.Channel] = c.ID
	}
	if diff := cmp.Diff(h.cursors, heard); diff != "" {
		h.Fatalf("cursors (-want +got):\n%s", diff)
	}
	if missing := books.Unlogged(); len(missing) > 0 {
		h.Fatalf("%v have ended without a word in the activity log", missing)
	}
	wrong, err := h.store.Check(h.ctx)
	if err != nil || len(wrong) > 0 {
		h.Fatalf("%v\n%s", err, strings.Join(wrong, "\n"))
	}
}

// sameTasks compares the tasks, and those of them that Ann has asked for.
func (h *house) sameTasks() {
	h.Helper()
	open, ended, err := h.store.Tasks(h.ctx, 0)
	if err != nil {
		h.Fatal(err)
	}
	var want, got []string
	for _, th := range h.threads {
		for _, it := range th.itemsThat(func(it *item) bool { return it.bot != ci }) {
			want = append(want, fmt.Sprintf("%s for %s in %s: %s", it.state, it.bot, th.id, it.line.text))
		}
	}
	for _, task := range append(open, ended...) {
		got = append(got, fmt.Sprintf("%s for %s in %s: %s", task.Item.State, task.Item.Bot, task.Thread.ID, task.Message.Text()))
	}
	slices.Sort(want)
	slices.Sort(got)
	h.same("tasks", want, got)
}

func (h *house) same(what string, want, got []string) {
	h.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		h.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// plain is a row's text, or what stands for it.
func plain(r core.Row) string {
	switch {
	case r.Kind == core.NoticePost:
		return notice
	case r.Again:
		return redrawn
	}
	return r.Text
}

// waiting is what waits to be shown at a channel.
func (l *ledger) waiting(channel string) []string {
	var texts []string
	for _, p := range l.outbox[channel] {
		texts = append(texts, p.text)
	}
	return texts
}

// forget forgets all events, as if days had passed.
func (h *house) forget(*rapid.T) {
	h.do(func() error {
		_, err := h.store.Prune(h.ctx, h.now.Add(48*time.Hour))
		return err
	}, func() { h.last = nil }, func() {})
}
