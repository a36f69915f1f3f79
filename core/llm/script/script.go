// Package script is a model provider without a model: it plays replies that
// were written down. Tests use it to say exactly what a model answers; Demo
// lets a person try everything else without a key.
//
// It imports core alone and starts no goroutine. Its pauses are timers, so in a
// testing/synctest bubble they take no time.
package script

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"bellhop/core"
)

// Provider plays each model its own replies, first in first out, and keeps
// every call it got. It is safe for concurrent use.
type Provider struct {
	// Default answers a call when no reply is queued for its model. Nil: the
	// call fails. It is set before the first call.
	Default func(core.Call) Reply

	mu     sync.Mutex
	queues map[string][]Reply
	calls  []core.Call
	tools  map[string]int // how many tool calls a model has made
}

var _ core.Provider = (*Provider)(nil)

// New makes a provider whose replies, one a line as Parse reads them, go to any
// model that has none of its own. A line that does not parse panics, since it
// stands in the source.
func New(lines ...string) *Provider {
	p := &Provider{queues: map[string][]Reply{}, tools: map[string]int{}}
	for _, line := range lines {
		p.Queue("", MustParse(line))
	}
	return p
}

// Queue adds replies for a model; "" is any model that has none of its own.
func (p *Provider) Queue(model string, replies ...Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queues[model] = append(p.queues[model], replies...)
}

// Pending is how many replies are queued for a model, so that a test can see
// that all were played.
func (p *Provider) Pending(model string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queues[model])
}

// Calls returns the calls of a model so far, or with "" all of them.
func (p *Provider) Calls(model string) []core.Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	var calls []core.Call
	for _, c := range p.calls {
		if model == "" || c.Model == model {
			calls = append(calls, c)
		}
	}
	return calls
}

// Stream plays the next reply. Ids of tool calls count up per model: call_1,
// call_2.
func (p *Provider) Stream(ctx context.Context, call core.Call) iter.Seq2[core.Chunk, error] {
	return func(yield func(core.Chunk, error) bool) {
		reply, id, ok := p.next(call)
		if !ok {
			yield(core.Chunk{}, failure(call, core.FaultRequest, "no reply is queued"))
			return
		}
		play(ctx, call, reply, id, yield)
	}
}

// next records a call and takes its reply; id is the number of the reply's
// first tool call.
func (p *Provider) next(call core.Call) (reply Reply, id int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	call.Messages = slices.Clone(call.Messages)
	p.calls = append(p.calls, call)
	model := call.Model
	if len(p.queues[model]) == 0 {
		model = ""
	}
	switch queue := p.queues[model]; {
	case len(queue) > 0:
		reply, p.queues[model] = queue[0], queue[1:]
	case p.Default != nil:
		reply = p.Default(call)
	default:
		return nil, 0, false
	}
	id = p.tools[call.Model] + 1
	p.tools[call.Model] += reply.toolCalls()
	return reply, id, true
}

func failure(call core.Call, fault core.ModelFault, msg string) *core.ModelError {
	return &core.ModelError{Fault: fault, Model: "script/" + call.Model, Tries: 1, Msg: fmt.Sprintf("script: %s", msg)}
}
