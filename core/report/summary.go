package report

import (
	"fmt"
	"strings"
	"time"

	"bellhop/core"
)

// Summary is an activity in a line.
func Summary(a core.Activity) string {
	who := a.Actor.ID
	if a.Actor.Kind == core.BotActor {
		who = "@" + who
	}
	first := func(ids []core.ID) core.ID {
		if len(ids) == 0 {
			return ""
		}
		return ids[0]
	}
	msg, bots, items, detail := first(a.Messages), handles(a.Bots), list(a.Items), Visible(a.Detail)
	say := fmt.Sprintf
	switch a.Event {
	case core.MessageAccepted:
		return say("%s of %s wakes %s (%s), %s", msg, who, bots, items, reasons[a.Why])
	case core.MessageKept:
		return say("%s of %s wakes nobody: %s", msg, who, reasons[a.Why])
	case core.MessageIgnored:
		return say("a message of %s is not for us: %s", who, reasons[a.Why])
	case core.MessageRefused:
		return say("a message of %s is refused: they are not let in", who)
	case core.MessageLimited:
		return say("a message of %s is not taken: they have sent too much", who)
	case core.MessageEdited:
		if bots == "" {
			return say("%s is edited before a run has read it", msg)
		}
		return say("%s is edited before a run has read it, and wakes %s (%s)", msg, bots, items)
	case core.MessageTaken:
		return say("%s, as it is edited, is not for %s any more (%s)", msg, bots, items)
	case core.MessageCorrected:
		return say("%s corrects %s, and wakes %s (%s)", msg, list(a.Messages[1:]), bots, items)
	case core.MessageWithdrawn:
		if items == "" {
			return say("%s is deleted, and is read by no run from here on", msg)
		}
		return say("%s is deleted before a run has read it (%s)", msg, items)
	case core.EventUnreadable:
		return "an event could not be read"
	case core.MessageSorted:
		return say("a model chooses %s for %s, instead of %s (%s)", bots, msg, who, items)
	case core.HandOffSent:
		return say("%s of %s wakes %s (%s), whom it mentions", msg, who, bots, items)
	case core.HandOffHeld:
		return say("%s of %s holds its hand-off to %s: %s has other messages waiting", msg, who, bots, who)
	case core.HoldReleased:
		return say("the hand-off of %s to %s goes on (%s)", msg, bots, items)
	case core.HoldReplaced:
		return say("the hand-off of %s to %s is superseded by a later one", msg, bots)
	case core.HoldDropped:
		return say("the hand-off of %s to %s is dropped: %s was stopped", msg, bots, who)
	case core.HopLimit:
		return say("%s of %s does not wake %s: too many hand-offs without a person", msg, who, bots)
	case core.ErrandDone:
		return say("@%s is told of %s (%s)", a.Actor.ID, msg, items)
	case core.ErrandFailed:
		return say("@%s cannot be told of %s (%s): %s", a.Actor.ID, msg, items, detail)
	case core.ErrandDropped:
		return say("@%s is not told of %s any more (%s)", a.Actor.ID, msg, items)
	case core.ItemRetried:
		return say("%s is tried again as %s", list(a.Items[:1]), list(a.Items[1:]))
	case core.RunPicked:
		return say("%s begins %s with %s", who, a.Run, items)
	case core.RunJoined:
		return say("%s takes %s into %s after step %s", who, items, a.Run, detail)
	case core.RunInterrupt:
		if detail == "0" {
			return say("%s of %s is cut by a stop", a.Run, who)
		}
		return say("%s of %s is cut by a crash, its %s.", a.Run, who, detail)
	case core.RunWaiting:
		return say("%s of %s waits for a person (%s)", a.Run, who, detail)
	case core.AskEnded:
		return strings.TrimSpace(say("the question of %s is %s %s", a.Run, detail, who))
	case core.RunResumed:
		return say("%s goes on with %s", who, a.Run)
	case core.RunDone:
		return say("%s of %s is done, after %s", a.Run, who, took(a.Took))
	case core.RunFailed:
		return say("%s of %s fails, after %s: %s", a.Run, who, took(a.Took), detail)
	case core.RunStopped:
		return say("%s of %s is %s, after %s", a.Run, who, detail, took(a.Took))
	case core.PostDelivered:
		if detail == "" {
			detail = "1"
		}
		return say("%s is shown (pieces: %s)", a.Run.As(core.KindPost), detail)
	case core.PostDead:
		return say("%s is given up: %s", a.Run.As(core.KindPost), detail)
	case core.CommandUsed:
		return say("%s uses /%s", who, detail)
	case core.CommandRefused:
		return say("%s may not use /%s", who, detail)
	case core.FeedbackGiven:
		return say("%s marks %s with %s", who, a.Run.As(core.KindPost), detail)
	case core.PlaceEntered:
		return say("%s lets us in", who)
	case core.PlaceNamed:
		return say("the place is called %s now", detail)
	case core.PlaceMoved:
		return say("the channel has the id %s now", detail)
	case core.PairingOffered:
		return say("%s is offered a code", who)
	case core.PairingAdmitted:
		return say("%s lets %s in", who, detail)
	case core.PairingEntered:
		return say("%s comes in with an invitation", who)
	case core.PairingClaimed:
		return say("%s is the owner now", who)
	case core.PairingInvited:
		return say("%s makes an invitation", who)
	case core.PairingRefused:
		return say("%s keeps %s out", who, detail)
	case core.PairingExpelled:
		return say("%s does not let %s in any more", who, detail)
	case core.PersonLinked:
		return say("%s and %s are one person now", who, detail)
	case core.PersonParted:
		return say("%s parts %s from its other identities", who, detail)
	case core.AdapterUp:
		return say("adapter %s is up", a.Place.Adapter)
	case core.AdapterDeaf:
		return say("adapter %s hears nothing: %s", a.Place.Adapter, detail)
	case core.AdapterDown:
		return say("adapter %s is down: %s", a.Place.Adapter, detail)
	case core.TroubleTold:
		return "the owner is told: " + detail
	}
	return strings.TrimSpace(say("%s %s", a.Event, detail)) // of a newer release
}

// reasons say why a message wakes whom it wakes, as they follow a comma or
// colon.
var reasons = map[core.Reason]string{
	core.ByMention:   "whom it mentions",
	core.ByDefault:   "the default bot there",
	core.ByOnly:      "the only bot there",
	core.ForOthers:   "it mentions only others",
	core.NoBot:       "it names no bot, and none is the default one there",
	core.Unmentioned: "nobody addresses us",
	core.OtherBot:    "it is a command for another bot",
	core.Blank:       "there is nothing in it",
}

// handles are names with their @.
func handles(bots []string) string {
	out := make([]string, len(bots))
	for i, b := range bots {
		out[i] = "@" + b
	}
	return strings.Join(out, ", ")
}

func list(ids []core.ID) string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = string(id)
	}
	return strings.Join(out, ", ")
}

func took(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
