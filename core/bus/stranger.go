package bus

import (
	"cmp"
	"crypto/subtle"
	"fmt"
	"time"

	"bellhop/core"
)

// Claim opens the appliance to its first owner and returns the code with which
// they show themselves: whoever sends it first, in a direct message, is the
// owner. It works once, and in this process alone; it is kept nowhere.
func (b *Bus) Claim() string {
	code := b.o.Code()
	b.mu.Lock()
	b.claim = hashCode(code)
	b.mu.Unlock()
	return showCode(code)
}

// owner is where the owner is told of trouble; zero: nowhere.
func (b *Bus) owner() core.Place {
	if !b.o.Owner.IsZero() {
		return b.o.Owner
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.first
}

// pair prepares the entry of somebody who may not be known yet: the code that
// they have sent, and what they are told if they are not let in. Among others
// they are not spoken to.
func (b *Bus) pair(e *core.Entry) {
	in := &e.In
	if in.From.Bot || in.From.ID == "" {
		return
	}
	if e.Command != nil && e.Command.Codes {
		b.tryLink(e)
	}
	if !in.Direct || e.Role >= core.Owner {
		return
	}
	b.tryCode(e)
	if e.Role >= core.Member || b.said(refusalOf(in.From.ID), refuseEvery) {
		return
	}
	e.Refusal = fmt.Sprintf("I do not know you. My owner can let you in by adding `%s` to the owners or members under [access] in my configuration.", in.From.ID)
	if b.o.Pairing {
		code := b.o.Code()
		e.Offer = &core.Offer{Hash: hashCode(code), Text: fmt.Sprintf("I do not know you. My owner can let you in by sending me `%spair %s` within an hour. Your id is `%s`.",
			cmp.Or(e.Mark, "/"), showCode(code), in.From.ID), Notice: b.petition(in.From)}
	}
}

// maxValue is the most bytes of a button's value.
const maxValue = 64

// petition tells an owner that a stranger asks to be let in; nil: there is
// nobody to tell.
func (b *Bus) petition(who core.Person) *core.Notice {
	owner := b.owner()
	if owner.IsZero() {
		return nil
	}
	f := b.Features(owner.Adapter)
	pair := f.Command("pair")
	n := &core.Notice{Place: owner, Text: fmt.Sprintf("%s asks to be let in. Make sure who that is: anybody can take any name. `%s accept %s` lets them in, `%[2]s refuse %[3]s` keeps them out.",
		core.ShowPerson(who.ID, who.Name), pair, who.ID)}
	accept, refuse := "pair accept "+string(who.ID), "pair refuse "+string(who.ID)
	if f.Buttons && len(refuse) <= maxValue && len(accept) <= maxValue {
		n.Buttons = []core.Button{{Label: "Let in", Value: accept}, {Label: "Refuse", Value: refuse}}
	}
	return n
}

func refusalOf(p core.PersonID) string { return "refuse " + string(p) }

// tryCode finds the code in what a person has sent: alone, or with /start, as
// links do. Codes may be tried only so often.
func (b *Bus) tryCode(e *core.Entry) {
	text, start := e.In.Text, false
	if e.Command != nil {
		text, start = e.Args, e.Command.Name == "start"
	}
	b.mu.Lock()
	claim := b.claim
	b.mu.Unlock()
	hash, ok := readCode(text)
	invited := start && e.Role < core.Member
	if !ok || e.Command != nil && !start || !invited && claim == nil || !b.tries.take(e.In.From.ID, time.Now()) {
		return
	}
	if invited {
		e.Code = hash
	}
	e.Claim = claim != nil && subtle.ConstantTimeCompare(hash, claim) == 1
}

// tryLink finds the code that a command takes. A guest has none.
func (b *Bus) tryLink(e *core.Entry) {
	if hash, ok := readCode(e.Args); ok && !e.In.From.Guest && b.tries.take(e.In.From.ID, time.Now()) {
		e.Code = hash
	}
}

// untried gives back the tries of entries that were not looked at.
func (b *Bus) untried(entries []core.Entry) {
	for _, e := range entries {
		if e.Code != nil || e.Claim {
			b.tries.giveBack(e.In.From.ID)
		}
	}
}

// beneathOf names that the person was told where others read it that the command
// is for a higher role.
func beneathOf(e *core.Entry) string {
	return fmt.Sprintf("beneath %s %s %s", e.In.From.ID, e.In.Place.Channel, e.Command.Name)
}

// admitted notes what has become of who was not known, or may not do what they
// want.
func (b *Bus) admitted(e core.Entry, fate core.Fate) {
	switch {
	case fate == core.FateBeneath && !e.In.Direct && !e.Hushed:
		b.once(beneathOf(&e), refuseEvery)
	case fate == core.FateRefused && e.Refusal != "":
		b.once(refusalOf(e.In.From.ID), refuseEvery)
	case e.Claim && fate == core.FateCommand:
		b.mu.Lock()
		b.claim, b.first = nil, e.In.Place
		b.mu.Unlock()
		b.log.Info("somebody has claimed to be the owner, with the code", "person", e.In.From.ID)
	}
}
