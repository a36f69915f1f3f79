package core

import (
	"slices"
	"time"
)

// ActorKind says what drains an actor's mailbox: a bot's is drained by its
// worker, a human's by the chat platform, an external's by a webhook. The
// system only speaks.
type ActorKind string

// The kinds of Actor.
const (
	BotActor      ActorKind = "bot"
	HumanActor    ActorKind = "human"
	ExternalActor ActorKind = "external"
	SystemActor   ActorKind = "system"
)

// Actor is whoever can send or receive messages. ID is a bot's or an
// external's handle, or a human's PersonID; empty for the system.
type Actor struct {
	Kind ActorKind `json:"kind"`
	ID   string    `json:"id,omitempty"`
}

// PersonID is "adapter:id" with the platform's immutable id of a person.
// Names are display only and never authorise anything.
type PersonID string

// Person is a human as a platform shows them.
type Person struct {
	ID    PersonID `json:"id"`
	Name  string   `json:"name,omitempty"`  // display name, not trusted
	Bot   bool     `json:"bot,omitempty"`   // another program
	Zone  string   `json:"zone,omitempty"`  // IANA time zone, where the platform tells; empty: unknown
	Guest bool     `json:"guest,omitempty"` // platform guest, connected workspace, anonymous admin
}

// Bot is one agent of the team. It is configuration: nothing in it changes
// while the process runs, and it holds no conversation.
type Bot struct {
	Handle       string // what people write after @; unique
	Name         string // shown name; the handle when empty
	Description  string // one line, for the roster
	Instructions string // appended to the system prompt
	Model        string // "provider/model"
	Params       map[string]any
	Tools        []string // allow-list of tool names; empty: all
	DeniedTools  []string
	Workers      int  // most runs at once; 0: as many as the appliance allows
	Steer        bool // what comes while it works joins the run between its steps
	History      Budget
	Steps        int           // most model calls in a run
	RunTime      time.Duration // most wall time of a run
	Window       int           // tokens the model can take; 0: unknown
	Vision       bool          // the model can see images
	Delegate     bool          // only bots wake it
	ReadOnly     bool          // it has only tools that change nothing
	// Hidden reports whether rules deny it the tool whatever the call, so that its
	// model is not shown it; nil: none do.
	Hidden func(tool string) bool
}

// Budget bounds how much of a thread a run reads.
type Budget struct {
	Tokens   int
	Messages int
}

// DisplayName is the name a person sees.
func (b *Bot) DisplayName() string {
	if b.Name != "" {
		return b.Name
	}
	return b.Handle
}

// May reports whether the bot may use the tool.
func (b *Bot) May(tool string) bool {
	in := func(list []string) bool {
		return slices.Contains(list, tool)
	}
	return (len(b.Tools) == 0 || in(b.Tools)) && !in(b.DeniedTools) && (b.Hidden == nil || !b.Hidden(tool))
}
