package core

import (
	"maps"
	"strings"
	"time"
)

// Thread is one conversation: the context that runs read. It belongs to the
// place where it takes place; /new archives it and gives the place another.
type Thread struct {
	ID    ID       `json:"id"`
	Place Place    `json:"place"`
	Agent string   `json:"agent"`          // default bot
	Bots  []string `json:"bots,omitempty"` // participants, in order of entry
	// Externals are participants, too: they are told all that is said. Unreached
	// are those that could not be, with the post that says so.
	Externals []string      `json:"externals,omitempty"`
	Unreached map[string]ID `json:"unreached,omitempty"`
	Title     string        `json:"title,omitempty"`
	Created   time.Time     `json:"created"`
	Active    time.Time     `json:"active"`             // last message
	Messages  int           `json:"messages"`           // ever posted
	Late      int           `json:"late,omitempty"`     // how often an older message became a bot's
	Archived  time.Time     `json:"archived,omitzero"`  // zero: current
	Direct    bool          `json:"direct,omitempty"`   // one person and us
	HopTold   bool          `json:"hop_told,omitempty"` // hop limit announced since the last human message

	// Where what was said can be read back: the platform id up to which the place
	// has been heard, and whether something was said there since that is not in
	// the thread.
	Heard  string `json:"heard,omitempty"`
	Missed bool   `json:"missed,omitempty"`

	Spent Usage `json:"spent,omitzero"` // of models, since it began

	// Cuts says by bot where its window begins: messages before the cut have
	// been folded away and are read with read_history.
	Cuts map[string]ID `json:"cuts,omitempty"`

	// Of a fork: the message up to which it shares what was said in another
	// thread, and how many messages that are.
	Fork   ID  `json:"fork,omitempty"`
	Shared int `json:"shared,omitempty"`

	// Unnamed: the place's name is the platform's doing, or ours, so that we may
	// give it another. Named: a person has given it one, in this conversation or an
	// earlier one there. Titled: a title was asked for, or a person has given one.
	Unnamed bool `json:"unnamed,omitempty"`
	Named   bool `json:"named,omitempty"`
	Titled  bool `json:"titled,omitempty"`

	Workspace string `json:"workspace,omitempty"` // folder in which all bots work here, as package workspace keeps it; empty: the place's, or each its own

	Model string `json:"model,omitempty"` // "provider/model" that all bots use here; empty: each its own
	Mode  Mode   `json:"mode,omitempty"`  // how freely bots may use tools here; empty: as the place's binding says
}

// Said is how many messages are the thread's own.
func (th *Thread) Said() int { return th.Messages - th.Shared }

// Scoped reports whether the bot sees only what is for it: its own messages,
// those that mention it, and those that wake it. The default bot coordinates,
// and the only one is nobody's delegate: they see everything.
func (th *Thread) Scoped(bot string) bool { return bot != th.Agent && len(th.Bots) > 1 }

// Reached notes that the external actor can be reached again, and reports
// whether that is news.
func (th *Thread) Reached(handle string) bool {
	if th.Unreached[handle] == "" {
		return false
	}
	th.Unreached = maps.Clone(th.Unreached)
	delete(th.Unreached, handle)
	return true
}

// Deleted is the text of a message that its author has deleted before any bot
// had begun to answer it.
const Deleted = "(deleted by its author)"

// Message is one post in a thread. Rows are immutable: an edit of a message
// that no run has joined yet writes a new Version under the same ID.
type Message struct {
	ID       ID        `json:"id"`
	Thread   ID        `json:"thread"`
	N        int       `json:"n"` // ordinal in its thread, from 1
	Version  int       `json:"version,omitempty"`
	Sender   Actor     `json:"sender"`
	Name     string    `json:"name,omitempty"` // display name when it was sent; not trusted
	Parts    []Part    `json:"parts"`
	Mentions []string  `json:"mentions,omitempty"` // handles of bots and externals, in order
	Hop      int       `json:"hop,omitempty"`
	Time     time.Time `json:"time"`               // the platform's time; never changes
	Zone     string    `json:"zone,omitempty"`     // IANA time zone of the sender when it was sent; empty: unknown
	Language string    `json:"language,omitempty"` // that the sender wanted answers in when it was sent; empty: any

	PlatformID string   `json:"platform_id,omitempty"`
	Corrects   ID       `json:"corrects,omitempty"` // this is a later edit of that message
	Earlier    *Earlier `json:"earlier,omitempty"`  // nil: all that was said at its place before it is in the thread, or of no interest

	Run    ID     `json:"run,omitempty"`    // bot messages: the run that wrote it
	After  ID     `json:"after,omitempty"`  // bot messages, and answers to them: the newest message the run had read
	Digest string `json:"digest,omitempty"` // bot messages: tools used, ≤240 characters
	Post   ID     `json:"post,omitempty"`   // how it was shown

	// Of the answer to a bot's question: the run that asked, and its bot, for whom
	// the answer stands after what the run had read (After), as the question does.
	Answers ID     `json:"answers,omitempty"`
	For     string `json:"for,omitempty"`
}

// Text is the message's text parts, joined by newlines.
func (m *Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Kind == TextPart {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// PartKind tells the parts of messages and steps apart.
type PartKind string

// The kinds of Part and the fields they use.
const (
	TextPart       PartKind = "text"       // Text
	ReasoningPart  PartKind = "reasoning"  // Text; shown on request, never sent back to a model
	ToolPart       PartKind = "tool"       // Tool
	FilePart       PartKind = "file"       // File
	QuotePart      PartKind = "quote"      // Quote
	StepStartPart  PartKind = "step_start" // a model call begins
	CompactionPart PartKind = "compaction" // Text is the summary of what was folded; File etc. empty
)

// Part is one ordered piece of a message or of a run's step.
type Part struct {
	Kind  PartKind `json:"kind"`
	Text  string   `json:"text,omitempty"`
	Tool  *ToolUse `json:"tool,omitempty"`
	File  *File    `json:"file,omitempty"`
	Quote *Quote   `json:"quote,omitempty"`
}

// Text is a text part.
func Text(s string) Part { return Part{Kind: TextPart, Text: s} }

// ToolState is the life cycle of a tool call.
type ToolState string

// The states of a tool call. A call found running after a restart was started
// and not finished: it is run again if its tool is idempotent, else it becomes
// unknown and the model is told so.
const (
	ToolPending ToolState = "pending"
	ToolRunning ToolState = "running"
	ToolDone    ToolState = "done"
	ToolFailed  ToolState = "failed" // the model sees the error
	ToolUnknown ToolState = "unknown"
)

// ToolUse is one call of a tool and, once it has ended, its result.
type ToolUse struct {
	CallID  string    `json:"call_id"`
	Name    string    `json:"name"`
	Args    string    `json:"args"` // JSON object; what the model wrote, if that is none
	State   ToolState `json:"state"`
	Ask     ID        `json:"ask,omitempty"`     // that it waits for, or did
	Allowed string    `json:"allowed,omitempty"` // Grantable.Hash of the call that a person has allowed
	Output  string    `json:"output,omitempty"`  // what the model sees
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
}

// File is a reference to a file: on the platform, and here once its content is
// kept, which is elsewhere. Until then its other fields are what was claimed.
type File struct {
	Name string `json:"name"`
	MIME string `json:"mime,omitempty"`
	Size int64  `json:"size,omitempty"` // bytes; 0: unknown
	Ref  string `json:"ref,omitempty"`  // opaque: only the adapter that made it reads it
	Hash string `json:"hash,omitempty"` // of the content that is kept; see Saved
	Note string `json:"note,omitempty"` // why the content is not kept, or there is no picture of it
}

// IsImage reports whether the file's content is kept and a picture of it can be
// shown, as far as is known.
func (f *File) IsImage() bool {
	return f.Hash != "" && f.Note == "" && strings.HasPrefix(f.MIME, "image/")
}

// Quote is what a person replied to, forwarded or quoted, or what was said
// before they spoke: data, not orders.
type Quote struct {
	Author string `json:"author,omitempty"` // display name, not trusted
	Own    bool   `json:"own,omitempty"`    // one of our own messages
	Text   string `json:"text"`

	// Of a message that was read back from the platform.
	ID    string    `json:"id,omitempty"` // platform id
	Time  time.Time `json:"time,omitzero"`
	Files []File    `json:"files,omitempty"` // references; their content is not fetched
}

// Earlier is what was said at a message's place before it and is not in the
// thread. Accept notes that there may be something; the first run that reads
// the message asks the platform for it, and what it gets stays.
type Earlier struct {
	Since  string  `json:"since,omitempty"`  // platform id up to which the place had been read; empty: nothing of it
	Most   int     `json:"most"`             // most messages to quote
	Read   bool    `json:"read,omitempty"`   // the platform was asked
	Quotes []Quote `json:"quotes,omitempty"` // oldest first
	Older  int     `json:"older,omitempty"`  // how many were left out before these
	More   bool    `json:"more,omitempty"`   // and others before those
	Note   string  `json:"note,omitempty"`   // why nobody knows; empty: it was read
}
