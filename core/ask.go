package core

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// AskKind says what a run waits for.
type AskKind string

// The kinds of Ask.
const (
	QuestionAsk AskKind = "question" // what to do, in a person's words
	ApprovalAsk AskKind = "approval" // whether a call of a tool may be made
)

// AskState is where an ask is in its life. It begins open; whatever else it
// becomes, it stays.
type AskState string

// The states.
const (
	AskOpen     AskState = "open"
	AskAnswered AskState = "answered" // a question, by a person
	AskAllowed  AskState = "allowed"  // an approval, by a person
	AskDenied   AskState = "denied"   // an approval, by a person
	AskExpired  AskState = "expired"  // nobody answered: that is no, where no is an answer
	AskDropped  AskState = "dropped"  // the run that asked has ended
)

// Ask is something that a run waits for a person to say: the answer to a
// question of its bot, or leave to make a call. It has a post of its own, with
// which the run's part before it ends, and it is decided once.
type Ask struct {
	ID     ID      `json:"id"`
	Kind   AskKind `json:"kind"`
	Bot    string  `json:"bot"`
	Run    ID      `json:"run"`
	Thread ID      `json:"thread"`
	Place  Place   `json:"place"`
	Direct bool    `json:"direct,omitempty"` // the place is one person's and ours
	Post   ID      `json:"post"`
	Step   int     `json:"step"`    // of the run
	CallID string  `json:"call_id"` // of the step: the call that gets the answer

	For     Requester  `json:"for"`               // for whom the work is done
	Whose   []PersonID `json:"whose,omitempty"`   // all whose work it is, as with Run.People
	Others  []PersonID `json:"others,omitempty"`  // who else has spoken in what the run read
	Text    string     `json:"text"`              // the question; of an approval, the call in one line
	Clipped bool       `json:"clipped,omitempty"` // Text is not all of the call
	Choices []string   `json:"choices,omitempty"`
	Grant   *Grantable `json:"grant,omitempty"` // of an approval
	Lost    bool       `json:"lost,omitempty"`  // what was asked was damaged in the store: it can only expire

	State   AskState   `json:"state"`
	Created time.Time  `json:"created"`
	Remind  time.Time  `json:"remind,omitzero"` // when people are told again that it is open; zero: they were
	Expires time.Time  `json:"expires"`
	Answer  string     `json:"answer,omitempty"`
	By      Requester  `json:"by,omitzero"` // who has decided it
	Ended   time.Time  `json:"ended,omitzero"`
	Told    []PersonID `json:"told,omitempty"` // who wrote something else meanwhile, and was told what is waiting
}

// Requester is the person whose message a run works on, or who has decided
// something. The name is what it was then, and not trusted.
type Requester struct {
	ID   PersonID `json:"id,omitempty"`
	Name string   `json:"name,omitempty"`
}

// Grantable is the call that an approval is about.
type Grantable struct {
	Tool   string      `json:"tool"`
	Hash   string      `json:"hash"`             // of the call: what is allowed is this and nothing else
	Class  string      `json:"class"`            // of the calls that "for this task" speaks of, and a refusal
	Always *Remembered `json:"always,omitempty"` // what is kept when it is allowed for good; nil: that cannot be
}

// Grant words: what an approval may be given for.
const (
	GrantOnce   = "once"
	GrantTask   = "task"
	GrantAlways = "always"
)

// Answer is what a person says to an ask.
type Answer struct {
	By      Requester
	Human   Human // who By is
	Role    Role
	Program bool   // By is another program, though it is let in
	Here    bool   // they say it where the ask is
	Text    string // of a question; of an approval, the reason of a refusal; may be blank
	Grant   string // of an approval: once, task or always; empty: denied
}

// May reports whether the person may decide the ask. A question may be answered
// by whoever may talk where it is asked, and elsewhere by those whom it waits
// for; about a call decide the approvers, and no program is one, whatever its
// role: what a model has written must not allow anything.
func (a *Ask) May(who Answer, may Approvers) bool {
	switch {
	case who.By.ID == "" || who.Role < Member || !who.Human.Is(who.By.ID):
		return false
	case a.Kind == QuestionAsk:
		return who.Here || a.Concerns(who.Human)
	case who.Program:
		return false
	}
	return may.MayApprove(who.Human, who.Role, a.For.ID, a.Whose)
}

// Choice is the choice that a text names, by its number or its words; false: it
// names none.
func (a *Ask) Choice(text string) (string, bool) {
	text = strings.TrimSpace(text)
	for i, c := range a.Choices {
		if strings.EqualFold(text, c) || text == strconv.Itoa(i+1) {
			return c, true
		}
	}
	return "", false
}

// MaxLine is how many characters of a call in one line are kept.
const MaxLine = 1000

// Line is what the ask is about in one line of Markdown, of at most so many
// characters: a question in its words, a call to the letter.
func (a *Ask) Line(most int) string {
	text := a.Text
	if a.Kind == QuestionAsk {
		text = strings.Join(strings.Fields(text), " ")
	}
	if r := []rune(text); len(r) > most {
		text = string(r[:most-1]) + "…"
	}
	if a.Kind == ApprovalAsk {
		return Code(text)
	}
	return "“" + text + "”"
}

// Code is a line of text as code in Markdown, with all that is in it.
func Code(text string) string {
	if text == "" {
		return ""
	}
	mark := "`"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	if first, last := text[0], text[len(text)-1]; first == '`' || last == '`' || first == ' ' && last == ' ' {
		text = " " + text + " "
	}
	return mark + text + mark
}

// Unmarked is a plain text as Markdown: nobody's name may change how what stands
// beside it looks.
func Unmarked(text string) string { return unmarked.Replace(text) }

var unmarked = strings.NewReplacer(`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `~`, `\~`, `[`, `\[`, `]`, `\]`, `<`, `\<`, `>`, `\>`, `|`, `\|`, `#`, `\#`)

// Awaits reports whether the ask waits for the person: a question for those whom
// it concerns, a call for those who may allow it, wherever they are.
func (a *Ask) Awaits(who Human, role Role, may Approvers) bool {
	if a.Kind == QuestionAsk {
		return a.Concerns(who)
	}
	return may.MayApprove(who, role, a.For.ID, a.Whose)
}

// Concerns reports whether the ask is the person's: for whom the work is done, or,
// if it is a question, who has spoken in the conversation.
func (a *Ask) Concerns(who Human) bool {
	return who.Is(a.For.ID) || a.Kind == QuestionAsk && slices.ContainsFunc(a.Others, who.Is)
}

// Parking is what Park takes: why a run stops, and what people see.
type Parking struct {
	Ask     Ask           // without what the ledger knows: IDs, times, state
	Said    string        // what stays in the thread of it as the bot's words; blank: nothing
	Pieces  []Piece       // what is shown
	Buttons []Button      // below the last piece
	Plain   string        // as in Row
	Remind  time.Duration // after which people are told again; 0: never
	Life    time.Duration // after which it expires
	Worked  time.Duration // since the run began, or last waited
	Speaker Speaker
	// Externals are the handles of the external actors that can be told of it.
	Externals []string
}

// Parked is a run that waits, and keeps its thread waiting for its bot.
type Parked struct {
	Run    ID
	Bot    string
	Thread ID
	Post   ID        // that the run's next words will stand in
	Rows   []Row     // to deliver
	Items  []Item    // of external actors, queued now
	Next   time.Time // when an ask is to be looked at again
}
