package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/core/report"
)

var (
	ann   = core.Actor{Kind: core.HumanActor, ID: "chat:ann"}
	chief = core.Actor{Kind: core.BotActor, ID: "chief"}
)

// Every event has its sentence.
func TestSummary(t *testing.T) {
	say := core.Activity{Actor: ann, Messages: []core.ID{"m2"}, Items: []core.ID{"i3"}, Bots: []string{"chief"}, Run: "r3"}
	hand := core.Activity{Actor: chief, Messages: []core.ID{"m4"}, Items: []core.ID{"i5"}, Bots: []string{"scout"}}
	run := core.Activity{Actor: chief, Items: []core.ID{"i3", "i6"}, Run: "r3", Took: 1234 * time.Millisecond, Detail: "2"}
	errand := core.Activity{Actor: core.Actor{Kind: core.ExternalActor, ID: "ci"}, Messages: []core.ID{"m2"}, Items: []core.ID{"i3"}}
	adapter := core.Activity{Place: core.Place{Adapter: "chat"}, Detail: "no\x1b answer"}
	var got strings.Builder
	one := func(a core.Activity, e core.Event, change ...func(*core.Activity)) {
		a.Event = e
		for _, c := range change {
			c(&a)
		}
		got.WriteString(a.Level() + " " + report.Summary(a) + "\n")
	}
	why := func(r core.Reason) func(*core.Activity) { return func(a *core.Activity) { a.Why = r } }
	ids := func(m, i []core.ID) func(*core.Activity) {
		return func(a *core.Activity) { a.Messages, a.Items = m, i }
	}
	nobody := func(a *core.Activity) { a.Items, a.Bots = nil, nil }
	detail := func(s string) func(*core.Activity) { return func(a *core.Activity) { a.Detail = s } }
	one(say, core.MessageAccepted, why(core.ByMention))
	one(say, core.MessageAccepted, why(core.ByDefault))
	one(say, core.MessageAccepted, why(core.ByOnly))
	one(say, core.MessageKept, why(core.ForOthers))
	one(say, core.MessageKept, why(core.NoBot))
	one(say, core.MessageIgnored, why(core.Unmentioned))
	one(say, core.MessageIgnored, why(core.OtherBot))
	one(say, core.MessageIgnored, why(core.Blank))
	one(say, core.MessageRefused)
	one(say, core.MessageLimited)
	one(say, core.MessageEdited, nobody)
	one(say, core.MessageEdited)
	one(say, core.MessageTaken)
	one(say, core.MessageCorrected, ids([]core.ID{"m9", "m2"}, []core.ID{"ia"}))
	one(say, core.MessageWithdrawn)
	one(say, core.MessageWithdrawn, nobody)
	one(say, core.EventUnreadable)
	one(hand, core.HandOffSent)
	one(hand, core.HandOffHeld)
	one(hand, core.HoldReleased)
	one(hand, core.HoldReplaced)
	one(hand, core.HoldDropped)
	one(hand, core.HopLimit)
	one(errand, core.ErrandDone)
	one(errand, core.ErrandFailed, detail("HTTP 500"))
	one(errand, core.ErrandDropped)
	one(say, core.ItemRetried, ids([]core.ID{"m2"}, []core.ID{"i3", "i7"}))
	one(run, core.RunPicked)
	one(run, core.RunJoined)
	one(run, core.RunInterrupt)
	one(run, core.RunInterrupt, detail("0"))
	one(run, core.RunWaiting, detail("a7"))
	one(say, core.AskEnded, detail("answered"))
	one(run, core.RunResumed)
	one(run, core.RunDone)
	one(run, core.RunFailed, detail("broken"))
	one(run, core.RunStopped, detail("stopped by Ann"))
	one(run, core.PostDelivered)
	one(run, core.PostDelivered, detail(""))
	one(run, core.PostDead, detail("refused"))
	one(say, core.CommandUsed, detail("new"))
	one(say, core.CommandRefused, detail("pair"))
	one(say, core.FeedbackGiven, detail("👍"))
	one(say, core.PlaceEntered)
	one(say, core.PlaceNamed, detail("the garden"))
	one(say, core.PlaceMoved, detail("-100"))
	one(say, core.PairingOffered)
	one(say, core.PairingAdmitted, detail("chat:bob"))
	one(say, core.PairingEntered)
	one(say, core.PairingClaimed)
	one(say, core.PairingInvited)
	one(say, core.PairingRefused, detail("chat:bob"))
	one(say, core.PairingExpelled, detail("chat:bob"))
	one(say, core.PersonLinked, detail("forum:ann"))
	one(say, core.PersonParted, detail("forum:ann"))
	one(adapter, core.AdapterUp)
	one(adapter, core.AdapterDeaf)
	one(adapter, core.AdapterDown)
	one(adapter, core.TroubleTold)
	one(adapter, "later.release")
	want := `info m2 of chat:ann wakes @chief (i3), whom it mentions
info m2 of chat:ann wakes @chief (i3), the default bot there
info m2 of chat:ann wakes @chief (i3), the only bot there
info m2 of chat:ann wakes nobody: it mentions only others
info m2 of chat:ann wakes nobody: it names no bot, and none is the default one there
info a message of chat:ann is not for us: nobody addresses us
info a message of chat:ann is not for us: it is a command for another bot
info a message of chat:ann is not for us: there is nothing in it
warn a message of chat:ann is refused: they are not let in
warn a message of chat:ann is not taken: they have sent too much
info m2 is edited before a run has read it
info m2 is edited before a run has read it, and wakes @chief (i3)
info m2, as it is edited, is not for @chief any more (i3)
info m9 corrects m2, and wakes @chief (ia)
info m2 is deleted before a run has read it (i3)
info m2 is deleted, and is read by no run from here on
warn an event could not be read
info m4 of @chief wakes @scout (i5), whom it mentions
info m4 of @chief holds its hand-off to @scout: @chief has other messages waiting
info the hand-off of m4 to @scout goes on (i5)
info the hand-off of m4 to @scout is superseded by a later one
warn the hand-off of m4 to @scout is dropped: @chief was stopped
warn m4 of @chief does not wake @scout: too many hand-offs without a person
info @ci is told of m2 (i3)
error @ci cannot be told of m2 (i3): HTTP 500
info @ci is not told of m2 any more (i3)
info i3 is tried again as i7
info @chief begins r3 with i3, i6
info @chief takes i3, i6 into r3 after step 2
warn r3 of @chief is cut by a crash, its 2.
warn r3 of @chief is cut by a stop
info r3 of @chief waits for a person (a7)
info the question of r3 is answered chat:ann
info @chief goes on with r3
info r3 of @chief is done, after 1.23s
error r3 of @chief fails, after 1.23s: broken
info r3 of @chief is stopped by Ann, after 1.23s
info p3 is shown (pieces: 2)
info p3 is shown (pieces: 1)
error p3 is given up: refused
info chat:ann uses /new
warn chat:ann may not use /pair
info chat:ann marks p3 with 👍
info chat:ann lets us in
info the place is called the garden now
info the channel has the id -100 now
info chat:ann is offered a code
info chat:ann lets chat:bob in
info chat:ann comes in with an invitation
info chat:ann is the owner now
info chat:ann makes an invitation
info chat:ann keeps chat:bob out
info chat:ann does not let chat:bob in any more
info chat:ann and forum:ann are one person now
info chat:ann parts forum:ann from its other identities
info adapter chat is up
warn adapter chat hears nothing: no\x1b answer
error adapter chat is down: no\x1b answer
warn the owner is told: no\x1b answer
info later.release no\x1b answer
`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
