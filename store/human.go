package store

import (
	"bytes"
	"errors"
	"slices"

	"bellhop/core"
)

// humanRow is what is known of a human, at the key of the identity that it is
// named after. At the keys of the others it only says which one that is.
type humanRow struct {
	Human core.Human    `json:"human,omitzero"`
	Of    core.PersonID `json:"of,omitempty"`
}

// human is whom a person is: one alone, if they have linked nothing.
func (t *tx) human(p core.PersonID) (core.Human, error) {
	alone := core.Human{ID: p}
	if p == "" {
		return alone, nil
	}
	row, ok, err := get[humanRow](t, humanKey(p))
	if ok && row.Of != "" {
		row, ok, err = get[humanRow](t, humanKey(row.Of))
	}
	if err != nil || !ok || row.Of != "" || !row.Human.Is(p) { // a row that is damaged has let go of them
		return alone, err
	}
	return row.Human, nil
}

// standing is what a person may do, by the highest role of any of their
// identities: what the configuration gives it, or what it was given in chat.
func (t *tx) standing(access core.Access, who core.Person, h core.Human) (core.Standing, error) {
	var out core.Standing
	for _, id := range h.People() {
		p := core.Person{ID: id}
		if id == who.ID {
			p = who
		}
		if role := access.Role(p); role > out.Role || out.Of == "" {
			out = core.Standing{Role: role, Of: id}
		}
		if id == "" || p.Bot {
			continue
		}
		g, ok, err := get[core.Grant](t, grantKey(id))
		if err != nil {
			return out, err
		}
		if ok && g.Role > out.Role {
			out = core.Standing{Role: g.Role, Of: id, Grant: &g}
		}
	}
	return out, nil
}

// rank finds out who does it, and what they may. A platform's guest stands
// alone: who has become one is linked no more. So are programs.
func (a *acceptance) rank(e *core.Entry) error {
	who := e.In.From
	a.human = core.Human{ID: who.ID}
	if !who.Bot {
		var err error
		if a.human, err = a.tx.human(who.ID); err != nil {
			return err
		}
	}
	if who.Guest && len(a.human.Identities) > 0 {
		if _, err := a.unlink(who.ID); err != nil {
			return err
		}
		a.human = core.Human{ID: who.ID}
	}
	var err error
	a.standing, err = a.tx.standing(a.batch.Access, who, a.human)
	if e.Role > a.standing.Role {
		a.standing = core.Standing{Role: e.Role, Of: who.ID}
	}
	return err
}

// putHuman stores a human, or forgets one of whom nothing is to be known.
func (t *tx) putHuman(h core.Human) error {
	if len(h.Identities) == 1 {
		h.Identities = nil
	}
	if len(h.Identities) == 0 && h.Preferences == (core.Preferences{}) {
		return t.Delete(humanKey(h.ID))
	}
	for _, p := range h.People() {
		row := humanRow{Of: h.ID}
		if p == h.ID {
			row = humanRow{Human: h}
		}
		if err := t.put(humanKey(p), row); err != nil {
			return err
		}
	}
	return nil
}

// unlink parts an identity from the others of its human, who keep what they have
// asked for; false: there are no others.
func (t *tx) unlink(p core.PersonID) (bool, error) {
	h, err := t.human(p)
	if err != nil || len(h.Identities) == 0 {
		return false, err
	}
	if err := t.Delete(humanKey(p)); err != nil {
		return false, err
	}
	h.Identities = slices.DeleteFunc(slices.Clone(h.Identities), func(i core.Identity) bool { return i.Person == p })
	if h.ID == p {
		h.ID = h.Identities[0].Person
	}
	return true, t.putHuman(h)
}

// rebuildHuman finds a lost identity in the human that has it. Where that is
// what was lost, its other identities are alone from now on.
func (t *tx) rebuildHuman(key []byte) error {
	var parted [][]byte
	err := each(t, []byte(famHuman), 0, func(at []byte, row humanRow) error {
		if row.Of != "" && bytes.Equal(humanKey(row.Of), key) {
			parted = append(parted, slices.Clone(at))
		}
		for _, p := range row.Human.People() {
			if row.Of == "" && p != row.Human.ID && bytes.Equal(humanKey(p), key) {
				return t.insert(key, humanRow{Of: row.Human.ID})
			}
		}
		return nil
	})
	for _, at := range parted {
		err = errors.Join(err, t.Delete(at))
	}
	return err
}

// Prefer implements core.People.
func (d *desk) Prefer(p core.Preferences) error {
	d.human.Preferences = p
	return d.putHuman(d.human)
}

// Unlink implements core.People.
func (d *desk) Unlink(p core.PersonID) (bool, error) {
	if !d.human.Is(p) {
		return false, nil
	}
	ok, err := d.unlink(p)
	if err != nil || !ok {
		return false, err
	}
	return true, d.paired(core.PersonParted, d.entry.In.From.ID, string(p))
}

// checkHumans: whoever is linked is an identity of one human, and only of that.
func (c *checker) checkHumans() error {
	all := map[core.PersonID]core.Human{}
	parts := map[string]core.PersonID{}
	err := read(c, famHuman, nil, func(key string, row humanRow) {
		switch {
		case row.Of != "":
			parts[key] = row.Of
		case string(humanKey(row.Human.ID)) != key:
			c.say("row %q is of the human %s", key, row.Human.ID)
		default:
			all[row.Human.ID] = row.Human
		}
	})
	if err != nil {
		return err
	}
	for id, h := range all {
		if n := len(h.Identities); n == 1 || n > core.MaxIdentities || n > 0 && !slices.Contains(h.People(), id) || n == 0 && h.Preferences == (core.Preferences{}) {
			c.say("the human %s has %d identities", id, n)
		}
		for _, p := range h.People() {
			if p != id && parts[string(humanKey(p))] != id {
				c.say("%s is an identity of %s and does not know it", p, id)
			}
		}
	}
	for key, id := range parts {
		if !slices.ContainsFunc(all[id].People(), func(p core.PersonID) bool { return string(humanKey(p)) == key }) {
			c.say("row %q is of the human %s, who does not know it", key, id)
		}
	}
	return c.checkLinkCodes()
}
