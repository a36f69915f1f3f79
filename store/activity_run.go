package store

import (
	"cmp"
	"fmt"

	"bellhop/core"
)

// What runs and their posts note in the activity log.

// aboutRun is an activity of a run.
func aboutRun(e core.Event, run core.Run, detail string) core.Activity {
	return core.Activity{Event: e, Actor: core.Actor{ID: run.Bot}, Thread: run.Thread, Place: run.Reply.Place, Run: run.ID, Detail: detail}
}

// logPick notes the items that the run has taken, or that it goes on.
func (t *tx) logPick(run core.Run, items []core.Item) error {
	if len(items) == 0 {
		return nil
	}
	a := aboutRun(core.RunPicked, run, "")
	if items[0].Kind == core.ResumeItem {
		a.Event = core.RunResumed
		return t.log(a)
	}
	name(&a, items)
	return t.log(a)
}

// logJoin notes what the run has taken in after a step.
func (t *tx) logJoin(run core.Run, items []core.Item, step int) error {
	a := aboutRun(core.RunJoined, run, fmt.Sprint(step))
	name(&a, items)
	return t.log(a)
}

// name adds items and their messages.
func name(a *core.Activity, items []core.Item) {
	for _, it := range items {
		a.Items = append(a.Items, it.ID)
		if n := len(a.Messages); n == 0 || a.Messages[n-1] != it.Message {
			a.Messages = append(a.Messages, it.Message)
		}
	}
}

// logEnd notes how the run has ended.
func (t *tx) logEnd(run core.Run) error {
	events := map[core.State]core.Event{core.Done: core.RunDone, core.Failed: core.RunFailed, core.Cancelled: core.RunStopped}
	a := aboutRun(events[run.State], run, run.Error)
	a.Messages, a.Items, a.Took = run.Triggers, run.Items, run.Ended.Sub(run.Created)
	return t.log(a)
}

// logInterrupt notes that a process ended within the run.
func (t *tx) logInterrupt(run core.Run, clean bool) error {
	crashes := run.Resumes
	if clean {
		crashes = 0
	}
	return t.log(aboutRun(core.RunInterrupt, run, fmt.Sprint(crashes)))
}

// logDelivery notes that the last piece of an outcome is shown.
func (t *tx) logDelivery(row core.Row, post core.Post) error {
	if !row.Last || row.Again {
		return nil
	}
	a := core.Activity{Event: core.PostDelivered, Thread: post.Thread, Place: post.Place, Run: runOf(post)}
	if post.Chunks > 1 {
		a.Detail = fmt.Sprint(post.Chunks)
	}
	return t.log(a)
}

// logDead notes that an outcome will not be shown.
func (t *tx) logDead(post core.Post) error {
	return t.log(core.Activity{Event: core.PostDead, Thread: post.Thread, Place: post.Place, Run: runOf(post), Detail: post.Dead})
}

// runOf is the post's run, or what stands for one in the log.
func runOf(p core.Post) core.ID { return cmp.Or(p.Run, p.ID.As(core.KindRun)) }

// logWait notes that the run waits for a person.
func (t *tx) logWait(run core.Run, a core.Ask) error {
	return t.log(aboutRun(core.RunWaiting, run, string(a.ID)))
}

// logAsk notes what became of a question.
func (t *tx) logAsk(a core.Ask) error {
	return t.log(core.Activity{Event: core.AskEnded, Actor: core.Actor{ID: string(a.By.ID)}, Thread: a.Thread, Place: a.Place, Run: a.Run, Detail: string(a.State)})
}
