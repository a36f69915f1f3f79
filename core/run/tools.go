package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"bellhop/core"
)

const (
	// maxRepeats is how often a run may make the same call: the third stops it.
	maxRepeats = 3
	// maxStrikes is how many calls with unreadable arguments a run may make.
	maxStrikes = 3
)

// step does what a reply's tool calls ask for and keeps it. If the run must end
// because it goes in circles, it does nothing and says so.
func (t *turn) step(ctx context.Context, r *reply) (why string, err error) {
	st := core.Step{Run: t.run.ID, N: len(t.steps) + 1, Parts: r.parts(), Finish: r.finish, Usage: r.usage,
		Time: time.Now().UTC().Truncate(time.Millisecond)}
	seen := t.callIDs()
	for i, c := range r.calls {
		use := &core.ToolUse{CallID: c.ID, Name: c.Name, Args: c.Args, State: core.ToolPending}
		if use.CallID == "" || seen[use.CallID] {
			use.CallID = fmt.Sprintf("call_%d_%d", st.N, i+1)
		}
		seen[use.CallID] = true
		// What was cut off must not be mended: half of a file is not the file.
		args, ok := c.Args, r.finish != core.FinishLength || json.Valid([]byte(c.Args))
		if ok {
			args, ok = t.o.Repair(c.Args)
		}
		st.Parts = append(st.Parts, core.Part{Kind: core.ToolPart, Tool: use})
		if !ok {
			t.strikes++
			use.State, use.Output = core.ToolFailed, unreadable(c, r.finish)
			continue
		}
		use.Args = args
		if t.repeats(use, &st) >= maxRepeats {
			return fmt.Sprintf("I was about to call `%s` with the same arguments a third time, so I stopped: I was going in circles.", use.Name), nil
		}
	}
	if t.strikes >= maxStrikes {
		return fmt.Sprintf("The model wrote %d tool calls that cannot be read, so I stopped.", t.strikes), nil
	}
	return "", t.finishTools(ctx, &st)
}

// unreadable is what the model is told of arguments that are not JSON.
func unreadable(c core.ToolCall, finish core.Finish) string {
	if finish == core.FinishLength {
		return "The call was cut off at the output limit before its arguments were complete, so it was not run. Write shorter arguments, or split the work over several calls."
	}
	return fmt.Sprintf("The arguments of %s are not a JSON object, so it was not run. Write them again as one JSON object.", c.Name)
}

// callIDs are the IDs that the run's calls have used.
func (t *turn) callIDs() map[string]bool {
	seen := map[string]bool{}
	for _, st := range t.steps {
		for _, p := range st.Parts {
			if p.Tool != nil {
				seen[p.Tool.CallID] = true
			}
		}
	}
	return seen
}

// repeats counts how often the run has made this very call, this time
// included.
func (t *turn) repeats(use *core.ToolUse, now *core.Step) int {
	n, args := 0, t.o.Canonical(use.Args)
	count := func(st *core.Step) {
		for _, p := range st.Parts {
			if p.Tool != nil && p.Tool.Name == use.Name && t.o.Canonical(p.Tool.Args) == args {
				n++
			}
		}
	}
	for i := range t.steps {
		count(&t.steps[i])
	}
	count(now)
	return n
}

// finishTools runs the step's calls that have no result yet, and keeps the
// step. A call to a tool that changes something is on record before it starts,
// so that a crash in it is noticed: it is then run again only if the tool is
// idempotent, and otherwise the model is told that its outcome is unknown.
func (t *turn) finishTools(ctx context.Context, st *core.Step) error {
	fresh := st.N > len(t.steps)
	work := fresh
	for _, p := range st.Parts {
		use := p.Tool
		if use == nil || use.State != core.ToolPending && use.State != core.ToolRunning {
			continue
		}
		work = true
		tool, err := t.o.Tools.Find(t.bot, use.Name)
		if err != nil {
			use.State, use.Output = core.ToolFailed, err.Error()
			continue
		}
		spec := tool.Spec()
		again := spec.ReadOnly || spec.Idempotent
		if use.State == core.ToolRunning && !again {
			use.State = core.ToolUnknown
			continue
		}
		if ok, err := t.permit(ctx, st, use, spec); err != nil {
			return err
		} else if !ok {
			continue
		}
		use.State, use.Started = core.ToolRunning, time.Now().UTC().Truncate(time.Millisecond)
		if !spec.ReadOnly {
			if err := t.keep(ctx, *st); err != nil {
				return err
			}
		}
		t.o.Outbox.Update(t.run, core.Preview{Text: cmp.Or(strings.TrimSpace(st.Text()), t.said()), Status: cmp.Or(spec.Status, "using "+use.Name)})
		result, err := tool.Call(ctx, &core.Env{Bot: t.bot.Handle, Thread: t.run.Thread, Run: t.run.ID, Place: t.run.Reply.Place, Zone: t.view.Local, Workspace: t.folder},
			core.ToolCall{ID: use.CallID, Name: use.Name, Args: use.Args})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("tool %s: %w", use.Name, err)
		case result.Question != nil:
			return t.askQuestion(ctx, st, use, *result.Question)
		}
		use.State, use.Output, use.Ended = core.ToolDone, t.o.Cap(result.Text, spec.MaxOutput), time.Now().UTC().Truncate(time.Millisecond)
		if result.Failed {
			use.State = core.ToolFailed
		}
	}
	if !work {
		return nil
	}
	return t.keep(ctx, *st)
}
