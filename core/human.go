package core

import (
	"slices"
	"strings"
	"time"
)

// Human is one person with all the identities that they have linked. Where a
// person is meant (what is theirs, how much they may send, whether they may
// decide), humans are compared. What somebody has written stays that of the
// identity that wrote it.
type Human struct {
	// ID stands for the human while their links stay: store the identity, and
	// compare humans.
	ID         PersonID   `json:"id"`
	Identities []Identity `json:"identities,omitempty"` // all of them, ID's among them, the oldest first; empty: ID alone
	Preferences
}

// Preferences are what a person has asked for.
type Preferences struct {
	Zone     string `json:"zone,omitempty"`     // IANA time zone; empty: that of the platform
	Language string `json:"language,omitempty"` // of the answers: a tag, or a plain name; empty: the bot chooses
}

// Identity is one of the accounts of a human.
type Identity struct {
	Person PersonID  `json:"person"`
	Name   string    `json:"name,omitempty"` // display name then; not trusted
	Time   time.Time `json:"time"`           // when it was linked
}

// Is reports whether the person is this human.
func (h Human) Is(p PersonID) bool {
	return p != "" && (p == h.ID || slices.ContainsFunc(h.Identities, func(i Identity) bool { return i.Person == p }))
}

// People are the human's ids, the oldest first.
func (h Human) People() []PersonID {
	if len(h.Identities) == 0 {
		return []PersonID{h.ID}
	}
	out := make([]PersonID, len(h.Identities))
	for i, id := range h.Identities {
		out[i] = id.Person
	}
	return out
}

// Standing is a role and where it comes from.
type Standing struct {
	Role  Role
	Of    PersonID // the identity that has it; another than who acts has lent it by a link
	Grant *Grant   // with which that was let in in chat; nil: the configuration gives it
}

// Linked is what became of a code that is to link two identities.
type Linked struct {
	End  LinkEnd
	With Identity // of a code that works, who has made it
}

// LinkEnd is how a link ends.
type LinkEnd int

// The ends of a link.
const (
	LinkDone    LinkEnd = iota
	LinkUnknown         // the code does not work, or not any more
	LinkSame            // the two are one human already
	LinkLesser          // who has made the code may do less than who has sent it
	LinkFull            // that would be more identities than one human may have
)

// MaxIdentities is how many identities a human may have.
const MaxIdentities = 8

// People is what a command learns and changes of who people are, within the
// accepting transaction. It speaks of who uses the command.
type People interface {
	// OpenLink has the code with the hash link, once and within ten minutes, who
	// sends it; an earlier code of theirs ends. mark is what they write before the
	// name of a command. False: too many codes are open.
	OpenLink(hash []byte, mark string) (bool, error)
	// Link makes them and who has made the code with the hash one human, and
	// tells the other side. The code is used up. A code that was made with a lesser
	// role than theirs does not work: else whoever talks them into sending one
	// would get theirs.
	Link(hash []byte) (Linked, error)
	// CloseLink ends the code with the hash, which others have seen.
	CloseLink(hash []byte) error
	// Unlink parts one of their identities from the others; false: it is none.
	Unlink(p PersonID) (bool, error)
	// Prefer keeps what they ask for.
	Prefer(p Preferences) error
}

// ShowPerson is somebody with the name that they give themselves, as code so that
// nothing in it is rendered.
func ShowPerson(id PersonID, name string) string {
	code := func(s string) string { return "`" + strings.ReplaceAll(s, "`", "'") + "`" }
	const most = 50
	name = strings.Join(strings.Fields(name), " ")
	if r := []rune(name); len(r) > most {
		name = string(r[:most]) + "…"
	}
	if name == "" {
		return code(string(id))
	}
	return code(name) + " (" + code(string(id)) + ")"
}
