package store

import "bellhop/core"

// taken is what a batch has brought of a human.
type taken struct {
	messages int
	told     bool // that no more is taken
	refused  bool // aloud
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
