package store

import (
	"crypto/sha256"
	"slices"
	"time"

	"bellhop/core"
)

const (
	// linkLife is how long a code that links two identities works.
	linkLife = 10 * time.Minute
	// maxLinkCodes is how many such codes may be open at once.
	maxLinkCodes = 100
)

// linkCodeRow is a code that links who sends it with who has made it, at its
// hash. The code itself is not stored.
type linkCodeRow struct {
	Person  core.PersonID `json:"person"`
	Name    string        `json:"name,omitempty"`
	Place   core.Place    `json:"place"`             // where they are told of it
	Message string        `json:"message,omitempty"` // platform id of what they asked for it with
	Mark    string        `json:"mark"`              // what they write there before the name of a command
	Expires time.Time     `json:"expires"`
}

// OpenLink implements core.People.
func (d *desk) OpenLink(hash []byte, mark string) (bool, error) {
	var stale [][]byte
	open := 0
	err := each(d.tx, []byte(famLinkCode), 0, func(key []byte, c linkCodeRow) error {
		if d.human.Is(c.Person) || !d.Now().Before(c.Expires) {
			stale = append(stale, slices.Clone(key))
		} else {
			open++
		}
		return nil
	})
	if err != nil || open >= maxLinkCodes {
		return false, err
	}
	for _, key := range stale {
		if err := d.Delete(key); err != nil {
			return false, err
		}
	}
	return true, d.insert(linkCodeKey(hash), linkCodeRow{Person: d.entry.In.From.ID, Name: d.entry.In.From.Name, Place: d.entry.In.Place, Message: d.entry.In.MessageID, Mark: mark, Expires: d.Now().Add(linkLife)})
}

// CloseLink implements core.People.
func (d *desk) CloseLink(hash []byte) error { return d.closeLink(hash) }

func (t *tx) closeLink(hash []byte) error { return t.Delete(linkCodeKey(hash)) }

// Link implements core.People.
func (d *desk) Link(hash []byte) (core.Linked, error) {
	unknown := core.Linked{End: core.LinkUnknown}
	code, ok, err := get[linkCodeRow](d.tx, linkCodeKey(hash))
	if err != nil || !ok {
		return unknown, err
	}
	if err := d.closeLink(hash); err != nil {
		return unknown, err
	}
	maker, err := d.tx.human(code.Person)
	if err != nil {
		return unknown, err
	}
	lends, err := d.tx.standing(d.batch.Access, core.Person{ID: code.Person}, maker)
	if err != nil || !d.Now().Before(code.Expires) || lends.Role < core.Member {
		return unknown, err
	}
	out := core.Linked{With: core.Identity{Person: code.Person, Name: code.Name, Time: d.Now()}}
	me := core.Identity{Person: d.entry.In.From.ID, Name: d.entry.In.From.Name, Time: d.Now()}
	one := maker
	one.Identities = append(identities(maker, out.With), identities(d.human, me)...)
	if one.Zone == "" {
		one.Zone = d.human.Zone
	}
	if one.Language == "" {
		one.Language = d.human.Language
	}
	switch {
	case maker.Is(d.entry.In.From.ID):
		out.End = core.LinkSame
		return out, nil
	case d.acceptance.standing.Role > lends.Role:
		out.End = core.LinkLesser
		return out, nil
	case len(one.Identities) > core.MaxIdentities:
		out.End = core.LinkFull
		return out, nil
	}
	if err := d.putHuman(one); err != nil {
		return out, err
	}
	if err := d.paired(core.PersonLinked, me.Person, string(code.Person)); err != nil {
		return out, err
	}
	return out, d.tellLinked(code, me)
}

// identities are the human's, of whom alone is the only one if nothing is
// linked.
func identities(h core.Human, alone core.Identity) []core.Identity {
	if len(h.Identities) == 0 {
		return []core.Identity{alone}
	}
	return slices.Clone(h.Identities)
}

// tellLinked tells who has made the code that it was used.
func (d *desk) tellLinked(code linkCodeRow, by core.Identity) error {
	place, err := d.canonical(code.Place)
	if err != nil {
		return err
	}
	text := core.ShowPerson(by.Person, by.Name) + " has sent your code and is you from now on, also for what you may do. If that is wrong, " +
		code.Mark + "link remove " + string(by.Person) + " takes it back."
	rows, err := d.show(core.Post{Kind: core.NoticePost, Place: place}, core.Row{After: code.Message}, pieces(d.batch.Split, place, text))
	d.out.Rows = append(d.out.Rows, rows...)
	return err
}

// checkLinkCodes: no code is kept, nobody has two, and few work.
func (c *checker) checkLinkCodes() error {
	makers := map[core.PersonID]bool{}
	err := read(c, famLinkCode, nil, func(key string, row linkCodeRow) {
		if len(key) != len(famLinkCode)+sha256.Size || row.Person == "" || makers[row.Person] {
			c.say("row %q is no code of %s, or their second", key, row.Person)
		}
		makers[row.Person] = true
	})
	if len(makers) > maxLinkCodes {
		c.say("%d codes that link are open", len(makers))
	}
	return err
}
