package run

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/core/prompt"
)

// noText is the outcome of a run whose model says nothing: never silence.
const noText = "(done, no text)"

// answer is the end of a run with the model's last words.
func (t *turn) answer(reply *reply) core.Settlement {
	text := strings.TrimSpace(t.unfinished() + reply.text.String())
	if text == "" {
		text = t.said() // better than nothing
	}
	shown := text
	switch {
	case text == "" && reply.finish == core.FinishFilter:
		return t.failed("The model's provider refused to answer this.", "content filter")
	case text == "":
		text, shown = noText, noText
	case reply.finish == core.FinishLength:
		shown += "\n\n(The answer is cut here: it is longer than the model can write at once.)"
	}
	return core.Settlement{State: core.Done, Kind: core.AnswerPost, Text: shown, Answer: text, Thinking: t.thoughts(reply)}
}

// command is how the people there write a command.
func (t *turn) command(name string) string {
	return t.o.Outbox.Features(t.run.Reply.Place.Adapter).Command(name)
}

// failed is the end with an honest notice.
func (t *turn) failed(text, detail string) core.Settlement {
	t.log.Warn("run failed", "err", detail)
	return t.retryable(core.Settlement{State: core.Failed, Kind: core.ErrorPost, Text: "⚠ " + text, Error: detail})
}

// limited is the end of a run that reached one of its own bounds: what it said
// so far stays, and the notice follows.
func (t *turn) limited(why string) core.Settlement {
	said := t.said()
	text := "⚠ " + why
	if said != "" {
		text = said + "\n\n" + text
	}
	t.log.Warn("run reached a limit", "why", why)
	return t.retryable(core.Settlement{State: core.Failed, Kind: core.ErrorPost, Text: text, Answer: said, Error: why})
}

// retryable offers another try: in words, which work for good, and with a button
// where there are buttons.
func (t *turn) retryable(end core.Settlement) core.Settlement {
	end.Text += " " + t.command("retry") + " tries again."
	if t.o.Outbox.Features(t.run.Reply.Place.Adapter).Buttons {
		end.Buttons = []core.Button{{Label: "Retry", Value: "retry " + string(t.run.ID)}}
	}
	return end
}

// thoughts is what the model has thought on its way, the reply included.
func (t *turn) thoughts(reply *reply) string {
	var all []string
	for _, st := range t.steps {
		for _, p := range st.Parts {
			if p.Kind == core.ReasoningPart {
				all = append(all, p.Text)
			}
		}
	}
	return strings.Join(append(all, reply.reasoning.String()), "\n\n")
}

// said is what the model said last on its way.
func (t *turn) said() string {
	for i := len(t.steps) - 1; i >= 0; i-- {
		if text := strings.TrimSpace(t.steps[i].Text()); text != "" {
			return text
		}
	}
	return ""
}

// settle stores the end and sets going what follows from it.
func (t *turn) settle(ctx context.Context, end core.Settlement) error {
	end.Digest = prompt.Digest(t.steps)
	end.Usage, end.Steps = t.run.Usage, len(t.steps)
	end.Titles = t.o.Due != nil
	end.Bots, end.Externals, end.MaxHops = t.o.Outbox.Handles(), core.Listeners(t.o.Externals), t.o.MaxHops
	end.Split, end.Speaker = t.o.Outbox.Split, t.speaker()
	if end.Thinking != "" && t.o.Outbox.Thinks(t.run.Reply.Place) {
		end.Outcome = func(p core.Place, markdown string) []core.Piece {
			return t.o.Outbox.SplitBelow(p, markdown, end.Thinking)
		}
	}
	var done core.Settled
	open := t.o.Outbox.Receipt(ctx, t.run)
	err := t.store(ctx, func(ctx context.Context) (err error) {
		done, err = t.o.Store.Settle(ctx, t.run, open, end)
		return err
	})
	if err != nil {
		return err
	}
	t.o.Outbox.Deliver(done.Rows)
	if len(done.Items) > 0 {
		t.o.Wake(done.Items)
	}
	if done.Due {
		t.o.Due(t.run.Thread)
	}
	t.log.Debug("run settled", "state", end.State, "steps", end.Steps, "in", end.Usage.Input, "out", end.Usage.Output)
	return nil
}

// explain says what a person should know of a failed model call, and what the
// log should.
func (t *turn) explain(err error) (text, detail string) {
	detail = err.Error()
	fault, ok := errors.AsType[*core.ModelError](err)
	if !ok {
		if user, told := errors.AsType[*core.UserError](err); told {
			return user.Text, detail
		}
		return "Something went wrong inside me, and I stopped working on this.", detail
	}
	tries := ""
	if fault.Tries > 1 {
		tries = fmt.Sprintf(" I tried %d times.", fault.Tries)
	}
	switch fault.Fault {
	case core.FaultAuth:
		return fmt.Sprintf("The model %s refuses my API key; my owner must check it.", fault.Model), detail
	case core.FaultRate:
		if fault.After > 0 {
			return fmt.Sprintf("The model %s takes no more requests for another %s.%s", fault.Model, fault.After.Round(time.Second), tries), detail
		}
		return fmt.Sprintf("The model %s takes no more requests right now.%s", fault.Model, tries), detail
	case core.FaultOverload:
		return fmt.Sprintf("The model %s is overloaded or broken right now.%s", fault.Model, tries), detail
	case core.FaultOverflow:
		return fmt.Sprintf("This is more text than the model %s can take. %s starts a fresh conversation; a shorter message may help too.", fault.Model, t.command("new")), detail
	case core.FaultRequest:
		return fmt.Sprintf("The model %s refuses the request; my owner finds the reason in the log.", fault.Model), detail
	case core.FaultTruncated, core.FaultReply:
		return fmt.Sprintf("The model %s broke off in the middle of its answer.%s", fault.Model, tries), detail
	}
	return fmt.Sprintf("I cannot reach the model %s.%s", fault.Model, tries), detail
}
