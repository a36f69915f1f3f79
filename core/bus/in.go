package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

// keepKeys is how long dedupe keys are kept. Source: platforms redeliver for
// minutes (Slack) up to a day (Telegram); days are cheap.
const keepKeys = 7 * 24 * time.Hour

// refuseEvery is how often one stranger hears a refusal, and a member among
// others that a command is for a higher role.
const refuseEvery = time.Hour

const (
	// crowd is how many events at once mean that more are about to come: hundreds
	// come at once only when thousands do, or after time away.
	crowd = 256
	// crowdWait is how long runs wait for what comes next then: longer than the
	// largest batch takes, and not so long that anybody notices.
	crowdWait = 300 * time.Millisecond
)

// accept is the adapters' sink.
func (b *Bus) accept(ctx context.Context, acc *account, batch []core.Inbound) error {
	if len(batch) == 0 {
		return nil
	}
	defer b.taking()()
	arrived := time.Now()
	entries := make([]core.Entry, len(batch))
	for i, in := range batch {
		entries[i] = b.entry(acc, in)
		if !acc.features.Local && b.quota.most > 0 {
			entries[i].Quota = func(human core.PersonID) core.Quota { return b.quota.left(human, arrived) }
		}
	}
	done, err := b.o.Store.Accept(ctx, core.Batch{Entries: entries, Bots: b.handles, Delegates: b.delegates, Sort: b.o.Sort && len(b.handles)-len(b.delegates) > 1, Externals: b.o.Externals, Commands: b.o.Commands, Access: b.o.Access, Split: b.Split, Speaker: b.speaker, Shown: b.Shown, Seal: b.seal})
	if err != nil {
		b.untried(entries)
		b.troubled(ctx, err)
		return fmt.Errorf("accept %d events of %s: %w", len(batch), acc.Name(), err)
	}
	b.recovered()
	for _, m := range done.Moved {
		b.alias(m)
	}
	// First the marks that promise an outcome, then the outcomes that the batch
	// has brought itself, then the work that it asks for: none may overtake what
	// it answers.
	for i, fate := range done.Fates {
		b.admitted(entries[i], fate)
		b.quota.count(done.Humans[i], arrived, fate)
		b.log.Debug("event", "place", batch[i].Place, "key", batch[i].Key, "fate", fate)
		switch fate {
		case core.FateStored, core.FateEdited:
			if done.Woke[i] {
				b.expect(acc, batch[i], arrived)
			}
		case core.FateTaken, core.FateWithdrawn:
			if acc.features.React != nil {
				b.tell(b.canonical(batch[i].Place), takenJob{batch[i].MessageID, fate == core.FateWithdrawn})
			}
		}
	}
	for i, note := range done.Notes {
		if note != "" && (done.Fates[i] != core.FateRefused || batch[i].Command || b.once("note "+string(batch[i].From.ID), refuseEvery)) {
			batch[i].Note = note
		}
	}
	b.Deliver(done.Rows)
	if len(batch) >= crowd {
		b.mail.Hold(crowdWait)
	}
	b.mail.Apply(done)
	b.prune(ctx)
	return nil
}

// taking notes that a batch is being accepted, until the result is called.
func (b *Bus) taking() (done func()) {
	c := make(chan struct{})
	b.mu.Lock()
	b.intake[c] = true
	b.mu.Unlock()
	return func() {
		b.mu.Lock()
		delete(b.intake, c)
		b.mu.Unlock()
		close(c)
	}
}

// Caught waits until what is being accepted now has been handed on, or ctx ends:
// who learns of it from the ledger must not overtake it.
func (b *Bus) Caught(ctx context.Context) {
	b.mu.Lock()
	now := slices.Collect(maps.Keys(b.intake))
	b.mu.Unlock()
	for _, c := range now {
		select {
		case <-c:
		case <-ctx.Done():
			return
		}
	}
}

// entry decides what can be decided of an event without the ledger.
func (b *Bus) entry(acc *account, in core.Inbound) core.Entry {
	in.Text, in.Time = strings.ToValidUTF8(in.Text, "�"), timeOf(in.Time)
	e := core.Entry{In: in, Role: b.o.Access.Role(in.From), Agent: b.o.Agent, Mode: acc.features.Reply, Threads: acc.features.Threads, Branch: acc.features.Branch != nil && acc.features.Branch(in.Place), Buttons: acc.features.Buttons, Mark: acc.features.Mark,
		Reads: acc.features.Before != nil, Context: core.UsualContext}
	for _, bind := range b.o.Bindings {
		if !bind.Matches(in.Place) {
			continue
		}
		if bind.Agent != "" {
			e.Agent = bind.Agent
		}
		if bind.Reply != "" {
			e.Mode = bind.Reply
		}
		if bind.Context != nil {
			e.Context = *bind.Context
		}
		break
	}
	switch in.Kind {
	case core.InMessage:
		if e.Command, e.Args = b.command(in, e.Mark); e.Command != nil && !in.Direct {
			e.Hushed = b.said(beneathOf(&e), refuseEvery)
		}
		b.pair(&e)
	case core.InReaction:
		e.Command = b.named(gesture(in.Emoji))
	case core.InButton:
		name, args, _ := strings.Cut(in.Button, " ")
		e.Command, e.Args = b.named(name), args
	case core.InAdded:
		e.Hello = b.hello(acc, e.Agent, in.Text)
	}
	return e
}

// command finds the command that a text is: its first word, whole, in any
// case, after "/" where the platform says that it is addressed to us, or after
// "!". Where people cannot type slashes, what is said to us and is nothing but a
// command's name is one as well.
func (b *Bus) command(in core.Inbound, mark string) (*core.Command, string) {
	text := strings.TrimSpace(in.Text)
	toUs := in.Direct || in.Mentioned
	switch {
	case text == "":
		return nil, ""
	case text[0] == '!', text[0] == '/' && (in.Command || toUs):
		text = text[1:]
	case mark == "" || !toUs || strings.ContainsAny(text, " \t\r\n"):
		return nil, ""
	}
	word, args := text, ""
	if i := strings.IndexAny(word, " \t\r\n"); i >= 0 {
		word, args = word[:i], strings.TrimSpace(word[i:])
	}
	return b.named(word), args
}

// named is the command of the name, in any case; nil if there is none.
func (b *Bus) named(name string) *core.Command {
	for i := range b.o.Commands {
		if strings.EqualFold(name, b.o.Commands[i].Name) {
			return &b.o.Commands[i]
		}
	}
	return nil
}

// hello is how the agent of a place introduces itself there.
func (b *Bus) hello(acc *account, agent, mention string) string {
	help := acc.features.Command("help")
	if acc.features.Mark != "" { // people write commands to us there
		help = mention + " help"
	}
	return fmt.Sprintf("Hi, I am %s. Mention me (%s) to ask me something; %s shows more.", cmp.Or(b.speaker(agent).Name, agent), mention, help)
}

// speaker is who a bot's words are from.
func (b *Bus) speaker(handle string) core.Speaker {
	i := slices.IndexFunc(b.o.Bots, func(bot core.Bot) bool { return bot.Handle == handle })
	if i < 0 {
		return core.Speaker{}
	}
	return core.Speaker{Name: b.o.Bots[i].DisplayName()}
}

// gesture is the name of the command that an emoji stands for, whatever its
// form and colour of skin; empty: it stands for none.
func gesture(emoji string) string {
	plain := strings.Map(func(r rune) rune {
		if r == '\ufe0e' || r == '\ufe0f' || '\U0001f3fb' <= r && r <= '\U0001f3ff' {
			return -1
		}
		return r
	}, emoji)
	switch plain {
	case "🛑":
		return "stop"
	case "🔁":
		return "retry"
	}
	return ""
}

// said reports whether the thing was said within the time before.
func (b *Bus) said(what string, every time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	t, ok := b.told[what]
	return ok && time.Since(t) < every
}

// once reports whether the thing may be said now: not within the time before.
func (b *Bus) once(what string, every time.Duration) bool {
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if t, ok := b.told[what]; ok && now.Sub(t) < every {
		return false
	}
	if len(b.told) > 10_000 { // a flood of strangers must not cost memory
		clear(b.told)
	}
	b.told[what] = now
	return true
}

func (b *Bus) alias(m core.Moving) {
	b.mu.Lock()
	b.aliases[channel{m.Adapter, m.Old}] = m.New
	b.mu.Unlock()
}

// current is the place under the channel id that the platform knows today.
func (b *Bus) current(p core.Place) core.Place {
	b.mu.Lock()
	defer b.mu.Unlock()
	if id, ok := b.aliases[channel{p.Adapter, p.Channel}]; ok {
		p.Channel = id
	}
	return p
}

// canonical is the place under the first channel id that it had, as the ledger
// knows it.
func (b *Bus) canonical(p core.Place) core.Place {
	b.mu.Lock()
	defer b.mu.Unlock()
	for old, id := range b.aliases {
		if old.adapter == p.Adapter && id == p.Channel {
			p.Channel = old.id
		}
	}
	return p
}

// prune forgets old dedupe keys, a bounded number at a time, at most once an
// hour.
func (b *Bus) prune(ctx context.Context) {
	now := time.Now()
	b.mu.Lock()
	due := now.Sub(b.pruned) >= time.Hour
	first := b.pruned.IsZero()
	if due {
		b.pruned = now
	}
	b.mu.Unlock()
	if !due || first {
		return
	}
	more, err := b.o.Store.Prune(ctx, now.Add(-keepKeys))
	if err != nil {
		b.log.Warn("old dedupe keys stay", "err", err)
	}
	if more {
		b.mu.Lock()
		b.pruned = now.Add(-time.Hour)
		b.mu.Unlock()
	}
}

// Trouble tells the owner of something that needs them, once until the same
// thing has been well again (recovered) or an hour has passed. It does not wait.
// When the ledger is the trouble, it goes past the ledger.
func (b *Bus) Trouble(ctx context.Context, what, text string) {
	owner := b.owner()
	if owner.IsZero() || !b.once("trouble "+what, time.Hour) {
		return
	}
	pieces := b.Split(owner, "⚠ "+text)
	if what != storeTrouble {
		rows, err := b.o.Store.Notify(context.WithoutCancel(ctx), owner, pieces)
		if err == nil {
			b.Deliver(rows)
			return
		}
		b.log.Warn("the owner is told without a record of it", "what", what, "err", err)
	}
	b.tell(owner, sayJob{owner, pieces})
}

const storeTrouble = "store"

// troubled tells of a ledger that cannot write.
func (b *Bus) troubled(ctx context.Context, err error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, core.ErrStopping) {
		return
	}
	b.log.Error("the store refuses to write", "err", err)
	b.Trouble(ctx, storeTrouble, fmt.Sprintf("I cannot store messages: %v. I take no new ones until this is solved; nothing is lost, the platforms keep them for me.", err))
}

// recovered: the ledger writes again, so the next failure is news.
func (b *Bus) recovered() {
	b.mu.Lock()
	delete(b.told, "trouble "+storeTrouble)
	b.mu.Unlock()
}
