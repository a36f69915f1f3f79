package core

import "time"

// This file holds what goes into and comes out of the ledger's transactions.
// The bus, the mailboxes and the run loop each declare the few of the store's
// methods they need; these are the types in their signatures.

// Entry is one event with what the bus decided about it beforehand. The rest
// (is it known already, is it for us, whom does it wake) is decided in the
// transaction.
type Entry struct {
	In      Inbound
	Role    Role      // that the configuration gives; the ledger may give a higher one
	Agent   string    // default bot of a thread that begins here
	Mode    ReplyMode // when a message in this shared place is for us
	Command *Command  // the command that the text, the reaction or the button is, where we are meant; nil: none
	Mark    string    // what people write before the names of commands there; empty: "/"
	Args    string
	Threads bool                       // a mention at the top level opens a thread there
	Branch  bool                       // and so does what we say at the top level
	Buttons bool                       // what is said there may have some
	Reads   bool                       // what was said at the place can be read back
	Context int                        // most messages to quote before a mention at the top level
	Refusal string                     // what to say to a person who may not; empty: silence
	Offer   *Offer                     // what to say to them instead, while there is room for it; nil: nothing
	Code    []byte                     // hash of a code that they have sent, to be let in or for a Command with Codes; nil: none
	Claim   bool                       // the person has the code of the first owner
	Quota   func(human PersonID) Quota // how much of them is taken for now. Never waits; nil: whatever they send
	Hello   string                     // what to say where From has let us in
	Hushed  bool                       // From has heard there lately that Command is for a higher role, and so have the others
}

// Quota is how many more messages of a human are taken for now.
type Quota struct {
	Left  int
	Spent string // what is said to a person who has none left; empty: they know
}

// Batch is what Accept takes: entries in the platform's order.
type Batch struct {
	Entries []Entry
	Bots    []string // handles that can act
	// Delegates are those of Bots whom only bots wake.
	Delegates []string
	Externals []string // handles that can be told something
	// Sort: a model chooses who answers a message that names no bot.
	Sort     bool
	Commands []Command
	Access   Access // what the configuration gives
	// Split cuts an outcome's text for a place. Pure.
	Split func(p Place, markdown string) []Piece
	// Speaker is who a bot's words are from. Nil: nobody is named.
	Speaker func(bot string) Speaker
	// Shown is what a run's open post shows now; the text that "(stopped by …)"
	// follows. Never waits.
	Shown func(post ID) string
	// Seal sees to it that a run's post is not opened any more, and reports
	// whether it may be shown already. Never waits. Nil: none is shown.
	Seal func(post ID) bool
}

// Fate is what became of an entry.
type Fate string

// The fates.
const (
	FateStored     Fate = "stored"
	FateKept       Fate = "kept" // stored, and wakes nobody
	FateDuplicate  Fate = "duplicate"
	FateCommand    Fate = "command"
	FateBeneath    Fate = "beneath" // a command that is for a higher role
	FateRefused    Fate = "refused"
	FateLimited    Fate = "limited" // not taken: the person had sent too much
	FateIgnored    Fate = "ignored" // not for us; only its key is kept
	FateEdited     Fate = "edited"
	FateTaken      Fate = "taken" // edited, and no bot has it to answer any more
	FateUnchanged  Fate = "unchanged"
	FateWithdrawn  Fate = "withdrawn"
	FateUnreadable Fate = "unreadable"
	FateMoved      Fate = "moved"
	FateGreeted    Fate = "greeted"
	FateFeedback   Fate = "feedback" // a reaction, noted or taken back
	FateNamed      Fate = "named"    // a person has given a place a title
	FateAnswer     Fate = "answer"   // to what a run has asked
)

// Accepted is what an Accept did, in the order of its entries.
type Accepted struct {
	Fates   []Fate
	Notes   []string   // what who pressed a button, or gave a command in vain, is told; empty: nothing
	Humans  []PersonID // who did it, by Human.ID
	Woke    []bool     // whether a bot has its message to answer now
	Items   []Item     // queued now
	Ended   []ID       // items that ended unanswered by a run: cancelled, withdrawn
	Stopped []ID       // runs that a person stopped
	Rows    []Row      // to deliver
	Moved   []Moving   // channels that have another id now
}

// Moving is an alias: stored places keep the first id a channel had.
type Moving struct {
	Adapter string `json:"adapter"`
	Old     string `json:"old"` // the id in stored places
	New     string `json:"new"` // the id to send to
}

// Settlement is how a run ends.
type Settlement struct {
	State     State // Done or Failed
	Kind      PostKind
	Text      string // the outcome, Markdown; blank is shown as "(done, no text)": an outcome is never silence
	Answer    string // the part of Text that is the bot's own words, kept in the thread; blank: none
	Digest    string
	Error     string // for the log and trace
	Usage     Usage
	Steps     int
	Bots      []string // handles that can act, for the fan-out
	Externals []string // handles that can be told something
	// MaxHops bounds bot-to-bot hand-offs since a person last spoke.
	MaxHops int
	Split   func(p Place, markdown string) []Piece
	// Outcome cuts Text as Split does and adds what is shown with it; nil: Split.
	Outcome func(p Place, markdown string) []Piece
	// Thinking is what the model has thought on its way to Text. It is no part
	// of the thread.
	Thinking string
	Speaker  Speaker
	Titles   bool     // the thread is given a title, once there is enough in it
	Buttons  []Button // below the last piece of Text
}

// Settled is what a Settle did.
type Settled struct {
	Items []Item // queued by the fan-out
	Rows  []Row
	Due   bool // the thread is to be given a title
}

// TitleAfter is how many messages a thread has when it is given a title.
const TitleAfter = 3

// Naming is a thread that is to be given a title.
type Naming struct {
	Thread   Thread
	Run      Run       // made it due
	Title    string    // that it has been given; empty: none yet
	Messages []Message // its first ones
}

// Backlog is the work found at start.
type Backlog struct {
	Items []Item // queued, oldest first; resumes among them
	Rows  []Row  // undelivered, by place and order
	Moved []Moving
	// Runs that wait for a person, and when an ask is to be looked at first; zero:
	// there is none.
	Parked []Parked
	Next   time.Time
}

// Arrival is what has come in a thread since its run began to read, up to the
// newest message that waits for the run's bot. The bot's own are not in it.
type Arrival struct {
	Messages []Message // id order, latest versions
	Triggers []ID      // those that wait for the bot
}

// Scene is what a run reads when it starts.
type Scene struct {
	Thread   Thread
	Messages []Message // from the bot's cut to Upto, as far as it sees them, latest versions; and later replies of the bot that stand before that
	Total    int       // messages of the thread up to Upto, whoever sees them
	Upto     ID        // newest message that there was, whoever sees it
	Steps    []Step    // of a resumed run
}
