package coretest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"bellhop/core"
	"bellhop/core/llm/script"
	"bellhop/tools"
)

// minds are the models of all bots. Like a provider's, they outlive the
// appliance.
type minds struct {
	*script.Provider
	always map[string]script.Reply // set before the lines that need it

	mu    sync.Mutex // guards the fields below
	calls []*asked
}

// asked is one call of a model.
type asked struct {
	attempt  *attempt
	call     core.Call
	run      core.Run // as stored when the call was made; zero: not yet
	overflow bool     // refused, so that the next may be shorter
}

func newMinds(problem func(string, ...any)) *minds {
	m := &minds{Provider: script.New(), always: map[string]script.Reply{}}
	m.Default = func(call core.Call) script.Reply {
		if reply, ok := m.always[call.Model]; ok {
			return reply
		}
		problem("the model of %s is called, and the script has no reply for it", call.Model)
		return script.Say("(no reply is written)")
	}
	return m
}

// of are the calls of a bot's model.
func (m *minds) of(bot string) []*asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.calls), func(a *asked) bool { return bot != "" && a.call.Model != bot })
}

// model is the way of one life to the models.
type model struct{ life *life }

// Stream implements core.Provider.
func (m *model) Stream(ctx context.Context, call core.Call) iter.Seq2[core.Chunk, error] {
	return func(yield func(core.Chunk, error) bool) {
		l, minds := m.life, m.life.w.minds
		call.Messages = slices.Clone(call.Messages)
		a := &asked{call: call}
		a.attempt, _ = ctx.Value(attemptKey{}).(*attempt)
		if a.attempt != nil {
			a.run = l.openRun(ctx, a.attempt)
		}
		if l.over() {
			yield(core.Chunk{}, errKilled)
			return
		}
		minds.mu.Lock()
		minds.calls = append(minds.calls, a)
		minds.mu.Unlock()
		defer l.calling()()
		if l.reach("before", "model") {
			yield(core.Chunk{}, errKilled)
			return
		}
		for chunk, err := range minds.Stream(ctx, call) {
			if chunk.Finish != "" && l.reach("after", "model") {
				chunk, err = core.Chunk{}, errKilled
			}
			if e, ok := errors.AsType[*core.ModelError](err); ok {
				a.overflow = e.Fault == core.FaultOverflow
			}
			if !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

// openRun is the stored run in progress of the attempt's bot and thread.
func (l *life) openRun(ctx context.Context, a *attempt) core.Run {
	books, err := l.store.Audit(ctx)
	if err != nil {
		return core.Run{}
	}
	for _, r := range books.Runs {
		if r.Bot == a.bot && r.Thread == a.thread && !r.State.Terminal() {
			return r
		}
	}
	return core.Run{}
}

// trialTools are tools of every kind that the run loop tells apart:
//
//	look     reads; harmless to run again
//	dig      reads for a while ("2m"), and says so in words of its own
//	note     changes something, and may run again
//	fire     changes something, and must not run twice
//	fail     fails in a way that the model can work around
//	broken   fails so that the run cannot go on
//	panics   is wrong
func (l *life) trialTools() []core.Tool {
	type arguments struct {
		What string `json:"what,omitempty" doc:"what"`
	}
	tool := func(spec core.ToolSpec, f func(what string) (core.ToolResult, error)) core.Tool {
		spec.Description = "for trials"
		return tools.Func(spec, func(ctx context.Context, _ *core.Env, in arguments) (core.ToolResult, error) {
			defer l.calling()()
			if d, err := time.ParseDuration(in.What); err == nil && spec.Name == "dig" {
				pause(ctx, d)
			}
			if l.reach("before", "tool") {
				return core.ToolResult{}, errKilled
			}
			l.w.effect(spec.Name + " " + in.What)
			result, err := f(in.What)
			if l.reach("after", "tool") {
				return core.ToolResult{}, errKilled
			}
			return result, err
		})
	}
	says := func(format string) func(string) (core.ToolResult, error) {
		return func(what string) (core.ToolResult, error) {
			return core.ToolResult{Text: fmt.Sprintf(format, what)}, nil
		}
	}
	return []core.Tool{
		tool(core.ToolSpec{Name: "look", ReadOnly: true, Idempotent: true}, says("seen: %s")),
		tool(core.ToolSpec{Name: "dig", Status: "digging in the garden", ReadOnly: true, Idempotent: true}, says("dug for %s")),
		tool(core.ToolSpec{Name: "note", Idempotent: true}, says("noted: %s")),
		tool(core.ToolSpec{Name: "fire"}, says("fired: %s")),
		tool(core.ToolSpec{Name: "fail", ReadOnly: true}, func(what string) (core.ToolResult, error) {
			return core.ToolResult{Text: "there is no " + what, Failed: true}, nil
		}),
		tool(core.ToolSpec{Name: "broken", ReadOnly: true}, func(what string) (core.ToolResult, error) {
			return core.ToolResult{}, fmt.Errorf("the disk with %s is gone", what)
		}),
		tool(core.ToolSpec{Name: "panics", ReadOnly: true}, func(what string) (core.ToolResult, error) { panic(what) }),
	}
}
