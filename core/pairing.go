package core

import (
	"fmt"
	"time"
)

// Grant is what a person was given in chat. It adds to what the configuration
// gives, and lasts until it is taken back.
type Grant struct {
	Person PersonID  `json:"person"`
	Name   string    `json:"name,omitempty"` // display name then; not trusted
	Role   Role      `json:"role"`
	By     PersonID  `json:"by,omitempty"` // who has let them in; empty: they had the code of the first owner
	Time   time.Time `json:"time"`
	Place  Place     `json:"place"` // the direct conversation in which they asked
}

// Offer is a code that a stranger is given. An owner who repeats it lets them
// in.
type Offer struct {
	Hash []byte // of the code, which is stored nowhere
	Text string // with the code; said in place of Entry.Refusal
	// Notice tells an owner that they ask, if few others do; nil: nobody.
	Notice *Notice
}

// Notice is something to say at a place on the appliance's own account.
type Notice struct {
	Place   Place
	Text    string
	Buttons []Button // each is a command, in whole
}

// Request is a stranger's offer that is open.
type Request struct {
	Person  PersonID
	Name    string // not trusted
	Expires time.Time
}

// Rebuff is that an owner has refused a stranger: for a time, they are offered
// no code, and nobody is told of them.
type Rebuff struct {
	Person PersonID  `json:"person"`
	Name   string    `json:"name,omitempty"` // not trusted
	By     PersonID  `json:"by"`
	Until  time.Time `json:"until"`
}

// Pairing is who was let in in chat and who may be, as an owner sees it.
type Pairing struct {
	Grants      []Grant   // oldest first
	Requests    []Request // oldest first
	Rebuffs     []Rebuff
	Invitations int     // open
	Links       []Human // who have several identities, at most MaxLinks
}

// MaxLinks is how many linked people an owner sees.
const MaxLinks = 50

// MarshalText writes the role's name: its number is no promise.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a role's name. One that is not known is an error: it may
// mean anything.
func (r *Role) UnmarshalText(text []byte) error {
	for role := Stranger; role <= Owner; role++ {
		if role.String() == string(text) {
			*r = role
			return nil
		}
	}
	return fmt.Errorf("%q is no role", text)
}
