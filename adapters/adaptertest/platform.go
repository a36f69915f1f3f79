package adaptertest

import (
	"errors"
	"fmt"
	"testing"

	"bellhop/core"
)

// ErrUnsupported: the platform, or its fake, cannot do that. The subtest that
// wanted it is skipped and shows the error.
var ErrUnsupported = errors.New("unsupported")

// Unsupported is an ErrUnsupported with a reason.
func Unsupported(reason string) error { return fmt.Errorf("%w: %s", ErrUnsupported, reason) }

// Account is a person or a program on the platform.
type Account struct {
	ID   string // the platform's own, immutable
	Name string // as people see it
}

// Room is where people talk: an opaque name that only the Platform that made
// it reads. A topic and the chat around it are two rooms.
type Room string

// RoomKind tells rooms apart.
type RoomKind string

// The kinds of room.
const (
	Direct      RoomKind = "direct"       // one person and us
	DirectTopic RoomKind = "direct topic" // a topic in one
	Group       RoomKind = "group"        // several people, no topics
	Topic       RoomKind = "topic"        // a topic of a shared chat; each is another topic of the same chat
	General     RoomKind = "general"      // the same shared chat outside its topics
	Channel     RoomKind = "channel"      // several people; a mention opens a thread, a room of its own
)

// Saying is what somebody writes. An action that the platform lacks is refused
// with ErrUnsupported.
type Saying struct {
	From    Account
	Text    string
	Mention []Account // mentioned before Text, in the platform's form
	Command string    // a command before Text, in the platform's form: "help"
	To      Account   // whom Command is addressed to; zero: nobody in particular
	ReplyTo string    // message id in the same room
	Quote   string    // the part of ReplyTo that is quoted
	Forward Account   // Text is a forwarded message of theirs; zero: it is not
	File    *SentFile // Text goes with it
	Hidden  bool      // who writes does not show who they are
	Signals int       // how often the platform signals the message; 0 is 1
}

// SentFile is a file that somebody sends.
type SentFile struct {
	Name    string
	MIME    string
	Content []byte
}

// Op is a kind of traffic.
type Op string

// The kinds of traffic.
const (
	Sending   Op = "sending"   // what shows and edits messages
	Receiving Op = "receiving" // what brings events
	Finding   Op = "finding"   // what Resolve asks
)

// Strange is an event that no adapter was written for.
type Strange string

// The strange events.
const (
	Service    Strange = "service"    // somebody has joined, a title has changed
	Novel      Strange = "novel"      // a kind from a later version of the platform
	Unreadable Strange = "unreadable" // of a known kind, with a field of another type
)

// Platform is a fresh fake of a platform with one account of ours, and what
// people do and see there. All its methods return at once.
type Platform interface {
	// Adapter makes a new adapter for the account, as after a restart. cursors
	// tells it how far the ones before it have heard.
	Adapter(t testing.TB, cursors core.Cursors) core.Adapter
	// Secret must never be seen in an error; empty: there is none.
	Secret() string

	// Me is our account.
	Me() Account
	// Person makes a person.
	Person(name string) Account
	// Guest makes people who are let in for a while or from elsewhere, one of
	// each kind: no pattern lets them in here.
	Guest(name string) ([]Account, error)
	// Program makes another program that talks.
	Program(name string) (Account, error)
	// Rename gives an account another name.
	Rename(a Account, name string) error

	// Room makes a room, or another room of the shared chat with topics; a
	// direct one is the one with that person.
	Room(kind RoomKind, with Account) (Room, error)
	// Invite makes a room of several people that the person lets us into.
	Invite(kind RoomKind, by Account) (Room, error)
	// Thread is the room that the message, which mentions us, has opened.
	Thread(r Room, message string) (Room, error)
	// Say writes a message and returns its platform id.
	Say(r Room, s Saying) (string, error)
	// Edit changes a message of a person and tells us.
	Edit(r Room, message, text string) error
	// Delete removes a message of anybody, and says whether we are told.
	Delete(r Room, message string) (told bool, err error)
	// Press presses the button of ours, below a message, that has the value, or
	// the label.
	Press(r Room, by Account, message, value string) error
	// Forge tells of a press of a button with the value below a message of ours,
	// which need not have one: no client does that.
	Forge(r Room, by Account, message, value string) error
	// Mark puts an emoji below a message, or takes it away again.
	Mark(r Room, by Account, message, emoji string, removed bool) error
	// Order gives a command in a way that is no message: nobody sees it.
	Order(r Room, by Account, command, text string) error
	// Marks lists the emoji that we have put below a message.
	Marks(r Room, message string) ([]string, error)
	// Whispers is what only that person sees in a room, oldest first.
	Whispers(r Room, to Account) []string
	// Files lists the files that we show in a room.
	Files(r Room) ([]SentFile, error)
	// Title is what a room is called, and Name has a person call it so.
	Title(r Room) (string, error)
	Name(r Room, by Account, title string) error
	// Shown is what people see in a room now, oldest first; in a Channel, what is
	// outside its threads.
	Shown(r Room) []Shown

	// Happen makes a strange event.
	Happen(r Room, s Strange) error
	// Move gives the channel of a room another id.
	Move(r Room) (Room, error)
	// Shut forbids us to write in a room.
	Shut(r Room) error
	// Forbid forbids us to show files.
	Forbid() error
	// Expel takes us out of a room: we hear of nothing there and can read nothing.
	Expel(r Room) error
	// Revoke makes our credentials worthless.
	Revoke() error

	// Redeliver signals again all that was acknowledged.
	Redeliver() error
	// Unacked is the number of events that were not acknowledged.
	Unacked() (int, error)
	// Fail makes the next n calls (Always: all) go wrong; hits counts those
	// that have. While Receiving, what is under way breaks as well.
	Fail(op Op, n int, f Fault) (hits func() int, err error)
	// Heal ends what Fail began.
	Heal()
	// Drop breaks the connection that brings events.
	Drop() error
	// Deafen makes that connection carry nothing any more, without telling
	// anybody.
	Deafen() error
	// Recycle asks us to leave that connection for another.
	Recycle() error
}

// Lacking refuses all that a platform may lack, with its value as the reason.
// Embedded in a Platform, it leaves to it only what it can do.
type Lacking string

func (l Lacking) err(what string) error { return Unsupported(string(l) + " has no " + what) }

// Secret implements Platform.
func (Lacking) Secret() string { return "" }

// Guest implements Platform.
func (l Lacking) Guest(string) ([]Account, error) { return nil, l.err("guests") }

// Program implements Platform.
func (l Lacking) Program(string) (Account, error) { return Account{}, l.err("other programs") }

// Rename implements Platform.
func (l Lacking) Rename(Account, string) error { return l.err("other names") }

// Invite implements Platform.
func (l Lacking) Invite(RoomKind, Account) (Room, error) {
	return "", l.err("word of who let us in")
}

// Thread implements Platform.
func (l Lacking) Thread(Room, string) (Room, error) { return "", l.err("threads") }

// Edit implements Platform.
func (l Lacking) Edit(Room, string, string) error { return l.err("edits by people") }

// Delete implements Platform.
func (l Lacking) Delete(Room, string) (bool, error) { return false, l.err("deleted messages") }

// Press implements Platform.
func (l Lacking) Press(Room, Account, string, string) error { return l.err("buttons") }

// Mark implements Platform.
func (l Lacking) Mark(Room, Account, string, string, bool) error { return l.err("marks by people") }

// Order implements Platform.
func (l Lacking) Order(Room, Account, string, string) error {
	return l.err("commands besides messages")
}

// Marks implements Platform.
func (l Lacking) Marks(Room, string) ([]string, error) { return nil, l.err("marks") }

// Whispers implements Platform.
func (Lacking) Whispers(Room, Account) []string { return nil }

// Files implements Platform.
func (l Lacking) Files(Room) ([]SentFile, error) { return nil, l.err("files of ours") }

// Title implements Platform.
func (l Lacking) Title(Room) (string, error) { return "", l.err("titles") }

// Name implements Platform.
func (l Lacking) Name(Room, Account, string) error { return l.err("titles") }

// Happen implements Platform.
func (l Lacking) Happen(_ Room, s Strange) error { return l.err(string(s) + " events") }

// Move implements Platform.
func (l Lacking) Move(Room) (Room, error) { return "", l.err("channels that move") }

// Shut implements Platform.
func (l Lacking) Shut(Room) error { return l.err("rooms that refuse us") }

// Forbid implements Platform.
func (l Lacking) Forbid() error { return l.err("files of ours") }

// Expel implements Platform.
func (l Lacking) Expel(Room) error { return l.err("rooms that we are taken out of") }

// Revoke implements Platform.
func (l Lacking) Revoke() error { return l.err("credentials") }

// Redeliver implements Platform.
func (l Lacking) Redeliver() error { return l.err("redelivery") }

// Unacked implements Platform.
func (l Lacking) Unacked() (int, error) { return 0, l.err("acknowledgements") }

// Fail implements Platform.
func (l Lacking) Fail(op Op, _ int, _ Fault) (func() int, error) {
	return nil, l.err("faults while " + string(op))
}

// Heal implements Platform.
func (Lacking) Heal() {}

// Drop implements Platform.
func (l Lacking) Drop() error { return l.err("connections that break") }

// Deafen implements Platform.
func (l Lacking) Deafen() error { return l.err("connections that die in silence") }

// Recycle implements Platform.
func (l Lacking) Recycle() error { return l.err("requests to connect anew") }
