package core

import "strings"

// Role is what a person may do. A higher role includes the lower ones.
type Role int

// The roles, lowest first.
const (
	Stranger Role = iota
	Member
	Admin
	Owner
)

func (r Role) String() string {
	return [...]string{"stranger", "member", "admin", "owner"}[r]
}

// Access is who may do what, by immutable id. An empty list lets nobody in.
// Entries are PersonIDs or "adapter:*".
type Access struct {
	Owners  []string
	Admins  []string
	Members []string
	Guests  bool // a pattern lets in guests, too

	Approvers Approvers // who may approve what a bot wants to do
}

// Role is the highest role that the lists give to the person. A pattern never
// lets in another program, and a guest only where Guests says so: whoever is
// to be let in all the same is named.
func (a Access) Role(p Person) Role {
	match := func(list []string) bool {
		for _, e := range list {
			if e == string(p.ID) {
				return true
			}
			adapter, star := strings.CutSuffix(e, ":*")
			if star && !p.Bot && (a.Guests || !p.Guest) && strings.HasPrefix(string(p.ID), adapter+":") {
				return true
			}
		}
		return false
	}
	switch {
	case p.ID == "":
		return Stranger
	case match(a.Owners):
		return Owner
	case match(a.Admins):
		return Admin
	case match(a.Members):
		return Member
	}
	return Stranger
}

// Deed is what somebody wants to do.
type Deed struct {
	Kind    InboundKind
	Command *Command // that it is; nil: none
	Code    bool     // it is a Command that takes a code, and comes with one that may be tried
	Author  PersonID // of the message that it changes; empty: it changes none
}

// Verdict is what Authorise says.
type Verdict int

// The verdicts.
const (
	Allowed   Verdict = iota
	Unknown           // nobody whom we listen to
	Beneath           // the command is for a higher role
	NotTheirs         // the message is somebody else's
)

// Authorise decides who may do what. Every way in passes it, and there is no
// other check: messages, commands in all their forms, edits, reactions,
// buttons, and being let in somewhere. What a platform tells of itself, that
// a message is gone, say, nobody asks us for.
func Authorise(who Person, role Role, d Deed) Verdict {
	switch d.Kind {
	case InMessage, InEdit:
	case InReaction, InButton, InAdded:
		if who.Bot { // programs write, if anything
			return Unknown
		}
	default:
		return Allowed
	}
	switch {
	case d.Code && d.Kind == InMessage && !who.Bot && !who.Guest: // the code shows that they may
	case role < Member:
		return Unknown
	case d.Command != nil && role < d.Command.Role:
		return Beneath
	case d.Author != "" && d.Author != who.ID:
		return NotTheirs
	}
	return Allowed
}
