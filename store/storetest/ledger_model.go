package storetest

import (
	"slices"
	"time"

	"bellhop/core"
)

// ledger is what the store must amount to, as plainly as it can be said. It
// knows IDs only as far as the store has told them.
type ledger struct {
	now     time.Time
	sorts   bool // a model chooses who answers what names nobody
	threads []*thread
	current map[string]*thread   // by the channel's first name
	left    map[string][]*thread // archived ones with messages, as they ended
	first   map[string]string    // a channel's first name by each of its names
	lines   map[string]*line     // what people wrote, by platform id: the newest correction
	opens   map[string]begun     // status lines, by platform id
	outbox  map[string][]piece
	cursors map[string]string // by a channel's name of the time: the newest message heard
	asks    []*ask            // in the order in which they were made
	goOn    []*run            // that were woken since somebody last asked
	always  map[string]bool   // whose calls were allowed for good
}

// piece is what waits to be shown.
type piece struct {
	text string
	card *ask // the last piece of what asks; nil: another
}

// begun is a run that people can see, by its number in the thread; it may only
// wait for a slot.
type begun struct {
	th *thread
	n  int
}

type thread struct {
	id       core.ID
	channel  string
	shared   []*line // of a fork: what was said before its own
	lines    []*line
	runs     []*run     // stored ones
	bots     []string   // who take part
	external bool       // ci takes part
	notice   *unreached // that stands
	held     map[string][]*handOff
	archived bool
	ended    time.Time // when it was last archived
	hopTold  bool
	made     int // items
	// retracted are the numbers of what people were told waits for a slot, and was
	// taken back.
	retracted []int
}

// line is a message.
type line struct {
	th      *thread
	text    string
	version int
	hop     int
	by      string        // the bot that wrote it; empty: a person
	from    core.PersonID // who that is
	run     *run          // in which the bot wrote it
	answers *run          // whose question it answers
	named   []string
	items   []*item

	corrects *line // this is a later edit of that one
}

type item struct {
	n     int       // among its thread's, in the order in which they were made
	told  core.Item // as the store has announced it
	bot   string
	line  *line
	state core.State
	run   *run

	unsorted bool // whose it is has yet to be chosen
	waits    bool // its post says that it waits for a slot

	pruned bool       // it is not kept any more
	notice *unreached // that is the outcome
}

type run struct {
	n       int // its oldest item's, or that of the one that waits for a slot
	id      core.ID
	bot     string
	items   []*item
	state   core.State
	resumes int
	clean   bool // stopped in order
	read    int  // how many of the thread's messages it has read
	scoped  bool // of these, only what is for its bot
	whose   core.PersonID
	ask     *ask // that it waits for
	said    *line
	pruned  bool
}

type handOff struct {
	line   *line
	target string
}

const (
	chief   = "chief"
	scout   = "scout"
	scribe  = "scribe"
	maxHops = 2
)

// team is all bots, in the order of their names.
var team = []string{chief, scout, scribe}

// speech is what people and bots say, with whom it addresses.
var speech = []struct {
	text string
	to   []string
}{
	{"hello", nil}, {"and then|some more", nil}, {"@scout look", []string{scout}}, {"@chief and @scout, look", []string{chief, scout}}, {"@chief look", []string{chief}},
	{"@scribe look", []string{scribe}}, {"@ci look", []string{ci}}, {"@ci and @scout, look", []string{ci, scout}},
}

func addressed(text string) []string {
	for _, s := range speech {
		if s.text == text {
			return s.to
		}
	}
	return nil
}

func newLedger() *ledger {
	return &ledger{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), current: map[string]*thread{}, left: map[string][]*thread{}, first: map[string]string{}, lines: map[string]*line{}, opens: map[string]begun{}, outbox: map[string][]piece{}, cursors: map[string]string{}, always: map[string]bool{}}
}

// canonical is a channel's first name.
func (l *ledger) canonical(channel string) string {
	if first, ok := l.first[channel]; ok {
		return first
	}
	return channel
}

func (l *ledger) say(channel string, texts ...string) {
	for _, text := range texts {
		l.outbox[channel] = append(l.outbox[channel], piece{text: text})
	}
}

// write adds a message and returns the items of whom it wakes.
func (th *thread) write(text string, hop int, wake ...string) (*line, []*item) {
	ln := &line{th: th, text: text, hop: hop, named: addressed(text)}
	th.lines = append(th.lines, ln)
	return ln, ln.wake(wake...)
}

func (ln *line) wake(bots ...string) []*item {
	var out []*item
	ln.th.enter(bots...)
	for _, bot := range bots {
		ln.th.made++
		out = append(out, &item{n: ln.th.made, bot: bot, line: ln, state: core.Queued})
	}
	ln.items = append(ln.items, out...)
	return out
}

// enter has bots take part in the thread.
func (th *thread) enter(bots ...string) {
	for _, bot := range bots {
		if !slices.Contains(th.bots, bot) {
			th.bots = append(th.bots, bot)
		}
	}
}

// scoped reports whether the bot sees only what is for it. The default bot of
// all threads is chief.
func (th *thread) scoped(bot string) bool { return bot != chief && len(th.bots) > 1 }

// isFor reports whether the message is for the bot.
func (ln *line) isFor(bot string) bool {
	return ln.by == bot || ln.answers != nil && ln.answers.bot == bot || slices.Contains(ln.named, bot) || slices.ContainsFunc(ln.items, func(it *item) bool { return it.bot == bot })
}

// seen are the thread's history up to the first so many messages of its own, as
// far as the bot sees it.
func (th *thread) seen(bot string, scoped bool, read int) []*line {
	return slices.DeleteFunc(slices.Concat(th.shared, th.lines[:read]), func(ln *line) bool { return scoped && !ln.isFor(bot) })
}

// waits reports whether a bot has yet to begin with the message.
func (ln *line) waits() bool {
	return slices.ContainsFunc(ln.items, func(it *item) bool { return it.state == core.Queued })
}

// begin gives the channel a fresh thread.
func (l *ledger) begin(channel string) *thread {
	th := &thread{channel: channel, held: map[string][]*handOff{}}
	l.threads = append(l.threads, th)
	l.current[channel] = th
	return th
}

// archive ends a thread. One with messages is what its channel can go back to
// next.
func (l *ledger) archive(th *thread) {
	th.archived, th.ended = true, l.now
	if len(th.lines) > 0 {
		l.left[th.channel] = append(l.left[th.channel], th)
	}
}

// back makes an archived thread current again.
func (l *ledger) back(th *thread) {
	th.archived = false
	l.left[th.channel] = slices.DeleteFunc(l.left[th.channel], func(x *thread) bool { return x == th })
	l.current[th.channel] = th
}

// message is a person's, in a direct conversation.
func (l *ledger) message(channel, id string, from core.PersonID, text string) []*item {
	th := l.current[channel]
	if th == nil {
		th = l.begin(channel)
	}
	th.hopTold = false
	to := addressed(text)
	open := len(to) == 0
	if open {
		to = []string{chief}
	}
	ln, items := th.write(text, 0, inside(to)...)
	ln.from = from
	for _, it := range items {
		it.unsorted = open && l.sorts
	}
	l.lines[id] = ln
	return append(items, ln.inform(slices.Contains(to, ci))...)
}

// edit replaces a message that nothing has begun with, or corrects it.
func (l *ledger) edit(id, text string) (core.Fate, []*item) {
	ln := l.lines[id]
	switch {
	case ln.text == text:
		return core.FateUnchanged, nil
	case ln.text == core.Deleted:
		return core.FateIgnored, nil
	case ln.answers == nil && !slices.ContainsFunc(ln.items, func(it *item) bool { return it.state != core.Queued && it.state != core.Withdrawn && it.bot != ci }):
		waits := func(it *item) bool { return it.bot != ci && it.state == core.Queued }
		waited := slices.ContainsFunc(ln.items, waits)
		items := l.replace(ln, text)
		if waited && !slices.ContainsFunc(ln.items, waits) {
			return core.FateTaken, items
		}
		return core.FateEdited, items
	case ln.th.archived && !slices.Contains(l.current[ln.th.channel].shared, ln):
		return core.FateIgnored, nil
	}
	items := l.message(ln.th.channel, id, ln.from, text)
	l.lines[id].corrects = ln
	return core.FateEdited, items
}

// replace gives a message that nothing has begun with other words, and thereby to
// whom they address.
func (l *ledger) replace(ln *line, text string) []*item {
	before := addressed(ln.text)
	ln.text = text
	ln.version++
	to := addressed(text)
	if ln.th.archived || slices.Equal(before, to) {
		return ln.renew()
	}
	ln.th.hopTold = false
	open := len(to) == 0
	ln.named = slices.Concat(ln.named, to)
	if open {
		to = []string{chief}
	}
	var out []*item
	missing := slices.Clone(to)
	for _, it := range ln.items {
		if it.state == core.Withdrawn && it.bot != ci || it.bot == ci && it.pruned { // nobody knows of it
			continue
		}
		missing = slices.DeleteFunc(missing, func(h string) bool { return h == it.bot })
		switch {
		case it.bot == ci:
		case slices.Contains(to, it.bot):
			it.unsorted = open && it.unsorted
		default:
			out = append(out, l.takeBack(it)...)
		}
	}
	for _, it := range ln.wake(inside(missing)...) {
		it.unsorted = open && l.sorts
		out = append(out, it)
	}
	if slices.Contains(missing, ci) {
		ln.th.external = true
		out = append(out, ln.tell()...)
	}
	return append(out, ln.renew()...)
}

// withdraw ends what waits of a message and of what it corrects, and lets go
// what waited for that. Their words go if no bot has begun with them.
func (l *ledger) withdraw(id string) (fate core.Fate, released []*item) {
	fate = core.FateIgnored
	for ln := l.lines[id]; ln != nil; ln = ln.corrects {
		gone, freed := l.withdrawLine(ln)
		if gone {
			fate = core.FateWithdrawn
		}
		released = append(released, freed...)
	}
	return fate, released
}

// takeBack ends an item that waits, and what people are told of it.
func (l *ledger) takeBack(it *item) (released []*item) {
	th := it.line.th
	it.state = core.Withdrawn
	if it.waits {
		it.waits = false
		th.retracted = append(th.retracted, it.n)
		l.say(th.channel, notice)
	}
	return th.release(it.bot)
}

func (l *ledger) withdrawLine(ln *line) (gone bool, released []*item) {
	for _, it := range ln.items {
		if it.bot == ci && !it.state.Terminal() {
			gone, it.state = true, core.Withdrawn
		}
		if it.state == core.Queued {
			gone = true
			released = append(released, l.takeBack(it)...)
		}
	}
	begun := ln.answers != nil || slices.ContainsFunc(ln.items, func(it *item) bool { return it.bot != ci && it.state != core.Withdrawn })
	if begun || ln.text == core.Deleted {
		return gone, released
	}
	ln.text = core.Deleted
	ln.version++
	return true, released
}

// queued are the bot's items that wait in the thread, oldest first.
func (th *thread) queued(bot string) []*item {
	return th.itemsThat(func(it *item) bool { return it.bot == bot && it.state == core.Queued })
}

func (th *thread) itemsThat(ok func(*item) bool) []*item {
	var out []*item
	for _, ln := range th.lines {
		for _, it := range ln.items {
			if !it.pruned && ok(it) {
				out = append(out, it)
			}
		}
	}
	slices.SortFunc(out, func(a, b *item) int { return a.n - b.n })
	return out
}

// open is the bot's run in progress.
func (th *thread) open(bot string) *run {
	for _, r := range th.runs {
		if r.bot == bot && r.state == core.Doing {
			return r
		}
	}
	return nil
}

// leading is the item that gives the run of all of them its number.
func leading(items []*item) *item {
	return items[max(0, slices.IndexFunc(items, func(it *item) bool { return it.waits }))]
}

// wait notes that people are told that a run which is not stored waits for a slot.
func (th *thread) wait(r *run, items []*item) error {
	it := items[slices.IndexFunc(items, func(it *item) bool { return it.n == r.n })]
	if it.state != core.Queued || it.bot != r.bot {
		return core.ErrRunOver
	}
	it.waits, it.unsorted = true, false
	return nil
}

// begin stores a picked run: the items that still wait join it. It says what
// is wrong if none does, or if one was edited since.
func (th *thread) begin(r *run, items []*item, versions []int) error {
	joined := 0
	for i, it := range items {
		if it.state == core.Queued {
			if it.line.version != versions[i] {
				return core.ErrStale
			}
			joined++
		}
	}
	stored := slices.Contains(th.runs, r)
	if slices.Contains(th.retracted, r.n) || slices.ContainsFunc(th.runs, func(o *run) bool { return o != r && o.n == r.n }) {
		return core.ErrRunOver // its oldest item was cancelled before it was stored
	}
	if stored && !r.open() || !stored && joined == 0 {
		return core.ErrRunOver
	}
	if !stored {
		r.state = core.Doing
		th.runs = append(th.runs, r)
	}
	for _, it := range items {
		if it.state == core.Queued {
			it.state, it.run, it.waits = core.Doing, r, false
			r.items = append(r.items, it)
		}
	}
	return nil
}

// settle ends a run in progress with a reply; blank: it failed.
func (l *ledger) settle(th *thread, r *run, reply string) (woken []*item) {
	r.state = core.Done
	if reply == "" {
		r.state = core.Failed
	}
	for _, it := range r.items {
		it.state = r.state
	}
	l.dropAsk(r)
	if reply == "" {
		l.say(th.channel, failed)
		return th.release(r.bot)
	}
	hop := r.hop()
	ln, _ := th.write(reply, hop)
	ln.by, ln.run, r.said = r.bot, r, ln
	for _, piece := range split(core.Place{}, reply) {
		l.say(th.channel, piece.Text)
	}
	to := slices.DeleteFunc(slices.Clone(addressed(reply)), func(bot string) bool { return bot == r.bot })
	told := ln.inform(len(to) > 0 && to[0] == ci && hop < maxHops)
	switch {
	case len(to) == 0, to[0] == ci && hop < maxHops:
	case hop >= maxHops:
		if !th.hopTold {
			l.say(th.channel, notice)
		}
		th.hopTold = true
	case len(th.queued(r.bot)) > 0:
		th.drop(r.bot, to[0])
		th.enter(to[0])
		th.held[r.bot] = append(th.held[r.bot], &handOff{ln, to[0]})
		l.say(th.channel, notice)
	default:
		th.drop(r.bot, to[0])
		woken = ln.wake(to[0])
	}
	return slices.Concat(told, woken, th.release(r.bot))
}

// drop forgets a held hand-off that a newer one supersedes.
func (th *thread) drop(bot, target string) {
	th.held[bot] = slices.DeleteFunc(th.held[bot], func(h *handOff) bool { return h.target == target })
}

// release lets held hand-offs go when nothing waits for their sender.
func (th *thread) release(bot string) []*item {
	if len(th.queued(bot)) > 0 {
		return nil
	}
	var out []*item
	for _, h := range th.held[bot] {
		out = append(out, h.line.wake(h.target)...)
	}
	th.held[bot] = nil
	return out
}

// stop ends the bots' work in the thread, with one outcome for each that had
// some: first those that are at it, in the order in which they began. It reports
// whether there was any.
func (l *ledger) stop(th *thread, bots []string) bool {
	var runs []*run
	for _, r := range th.runs {
		if r.open() && slices.Contains(bots, r.bot) {
			runs = append(runs, r)
		}
	}
	slices.SortFunc(runs, func(a, b *run) int { return a.n - b.n })
	for _, bot := range team {
		if mail := th.queued(bot); len(mail) > 0 && th.open(bot) == nil && th.waits(bot) == nil && slices.Contains(bots, bot) {
			r := &run{n: leading(mail).n, bot: bot}
			th.runs, runs = append(th.runs, r), append(runs, r)
		}
	}
	for _, r := range runs {
		r.state = core.Cancelled
		for _, it := range th.queued(r.bot) {
			it.run = r
			r.items = append(r.items, it)
		}
		for _, it := range r.items {
			it.state = core.Cancelled
		}
		th.held[r.bot] = nil
		l.dropAsk(r)
		l.say(th.channel, stopped)
	}
	return len(runs) > 0
}

// tasks are the items that people can name.
func (l *ledger) tasks() []*item {
	return l.itemsThat(func(it *item) bool { return it.told.ID != "" })
}

func (l *ledger) itemsThat(holds func(*item) bool) []*item {
	var out []*item
	for _, th := range l.threads {
		out = append(out, th.itemsThat(holds)...)
	}
	return out
}

// cancel ends what an ID at the channel stands for: an item that waits, alone,
// or a run. It returns whom that has woken.
func (l *ledger) cancel(channel string, id core.ID) (woken []*item) {
	is := func(it *item) bool {
		return it.told.ID != "" && (id == it.told.ID || id == it.told.ID.As(core.KindRun)) || it.run != nil && id == it.run.id
	}
	of := func(ln *line) bool { // also for a bot that the same batch has woken again
		return slices.ContainsFunc(ln.items, func(it *item) bool { return it.told.ID != "" && id == it.told.Message })
	}
	for _, it := range l.itemsThat(func(it *item) bool { return is(it) || of(it.line) }) {
		th := it.line.th
		if it.bot == ci && !is(it) {
			continue // bots work for messages
		}
		if th.channel != channel || it.state.Terminal() {
			continue
		}
		if it.bot == ci {
			it.state = core.Cancelled
			continue
		}
		if it.state == core.Queued {
			it.run = &run{n: it.n, bot: it.bot, items: []*item{it}}
			th.runs = append(th.runs, it.run)
		}
		it.run.state = core.Cancelled
		for _, with := range it.run.items {
			with.state = core.Cancelled
		}
		l.dropAsk(it.run)
		l.say(channel, stopped)
		woken = append(woken, th.release(it.bot)...)
	}
	return woken
}

// retry queues again what failed or was stopped last of what was done for the
// messages, in the run if one is given.
func (th *thread) retry(lines []*line, of *run) []*item {
	for _, ln := range slices.Backward(lines) {
		var out []*item
		for i, it := range slices.Clone(ln.items) {
			newer := slices.ContainsFunc(ln.items[i+1:], func(x *item) bool { return x.bot == it.bot })
			if newer || it.pruned || of != nil && it.run != of || it.state != core.Failed && it.state != core.Cancelled {
				continue
			}
			if it.bot == ci {
				out = append(out, th.resend(it)...)
				continue
			}
			for _, with := range it.run.items {
				out = append(out, with.line.wake(it.bot)...)
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return nil
}
