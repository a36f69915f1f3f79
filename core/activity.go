package core

import "time"

// Activity is one step of the appliance in its diagnostic log, which outlives
// what it describes. It holds no text of messages: it points at them.
type Activity struct {
	ID       ID        // its order is that of the log
	Time     time.Time // to the millisecond
	Event    Event
	Why      Reason
	Actor    Actor // who did it: a person, a bot, or (zero) the appliance
	Thread   ID
	Place    Place
	Messages []ID
	Items    []ID
	Run      ID // a post without a run has its number
	Bots     []string
	Took     time.Duration // of a run's end: since it was picked
	Detail   string        // a name, an error, a count: at most MaxDetail characters
}

// MaxDetail is the longest Activity.Detail that is kept, in characters.
const MaxDetail = 200

// Event says what an Activity is. Its name has two parts: of what, and what
// became of it.
type Event string

// The events, with the fields of Activity that each has beside Time, Place and,
// where there is one, Thread.
const (
	MessageAccepted  Event = "message.accepted"  // Actor, Messages, Items, Bots it woke, Why
	MessageKept      Event = "message.kept"      // Actor, Messages, Why: it wakes nobody
	MessageIgnored   Event = "message.ignored"   // Actor, Why: it is not for us
	MessageRefused   Event = "message.refused"   // Actor: who may not
	MessageLimited   Event = "message.limited"   // Actor: who has sent too much
	MessageEdited    Event = "message.edited"    // Actor, Messages: before a run has read it; Items, Bots, Why: whom it wakes only now
	MessageTaken     Event = "message.taken"     // Messages, Items, Bots: edited, it is not for these any more
	MessageCorrected Event = "message.corrected" // Actor, Messages (the correction, then what it corrects), Items, Bots, Why
	MessageSorted    Event = "message.sorted"    // Actor: the default bot that had it, Messages, Items, Bots: whom a model has chosen instead
	MessageWithdrawn Event = "message.withdrawn" // Messages, Items: deleted before a run has read it
	EventUnreadable  Event = "event.unreadable"

	HandOffSent   Event = "message.handed_on"    // Actor, Messages, Items, Bots
	HandOffHeld   Event = "message.handoff_held" // Actor, Messages, Bots
	HoldReleased  Event = "hold.released"        // Actor, Messages, Items, Bots
	HoldReplaced  Event = "hold.superseded"      // Actor, Messages, Bots: a later one goes instead
	HoldDropped   Event = "hold.dropped"         // Actor, Messages, Bots: somebody has stopped the sender
	HopLimit      Event = "message.hop_limit"    // Actor, Messages, Bots that are not woken
	ErrandDone    Event = "item.done"            // Actor: the external that was told, Messages, Items
	ErrandFailed  Event = "item.failed"          // … that could not be told, Detail
	ErrandDropped Event = "item.cancelled"       // … that is not to be told any more
	ItemRetried   Event = "item.retried"         // Messages, Items: what is tried again, then as what
	RunPicked     Event = "run.picked"           // Actor, Run, Messages, Items
	RunJoined     Event = "run.joined"           // Actor, Run, Messages, Items, Detail: after which step
	RunInterrupt  Event = "run.interrupted"      // Actor, Run, Detail: how often by a crash; 0: by an orderly stop
	RunWaiting    Event = "run.waiting"          // Actor, Run, Detail: for which question
	AskEnded      Event = "ask.ended"            // Actor: who has answered, Run, Detail: how
	RunResumed    Event = "run.resumed"          // Actor, Run
	RunDone       Event = "run.done"             // Actor, Run, Messages, Items, Took
	RunFailed     Event = "run.failed"           // Actor, Run, Messages, Items, Took, Detail
	RunStopped    Event = "run.stopped"          // Actor, Run, Messages, Items, Took, Detail
	PostDelivered Event = "post.delivered"       // Run, Detail: pieces, if several
	PostDead      Event = "post.given_up"        // Run, Detail

	CommandUsed    Event = "command.used"    // Actor, Detail: its name
	CommandRefused Event = "command.refused" // Actor, Detail: its name
	FeedbackGiven  Event = "feedback.given"  // Actor, Run, Detail: the mark
	PlaceEntered   Event = "place.entered"   // Actor: who has let us in
	PlaceNamed     Event = "place.named"     // Detail: the name that a person has given it
	PlaceMoved     Event = "place.moved"     // Detail: its channel's new id

	PairingOffered  Event = "pairing.offered"  // Actor: a stranger who was given a code
	PairingAdmitted Event = "pairing.admitted" // Actor, Detail: who is let in
	PairingEntered  Event = "pairing.entered"  // Actor: who was invited
	PairingClaimed  Event = "pairing.claimed"  // Actor: the first owner
	PairingInvited  Event = "pairing.invited"  // Actor
	PairingExpelled Event = "pairing.expelled" // Actor, Detail: who
	PairingRefused  Event = "pairing.refused"  // Actor, Detail: who
	PersonLinked    Event = "person.linked"    // Actor, Detail: with whom
	PersonParted    Event = "person.parted"    // Actor: themselves or an owner, Detail: the identity that is one by itself now

	AdapterUp   Event = "adapter.up"   // Place: the adapter alone
	AdapterDeaf Event = "adapter.deaf" // Place, Detail: its trouble
	AdapterDown Event = "adapter.down" // Place, Detail
	TroubleTold Event = "trouble.told" // Detail: what the owner reads
)

// Level is how much an activity matters: "info", "warn" or "error".
func (a *Activity) Level() string {
	switch a.Event {
	case RunFailed, ErrandFailed, PostDead, AdapterDown:
		return LevelError
	case MessageRefused, MessageLimited, CommandRefused, EventUnreadable, HopLimit, RunInterrupt, AdapterDeaf, TroubleTold, HoldDropped:
		return LevelWarn
	}
	return LevelInfo
}

// The levels, the least first.
const (
	LevelInfo  = "info"
	LevelWarn  = "warn"
	LevelError = "error"
)

// Reason says why a message woke a bot, or did not.
type Reason string

// The reasons.
const (
	ByMention Reason = "mention" // it names the bots
	ByDefault Reason = "default" // it names none: the conversation's default bot
	ByOnly    Reason = "only"    // it names none: the only bot there

	ForOthers   Reason = "others"    // it mentions only other people, or programs outside
	NoBot       Reason = "nobody"    // it names no bot, and none is the one to answer there
	Unmentioned Reason = "unclaimed" // it is not for us: nobody addresses us there
	OtherBot    Reason = "other_bot" // it is a command for another bot
	Blank       Reason = "blank"     // there is nothing in it
)
