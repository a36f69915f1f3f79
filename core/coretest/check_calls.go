package coretest

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"bellhop/core"
	"bellhop/core/prompt"
)

// checkCalls: what the models were asked (invariants 10 and 11).
func (c *checker) checkCalls(calls []*asked) {
	last := map[seat]*asked{}
	calls = slices.DeleteFunc(slices.Clone(calls), func(a *asked) bool { return prompt.Sorts(a.call) })
	for _, a := range calls {
		c.checkResults(a.call)
		at := seat{a.call.Model, a.attempt.thread}
		if before := last[at]; before != nil && sameRun(before, a) && !c.edited(a.run) && !c.changed(a.run) && !strings.HasPrefix(flat(a.call.Messages)+"\x00", flat(before.call.Messages)+"\x00") {
			c.problem("a request of %s in %s is no longer the beginning of the next:\n%s\n----\n%s", at.bot, at.thread, flat(before.call.Messages), flat(a.call.Messages))
		}
		if before := last[at]; before != nil && before.call.System != a.call.System {
			c.problem("the system prompt of %s has changed", at.bot)
		}
		last[at] = a
	}
	c.checkRunsPrefix(calls)
}

// seat is where a run takes place.
type seat struct {
	bot    string
	thread core.ID
}

// checkResults: every tool call is followed by exactly one result.
func (c *checker) checkResults(call core.Call) {
	open := map[string]bool{}
	for _, m := range call.Messages {
		if m.Role == core.ToolRole {
			if !open[m.CallID] {
				c.problem("%s reads a result of %s, which is not open", call.Model, m.CallID)
			}
			delete(open, m.CallID)
			continue
		}
		if len(open) > 0 {
			c.problem("%s misses the results of %v", call.Model, slices.Sorted(maps.Keys(open)))
		}
		for _, t := range m.Calls {
			if open[t.ID] {
				c.problem("%s reads two calls %s", call.Model, t.ID)
			}
			open[t.ID] = true
		}
	}
	if len(open) > 0 {
		c.problem("%s misses the results of %v", call.Model, slices.Sorted(maps.Keys(open)))
	}
}

// sameRun reports whether the two calls, which follow each other, are of one
// run with one pick: by one execution of it, or both with the tail that is
// stored. What was picked and not stored may be picked anew.
func sameRun(a, b *asked) bool {
	if b.run.ID == "" || a.overflow {
		return false
	}
	shared := slices.ContainsFunc(a.attempt.items, func(id core.ID) bool { return slices.Contains(b.run.Items, id) })
	tail := func(c *asked) bool { return strings.Contains(flat(c.call.Messages), b.run.Tail) }
	stored := b.run.Steps > 0 // the pick with the first step, whatever was picked and stored before
	return a.attempt == b.attempt || (a.run.ID == b.run.ID || shared) && stored && tail(a) && tail(b)
}

// edited reports whether a message of the run was edited before a run had
// joined it: then there may have been a pick with its old text.
func (c *checker) edited(run core.Run) bool {
	return slices.ContainsFunc(c.Messages, func(m core.Message) bool { return m.Version > 0 && slices.Contains(run.Triggers, m.ID) })
}

// flat is messages as bytes. It leaves the last message open, so that one that
// goes on is its continuation.
func flat(messages []core.ChatMessage) string {
	var b strings.Builder
	for i, m := range messages {
		if i > 0 {
			b.WriteString("\x00")
		}
		b.WriteString(string(m.Role) + " " + m.CallID + "\n" + m.Content)
		for _, t := range m.Calls {
			b.WriteString("\n[" + t.ID + " " + t.Name + " " + t.Args + "]")
		}
	}
	return b.String()
}

// checkRunsPrefix: without its tail, the first request of a run is the
// beginning of the next run's first, unless the window has moved, or the bot
// sees only what is for it from here on, or all of it again. Of what is for it, a
// model may choose it for something that was said before what it has read; and
// what it has read that waited for another bot, its author may have changed.
func (c *checker) checkRunsPrefix(calls []*asked) {
	byID := map[core.ID]core.Run{}
	for _, r := range c.Runs {
		byID[r.ID] = r
	}
	first := map[core.ID]*asked{}
	for _, a := range calls {
		run := c.runOf(a)
		if tail := byID[run].Tail; tail == "" || !strings.Contains(flat(a.call.Messages), tail) {
			continue // of a pick that was never stored
		}
		if have := first[run]; have == nil || len(a.call.Messages) <= len(have.call.Messages) {
			first[run] = a
		}
	}
	runs := slices.SortedFunc(maps.Keys(first), func(x, y core.ID) int { return cmp.Compare(x.Seq(), y.Seq()) })
	last := map[seat]core.ID{}
	for _, id := range runs {
		run := byID[id]
		at := seat{run.Bot, run.Thread}
		before, ok := last[at]
		last[at] = id
		if !ok || byID[before].Cut != run.Cut || byID[before].Scoped != run.Scoped || c.retries(run) || run.Scoped && c.sorts || c.changed(byID[before]) {
			continue
		}
		if x, y := withoutTail(first[before]), flat(first[id].call.Messages); !strings.HasPrefix(y, x) {
			c.problem("the history that %s read is not the beginning of what %s read:\n%s\n----\n%s", before, id, x, y)
		}
	}
}

// changed reports whether a message that the run has read, and that did not begin
// it, was replaced by another text.
func (c *checker) changed(run core.Run) bool {
	return slices.ContainsFunc(c.Messages, func(m core.Message) bool {
		return m.Version > 0 && m.Thread == run.Thread && m.ID.Seq() <= run.Upto.Seq() && !slices.Contains(run.Triggers, m.ID)
	})
}

// retries reports whether the run answers messages again: what was not to be
// had for them may be had by now.
func (c *checker) retries(run core.Run) bool {
	return slices.ContainsFunc(c.Items, func(it core.Item) bool { return it.Run == run.ID && it.Parent != "" })
}

// runOf is the run that a call was made in; empty while that is not stored.
func (c *checker) runOf(a *asked) core.ID {
	for _, it := range c.Items {
		if it.Run != "" && slices.Contains(a.attempt.items, it.ID) {
			return it.Run
		}
	}
	return ""
}

// withoutTail is a run's first request, but for its tail.
func withoutTail(a *asked) string {
	text := flat(a.call.Messages)
	if i := strings.LastIndex(text, "⟦now⟧"); i >= 0 {
		text = text[:i]
	}
	text = strings.TrimSuffix(text, "\n\n")
	return strings.TrimSuffix(text, "\x00user \n")
}
