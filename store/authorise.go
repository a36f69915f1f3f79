package store

import (
	"cmp"

	"bellhop/core"
)

// authorise is core.Authorise for the event, with what of the deed only the
// ledger knows.
func (a *acceptance) authorise(e *core.Entry, d core.Deed) core.Verdict {
	d.Kind = e.In.Kind
	d.Code = e.Code != nil && e.In.Direct && e.Command != nil && e.Command.Codes
	return core.Authorise(e.In.From, a.standing.Role, d)
}

// turnAway is for who may do nothing here. What they wrote is not kept.
func (a *acceptance) turnAway(e *core.Entry, place core.Place) (core.Fate, error) {
	switch e.In.Kind {
	case core.InMessage:
	case core.InButton:
		a.note = strangerNote
		return core.FateRefused, nil
	default:
		return core.FateRefused, nil
	}
	switch {
	case e.Code == nil:
	case e.Command != nil && e.Command.Codes: // among others
		if err := a.closeLink(e.Code); err != nil {
			return "", err
		}
	default:
		if ok, err := a.enter(e, place); ok || err != nil {
			return core.FateCommand, err
		}
	}
	if err := a.miss(e, place); err != nil {
		return "", err
	}
	return a.refuse(e, place)
}

// refuse speaks to a person who may not, once in a batch, or stays silent.
func (a *acceptance) refuse(e *core.Entry, place core.Place) (core.Fate, error) {
	t := a.tally[a.human.ID]
	if e.Refusal == "" || t.refused {
		if e.In.Command {
			a.note = strangerNote
		}
		return core.FateRefused, nil
	}
	t.refused = true
	a.tally[a.human.ID] = t
	text := e.Refusal
	if e.Offer != nil {
		room, err := a.petition(e)
		if err != nil {
			return "", err
		}
		if room {
			text = e.Offer.Text
		}
	}
	return core.FateRefused, a.say(core.RefusalPost, "", &e.In, place, text)
}

// markOf is what people write before the names of commands.
func markOf(e *core.Entry) string { return cmp.Or(e.Mark, "/") }
