package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/core/prompt"
)

// Sorting says how it is chosen who answers what names nobody.
type Sorting struct {
	Model     string  // "provider/model" that chooses; empty: the default bot's
	Threshold float64 // how sure it must be, 0 to 1
}

const (
	// sortTime is how long choosing may take: an answer by the default bot is
	// better than a late one.
	sortTime = 10 * time.Second
	// sortTokens is the most tokens of a choice.
	sortTokens = 256
	// sortReach is how many of a thread's newest messages a choice is made from.
	sortReach = 20
)

// sort settles whose the bot's unsorted items are, and returns those that it
// keeps. For each person among their senders a model chooses; where it is not
// sure, names nobody, fails or takes too long, the bot keeps what it has: nobody
// waits for an answer because of it. The errors are the ledger's and ctx's.
func (r *Runner) sort(ctx context.Context, bot core.Bot, items []core.Item) ([]core.Item, error) {
	open := unsorted(items)
	if len(open) == 0 {
		return items, nil
	}
	thread := open[0].Thread
	messages, _, err := r.o.Store.Before(ctx, thread, "", sortReach)
	if err != nil {
		return nil, err
	}
	limit, cancel := context.WithTimeout(ctx, sortTime)
	defer cancel()
	for _, group := range bySender(open, messages) {
		choice, usage := bot.Handle, core.Usage{}
		if r.o.Sorting != nil && group.known {
			choice, usage = r.choose(limit, bot, messages, group)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var woken []core.Item
		t := turn{Runner: r, log: r.o.Log.With("thread", thread, "bot", bot.Handle)}
		err := t.store(ctx, func(ctx context.Context) (err error) {
			woken, err = r.o.Store.Sort(ctx, group.items, choice, usage)
			return err
		})
		if err != nil {
			return nil, err
		}
		if len(woken) > 0 {
			r.o.Wake(woken)
		}
		items = slices.DeleteFunc(slices.Clone(items), func(it core.Item) bool {
			return slices.ContainsFunc(woken, func(w core.Item) bool { return w.ID == it.ID })
		})
	}
	return items, nil
}

// unsorted are those of the items whose bot is still to be chosen.
func unsorted(items []core.Item) []core.Item {
	var out []core.Item
	for _, it := range items {
		if it.Unsorted {
			out = append(out, it)
		}
	}
	return out
}

// group is the items of one person's messages.
type group struct {
	sender core.Actor
	known  bool // the messages are among those that are looked at
	fresh  []core.ID
	items  []core.Item
}

func bySender(items []core.Item, messages []core.Message) []*group {
	var out []*group
	for _, it := range items {
		var of core.Actor
		known := false
		for i := range messages {
			if messages[i].ID == it.Message {
				of, known = messages[i].Sender, true
			}
		}
		var g *group
		for _, have := range out {
			if have.sender == of {
				g = have
			}
		}
		if g == nil {
			g = &group{sender: of, known: known}
			out = append(out, g)
		}
		g.fresh, g.items = append(g.fresh, it.Message), append(g.items, it)
	}
	return out
}

// choose asks a model who answers; the bot itself where nothing better comes of
// it.
func (r *Runner) choose(ctx context.Context, bot core.Bot, messages []core.Message, g *group) (string, core.Usage) {
	var bots, team []core.Bot
	for _, b := range r.o.Bots {
		if !b.Delegate {
			bots = append(bots, b)
		}
		if b.Handle != bot.Handle {
			team = append(team, b)
		}
	}
	system, text := prompt.Sort(prompt.View{Bot: bot, Team: team, Messages: messages}, bots, g.fresh)
	answer, usage, err := r.ask(ctx, cmp.Or(r.o.Sorting.Model, bot.Model), system, text)
	choice, sure := "", 0.0
	if err == nil {
		choice, sure, err = r.choice(answer, bots)
	}
	log := r.o.Log.With("thread", g.items[0].Thread, "bot", choice, "confidence", sure)
	switch {
	case err != nil:
		log.Warn("nobody was chosen; the default bot answers", "err", err)
		return bot.Handle, usage
	case sure < r.o.Sorting.Threshold:
		log.Debug("the choice is not sure; the default bot answers")
		return bot.Handle, usage
	}
	log.Debug("a bot was chosen")
	return choice, usage
}

// choice reads what a model has chosen.
func (r *Runner) choice(answer string, bots []core.Bot) (handle string, sure float64, err error) {
	object, ok := r.o.Repair(answer)
	if !ok {
		return "", 0, errors.New("the model's choice is no JSON object")
	}
	var c struct {
		Bot        string  `json:"bot"`
		Confidence float64 `json:"confidence"`
	}
	if err := json.Unmarshal([]byte(object), &c); err != nil {
		return "", 0, fmt.Errorf("the model's choice: %w", err)
	}
	handle = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(c.Bot), "@"))
	for _, b := range bots {
		if b.Handle == handle {
			return handle, c.Confidence, nil
		}
	}
	return "", 0, errors.New("the model chose nobody of the team")
}

// ask makes a short call of a model. Nothing that happens in it ends the
// process.
func (r *Runner) ask(ctx context.Context, model, system, text string) (answer string, usage core.Usage, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	provider, name, err := r.o.Provider(model)
	if err != nil {
		return "", usage, err
	}
	call := core.Call{Model: name, System: system, Messages: []core.ChatMessage{{Role: core.UserRole, Content: text}},
		Params: map[string]any{"temperature": 0, "max_tokens": sortTokens}}
	answer, usage, err = listen(ctx, provider, call)
	if fault, ok := errors.AsType[*core.ModelError](err); ok && fault.Fault == core.FaultRequest {
		delete(call.Params, "temperature") // not every model takes one
		answer, usage, err = listen(ctx, provider, call)
	}
	return answer, usage, err
}

// listen is all that a model says to a call.
func listen(ctx context.Context, provider core.Provider, call core.Call) (answer string, usage core.Usage, err error) {
	var text strings.Builder
	defer func() { usage.Calls = 1 }()
	for chunk, err := range provider.Stream(ctx, call) {
		if err != nil {
			return "", usage, err
		}
		if chunk.Reset {
			text.Reset()
		}
		if text.Len() < 16*sortTokens {
			text.WriteString(chunk.Text)
		}
		if chunk.Usage != nil {
			usage = usage.Add(*chunk.Usage)
		}
	}
	if err := ctx.Err(); err != nil {
		return "", usage, context.Cause(ctx)
	}
	return text.String(), usage, nil
}
