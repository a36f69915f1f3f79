package core

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"time"
)

// Sink takes a batch of events in the order the platform gave them. It returns
// nil when the batch is durable; only then may the adapter acknowledge it. On
// an error the adapter acknowledges nothing, backs off, and offers the batch
// again. It may block; it may be called by one goroutine at a time. Of a press
// or a command it may set the Note.
type Sink func(ctx context.Context, batch []Inbound) error

// Adapter is one account on one chat platform.
type Adapter interface {
	// Name is the configured name, a durable identity.
	Name() string
	// Features says what the platform can do. It is called once before Run and
	// its answer must be true of every later call.
	Features() Features
	// Run receives events until ctx ends or the adapter can never work again
	// (an error that matches ErrFatal and says what to check). It survives
	// everything else by itself, owns its goroutines and has ended them when it
	// returns. Send may be called as soon as Run has been called, by several
	// goroutines at once, but only by one at a time for a Place.
	Run(ctx context.Context, sink Sink) error
	// Send shows one piece, or edits one when o.Edit is set. An edit to what is
	// shown already is a success. The error says what is known: *RetryAfter and
	// ErrNotSent promise that nothing was shown and that a later try may work;
	// ErrRefused that this content (or its file) can never be shown there; ErrGone that the
	// edited message does not exist; ErrFatal that the adapter is finished;
	// *Moved that the channel has another id now. Any other error, ErrUnknown
	// among them, leaves open whether the piece is shown: the caller must
	// Resolve before it sends again.
	Send(ctx context.Context, o Outbound) (Receipt, error)
}

// Once is how an adapter keeps a send from happening twice.
type Once string

// The ways to make a send idempotent.
const (
	OnceKey      Once = "key"      // the platform drops a second send with the same Outbound.Key
	OnceReadback Once = "readback" // Resolve reads the place back and finds the key
	OnceEdit     Once = "edit"     // a send is not idempotent but an edit is: text is only ever sent as an edit of an opened piece, and Resolve probes for a lost one
	OnceNone     Once = "none"     // nothing is known of a lost send (a terminal)
)

// Features is what an adapter's platform can do: facts, and functions that are
// nil where it cannot. It is data; nobody asserts types.
type Features struct {
	Once    Once
	MaxText int // units of one piece, as the platform counts
	// MaxPieces is the most pieces that an outcome is shown in; the last of a
	// longer one has the whole text as a file. 0: there is no bound, or files
	// cannot be shown.
	MaxPieces int
	Threads   bool      // a mention in a channel opens a thread of its own
	Reply     ReplyMode // when a message in a shared place is for us, unless a binding says otherwise
	Replies   bool      // in shared places an answer refers to the message it answers
	Edits     bool      // a shown piece can be edited: previews are possible
	Mark      string    // what people can type before a command's name; empty: "/"
	Buttons   bool      // Outbound.Buttons are shown; presses come as InButton
	Local     bool      // who writes there holds the store: how much they send is not limited
	// Preview is the least time between two previews in a chat, and Previews that
	// of the whole account. What must be shown goes at once, and counts: together
	// with it, previews stay within the platform's limits. Nil and 0: no pause.
	Preview  func(p Place) time.Duration
	Previews time.Duration

	// Split cuts Markdown into pieces that render alone, in order, losing
	// nothing. Pure. At least one piece for text that is not blank.
	Split func(markdown string) []string
	// Resolve finds out whether the send or edit o, whose outcome is unknown,
	// is shown. ErrNotSent permits sending it again. Other errors: unknown
	// still, ask again later.
	Resolve func(ctx context.Context, o Outbound) (Receipt, error)
	// Typing shows for some seconds that somebody is at work. Best effort.
	Typing func(ctx context.Context, p Place) error
	// React marks a message; an empty emoji takes the mark away. Best effort.
	React func(ctx context.Context, p Place, id, emoji string) error
	// Branch reports whether we can begin a thread in the place's channel by
	// sending what has Outbound.Begin to its top level: a place with the receipt's
	// id as its Topic. It does not wait. Nil: nowhere.
	Branch func(p Place) bool
	// Title names a place that was Unnamed, unless a person has named it since.
	// The same title again changes nothing. The errors are those of Send, of
	// which ErrRefused is usual: not every place can have one. title is plain
	// text on one line, of at most MaxTitle characters.
	Title func(ctx context.Context, p Place, title string) error
	// Before reads what was said at a place before a message. For a mention in
	// the middle of a thread that is the thread so far; for one at the top level
	// of a channel, the last messages there. It ends with ctx. ErrRefused: we may
	// not read there.
	Before func(ctx context.Context, n Need) (Before, error)
	// Read pages back through what was said at a place, by us too: in a thread,
	// or in a channel outside its threads. before is empty, for the newest page,
	// or Page.Before of another page of the place. It ends with ctx. ErrRefused:
	// we may not read there, or before is no such thing.
	Read func(ctx context.Context, p Place, before string, limit int) (Page, error)
	// Fetch opens a file that a person sent; File.Ref says which. The caller
	// bounds what it reads, checks what it is, and closes it. No error names the
	// file's address, which may hold a token.
	Fetch func(ctx context.Context, f File) (io.ReadCloser, error)
	// Invite is a link that opens a direct conversation with us in which the code
	// is sent as /start CODE; empty: not known yet. It does not wait.
	Invite func(code string) string
	// Health is the time of the last sign of life from the platform.
	Health func() Health
}

// MaxTitle is the most characters of a title.
const MaxTitle = 60

// Command is how a person writes the command.
func (f Features) Command(name string) string { return cmp.Or(f.Mark, "/") + name }

// Health is an adapter's own account of itself.
type Health struct {
	LastInbound time.Time // last frame or answer from the platform; zero: none yet
	Trouble     string    // empty: none. One line for a person
}

// OutKind says what an Outbound is.
type OutKind string

// The kinds of Outbound.
const (
	OutOpen   OutKind = "open"   // the status line that begins a post
	OutUpdate OutKind = "update" // a preview
	OutFinal  OutKind = "final"  // one chunk of an outcome
)

// Outbound is one piece to show or to edit.
type Outbound struct {
	Key     string // stable across retries of this piece
	Kind    OutKind
	Place   Place
	ReplyTo string // platform id; a deleted target never fails a send
	Edit    string // platform id of the piece to edit; empty: send a new one
	Speaker Speaker
	Text    string // Markdown, one piece of Split, never blank unless a Status is shown
	Status  string // of an update: what is being done now, in plain words, to be shown below the text; together they fit one message
	// Thinking is what the model has thought, to be shown above the text as a
	// quote, folded where the platform can: plain text, on one line, that
	// together with the text fits one message. Adapters that cannot show it with
	// a piece leave it out.
	Thinking string
	Answers  []string    // platform ids of the messages whose outcome this is
	Last     bool        // the last piece of its post
	Buttons  []Button    // below the text, where the platform has buttons
	File     *Attachment // shown with the text; an open has none
	// Begin is the name of the thread that the piece begins at the top level of a
	// channel: plain text on one line, of at most MaxTitle characters. Where that
	// takes more than a message, the text need not be shown. Empty: it begins none.
	Begin string

	// For Resolve: a lost send lies after the message After, most likely soon
	// after it or after one of Near; Known tells the platform ids that are other
	// messages of the place.
	After string
	Near  []string
	Known func(id string) bool
}

// Button is one that a person can press below a message.
type Button struct {
	Label string `json:"label"`
	Value string `json:"value"` // comes back in Inbound.Button; at most 64 bytes. A command and what it is bound to: "retry r3ka"
}

// Attachment is a file to show with a piece.
type Attachment struct {
	Name    string `json:"name"`
	MIME    string `json:"mime,omitempty"`
	Content []byte `json:"content"`
}

// Need is what a run asks its platform for before it starts.
type Need struct {
	Place     Place
	MessageID string // the message that opened the thread, or mentioned us in it
	Since     string // platform id up to which the place has been read; empty: nothing of it, not even what we said
	Context   int    // most messages before MessageID to quote, the latest ones
}

// Before is what was said at a place before a message, oldest first. Since a
// message that has been read, what we said ourselves is left out.
type Before struct {
	Quotes []Quote
	More   bool // in a thread: older ones than were wanted were said since
}

// Page is at most limit messages of a place, oldest first. It may hold fewer,
// even none, and not be the last.
type Page struct {
	Quotes []Quote
	Before string // asks for the page before this one; empty: there is none
}

// Cursor is how far a place has been heard, once nothing said there before
// ID is still to come. An adapter whose platform keeps nothing for who is away
// reads on from there. A message at the top level of a channel moves the cursor
// of the channel, a Place without a Topic.
type Cursor struct {
	Place  Place
	Direct bool      // one person and us
	ID     string    // platform id of the newest message that was heard; empty: none was since Time
	Time   time.Time // when that was said, or we were let in
}

// Cursors reads an adapter's cursors, those where something was said last
// first. They are a bounded number of the places where somebody has spoken to
// us, or could have, in the last weeks.
type Cursors func(ctx context.Context) ([]Cursor, error)

// InboundKind tells events apart.
type InboundKind string

// The kinds of Inbound.
const (
	InMessage    InboundKind = "message"
	InEdit       InboundKind = "edit"       // MessageID's text is Text now
	InDelete     InboundKind = "delete"     // MessageID is gone
	InMoved      InboundKind = "moved"      // channel Place.Channel is called To now
	InButton     InboundKind = "button"     // From pressed the button Button of the message MessageID
	InReaction   InboundKind = "reaction"   // From marked the message MessageID with Emoji, or took it away; Place.Topic may be unknown
	InAdded      InboundKind = "added"      // From let us into the shared channel of Place; Text is how people mention us there
	InNamed      InboundKind = "named"      // From has called the place Text
	InUnreadable InboundKind = "unreadable" // Raw could not be decoded; journaled as it is
	InIgnored    InboundKind = "ignored"    // of no interest; only its key is kept
)

// Inbound is one platform event, decoded.
type Inbound struct {
	// Key is unique for the event within the adapter and the same for every
	// redelivery of it, and for every signal of the same message.
	Key       string
	Kind      InboundKind
	Place     Place
	Direct    bool // one person and us
	From      Person
	MessageID string // platform id
	Text      string // Markdown-ish plain text; our own mention is taken out
	Mentioned bool   // names us, or replies to a message of ours
	Unnamed   bool   // InMessage: no person has given its place a name: we may
	Others    bool   // mentions people, and none of them is us
	Command   bool   // Text begins with a command that is addressed to us
	Foreign   bool   // Text begins with a command that is addressed to another bot
	ReplyTo   string // platform id of the message that it replies to or is about, where people can point at one
	Quotes    []Quote
	Files     []File
	Time      time.Time // the platform's
	To        string    // InMoved: the channel's new id
	Button    string    // InButton: the pressed button's Value
	Note      string    // InButton, or a Command: set by the sink. What the person who pressed is told, and nobody else, where that is possible; of a command, only where they wait for an answer
	Emoji     string    // InReaction: as Unicode
	Removed   bool      // InReaction: taken away
	Heard     bool      // InMessage, InAdded: nothing said at its place before it is still to come; see Cursor
	Raw       json.RawMessage
}

// ForOthers reports whether what it says is said to other people. Where nobody else
// reads along, who names others speaks of them.
func (in *Inbound) ForOthers() bool { return in.Others && !in.Mentioned && !in.Direct }
