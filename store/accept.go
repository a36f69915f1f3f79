package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

// Accept makes a batch of platform events durable in one transaction: for each
// new event its journal row, and what follows from it (a message with its
// items, a command's effect and reply, a refusal, a correction, …). The
// adapter may acknowledge the batch when it returns nil.
func (s *Store) Accept(ctx context.Context, b core.Batch) (core.Accepted, error) {
	var out core.Accepted
	var did map[string]core.Accepted // by event
	var ended bool
	var over map[core.ID]bool // runs that were stopped, and whether their Park is stored untold
	err := s.update(ctx, func(t *tx) error {
		out, did, ended, over = core.Accepted{}, make(map[string]core.Accepted, len(b.Entries)), false, map[core.ID]bool{}
		tally := map[core.PersonID]taken{}
		for i := range b.Entries {
			a := acceptance{tx: t, ctx: ctx, batch: &b, out: &core.Accepted{}, tally: tally, day: t.Now().Format(time.DateOnly)}
			fate, err := a.entry(&b.Entries[i])
			if err != nil {
				return err
			}
			out.Fates, out.Notes, out.Humans = append(out.Fates, fate), append(out.Notes, a.note), append(out.Humans, a.human.ID)
			out.Woke = append(out.Woke, a.woke)
			event := eventOf(b.Entries[i])
			if _, again := did[event]; again {
				continue
			}
			if fate == core.FateDuplicate {
				*a.out, _ = s.accepted.get(event)
			}
			did[event] = *a.out
			out.Items = append(out.Items, a.out.Items...)
			out.Ended = append(out.Ended, a.out.Ended...)
			out.Stopped = append(out.Stopped, a.out.Stopped...)
			out.Rows = append(out.Rows, a.out.Rows...)
			out.Moved = append(out.Moved, a.out.Moved...)
			for _, run := range a.out.Stopped {
				if over[run], err = s.untold(t, run); err != nil {
					return err
				}
			}
		}
		ended = true
		return nil
	})
	for event, result := range did {
		s.accepted.note(event, result, ended, err)
	}
	if err != nil {
		return core.Accepted{}, err
	}
	rows, items := s.told(over)
	out.Rows, out.Items = append(rows, out.Rows...), append(items, out.Items...)
	return out, nil
}

func eventOf(e core.Entry) string { return string(journalKey(e.In.Place.Adapter, e.In.Key)) }

// acceptance is the Accept of one entry.
type acceptance struct {
	*tx
	ctx   context.Context
	batch *core.Batch
	out   *core.Accepted
	tally map[core.PersonID]taken // of the batch
	day   string
	row   journalRow
	note  string // for who pressed a button
	woke  bool   // a bot has the message to answer

	human    core.Human // who did it
	standing core.Standing

	// For the activity log.
	thread   core.ID
	where    core.Place  // of the thread, if it is not the event's
	why      core.Reason // it wakes whom it wakes
	corrects core.ID     // the message that a correction is of
	beneath  bool        // the command is for a higher role
}

func (a *acceptance) entry(e *core.Entry) (core.Fate, error) {
	in := &e.In
	key := journalKey(in.Place.Adapter, in.Key)
	known, err := a.Get(key)
	if err != nil {
		return "", err
	}
	if known[0] != nil {
		return core.FateDuplicate, nil
	}
	place, err := a.canonical(in.Place)
	if err != nil {
		return "", err
	}
	if err := a.rank(e); err != nil {
		return "", err
	}
	a.row.Fate, err = a.decide(e, place)
	if err != nil {
		return "", err
	}
	if err := a.insert(key, a.row); err != nil {
		return "", err
	}
	if err := errors.Join(a.hear(in, place), a.record(e, place)); err != nil {
		return "", err
	}
	return a.row.Fate, a.Put(journalDayKey(a.day, in.Place.Adapter, in.Key), nil)
}

func (a *acceptance) decide(e *core.Entry, place core.Place) (core.Fate, error) {
	in := &e.In
	if in.Kind == core.InMessage && in.Foreign {
		return core.FateIgnored, nil
	}
	if e.Claim && a.standing.Role < core.Owner {
		if ok, err := a.claim(e, place); ok || err != nil {
			return core.FateCommand, err
		}
	}
	if a.authorise(e, core.Deed{}) != core.Allowed {
		return a.turnAway(e, place)
	}
	switch in.Kind {
	case core.InMessage:
		return a.message(e, place)
	case core.InEdit:
		return a.edit(e, place)
	case core.InDelete:
		return a.withdraw(e, place)
	case core.InAdded:
		return core.FateGreeted, a.say(core.NoticePost, "", in, place, e.Hello)
	case core.InReaction:
		return a.reaction(e, place)
	case core.InButton:
		return a.press(e, place)
	case core.InNamed:
		return a.named(e, place)
	case core.InMoved:
		m := core.Moving{Adapter: place.Adapter, Old: place.Channel, New: in.To}
		a.out.Moved = append(a.out.Moved, m)
		return core.FateMoved, a.moved(m)
	case core.InUnreadable:
		a.row.Raw = in.Raw
		return core.FateUnreadable, nil
	}
	return core.FateIgnored, nil
}

func (a *acceptance) message(e *core.Entry, place core.Place) (core.Fate, error) {
	in := &e.In
	th, found, err := a.threadAt(place)
	if err != nil {
		return "", err
	}
	a.thread = th.ID
	ours := in.Direct || in.Mentioned || e.Mode == core.ReplyAlways || e.Mode == core.ReplyThread && found
	if e.Command != nil && (ours || in.Command) {
		return a.command(e, place)
	}
	msg := core.Message{
		Sender: core.Actor{Kind: core.HumanActor, ID: string(in.From.ID)}, Name: in.From.Name,
		Parts: parts(in), PlatformID: in.MessageID, Time: in.Time, Zone: cmp.Or(a.human.Zone, in.From.Zone), Language: a.human.Language,
	}
	if done, err := a.said(e, th, msg, ours); done || err != nil {
		return core.FateAnswer, err
	}
	blank := strings.TrimSpace(in.Text) == "" && len(in.Quotes)+len(in.Files) == 0 && !in.Mentioned
	if !ours || blank {
		return core.FateIgnored, a.miss(e, place)
	}
	if !a.take(e) {
		return a.limit(e, place)
	}
	if !found {
		if th, err = a.newThread(place, e.Agent, in.Direct); err != nil {
			return "", err
		}
		th.Missed = true
	}
	th.Unnamed = !th.Named && (th.Unnamed || in.Unnamed)
	msg.Earlier = hear(e, &th)
	if err := a.post(&th, msg, in.ForOthers()); err != nil {
		return "", err
	}
	if !slices.ContainsFunc(a.out.Items, func(it core.Item) bool { return !it.External() }) {
		return core.FateKept, nil
	}
	return core.FateStored, a.remindOf(e, th, a.out.Items)
}

// route decides whom a person's message wakes.
func (a *acceptance) route(th *core.Thread, msg core.Message, others bool) core.Routed {
	return core.Route(core.Routing{Sender: msg.Sender, Text: msg.Text(), Bots: a.batch.Bots, Delegates: a.batch.Delegates, Externals: a.batch.Externals,
		Participants: th.Bots, Default: th.Agent, Others: others})
}

// post adds a person's message to the thread and wakes whom it is for.
func (a *acceptance) post(th *core.Thread, msg core.Message, others bool) error {
	routed := a.route(th, msg, others)
	msg.Mentions, a.thread, a.where, a.why = routed.Mentions, th.ID, th.Place, routed.Why
	th.HopTold = false
	msg, err := a.addMessage(th, msg)
	if err != nil {
		return err
	}
	items, err := a.enqueue(th, msg.ID, routed.Wake, "")
	if err == nil && routed.Open && a.batch.Sort {
		err = a.unsorted(items)
	}
	if err != nil {
		return err
	}
	if err := a.own(msg.Sender, items); err != nil {
		return err
	}
	told, err := a.inform(th, msg, a.batch.Externals, routed.Tell)
	if err != nil {
		return err
	}
	a.out.Items = slices.Concat(a.out.Items, items, told)
	a.row.Message, a.woke = msg.ID, len(items) > 0
	if msg.PlatformID != "" {
		if err := a.put(a.platformKey(th.Place, msg.PlatformID), platformRow{Thread: th.ID, Message: msg.ID}); err != nil {
			return err
		}
	}
	return a.put(idKey(famThread, th.ID), *th)
}

// parts are a message's pieces: what it quotes, what it says, its files.
func parts(in *core.Inbound) []core.Part {
	var out []core.Part
	for _, q := range in.Quotes {
		out = append(out, core.Part{Kind: core.QuotePart, Quote: &q})
	}
	if strings.TrimSpace(in.Text) != "" {
		out = append(out, core.Text(in.Text))
	}
	for _, f := range in.Files {
		out = append(out, core.Part{Kind: core.FilePart, File: &f})
	}
	return out
}

// speaker is who a bot's words are from.
func (a *acceptance) speaker(bot string) core.Speaker {
	if a.batch.Speaker == nil {
		return core.Speaker{}
	}
	return a.batch.Speaker(bot)
}

// say posts a text that answers an event without a run.
func (a *acceptance) say(kind core.PostKind, thread core.ID, in *core.Inbound, place core.Place, text string) error {
	return a.tell(core.Post{Kind: kind, Thread: thread, Place: place}, in, text)
}

// tell shows a new post with a text that answers an event.
func (a *acceptance) tell(p core.Post, in *core.Inbound, text string) error {
	head := core.Row{After: in.MessageID}
	if !in.Direct {
		head.ReplyTo = in.MessageID
	}
	if in.MessageID != "" {
		head.Answers = []string{in.MessageID}
	}
	rows, err := a.show(p, head, pieces(a.batch.Split, p.Place, text))
	if err != nil {
		return err
	}
	a.row.Post = rows[0].Post
	a.out.Rows = append(a.out.Rows, rows...)
	return nil
}

// command runs a command within this transaction, so that its effect, its
// reply and its event are stored together or not at all.
func (a *acceptance) command(e *core.Entry, place core.Place) (core.Fate, error) {
	in := &e.In
	th, _, err := a.threadAt(place)
	if err != nil {
		return "", err
	}
	re, err := a.repliedTo(in, place)
	if err != nil {
		return "", err
	}
	reply, err := a.invoke(e, core.Invocation{Place: place, Thread: th, Re: re, Branch: e.Branch,
		Opens: e.Threads && !in.Direct && (place.Topic == "" || place.Topic == in.MessageID)})
	if err != nil {
		return "", err
	}
	fate := core.FateCommand
	if a.beneath {
		if fate = core.FateBeneath; a.hushed(e) {
			if in.Command {
				a.note = reply.Text
			}
			return fate, nil
		}
	}
	return fate, a.tell(core.Post{Kind: core.CommandPost, Thread: th.ID, Place: place, Buttons: reply.Buttons}, in, reply.Text)
}

// invoke runs the entry's command, if the person may use it; inv says where.
func (a *acceptance) invoke(e *core.Entry, inv core.Invocation) (core.CommandReply, error) {
	mark := markOf(e)
	a.thread, a.where = inv.Thread.ID, inv.Place
	if a.beneath = a.authorise(e, core.Deed{Command: e.Command}) != core.Allowed; a.beneath {
		return core.CommandReply{Text: "Only an " + e.Command.Role.String() + " may use " + mark + e.Command.Name + ".", Idle: true}, nil
	}
	inv.Args, inv.From, inv.Role, inv.Direct = e.Args, e.In.From, a.standing.Role, e.In.Direct
	inv.Human, inv.Standing, inv.Code = a.human, a.standing, e.Code
	inv.Commands, inv.Mark, inv.Buttons, inv.Desk = a.batch.Commands, mark, e.Buttons, &desk{a, e, e.In.MessageID}
	reply, err := e.Command.Run(a.ctx, inv)
	if user, told := errors.AsType[*core.UserError](err); told {
		return core.CommandReply{Text: user.Text, Idle: true}, nil
	}
	return reply, err
}

// moved writes both directions of an alias. Stored places keep the first id.
func (t *tx) moved(m core.Moving) error {
	if err := t.put(aliasKey(m.Adapter, m.New), m); err != nil {
		return err
	}
	return t.put(currentKey(m.Adapter, m.Old), m)
}
