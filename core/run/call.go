package run

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"bellhop/core"
)

// reply is one model call's answer as it comes in.
type reply struct {
	text      strings.Builder
	reasoning strings.Builder
	calls     []core.ToolCall
	finish    core.Finish
	usage     core.Usage
}

// parts are the reply's words as a step keeps them.
func (r *reply) parts() []core.Part {
	parts := []core.Part{{Kind: core.StepStartPart}}
	if s := r.reasoning.String(); s != "" {
		parts = append(parts, core.Part{Kind: core.ReasoningPart, Text: s})
	}
	if s := r.text.String(); s != "" {
		parts = append(parts, core.Text(s))
	}
	return parts
}

// maxCalls is the most tool calls that one reply may ask for; a model that
// asks for more is broken.
const maxCalls = 64

// call makes one model call and shows its text as it grows.
func (t *turn) call(ctx context.Context, provider core.Provider, call core.Call) (*reply, error) {
	r := &reply{}
	before := t.unfinished()
	said := cmp.Or(before, t.said())
	thinking := core.Preview{Text: said, Status: "thinking", Usual: true}
	shown := t.o.Outbox.Thinks(t.run.Reply.Place)
	if shown {
		thinking.Thinking = t.thoughts(r)
	}
	t.o.Outbox.Update(t.run, thinking)
	for chunk, err := range provider.Stream(ctx, call) {
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return r, err
		}
		if chunk.Reset {
			*r = reply{}
			if chunk.Retry > 0 {
				waiting := core.Preview{Text: said, Status: fmt.Sprintf("waiting for the model, try %d", chunk.Retry+1)}
				t.o.Outbox.Update(t.run, waiting)
			}
			continue
		}
		r.reasoning.WriteString(chunk.Reasoning)
		if chunk.Text != "" {
			r.text.WriteString(chunk.Text)
			thinking.Text = before + r.text.String()
			if shown && r.text.Len() == len(chunk.Text) { // it has begun to speak
				thinking.Thinking = t.thoughts(r)
			}
			t.o.Outbox.Update(t.run, thinking)
		}
		if d := chunk.Call; d != nil {
			if d.Index < 0 || d.Index >= maxCalls {
				return r, &core.ModelError{Fault: core.FaultReply, Model: t.bot.Model, Msg: fmt.Sprintf("tool call number %d", d.Index)}
			}
			for len(r.calls) <= d.Index {
				r.calls = append(r.calls, core.ToolCall{})
			}
			c := &r.calls[d.Index]
			c.ID += d.ID
			c.Name += d.Name
			c.Args += d.Args
		}
		if chunk.Usage != nil {
			r.usage = r.usage.Add(*chunk.Usage)
		}
		if chunk.Finish != "" {
			r.finish = chunk.Finish
		}
	}
	if ctx.Err() != nil && r.finish == "" {
		return r, context.Cause(ctx)
	}
	r.usage.Calls = 1
	return r, nil
}
