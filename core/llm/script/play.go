package script

import (
	"context"
	"fmt"
	"strings"
	"time"

	"bellhop/core"
)

// statuses are those that endpoints use; none for what is no answer.
var statuses = map[core.ModelFault]int{
	core.FaultAuth: 401, core.FaultRate: 429, core.FaultOverload: 529,
	core.FaultOverflow: 400, core.FaultRequest: 400,
}

// player plays one reply.
type player struct {
	ctx   context.Context
	yield func(core.Chunk, error) bool
	call  core.Call
	id    int // of the next tool call
	tools int // tool calls since the last retry
	out   int // bytes since the last retry
	usage *core.Usage
}

// play plays a reply, as a real provider would yield it.
func play(ctx context.Context, call core.Call, reply Reply, id int, yield func(core.Chunk, error) bool) {
	p := &player{ctx: ctx, yield: yield, call: call, id: id}
	finish := core.FinishStop
	for _, b := range reply {
		if ctx.Err() != nil {
			yield(core.Chunk{}, context.Cause(ctx))
			return
		}
		switch b.verb {
		case verbLength:
			finish = core.FinishLength
		case verbFilter:
			finish = core.FinishFilter
		}
		if !p.block(b) {
			return
		}
	}
	if finish == core.FinishStop && p.tools > 0 {
		finish = core.FinishTools
	}
	if p.usage == nil {
		p.usage = &core.Usage{Calls: 1, Input: tokens(len(Render(call))), Output: tokens(p.out)}
	}
	yield(core.Chunk{Finish: finish, Usage: p.usage}, nil)
}

// block plays one block and reports whether the reply goes on.
func (p *player) block(b block) bool {
	switch b.verb {
	case verbSay, verbText, verbLength:
		return p.say(b.text)
	case verbReason:
		p.out += len(b.text)
		return p.yield(core.Chunk{Reasoning: b.text}, nil)
	case verbTool:
		return p.tool(b)
	case verbSlow:
		for word := range strings.SplitAfterSeq(b.text, " ") {
			if !p.wait(b.pause) || !p.say(word) {
				return false
			}
		}
	case verbWait:
		return p.wait(b.pause)
	case verbRetry:
		p.tools, p.out = 0, 0
		return p.yield(core.Chunk{Reset: true, Retry: b.n}, nil)
	case verbUsage:
		p.usage = &core.Usage{Calls: 1, Input: b.n, Output: b.m}
	case verbTruncated:
		return p.fail(core.FaultTruncated, 0)
	case verbError:
		return p.fail(core.ModelFault(b.name), b.pause)
	case verbHang:
		<-p.ctx.Done()
		p.yield(core.Chunk{}, context.Cause(p.ctx))
		return false
	}
	return true
}

func (p *player) say(text string) bool {
	p.out += len(text)
	return p.yield(core.Chunk{Text: text}, nil)
}

// tool yields a call in two pieces, as streams do.
func (p *player) tool(b block) bool {
	p.out += len(b.name) + len(b.text)
	i := p.tools
	p.tools++
	id := fmt.Sprintf("call_%d", p.id)
	p.id++
	return p.yield(core.Chunk{Call: &core.CallDelta{Index: i, ID: id, Name: b.name}}, nil) &&
		p.yield(core.Chunk{Call: &core.CallDelta{Index: i, Args: b.text}}, nil)
}

func (p *player) fail(fault core.ModelFault, after time.Duration) bool {
	err := failure(p.call, fault, "as written")
	err.Status, err.After = statuses[fault], after
	p.yield(core.Chunk{}, err)
	return false
}

// wait pauses; when the context ends first, that ends the reply.
func (p *player) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.ctx.Done():
		p.yield(core.Chunk{}, context.Cause(p.ctx))
		return false
	}
}

// tokens guesses from a number of bytes.
func tokens(n int) int { return (n + 3) / 4 }
