package core

import "slices"

// Approvers are who may approve what a bot wants to do for somebody. The zero
// value lets nobody.
type Approvers struct {
	Requester bool       // the person for whom it is
	Role      Role       // whoever has at least this role; Stranger: no role is enough
	People    []PersonID // these
	NotOwn    bool       // but nobody what is for themselves
}

// NewApprovers reads a list as the configuration has it: "requester",
// "not-requester", names of roles, and people's ids.
func NewApprovers(list []string) Approvers {
	var a Approvers
	for _, entry := range list {
		var role Role
		switch err := role.UnmarshalText([]byte(entry)); {
		case entry == "requester":
			a.Requester = true
		case entry == "not-requester":
			a.NotOwn = true
		case err != nil:
			a.People = append(a.People, PersonID(entry))
		case role > Stranger && (a.Role == Stranger || role < a.Role):
			a.Role = role
		}
	}
	return a
}

// Anybody reports whether there may be somebody who may approve what is done for
// the requester; empty: it is done for no person.
func (a Approvers) Anybody(requester PersonID) bool {
	return a.Requester && requester != "" || a.Role > Stranger || len(a.People) > 0
}

// MayApprove reports whether somebody with the role may approve what is done
// for the requester, an identity of whom; whose are all people whose work it is.
// Who is not let in any more approves nothing, not even for themselves. Any
// identity that is listed stands for its human.
func (a Approvers) MayApprove(who Human, role Role, requester PersonID, whose []PersonID) bool {
	own := who.Is(requester)
	switch {
	case role < Member, a.NotOwn && (own || slices.ContainsFunc(whose, who.Is)):
		return false
	case own && a.Requester, a.Role > Stranger && role >= a.Role:
		return true
	}
	return slices.ContainsFunc(a.People, who.Is)
}
