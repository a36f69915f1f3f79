package core

import "time"

// PostKind says what a post is the outcome of.
type PostKind string

// The kinds of Post.
const (
	AnswerPost  PostKind = "answer"
	ErrorPost   PostKind = "error"   // a run that could not go on
	StoppedPost PostKind = "stopped" // a run that a person stopped
	CommandPost PostKind = "command" // a command's reply
	RefusalPost PostKind = "refusal"
	NoticePost  PostKind = "notice" // said by the appliance on its own
	AskPost     PostKind = "ask"    // what a run asks a person; its outcome comes later, in another post
	RelayPost   PostKind = "relay"  // an external actor's message
)

// Post is one outcome as it is shown on a platform: at most one set of
// platform messages. A run's post is opened while the model works, updated
// with previews, and finished by the chunks that Settle stored as rows.
type Post struct {
	ID      ID        `json:"id"`
	Kind    PostKind  `json:"kind"`
	Thread  ID        `json:"thread,omitempty"`
	Place   Place     `json:"place"`
	Run     ID        `json:"run,omitempty"`
	Ask     ID        `json:"ask,omitempty"`     // that it shows
	About   ID        `json:"about,omitempty"`   // of a notice: the ask of which it tells that it is open
	Cause   ID        `json:"cause,omitempty"`   // the message that it answers, for posts without a run
	Message ID        `json:"message,omitempty"` // the thread message that it shows
	Open    *Receipt  `json:"open,omitempty"`    // the status line that chunk 0 edits
	Chunks  int       `json:"chunks"`            // 0 until it is settled
	Shown   []Receipt `json:"shown,omitempty"`   // by chunk
	Dead    string    `json:"dead,omitempty"`    // why its delivery was given up
	Created time.Time `json:"created"`
	Ended   time.Time `json:"ended,omitzero"` // last receipt, or given up

	// Fork: what shows it begins a thread, which shares what was said in Thread up
	// to this message; and Begun is that thread.
	Fork  ID `json:"fork,omitempty"`
	Begun ID `json:"begun,omitempty"`

	Feedback []Feedback `json:"feedback,omitempty"` // oldest first

	// A button works once: the transaction that acts on a press takes all of the
	// post's away, and the last piece is shown again without them. So is that of an
	// ask when it is decided, with what became of it.
	Buttons []Button `json:"buttons,omitempty"` // those that work
	Card    *Card    `json:"card,omitempty"`    // the last piece, as long as it may be shown again
	Again   *Receipt `json:"again,omitempty"`   // of that piece, while it waits to be shown again
}

// Card is what the last piece of a post shows besides its buttons.
type Card struct {
	Text     string `json:"text"`
	Thinking string `json:"thinking,omitempty"`
}

// Feedback is what a person thinks of a post, as the mark that they put on it.
type Feedback struct {
	From  PersonID  `json:"from"`
	Emoji string    `json:"emoji"`
	Time  time.Time `json:"time"`
}

// Preview is what a run's post shows until its outcome does.
type Preview struct {
	Text string // Markdown: what has been said so far
	// Status is what the run does now, in plain words as they follow "is":
	// "reading the earlier conversation". Plain text; empty: nothing is told.
	Status string
	// Usual: the status is what anybody expects; it is told only when it lasts.
	Usual bool
	// Thinking is what the model has thought; empty where nobody is to see it.
	Thinking string
}

// Receipt is the platform's word that a piece is shown.
type Receipt struct {
	ID   string    `json:"id"` // platform message id
	Time time.Time `json:"time,omitzero"`
}

// Row is one undelivered chunk of a post in the outbox. It exists from the
// transaction that decided the outcome until its receipt is stored.
type Row struct {
	Seq     uint64      `json:"seq"` // order within the place
	Chunk   int         `json:"chunk"`
	Post    ID          `json:"post"`
	Kind    PostKind    `json:"kind"`
	Place   Place       `json:"place"`
	ReplyTo string      `json:"reply_to,omitempty"`
	After   string      `json:"after,omitempty"` // a lost send lies after this platform id
	Answers []string    `json:"answers,omitempty"`
	Speaker Speaker     `json:"speaker,omitzero"`
	Text    string      `json:"text"` // one piece of Features.Split
	File    *Attachment `json:"file,omitempty"`
	// Thinking is shown above the text: a crash must not lose it.
	Thinking string   `json:"thinking,omitempty"`
	Edit     string   `json:"edit,omitempty"` // platform id of the opened piece that this text replaces
	Last     bool     `json:"last,omitempty"` // of its post
	Buttons  []Button `json:"buttons,omitempty"`
	Plain    string   `json:"plain,omitempty"` // stands below the text where the platform refuses the buttons
	Fork     bool     `json:"fork,omitempty"`  // its message begins the thread of a fork
	Begin    string   `json:"begin,omitempty"` // of a fork: what its thread is called at first
	Again    bool     `json:"again,omitempty"` // Edit is this piece, shown before; if it is gone, nothing is missing

	// Bare is its text as it was with buttons, which the platform has refused; empty:
	// it has not. Not stored.
	Bare string `json:"-"`
	// Unsure: the row was found at start, so an earlier process may have sent
	// it. Not stored.
	Unsure bool `json:"-"`
}

// Piece is one message of an outcome.
type Piece struct {
	Thinking string      // as in Outbound
	Text     string      // of Features.Split, or about the file
	File     *Attachment // nil: none
}

// Speaker is who the message appears to be from, where a platform can show it.
type Speaker struct {
	Name string `json:"name,omitempty"`
	Icon string `json:"icon,omitempty"`
}
