package core

import "time"

// Action is what is done about a call of a tool.
type Action string

// The actions.
const (
	ActionAllow Action = "allow"
	ActionAsk   Action = "ask"  // a person decides
	ActionDeny  Action = "deny" // nobody is asked
)

// Rule says what is done about some calls of tools. In a list, the first that
// matches a call counts. Package perm matches them.
type Rule struct {
	Tool    string // glob over the tool's name
	Pattern string // glob over what the call is about: a command, path, URL, or the arguments; empty: any call
	Action  Action
	// Role limits of whom the rule speaks; Stranger: of everybody. An allow speaks
	// of people with this role or a higher one, an ask or a deny of people with
	// this role or a lower one: what a rule grants to some it grants to those
	// above them, and what it forbids to some it forbids to those below.
	Role Role
}

// Speaks reports whether the rule speaks of people with the role.
func (r Rule) Speaks(of Role) bool {
	switch {
	case r.Role == Stranger:
		return true
	case r.Action == ActionAllow:
		return of >= r.Role
	}
	return of <= r.Role
}

// Mode is how freely bots may use tools in a thread.
type Mode string

// The modes. Whatever the mode, what a rule denies stays denied.
const (
	ModeDefault Mode = "default" // as the rules say
	ModeSmart   Mode = "smart"   // what changes nothing, or can be taken back, is not asked about
	ModeBypass  Mode = "bypass"  // nothing is asked about
)

// Remembered is the permission that a person has given for one very call, for
// good: the same tool with the same arguments, of the same agent in the same
// workspace. It is never a pattern.
type Remembered struct {
	ID        ID        `json:"id"`
	Agent     string    `json:"agent"`
	Workspace string    `json:"workspace,omitempty"`
	Tool      string    `json:"tool"`
	Hash      string    `json:"hash"`  // of the canonical arguments
	Shown     string    `json:"shown"` // what the call is about, for people
	By        PersonID  `json:"by"`
	Time      time.Time `json:"time"`
}

// Policy is what the configuration says about the use of tools.
type Policy struct {
	Rules    []Rule            // for all agents everywhere
	Agents   map[string][]Rule // by handle
	Bindings []Binding         // the first that matches a place has its rules and its mode
}

// At is the binding of a place; zero: none.
func (p Policy) At(place Place) Binding {
	for _, b := range p.Bindings {
		if b.Matches(place) {
			return b
		}
	}
	return Binding{}
}
