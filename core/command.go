package core

import "context"

// Command is a thing a person asks of the appliance itself. Matching and
// answering one never calls a model.
type Command struct {
	Name string // without the slash, lower case
	Help string // one line
	// Usual commands are listed with that by /help, others by name.
	Usual bool
	Role  Role // least role that may use it
	// Codes: its argument may be a code, with which anybody may use it in a
	// direct conversation who is no guest; see Invocation.Code.
	Codes bool
	// Run does it. It is called within the transaction that accepts the
	// message, perhaps more than once, so it must touch nothing but the
	// invocation's Desk and values it can read without waiting. A *UserError
	// is told to the person as it stands.
	Run func(ctx context.Context, inv Invocation) (CommandReply, error)
}

// Invocation is one use of a command.
type Invocation struct {
	Args     string
	From     Person
	Role     Role
	Human    Human    // whom From is
	Standing Standing // where Role comes from
	Code     []byte   // of a command with Codes, the hash of the code that Args is; nil: it is none, or they may not try another one now
	Place    Place
	Direct   bool
	Branch   bool   // what we say at the top level of the channel begins a thread of its own
	Opens    bool   // at the top level of a channel where a mention opens a thread
	Thread   Thread // the place's current thread; zero: none yet
	Commands []Command
	Mark     string // what people write there before the name of a command
	Buttons  bool   // the reply's are shown there
	Of       Subject
	Re       *Subject // what they reply to, zero if that is not known; nil: nothing
	Desk     Desk
}

// Subject is the part of a thread's work that a person points at; zero: all of
// it. Of a post of ours both may be set: the run, and the message it shows.
type Subject struct {
	Run     ID // the run whose post they point at; to stop it is to stop its bot in the thread
	Message ID // what is done for this message
	Ask     ID // what was asked in the post that they press a button of
}

// CommandReply is what a command says.
type CommandReply struct {
	Text    string // Markdown; never blank
	Idle    bool   // there was nothing to do
	Buttons []Button
}

// Viewer is who looks at tasks, and where: they see those of the place, and in
// a direct conversation their own of other places, too.
type Viewer struct {
	Who    PersonID
	At     Place
	Direct bool
}

// Viewer is who uses the command.
func (inv *Invocation) Viewer() Viewer { return Viewer{inv.From.ID, inv.Place, inv.Direct} }

// Desk is the ledger as a command sees it, within the accepting transaction.
type Desk interface {
	// Cancel stops what the bots that are meant run, have joined and have queued
	// in the thread, and says how many runs and waiting messages that were. by is
	// the name to show.
	Cancel(thread ID, of Subject, by string) (runs, items int, err error)
	// CancelTask ends one task of the place, whatever else goes on there: the
	// item, those of the message, or the run. What a run has joined ends with the
	// run. by is the name to show.
	CancelTask(at Place, id ID, by string) (TaskEnd, error)
	// Purge ends what waits for the bot in the thread, or, if that is empty, in
	// every thread, of a bounded number of them. by is the name to show.
	Purge(thread ID, bot, by string) (Purged, error)
	// Archive ends the thread and gives its place a fresh one, with the place's
	// default bot.
	Archive(thread ID) error
	// Archived lists the place's archived threads in which something was said, the
	// one that was left last first, at most limit.
	Archived(at Place, limit int) ([]Thread, error)
	// Thread is the thread with the ID, if it is one of the place.
	Thread(at Place, id ID) (th Thread, ok bool, err error)
	// Begin is the current thread of the place, which begins if there is none.
	Begin(at Place) (Thread, error)
	// Adjust changes what is set for a thread.
	Adjust(thread ID, change func(*Thread)) error
	// Opening is the first message that a person wrote in the thread; zero: none.
	Opening(thread ID) (Message, error)
	// Resume stops the work in the current thread of the archived one's place,
	// archives it, and makes the archived one current again. Of a thread that is
	// not archived it does nothing. by is the name to show.
	Resume(thread ID, by string) error
	// Fork archives the current thread of the place, whose work goes on, and gives
	// the place a fresh one that begins with what was said in one of the place's
	// threads up to the message, which is included; empty: the newest of the
	// current one. ok is false if none of the place's latest threads has it.
	Fork(at Place, message ID) (f Forked, ok bool, err error)
	// Branch says text at the top level of the place's channel, which begins a
	// thread of the name there that shares what Fork would; the place stays as it
	// is. ok is as for Fork. text is given the message.
	Branch(at Place, message ID, text func(Message) (text, name string)) (msg Message, ok bool, err error)
	// Retry queues what failed or was stopped again, unless that has been done,
	// and returns its message; ok is false when there is none. Of all the
	// thread's work it takes the most recent.
	Retry(thread ID, of Subject) (msg Message, ok bool, err error)
	// Tasks lists what the viewer may see of the open tasks, and of those that have
	// ended in the last day, the last one first, within bounds.
	Tasks(v Viewer) (open, ended []Task, err error)
	// Task is the life of a task, if the viewer may see it.
	Task(v Viewer, item ID) (l TaskLife, ok bool, err error)
	// Asks lists what is open of what waits for the viewer: at the place everything,
	// in a direct conversation what waits for them elsewhere, too. The oldest first.
	Asks(v Viewer) ([]Ask, error)
	// Awaits reports whether the ask waits for who uses the command.
	Awaits(a Ask) bool
	// Ask is the ask with the ID.
	Ask(id ID) (a Ask, ok bool, err error)
	// Decide has the person decide an open ask. Of one that they may not decide, or
	// that is not open any more, it does nothing; ok is false then.
	Decide(ask ID, a Answer) (ok bool, err error)
	// Remembered is what the agent may do for good, oldest first.
	Remembered(agent string) ([]Remembered, error)
	// Forget takes that back.
	Forget(permits ...Remembered) error
	// Load is the thread's open work, and how much everybody's is.
	Load(thread ID) (Load, error)
	// Admit lets in the stranger who was offered the code with the hash, and tells
	// them; ok is false when the code does not work. A code works once.
	Admit(hash []byte, by PersonID) (g Grant, ok bool, err error)
	// Accept lets in the stranger, as Admit does; ok is false when they do not ask
	// for it, or not any more.
	Accept(who, by PersonID) (g Grant, ok bool, err error)
	// Refuse closes the stranger's request, and does not open another for a week;
	// false: they do not ask.
	Refuse(who, by PersonID) (Rebuff, bool, error)
	// Invite has the code with the hash let in who sends it; false: too many
	// invitations are open.
	Invite(hash []byte, by PersonID) (bool, error)
	// Pairing is who was let in in chat, and who may be.
	Pairing() (Pairing, error)
	// Expel takes back what a person was given in chat, with the invitations that
	// they have made, and parts them from the identities that they have linked.
	// Unless they may still talk to us, what they have asked for is cancelled in
	// the name of by.
	Expel(who PersonID, by string) (Expelled, error)
	People
	Record
}

// Expelled is what an Expel has found and done.
type Expelled struct {
	Known    bool // there was something to take back
	Messages int  // how many go without an answer now
}

// Forked is what a Fork did.
type Forked struct {
	Left    Thread  // was current until then
	Thread  Thread  // is current now
	Message Message // the last one that it shares
}

// TaskEnd is what a CancelTask has found and done.
type TaskEnd struct {
	Messages int   // how many go without an answer now
	Known    bool  // there is such a task at the place
	State    State // how it had ended before
}

// Purged is what a Purge has found and done.
type Purged struct {
	Known    bool // there is such a bot
	Messages int  // how many go without an answer now
	Threads  int  // in how many conversations
	More     bool // there are others
}

// Load is how much work is open.
type Load struct {
	Works   []Work // of the thread, the oldest first
	Queued  int    // messages of the thread that wait
	Running int    // runs in progress anywhere
	Parked  int    // runs that wait for people anywhere
	Waiting int    // messages that wait anywhere
	More    bool   // there are more that wait than were counted
}

// Work is a run that has not ended, and what it waits for; a zero Ask: it is in
// progress.
type Work struct {
	Run Run
	Ask Ask
}
