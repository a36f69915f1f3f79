package core

import (
	"slices"
	"time"
)

// ItemKind tells mailbox items apart.
type ItemKind string

// The kinds of Item. A message item asks its bot to react to a message. A
// resume item, made by Recover or by an answer, asks it to go on with a run;
// it runs alone.
const (
	MessageItem  ItemKind = "message"
	QuestionItem ItemKind = "question"
	ResumeItem   ItemKind = "resume"
)

// State is where an item or a run is in its life. Items begin queued, runs
// begin doing. The last four are terminal.
type State string

// The states.
const (
	Queued    State = "queued"
	Doing     State = "doing"
	Waiting   State = "waiting"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
	Withdrawn State = "withdrawn" // its author deleted the message before a run joined it
)

// Terminal reports whether the state is final.
func (s State) Terminal() bool {
	return s == Done || s == Failed || s == Cancelled || s == Withdrawn
}

// Item is one unit of work in a bot's or an external's mailbox, and the unit of
// the delivery contract: it reaches exactly one terminal state and names one
// outcome (an external's only if it has failed). It points at a message or a run
// and carries no content.
type Item struct {
	ID      ID        `json:"id"`
	Kind    ItemKind  `json:"kind"`
	Bot     string    `json:"bot"`             // handle of whose mailbox it is in
	Actor   ActorKind `json:"actor,omitempty"` // … and what they are: ExternalActor; empty: a bot
	Adapter string    `json:"adapter"`         // of the thread's place: work waits until it is up
	Thread  ID        `json:"thread"`
	Message ID        `json:"message,omitempty"`
	Run     ID        `json:"run,omitempty"`    // the run it joined, or that it resumes
	Parent  ID        `json:"parent,omitempty"` // the item that this one retries
	State   State     `json:"state"`
	Outcome ID        `json:"outcome,omitempty"` // post; empty for withdrawn items, which owe nothing
	Created time.Time `json:"created"`
	Ended   time.Time `json:"ended,omitzero"`

	// Of an external's item, which is doing from its first failed try on and
	// stays in its mailbox until it ends.
	Tries int       `json:"tries,omitempty"`
	Next  time.Time `json:"next,omitzero"` // it is not tried before
	Error string    `json:"error,omitempty"`

	// Unsorted: the message names no bot, and a model has yet to choose whose the
	// item is. Until then it is the default bot's.
	Unsorted bool `json:"unsorted,omitempty"`
	// Waits: people are told that it waits for a slot, in the post of the run that it
	// will begin.
	Waits bool  `json:"waits,omitempty"`
	Usage Usage `json:"usage,omitzero"` // what that has cost

	// Left: an earlier process has left it, and may have begun its run without
	// storing the pick. Post is of the run that it resumes then. Not stored.
	Left bool `json:"-"`
	Post ID   `json:"-"`
}

// External reports whether the item is in the mailbox of an external actor.
func (it *Item) External() bool { return it.Actor == ExternalActor }

// MaxResumes is how many crashes a run survives; the next one fails it.
// Source: invariant 9.
const MaxResumes = 2

// Run is one execution of a bot's loop in one thread. Its ID has the number of
// its oldest item, or of that whose post says that it waits for a slot, its first
// post the same number: both are known before the run is stored and are the same
// again if the process dies before that.
type Run struct {
	ID       ID     `json:"id"`
	Bot      string `json:"bot"`
	Model    string `json:"model,omitempty"` // "provider/model" that it began with, and goes on with
	Thread   ID     `json:"thread"`
	Items    []ID   `json:"items"`
	Triggers []ID   `json:"triggers"`           // the messages of its items, in order
	Versions []int  `json:"versions,omitempty"` // of Triggers, as the run read them
	State    State  `json:"state"`
	Reply    Reply  `json:"reply"`
	Post     ID     `json:"post"`

	// Scoped: it reads only what of the thread is for its bot. See Thread.Scoped.
	Scoped bool `json:"scoped,omitempty"`
	// Late is Thread.Late when it began: what became its bot's since is not in its
	// window, unless it joined the run.
	Late int `json:"late,omitempty"`

	Upto ID     `json:"upto,omitempty"` // newest message that it read
	Cut  ID     `json:"cut,omitempty"`  // oldest message that it read
	Tail string `json:"tail,omitempty"` // the dynamic tail, frozen for the run

	Resumes      int  `json:"resumes,omitempty"`
	StoppedClean bool `json:"stopped_clean,omitempty"` // cut by an orderly stop: the next Recover does not count it as a crash

	// For is whose work it is: who wrote the newest of the messages that led to it;
	// People are all who wrote one of these, or have answered a question of it.
	For     Requester     `json:"for,omitzero"`
	People  []PersonID    `json:"people,omitempty"`
	Ask     ID            `json:"ask,omitempty"`     // that it waits for
	Worked  time.Duration `json:"worked,omitempty"`  // before it last waited
	Granted []string      `json:"granted,omitempty"` // Grantable.Class of what is allowed for the task
	Refused []string      `json:"refused,omitempty"` // likewise, of what is not

	Hop     int       `json:"hop,omitempty"` // hop of its reply
	Steps   int       `json:"steps,omitempty"`
	Usage   Usage     `json:"usage"`
	Error   string    `json:"error,omitempty"`
	Created time.Time `json:"created"`
	Ended   time.Time `json:"ended,omitzero"`

	// Resumed: an earlier process may have begun the run and shown its post, so
	// the pick is stored before anything else and the open is resolved before it
	// is sent. Not stored.
	Resumed bool `json:"-"`
	// Waits: it has no slot yet, and no model reads it: its post says only that. Not
	// stored.
	Waits bool `json:"-"`
	// Open is the receipt of the post's open, where it is stored already.
	Open *Receipt `json:"-"`
}

// Asked reports whether the run has waited for a person: its words stand in
// another post since then.
func (r *Run) Asked() bool { return r.Post != r.ID.As(KindPost) }

// Serve notes a person for whom the run works, the last one by now.
func (r *Run) Serve(who Requester) {
	if who.ID == "" {
		return
	}
	r.For = who
	r.Hear(who.ID)
}

// Hear notes a person on whose word the run acts; empty: it is nobody's. What was
// allowed for the task was so before they had a say in it.
func (r *Run) Hear(who PersonID) {
	if who != "" && !slices.Contains(r.People, who) {
		r.People, r.Granted = append(slices.Clone(r.People), who), nil
	}
}

// Reply is where a run answers, fixed when it starts.
type Reply struct {
	Place   Place    `json:"place"`
	To      string   `json:"to,omitempty"`      // platform id to reply to; empty: none
	After   string   `json:"after,omitempty"`   // platform id of the oldest trigger: a lost post lies after it
	Answers []string `json:"answers,omitempty"` // platform ids of all triggers
	Direct  bool     `json:"direct,omitempty"`
}

// Step is one model call of a run that was followed by another, with the
// results of the tools it asked for. The last reply of a run is not a step: it
// is in the message that Settle posts.
type Step struct {
	Run    ID        `json:"run"`
	N      int       `json:"n"` // from 1
	Parts  []Part    `json:"parts"`
	Finish Finish    `json:"finish"`
	Usage  Usage     `json:"usage"`
	Time   time.Time `json:"time"`

	// Joined are the messages that the run has taken in after the step, in order:
	// the next call reads them after the step's results.
	Joined []ID `json:"joined,omitempty"`
}

// Text is the step's text.
func (s *Step) Text() string { return (&Message{Parts: s.Parts}).Text() }
