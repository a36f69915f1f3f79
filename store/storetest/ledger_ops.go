package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"bellhop/core"
)

// channels are where people write, by their first names.
var channels = []string{"one", "two"}

var ann = core.Person{ID: "chat:ann", Name: "Ann"}

// accept offers a batch of events. What they do to the model is found out on
// the way, and done once they are known to be stored.
func (h *house) accept(t *rapid.T) {
	var entries []core.Entry
	var kinds []string
	for range rapid.IntRange(1, 3).Draw(t, "events") {
		kind := rapid.SampledFrom([]string{"message", "message", "message", "answer", "answer", "press", "press", "reply", "edit", "edit", "delete", "stop", "cancel", "cancel", "new", "back", "fork", "retry", "halt", "resume", "stranger", "again", "moved", "unreadable"}).Draw(t, "event")
		e, ok := h.event(t, kind, entries)
		if !ok {
			continue
		}
		entries, kinds = append(entries, e), append(kinds, kind)
	}
	if len(entries) > 0 {
		h.offer(kinds, entries)
	}
}

// offer has a batch of events accepted.
func (h *house) offer(kinds []string, entries []core.Entry) {
	var got core.Accepted
	var fates []core.Fate
	var woken []*item
	h.do(func() (err error) {
		got, err = h.store.Accept(h.ctx, core.Batch{Entries: entries, Bots: team, Externals: []string{ci}, Sort: h.sorts, Access: core.Access{Approvers: core.NewApprovers([]string{"requester"})}, Split: split, Shown: func(core.ID) string { return "" }})
		return err
	}, func() {
		h.last = &entries[len(entries)-1]
		for i, e := range entries {
			fate, items := h.happen(kinds[i], e.In, e.Args)
			fates, woken = append(fates, fate), append(woken, items...)
		}
	}, func() {
		if !h.twice && !slices.Equal(got.Fates, fates) {
			h.Fatalf("%v are %v, want %v", kinds, got.Fates, fates)
		}
		h.told(woken, got.Items)
		h.took(got.Rows)
		if again := h.again(entries); len(again) > 0 {
			h.Fatalf("again: %v", again)
		}
	})
}

// again offers events again, which must be known.
func (h *house) again(entries []core.Entry) []core.Fate {
	got, err := h.store.Accept(h.ctx, core.Batch{Entries: entries, Split: split})
	if err != nil {
		h.Fatal(err)
	}
	return slices.DeleteFunc(got.Fates, func(f core.Fate) bool { return f == core.FateDuplicate })
}

// event draws an event that comes after those of its batch; false if there is
// nothing that it could be about.
func (h *house) event(t *rapid.T, kind string, before []core.Entry) (core.Entry, bool) {
	channel := rapid.SampledFrom(channels).Draw(t, "channel")
	names := []string{channel}
	for name, first := range h.first {
		if first == channel {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	h.events++
	in := core.Inbound{Key: fmt.Sprint("e", h.events), Kind: core.InMessage, Direct: true, From: ann, MessageID: fmt.Sprint("m", h.events),
		Place: core.Place{Adapter: "chat", Channel: rapid.SampledFrom(names).Draw(t, "name")}}
	e := core.Entry{In: in, Role: core.Member, Agent: chief}
	e.In.Time = h.now
	if e.In.Heard = rapid.Bool().Draw(t, "heard"); !e.In.Heard && rapid.IntRange(0, 3).Draw(t, "late") == 0 {
		e.In.Time = h.now.Add(-time.Minute)
	}
	switch kind {
	case "message":
		e.In.Text = rapid.SampledFrom([]string{someText(t), someText(t), "red", "1", "yes", "no"}).Draw(t, "words")
		e.In.From = rapid.SampledFrom([]core.Person{ann, ann, bob}).Draw(t, "person")
	case "answer", "press", "reply":
		e.In.From = rapid.SampledFrom([]core.Person{ann, ann, bob}).Draw(t, "person")
		return e, h.decision(t, kind, &e)
	case "stranger":
		e.In.Text, e.Role, e.Refusal = "hello", core.Stranger, replied
		e.In.From.ID = core.PersonID(fmt.Sprint("chat:stranger", h.events)) // each is told
	case "edit", "delete":
		waits := rapid.Bool().Draw(t, "of what waits")
		var ids []string
		for id, ln := range h.lines {
			if ln.th.channel == channel && (!waits || ln.waits()) {
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			return e, false
		}
		slices.Sort(ids)
		e.In.MessageID, e.In.Kind = rapid.SampledFrom(ids).Draw(t, "message"), core.InDelete
		e.In.From.ID = h.lines[e.In.MessageID].from
		if kind == "edit" {
			e.In.Kind, e.In.Text = core.InEdit, someText(t)
		}
	case "stop", "new", "retry":
		e.Command = h.command(kind)
	case "fork":
		e.Command = h.command(kind)
		if lines := h.named(); len(lines) > 0 && rapid.Bool().Draw(t, "at a message") {
			e.Args = string(rapid.SampledFrom(lines).Draw(t, "message").items[0].told.Message)
		}
	case "cancel":
		tasks := h.tasks()
		if len(tasks) == 0 {
			return e, false
		}
		it := rapid.SampledFrom(tasks).Draw(t, "task")
		ids := []core.ID{it.told.ID, it.told.Message, it.told.ID.As(core.KindRun)}
		if it.run != nil && it.run.id != "" {
			ids = append(ids, it.run.id)
		}
		e.Command, e.Args = h.command(kind), string(rapid.SampledFrom(ids).Draw(t, "id"))
	case "back":
		var ids []string
		for _, th := range h.threads {
			if th.channel == channel && th.archived && th.id != "" {
				ids = append(ids, string(th.id))
			}
		}
		if len(ids) == 0 {
			return e, false
		}
		e.Command, e.Args = h.command(kind), rapid.SampledFrom(ids).Draw(t, "thread")+" "+in.Key
	case "halt", "resume":
		ids := h.marked(channel)
		if len(ids) == 0 {
			return e, false
		}
		e.In.Kind, e.In.MessageID, e.In.Emoji = core.InReaction, rapid.SampledFrom(ids).Draw(t, "message"), e.In.Key
		e.Command = h.command(map[string]string{"halt": "stop", "resume": "retry"}[kind])
	case "moved":
		e.In.Kind, e.In.To = core.InMoved, fmt.Sprint(channel, h.events)
	case "unreadable":
		e.In.Kind, e.In.Raw = core.InUnreadable, []byte("?")
	case "again":
		if len(before) > 0 {
			return before[len(before)-1], true
		}
		if h.last == nil {
			return e, false
		}
		return *h.last, true
	}
	return e, true
}

func someText(t *rapid.T) string { return rapid.SampledFrom(speech).Draw(t, "text").text }

// command is one that does as the mailboxes' of its name does.
func (h *house) command(name string) *core.Command {
	return &core.Command{Name: name, Run: func(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
		var err error
		did := true
		switch name {
		case "retry":
			_, did, err = inv.Desk.Retry(inv.Thread.ID, inv.Of)
		case "back":
			id, key, _ := strings.Cut(inv.Args, " ")
			if h.listed[key], err = inv.Desk.Archived(inv.Place, 100); err == nil {
				err = inv.Desk.Resume(core.ID(id), "Ann")
			}
		case "fork":
			_, did, err = inv.Desk.Fork(inv.Place, core.ID(inv.Args))
		case "answer":
			id, verdict, _ := strings.Cut(inv.Args, " ")
			a, _, _ := inv.Desk.Ask(core.ID(id))
			ans := core.Answer{By: core.Requester{ID: inv.From.ID, Name: inv.From.Name}, Role: inv.Role, Here: a.Place == inv.Place, Text: verdict}
			if a.Kind == core.ApprovalAsk && verdict != deny {
				ans.Grant, ans.Text = verdict, ""
			}
			did, err = inv.Desk.Decide(a.ID, ans)
			if _, ok := errors.AsType[*core.UserError](err); ok {
				err = nil
			}
		case "cancel":
			_, err = inv.Desk.CancelTask(inv.Place, core.ID(inv.Args), "Ann")
		case "stop", "new":
			var runs, items int
			runs, items, err = inv.Desk.Cancel(inv.Thread.ID, inv.Of, "Ann")
			if did = runs+items > 0; err == nil && name == "new" {
				err = inv.Desk.Archive(inv.Thread.ID)
			}
		}
		return core.CommandReply{Text: replied, Idle: !did}, err
	}}
}

// happen is what an event does to the model; args are its command's.
func (h *house) happen(kind string, in core.Inbound, args string) (core.Fate, []*item) {
	channel := h.canonical(in.Place.Channel)
	th := h.current[channel]
	if in.Heard && (kind == "message" || kind == "stop" || kind == "cancel" || kind == "new" || kind == "fork" || kind == "back" || kind == "retry" || kind == "answer" || kind == "reply" || kind == "stranger" && th != nil) {
		h.cursors[in.Place.Channel] = in.MessageID
	}
	switch kind {
	case "message", "reply":
		if a, verdict := h.meant(channel, in.From.ID, in.Text, in.ReplyTo); a != nil {
			if woken, ok := h.decide(a, in, true, verdict); ok {
				return core.FateAnswer, woken
			}
		}
		woken := h.message(channel, in.MessageID, in.From.ID, in.Text)
		if !slices.ContainsFunc(woken, func(it *item) bool { return it.bot != ci }) {
			return core.FateKept, woken
		}
		h.remindOf(h.current[channel], in.From.ID, woken)
		return core.FateStored, woken
	case "press", "answer":
		return h.decideBy(kind, in, args)
	case "edit":
		fate, woken := h.edit(in.MessageID, in.Text)
		if fate == core.FateEdited || fate == core.FateTaken {
			theirs := slices.DeleteFunc(slices.Clone(woken), func(it *item) bool { return it.line != h.lines[in.MessageID] })
			h.remindOf(h.lines[in.MessageID].th, in.From.ID, theirs)
		}
		return fate, woken
	case "delete":
		fate, released := h.withdraw(in.MessageID)
		return fate, released
	case "moved":
		h.first[in.To] = channel
		return core.FateMoved, nil
	case "unreadable":
		return core.FateUnreadable, nil
	case "again":
		return core.FateDuplicate, nil
	case "stranger":
		h.say(channel, replied)
		return core.FateRefused, nil
	case "halt", "resume":
		return h.mark(kind, in.MessageID)
	}
	var woken []*item
	if kind == "cancel" {
		woken = h.cancel(channel, core.ID(args))
	}
	if th != nil {
		switch kind {
		case "retry":
			woken = th.retry(th.lines, nil)
		case "stop":
			h.stop(th, team)
		case "new":
			h.stop(th, team)
			h.archive(th)
			h.begin(channel)
		case "fork":
			h.fork(th, core.ID(args))
		case "back":
			id, key, _ := strings.Cut(args, " ")
			h.sameThreads(h.left[channel], h.listed[key])
			if old := h.byID(core.ID(id)); old.archived { // none of its batch was before it
				h.stop(th, team)
				h.archive(th)
				h.back(old)
			}
		}
	}
	h.say(channel, replied)
	return core.FateCommand, woken
}

// sameThreads compares archived threads with a list of them, the newest first;
// those of one millisecond stand in any order.
func (h *house) sameThreads(want []*thread, got []core.Thread) {
	h.Helper()
	same := len(want) == len(got)
	for i := 0; same && i < len(got); i++ {
		th := want[len(want)-1-i]
		same = !got[i].Archived.IsZero() && (i == 0 || !got[i].Archived.After(got[i-1].Archived))
		at := slices.IndexFunc(got, func(x core.Thread) bool { return x.ID == th.id })
		same = same && (th.id == "" || at >= 0 && got[at].Archived.Equal(got[i].Archived))
	}
	if !same {
		h.Fatalf("archived are %+v, want %+v", got, want)
	}
}

// marked are the messages at a channel that people may mark: theirs, and status
// lines.
func (h *house) marked(channel string) []string {
	var ids []string
	for id, ln := range h.lines {
		if ln.th.channel == channel {
			ids = append(ids, id)
		}
	}
	for id, at := range h.opens {
		if at.th.channel == channel {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// mark is what the mark of a command on a message does: to the work for it, or
// to the run that it shows. Where there is nothing to do it is feedback.
func (h *house) mark(kind, id string) (core.Fate, []*item) {
	var th *thread
	var bots []string
	var lines []*line
	at, ours := h.opens[id]
	var of *run
	if ours {
		th = at.th
		if i := slices.IndexFunc(th.runs, func(r *run) bool { return r.n == at.n && !r.pruned }); i >= 0 {
			of = th.runs[i]
			bots = []string{of.bot}
			for _, it := range of.items {
				lines = append(lines, it.line)
			}
		}
		for _, it := range th.itemsThat(func(it *item) bool { return it.n == at.n && it.waits && it.state == core.Queued }) {
			bots = []string{it.bot}
		}
	} else {
		ln := h.lines[id]
		th, lines = ln.th, []*line{ln}
		for _, it := range ln.items {
			if !it.state.Terminal() {
				bots = append(bots, it.bot)
			}
		}
	}
	var woken []*item
	did := false
	switch {
	case th.archived:
	case kind == "halt":
		did = h.stop(th, bots)
	default:
		woken = th.retry(lines, of)
		did = len(woken) > 0
	}
	switch {
	case did:
		return core.FateCommand, woken
	case ours:
		return core.FateFeedback, nil
	}
	return core.FateIgnored, nil
}

// choose draws a desk for which ok holds.
func (h *house) choose(t *rapid.T, ok func(desk) bool) (desk, bool) {
	var all []desk
	for _, th := range h.threads {
		for _, bot := range team {
			if at := (desk{th, bot}); ok(at) {
				all = append(all, at)
			}
		}
	}
	if len(all) == 0 {
		return desk{}, false
	}
	return rapid.SampledFrom(all).Draw(t, "desk"), true
}

func (h *house) flying(at desk) bool { return h.at[at] != nil && h.at[at].run.ID != "" }

// busy draws a bot that is at work. If none is, one is given some.
func (h *house) busy(t *rapid.T) (desk, bool) {
	for _, first := range []func(*rapid.T){h.pick, h.accept, h.pick} {
		if at, ok := h.choose(t, h.flying); ok {
			return at, true
		}
		first(t)
	}
	return h.choose(t, h.flying)
}

// pick takes what waits for a bot: a run to be resumed, or else the mail, with
// that of a run that has waited for its slot until now.
func (h *house) pick(t *rapid.T) {
	at, ok := h.choose(t, func(at desk) bool {
		return !h.flying(at) && at.th.waits(at.bot) == nil && (len(at.th.queued(at.bot)) > 0 || at.th.open(at.bot) != nil)
	})
	if !ok {
		return
	}
	f := h.at[at]
	var mail []core.Item
	if f == nil || f.model.state != core.Doing { // it was stopped before it was resumed
		f = &flight{model: at.th.open(at.bot)}
		if f.model != nil {
			f.items = slices.Clone(f.model.items)
		}
		f.items = append(f.items, at.th.queued(at.bot)...)
		for _, it := range f.items {
			mail, f.versions = append(mail, it.told), append(f.versions, it.line.version)
			f.whose = it.line.requester(f.whose)
		}
	} else {
		mail = []core.Item{f.resume}
	}
	picked, scene, err := h.store.Pick(h.ctx, mail, 80, 80)
	if err != nil {
		h.Fatalf("pick %+v: %v", mail, err)
	}
	if f.model == nil {
		f.model = &run{n: leading(f.items).n, id: picked.ID, bot: at.bot}
	}
	picked.Upto = scene.Upto
	if picked.ID != f.model.id || picked.Bot != at.bot || picked.Thread != at.th.id || f.resume.ID != "" && picked.Resumes != f.model.resumes {
		h.Fatalf("picked is %+v, want %+v", picked, f.model)
	}
	f.run, f.read, f.scoped = picked, f.model.read, f.model.scoped
	if f.resume.ID == "" {
		f.read, f.scoped = len(at.th.lines), at.th.scoped(at.bot)
		var want, got []string
		for _, ln := range at.th.seen(at.bot, f.scoped, f.read) {
			want = append(want, fmt.Sprintf("%s (version %d)", ln.text, ln.version))
		}
		for _, m := range scene.Messages {
			got = append(got, fmt.Sprintf("%s (version %d)", m.Text(), m.Version))
		}
		h.same("the scene", want, got)
		if scene.Total != len(at.th.shared)+f.read {
			h.Fatalf("the scene is of %d messages, want %d", scene.Total, len(at.th.shared)+f.read)
		}
	}
	h.at[at] = f
}

// work stores that a run has begun, is shown, or has gone a step.
func (h *house) work(t *rapid.T) {
	at, ok := h.busy(t)
	if !ok {
		return
	}
	f := h.at[at]
	kind := rapid.SampledFrom([]string{"begin", "opened", "step", "wait"}).Draw(t, "kind")
	if kind == "step" {
		h.step(at)
		return
	}
	if kind == "wait" && f.resume.ID == "" && !slices.Contains(at.th.runs, f.model) {
		h.wait(t, at)
		return
	}
	h.write(at, func() error {
		if kind == "begin" {
			return h.store.Begin(h.ctx, f.run)
		}
		return h.store.Opened(h.ctx, f.run, core.Receipt{ID: "open " + string(f.run.Post)})
	}, func() {
		if kind != "begin" {
			h.opens["open "+string(f.run.Post)] = begun{at.th, f.model.n}
		}
	}, func() {})
}

// wait has people told that what was picked waits for a slot. It is picked again
// when it has one.
func (h *house) wait(t *rapid.T, at desk) {
	f := h.at[at]
	run := f.run
	var over error
	h.do(func() error {
		err := h.store.Await(h.ctx, run)
		if errors.Is(err, core.ErrRunOver) {
			over, err = err, nil
		}
		return err
	}, func() {
		err := at.th.wait(f.model, f.items)
		if !errors.Is(over, err) || err == nil && over != nil {
			h.Fatalf("the run %s waits: %v, want %v", run.ID, over, err)
		}
	}, func() { delete(h.at, at) })
	waits := at.th.itemsThat(func(it *item) bool { return it.n == f.model.n && it.waits })
	if len(waits) == 0 || over != nil || !rapid.Bool().Draw(t, "opens") {
		return
	}
	run.Waits = true
	h.do(func() error { return h.store.Opened(h.ctx, run, core.Receipt{ID: "open " + string(run.Post)}) },
		func() { h.opens["open "+string(run.Post)] = begun{at.th, f.model.n} }, func() {})
}

// write is a write of a run, which may be over by then.
func (h *house) write(at desk, call func() error, apply, learn func()) {
	f := h.at[at]
	var over error
	h.do(func() error {
		err := call()
		if errors.Is(err, core.ErrRunOver) || errors.Is(err, core.ErrStale) {
			over, err = err, nil
		}
		return err
	}, func() {
		joined := len(f.model.items)
		if err := at.th.begin(f.model, f.items, f.versions); !errors.Is(over, err) || err == nil && over != nil {
			h.Fatalf("the run %s: %v, want %v", f.run.ID, over, err)
		}
		if over == nil {
			f.model.clean = f.model.clean && f.resume.ID == ""
			if f.resume.ID == "" && (len(f.model.items) > joined || f.read > f.model.read || f.scoped != f.model.scoped) {
				f.model.whose = f.whose
			}
			f.model.read, f.model.scoped = max(f.model.read, f.read), f.scoped
			apply()
		}
	}, func() {
		if over != nil {
			delete(h.at, at)
			return
		}
		learn()
	})
}

// settle ends a run.
func (h *house) settle(t *rapid.T) {
	at, ok := h.busy(t)
	if !ok {
		return
	}
	h.end(at, rapid.SampledFrom([]string{"", "hello", "@scout look", "@scribe look", "@chief look", "and then|some more", "@ci look", "@ci and @scout, look"}).Draw(t, "reply"))
}

// rush has a bot hand on while somebody wants more of it, so that the hand-off
// is held.
func (h *house) rush(t *rapid.T) {
	at, ok := h.busy(t)
	if !ok {
		return
	}
	h.want(at)
	if h.flying(at) {
		h.end(at, rapid.SampledFrom([]string{"@scout look", "@scribe look"}).Draw(t, "reply"))
	}
}

// want has somebody want more of a bot.
func (h *house) want(at desk) {
	h.events++
	id := fmt.Sprint("m", h.events)
	text := "@" + at.bot + " look"
	if at.bot == chief && rapid.Bool().Draw(h.T, "nobody is named") {
		text = "hello"
	}
	h.offer([]string{"message"}, []core.Entry{{Role: core.Member, Agent: chief, In: core.Inbound{Key: id, Kind: core.InMessage, Direct: true,
		From: ann, MessageID: id, Text: text, Place: core.Place{Adapter: "chat", Channel: at.th.channel}}}})
}

// end settles the run of a desk with a reply; blank: it fails.
func (h *house) end(at desk, reply string) {
	f := h.at[at]
	end := core.Settlement{State: core.Done, Kind: core.AnswerPost, Bots: team, Externals: []string{ci}, MaxHops: maxHops, Split: split}
	end.Text, end.Answer = reply, reply
	if reply == "" {
		end.State, end.Kind, end.Text = core.Failed, core.ErrorPost, failed
	}
	var got core.Settled
	var woken []*item
	h.write(at, func() (err error) {
		got, err = h.store.Settle(h.ctx, f.run, nil, end)
		return err
	}, func() { woken = h.ledger.settle(at.th, f.model, reply) }, func() {
		h.told(woken, got.Items)
		h.took(got.Rows)
		delete(h.at, at)
	})
}

// deliver shows the next row of a place, opens it first, or gives its post up.
func (h *house) deliver(t *rapid.T) {
	channel := rapid.SampledFrom(channels).Draw(t, "channel")
	if len(h.rows[channel]) == 0 {
		return
	}
	row := h.rows[channel][0]
	receipt := core.Receipt{ID: fmt.Sprintf("shown %d.%d", row.Seq, row.Chunk)}
	card := h.outbox[channel][0].card
	pop := func(n int) {
		h.rows[channel], h.outbox[channel] = h.rows[channel][n:], h.outbox[channel][n:]
	}
	switch rapid.SampledFrom([]string{"show", "show", "show", "open", "bury"}).Draw(t, "how") {
	case "open":
		h.do(func() error { return h.store.RowOpened(h.ctx, row, receipt) }, func() {}, func() {})
	case "show":
		var again *core.Row
		h.do(func() (err error) { again, err = h.store.Delivered(h.ctx, row, receipt); return err }, func() {
			switch {
			case card != nil && card.state != core.AskOpen: // meanwhile it was decided
				h.outbox[channel][0] = piece{text: redrawn}
				return
			case card != nil:
				card.shown = receipt.ID
			}
			pop(1)
		}, func() {
			if again != nil {
				h.rows[channel][0] = *again
			}
		})
	case "bury":
		n := 0
		for n < len(h.rows[channel]) && h.rows[channel][n].Post == row.Post {
			n++
		}
		var told []core.Row
		owner := core.Place{Adapter: "chat", Channel: channels[1]}
		h.do(func() (err error) {
			told, err = h.store.Bury(h.ctx, row, "refused", owner, []core.Piece{{Text: "I gave up."}})
			return err
		}, func() {
			for _, a := range h.asks {
				a.dead = a.dead || a.post == row.Post
			}
			pop(n)
			h.say(owner.Channel, notice)
		}, func() { h.took(told) })
	}
}

// notify says something by the way. A notice whose commit failed is not tried
// again, so that none is made to fail.
func (h *house) notify(t *rapid.T) {
	channel := rapid.SampledFrom(channels).Draw(t, "channel")
	rows, err := h.store.Notify(h.ctx, core.Place{Adapter: "chat", Channel: channel}, []core.Piece{{Text: "By the way."}})
	if err != nil {
		h.Fatal(err)
	}
	h.say(channel, notice)
	h.took(rows)
}

// restart is an orderly stop, which marks the runs that it cuts, or kill -9.
func (h *house) restart(t *rapid.T) {
	if rapid.Bool().Draw(t, "in order") {
		var cut []core.ID
		var runs []*run
		for _, th := range h.threads {
			for _, r := range th.runs {
				if r.state == core.Doing {
					cut, runs = append(cut, r.id), append(runs, r)
				}
			}
		}
		died := true
		h.do(func() error { return h.store.StopClean(h.ctx, cut) }, func() {
			for _, r := range runs {
				r.clean = true
			}
		}, func() { died = false })
		if died {
			return
		}
	}
	if err := h.store.Close(); err != nil {
		h.Fatal(err)
	}
	h.start()
}
