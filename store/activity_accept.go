package store

import (
	"strings"

	"bellhop/core"
)

// What Accept notes in the activity log.

// goTo has the event recorded in the thread, wherever it came from: an edit does
// not always tell its topic.
func (a *acceptance) goTo(thread core.ID) error {
	th, _, err := get[core.Thread](a.tx, idKey(famThread, thread))
	a.thread, a.where = th.ID, th.Place
	return err
}

// record notes what became of an event. Of one that is not for us, it keeps
// who and where, and never the text.
func (a *acceptance) record(e *core.Entry, place core.Place) error {
	in := &e.In
	note := core.Activity{Why: a.why, Actor: core.Actor{ID: string(in.From.ID)}, Thread: a.thread, Place: place}
	if !a.where.IsZero() {
		note.Place = a.where
	}
	if a.row.Message != "" {
		note.Messages = []core.ID{a.row.Message}
	}
	if e.Command != nil {
		note.Detail = e.Command.Name
	}
	switch a.row.Fate {
	case core.FateStored, core.FateKept, core.FateEdited, core.FateTaken:
		note.Event, note.Detail = map[core.Fate]core.Event{core.FateStored: core.MessageAccepted, core.FateKept: core.MessageKept}[a.row.Fate], ""
		if note.Event == "" {
			note.Event = core.MessageEdited
		}
		if a.corrects != "" {
			note.Event, note.Messages = core.MessageCorrected, append(note.Messages, a.corrects)
		}
		note.Items, note.Bots = woken(a.out.Items, a.row.Message)
	case core.FateCommand:
		if note.Event = core.CommandUsed; e.Command == nil {
			return nil // a code: pairing has its own word
		}
	case core.FateBeneath:
		note.Event = core.CommandRefused
	case core.FateRefused:
		note.Event = core.CommandRefused
		if in.Kind == core.InMessage {
			note.Event, note.Detail = core.MessageRefused, ""
		}
	case core.FateLimited:
		note.Event, note.Detail = core.MessageLimited, ""
	case core.FateIgnored:
		if note.Event = core.MessageIgnored; in.Kind != core.InMessage {
			return nil
		}
		note.Why, note.Detail = ignored(in), ""
	case core.FateNamed:
		note.Event, note.Detail = core.PlaceNamed, in.Text
	case core.FateWithdrawn:
		note.Event, note.Items = core.MessageWithdrawn, a.out.Ended
	case core.FateUnreadable:
		note.Event = core.EventUnreadable
	case core.FateMoved:
		note.Event, note.Detail = core.PlaceMoved, in.To
	case core.FateGreeted:
		note.Event = core.PlaceEntered
	case core.FateFeedback:
		note.Event, note.Run, note.Detail = core.FeedbackGiven, a.row.Post.As(core.KindRun), in.Emoji
	default:
		return nil
	}
	return a.log(note)
}

// ignored is why a message of somebody who may speak is not for us.
func ignored(in *core.Inbound) core.Reason {
	switch {
	case in.Foreign:
		return core.OtherBot
	case in.ForOthers():
		return core.ForOthers
	case strings.TrimSpace(in.Text) == "" && len(in.Quotes)+len(in.Files) == 0:
		return core.Blank
	}
	return core.Unmentioned
}

// woken are the IDs of the items of a message and their bots.
func woken(items []core.Item, message core.ID) (ids []core.ID, bots []string) {
	for _, it := range items {
		if !it.External() && it.Message == message {
			ids, bots = append(ids, it.ID), append(bots, it.Bot)
		}
	}
	return ids, bots
}

// paired notes who was let in, or no more. It is about no place: whoever looks
// at one need not know.
func (a *acceptance) paired(e core.Event, by core.PersonID, whom string) error {
	return a.log(core.Activity{Event: e, Actor: core.Actor{ID: string(by)}, Detail: whom})
}
