package adaptertest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters/adaptertest"
	"bellhop/core"
)

// What people are told who try it.
const (
	notYours   = "This is not yours to decide."
	notKnown   = "Only people whom my owner has let in can use this."
	notAnyMore = "This does not work any more."
	tooLate    = "That is too late"
	itWaits    = "@chief waits for "
	others     = "@chief waits until somebody who may decide it does"
)

// anybody stands for every platform in attack.told.
const anybody = ""

// attack is a way to have a call made that nobody who may has allowed.
type attack struct {
	name      string
	approvers []string // who may approve; nil: for whom the call is made
	do        func(*siege) error
	// told is what the one who tries is told, by platform; none: nothing.
	told map[string]string
	// What the attack leaves: an ask that is open, if nothing else is said, and
	// calls that were made.
	leaves core.AskState
	made   int64
	// rescue is who may still allow the call: an attack must not use up what it
	// fails to use. Nil: for whom it is made.
	rescue func(*siege) adaptertest.Account
}

func says(text string) map[string]string { return map[string]string{anybody: text} }

// attacks are those on approvals, one a row; see TestApprovalAttacks. What does
// not pass through a platform stands elsewhere:
//
//   - as many guesses as one likes, straight at the ledger: TestGuessedNonces, in store
//   - a "yes" that was written before the card was shown: approve_attack_early, in core/coretest
//   - a grant that the card does not offer: approve_attack_grant, there
//   - what an external actor says: ask_external, there
//   - a card that dies half shown, or whose answer meets a crash: approve_crash and approve_crash_decided, there
//   - a press after the card's time which nobody has noticed yet: TestAskTooLate, in store
//   - a call that is not the one which was shown: approve_attack_moved, in core/coretest
//   - a call that looks like another: TestSpell, in core/perm
var attacks = []attack{
	{name: "another member presses", told: says(notYours), do: func(s *siege) error { return s.press(s.bob, "Allow once") }},
	{name: "another member gives the command", told: says(notYours), do: func(s *siege) error { return s.command(s.bob, s.room, "allow", string(s.ask.ID)) }},
	{name: "another member gives the command apart from messages", told: says("Nothing here is called"), do: func(s *siege) error {
		s.by, s.in = s.bob, s.root // which is not in the thread
		return s.p.Order(s.root, s.bob, "allow", string(s.ask.ID))
	}},
	{name: "another member writes yes", told: says(others), do: func(s *siege) error { return s.reply(s.bob, "yes") }},
	{name: "another member from another place", told: says("Nothing here is called"), do: func(s *siege) error {
		return s.command(s.bob, s.dm(s.bob), "allow", string(s.ask.ID))
	}},
	{name: "a stranger presses", told: says(notKnown), do: func(s *siege) error { return s.press(s.mallory, "Allow once") }},
	{name: "a stranger gives the command", told: map[string]string{"discord": notKnown}, do: func(s *siege) error {
		return s.command(s.mallory, s.room, "allow", string(s.ask.ID))
	}},
	{name: "a stranger writes yes", do: func(s *siege) error { return s.reply(s.mallory, "yes") }},
	{name: "a stranger has the requester's name", told: says(notKnown), do: func(s *siege) error {
		other := s.p.Person("Ann")
		return errors.Join(s.say(adaptertest.Saying{From: other, Text: "Hi."}), s.press(other, "Allow once"))
	}},
	{name: "somebody hides", do: func(s *siege) error {
		return s.say(adaptertest.Saying{From: s.mallory, Hidden: true, Mention: s.us(), Text: "yes"})
	}},
	{name: "a guest writes yes", do: func(s *siege) error {
		guests, err := s.p.Guest("Gus")
		if err != nil {
			return err
		}
		return s.reply(guests[0], "yes")
	}},
	{name: "another program writes yes and the command", do: (*siege).program},
	{name: "another program that is let in, where all members approve", approvers: []string{"member"}, told: says(notYours), do: (*siege).program},
	{name: "our own words", do: func(s *siege) error { return nil }}, // the bot's words with the card are "/allow"

	{name: "a replayed press", told: says("has allowed it already"), leaves: core.AskAllowed, made: 1, do: func(s *siege) error {
		if err := s.press(s.ann, "Allow once"); err != nil {
			return err
		}
		s.pass(10 * time.Second)
		if err := s.p.Redeliver(); err != nil {
			return err
		}
		return s.forge(s.ann, s.room, s.card, s.value("allow once"))
	}},
	{name: "two presses at once", told: says("has refused it already"), leaves: core.AskDenied, do: func(s *siege) error {
		allow := s.value("allow once") // it may be gone from the screen a moment later
		return errors.Join(s.press(s.ann, "Deny"), s.forge(s.ann, s.room, s.card, allow))
	}},
	{name: "a press after the time", told: says(tooLate), leaves: core.AskExpired, do: func(s *siege) error {
		s.pass(11 * time.Minute)
		return s.forge(s.ann, s.room, s.card, s.value("allow once"))
	}},
	{name: "a command after the time", told: says(tooLate), leaves: core.AskExpired, do: func(s *siege) error {
		s.pass(11 * time.Minute)
		return s.command(s.ann, s.room, "allow", string(s.ask.ID))
	}},
	{name: "a yes after the time", leaves: core.AskExpired, do: func(s *siege) error {
		s.pass(11 * time.Minute)
		err := s.reply(s.ann, "yes")
		s.spoken = true
		return err
	}},
	{name: "the value on a message of ours in another place", told: says(notAnyMore), do: func(s *siege) error {
		r, message := s.elsewhere(s.ann)
		return s.forge(s.ann, r, message, s.value("allow once"))
	}},
	{name: "the value on another's card", told: says(notAnyMore), do: func(s *siege) error {
		r, card := s.another(s.bob)
		return s.forge(s.bob, r, card, s.value("allow once"))
	}},
	{name: "another card's value", told: says(notAnyMore), do: func(s *siege) error {
		s.another(s.bob)
		return s.forge(s.ann, s.room, s.card, s.latest("allow once"))
	}},
	{name: "the value on the message that asks for it", told: says(notAnyMore), do: func(s *siege) error {
		return s.forge(s.ann, s.root, s.request, s.value("allow once"))
	}},
	{name: "guessed nonces", told: says(notAnyMore), do: (*siege).guess},
	{name: "forged ids", told: says("Nothing here is called"), do: func(s *siege) error {
		return s.command(s.ann, s.room, "allow", string(core.NewID(core.KindAsk, s.ask.ID.Seq()+1)))
	}},
	{name: "ids of other things", told: says("For what?"), do: func(s *siege) error {
		return s.command(s.bob, s.room, "allow", string(s.ask.Run))
	}},

	{name: "an edited request", told: says(itWaits), do: func(s *siege) error { return s.p.Edit(s.root, s.request, "yes") }},
	{name: "an edited request of another", do: func(s *siege) error {
		s.spoken = true // or Bob is told that his message waits
		id, err := s.p.Say(s.room, adaptertest.Saying{From: s.bob, Text: "good"})
		s.pass(time.Second)
		return errors.Join(err, s.p.Edit(s.room, id, "yes"))
	}},
	{name: "a command by edit", told: says(itWaits), do: func(s *siege) error { return s.p.Edit(s.root, s.request, "/allow "+string(s.ask.ID)) }},
	{name: "a forwarded yes", told: map[string]string{"slack": itWaits}, do: func(s *siege) error {
		return s.say(adaptertest.Saying{From: s.ann, Forward: s.bob, Text: "yes"})
	}},
	{name: "a reply to a yes", told: says(itWaits), do: func(s *siege) error {
		id, err := s.p.Say(s.room, adaptertest.Saying{From: s.mallory, Text: "yes"})
		return errors.Join(err, s.say(adaptertest.Saying{From: s.ann, ReplyTo: id, Mention: s.us(), Text: "what?"}))
	}},
	{name: "a quoted yes", told: says(itWaits), do: func(s *siege) error { return s.reply(s.ann, "> yes") }},
	{name: "a yes with a condition", told: says(itWaits), do: func(s *siege) error { return s.reply(s.ann, "yes, unless it rains") }},
	{name: "a yes to somebody else", do: func(s *siege) error {
		return s.say(adaptertest.Saying{From: s.ann, Mention: []adaptertest.Account{s.bob}, Text: "yes"})
	}},
	{name: "a mark", do: func(s *siege) error {
		s.by = s.ann
		return s.p.Mark(s.room, s.ann, s.card, "👍", false)
	}},

	{name: "the requester presses, who may not approve their own", approvers: []string{"member", "not-requester"}, told: says(notYours), rescue: (*siege).member,
		do: func(s *siege) error { return s.press(s.ann, "Allow once") }},
	{name: "the requester gives the command, who may not approve their own", approvers: []string{"member", "not-requester"}, told: says(notYours), rescue: (*siege).member,
		do: func(s *siege) error { return s.command(s.ann, s.room, "allow", string(s.ask.ID)) }},
	{name: "the requester writes yes, who may not approve their own", approvers: []string{"member", "not-requester"}, told: says(others), rescue: (*siege).member,
		do: func(s *siege) error { return s.reply(s.ann, "yes") }},
	{name: "a member where owners approve", approvers: []string{"owner"}, told: says(notYours), rescue: (*siege).owner,
		do: func(s *siege) error { return s.press(s.bob, "Allow once") }},
	{name: "anybody where nobody approves", approvers: []string{}, told: says(notYours), rescue: (*siege).nobody,
		do: func(s *siege) error { return s.press(s.olga, "Allow once") }},
	{name: "a requester who is not let in any more", approvers: []string{"requester", "owner"}, told: says(notKnown), leaves: core.AskDropped,
		do: func(s *siege) error {
			allow := s.value("allow once") // it goes with what they had asked for
			return errors.Join(s.expel(s.ann), s.forge(s.ann, s.room, s.card, allow))
		}},
	{name: "an approver who is not let in any more", approvers: []string{"MALLORY", "owner"}, told: says(notKnown), rescue: (*siege).owner,
		do: func(s *siege) error {
			return errors.Join(s.admit(s.mallory), s.expel(s.mallory), s.press(s.mallory, "Allow once"))
		}},
}

// TestApprovalAttacks has each attack tried on every platform, through its real
// adapter, with the real bus, ledger and runs. The call is not made, whoever
// tries is told what they may be told, and what they have not used up still
// works for who may decide.
func TestApprovalAttacks(t *testing.T) {
	tried := map[string]int{}
	held := 0
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			for _, face := range faces {
				t.Run(face.name, func(t *testing.T) {
					held++
					var lacks error
					synctest.Test(t, func(t *testing.T) { lacks = besiege(t, face.name, face.harness, a) })
					if lacks != nil {
						t.Skip(lacks)
					}
					tried[a.name]++
				})
			}
		})
	}
	if held < len(attacks)*len(faces) {
		return // not all of it was to be run
	}
	for _, a := range attacks {
		if tried[a.name] == 0 {
			t.Errorf("no platform has %q", a.name)
		}
	}
}
