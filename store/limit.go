package store

import (
	"slices"

	"bellhop/core"
)

// taken is what a batch has brought of a human.
type taken struct {
	messages int
	told     bool     // that no more is taken
	refused  bool     // aloud
	beneath  []string // commands for which that was said, with their channels
}

// hushed reports whether it is not said again that a command is for others: among
// others, it is said now and then.
func (a *acceptance) hushed(e *core.Entry) bool {
	t := a.tally[a.human.ID]
	what := e.Command.Name + " " + e.In.Place.Channel
	switch {
	case e.In.Direct:
		return false
	case e.Hushed, slices.Contains(t.beneath, what):
		return true
	}
	t.beneath = append(t.beneath, what)
	a.tally[a.human.ID] = t
	return false
}

// take counts a message of the human, unless nothing of them is taken for now.
func (a *acceptance) take(e *core.Entry) bool {
	t := a.tally[a.human.ID]
	if e.Quota != nil && t.messages >= e.Quota(a.human.ID).Left {
		return false
	}
	t.messages++
	a.tally[a.human.ID] = t
	return true
}

// limit leaves a message out, and says so once. Its text is not kept.
func (a *acceptance) limit(e *core.Entry, place core.Place) (core.Fate, error) {
	if e.In.Kind == core.InMessage {
		if err := a.miss(e, place); err != nil {
			return "", err
		}
	}
	t := a.tally[a.human.ID]
	spent := e.Quota(a.human.ID).Spent
	if spent == "" || t.told {
		return core.FateLimited, nil
	}
	t.told = true
	a.tally[a.human.ID] = t
	return core.FateLimited, a.say(core.RefusalPost, "", &e.In, place, spent)
}
