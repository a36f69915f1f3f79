package store_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"bellhop/core"
	"bellhop/store/memkv"
)

// door is a model of who is let in, beside the ledger that it describes.
type door struct {
	*world
	codes    int
	members  map[core.PersonID]core.Role
	requests map[core.PersonID]pass
	invites  []pass
	rebuffs  map[core.PersonID]time.Time // until when they last
}

type pass struct {
	code    string
	by      core.PersonID
	expires time.Time
}

// TestDoor lets random people ask, be let in, invite and be expelled, while time
// passes, commits fail and the process dies, and compares who is listened to,
// and what is open, with a model.
func TestDoor(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var found any
		synctest.Test(t, func(t *testing.T) {
			defer func() { found = recover() }() // rapid's own, which belongs outside the bubble
			d := &door{world: unchecked(t), members: map[core.PersonID]core.Role{}, requests: map[core.PersonID]pass{}, rebuffs: map[core.PersonID]time.Time{}}
			rt.Repeat(map[string]func(*rapid.T){
				"":        d.compare,
				"ask":     d.ask,
				"ask too": d.ask,
				"admit":   d.admit,
				"accept":  d.acceptOne,
				"refuse":  d.refuse,
				"invite":  d.invite,
				"enter":   d.enter,
				"claim":   d.claim,
				"expel":   d.expel,
				"restart": func(*rapid.T) { d.restart() },
				"time":    d.wait,
			})
		})
		if found != nil {
			panic(found)
		}
	})
}

func (d *door) wait(rt *rapid.T) {
	time.Sleep(rapid.SampledFrom([]time.Duration{time.Second, time.Minute, time.Hour, 24 * time.Hour}).Draw(rt, "time"))
}

func someone(rt *rapid.T) core.PersonID {
	return core.PersonID(fmt.Sprint("chat:", rapid.IntRange(0, 24).Draw(rt, "who")))
}

func (d *door) code() string {
	d.codes++
	return fmt.Sprint("code", d.codes)
}

// forget drops from the model what does not work any more.
func (d *door) forget() {
	for who, p := range d.requests {
		if !time.Now().Before(p.expires) {
			delete(d.requests, who)
		}
	}
	d.invites = slices.DeleteFunc(d.invites, func(p pass) bool { return !time.Now().Before(p.expires) })
	maps.DeleteFunc(d.rebuffs, func(_ core.PersonID, until time.Time) bool { return !time.Now().Before(until) })
}

// offer accepts the event, which may fail at first: then nothing has happened,
// or the second try finds it done.
func (d *door) offer(rt *rapid.T, e core.Entry) (core.Accepted, bool) {
	when := rapid.SampledFrom([]string{"", "", "before", "after"}).Draw(rt, "the commit fails")
	if when == "" {
		a := d.accept(e)
		d.deliver(a.Rows...)
		return a, false
	}
	d.memory().SetFault(func(_ uint64, at memkv.When) error {
		if (at == memkv.After) == (when == "after") {
			return errors.New("disk is full")
		}
		return nil
	})
	_, err := d.store.Accept(d.Context(), d.batch(e))
	d.memory().SetFault(nil)
	if err == nil {
		rt.Fatal("a commit that fails is no fault")
	}
	a := d.accept(e)
	d.deliver(a.Rows...)
	return a, when == "after"
}

// want checks an event's fate.
func want(rt *rapid.T, a core.Accepted, again bool, fate core.Fate) {
	if again {
		fate = core.FateDuplicate
	}
	if a.Fates[0] != fate {
		rt.Fatalf("the fate is %s, want %s", a.Fates[0], fate)
	}
}

func (d *door) ask(rt *rapid.T) {
	who, code := someone(rt), d.code()
	d.forget()
	e := d.offered(string(who), code)
	e.Offer.Notice = &core.Notice{Place: core.Place{Adapter: "chat", Channel: "owner"}, Text: "They ask.", Buttons: []core.Button{{Label: "Let in", Value: "pair accept"}}}
	a, again := d.offer(rt, e)
	if d.members[who] > core.Stranger {
		want(rt, a, again, core.FateStored)
		return
	}
	want(rt, a, again, core.FateRefused)
	if _, rebuffed := d.rebuffs[who]; rebuffed {
		return
	}
	others := len(d.requests)
	if _, asks := d.requests[who]; asks {
		others--
	}
	if others < 20 {
		d.requests[who] = pass{code: code, expires: time.Now().Add(time.Hour)}
	}
}

func (d *door) admit(rt *rapid.T) {
	who, by := someone(rt), someone(rt)
	d.forget()
	p, asks := d.requests[who]
	if !asks {
		p.code = "wrong"
	}
	d.desk(by, func(k core.Desk) error {
		if g, ok, err := k.Admit(hashOf(p.code), by); ok != asks || err != nil || ok && g.Person != who {
			rt.Errorf("admitted is %+v, %t, %v; %s asks: %t", g, ok, err, who, asks)
		}
		return nil
	})
	if asks {
		delete(d.requests, who)
		d.members[who] = max(d.members[who], core.Member)
	}
}

// acceptOne lets somebody in by their id.
func (d *door) acceptOne(rt *rapid.T) {
	who, by := someone(rt), someone(rt)
	d.forget()
	_, asks := d.requests[who]
	d.desk(by, func(k core.Desk) error {
		if g, ok, err := k.Accept(who, by); ok != asks || err != nil || ok && g.Person != who {
			rt.Errorf("accepted is %+v, %t, %v; %s asks: %t", g, ok, err, who, asks)
		}
		return nil
	})
	if asks {
		delete(d.requests, who)
		d.members[who] = max(d.members[who], core.Member)
	}
}

func (d *door) refuse(rt *rapid.T) {
	who, by := someone(rt), someone(rt)
	d.forget()
	_, asks := d.requests[who]
	d.desk(by, func(k core.Desk) error {
		if r, ok, err := k.Refuse(who, by); ok != asks || err != nil || ok && r.Person != who {
			rt.Errorf("refused is %+v, %t, %v; %s asks: %t", r, ok, err, who, asks)
		}
		return nil
	})
	if asks {
		delete(d.requests, who)
		d.rebuffs[who] = time.Now().Add(7 * 24 * time.Hour)
	}
}

func (d *door) invite(rt *rapid.T) {
	by, code := someone(rt), d.code()
	d.forget()
	room := len(d.invites) < 20
	d.desk(by, func(k core.Desk) error {
		if ok, err := k.Invite(hashOf(code), by); ok != room || err != nil {
			rt.Errorf("invited: %t, %v; there is room: %t", ok, err, room)
		}
		return nil
	})
	if room {
		d.invites = append(d.invites, pass{code, by, time.Now().Add(24 * time.Hour)})
	}
}

func (d *door) enter(rt *rapid.T) {
	who := someone(rt)
	d.forget()
	code := "wrong"
	if len(d.invites) > 0 && rapid.Bool().Draw(rt, "invited") {
		code = rapid.SampledFrom(d.invites).Draw(rt, "invitation").code
	}
	e := d.message("/start")
	e.In.From, e.Role, e.Code = core.Person{ID: who}, core.Stranger, hashOf(code)
	a, again := d.offer(rt, e)
	switch {
	case d.members[who] > core.Stranger:
		want(rt, a, again, core.FateStored) // it is no command in this world
	case code == "wrong":
		want(rt, a, again, core.FateRefused)
	default:
		want(rt, a, again, core.FateCommand)
		d.members[who] = core.Member
		delete(d.requests, who)
		delete(d.rebuffs, who)
		d.invites = slices.DeleteFunc(d.invites, func(p pass) bool { return p.code == code })
	}
}

func (d *door) claim(rt *rapid.T) {
	who, owned := someone(rt), false
	for _, role := range d.members {
		owned = owned || role == core.Owner
	}
	e := d.message("code")
	e.In.From, e.Role, e.Claim = core.Person{ID: who}, core.Stranger, true
	a, again := d.offer(rt, e)
	switch {
	case !owned:
		want(rt, a, again, core.FateCommand)
		d.members[who] = core.Owner
		delete(d.requests, who)
		delete(d.rebuffs, who)
	case d.members[who] > core.Stranger:
		want(rt, a, again, core.FateStored)
	default:
		want(rt, a, again, core.FateRefused)
	}
}

func (d *door) expel(rt *rapid.T) {
	who := someone(rt)
	d.forget()
	_, had := d.requests[who]
	_, rebuffed := d.rebuffs[who]
	had = had || rebuffed || d.members[who] > core.Stranger || slices.ContainsFunc(d.invites, func(p pass) bool { return p.by == who })
	d.desk("chat:owner", func(k core.Desk) error {
		if was, err := k.Expel(who, "Ann"); was.Known != had || err != nil {
			rt.Errorf("expelled: %t, %v; there was something: %t", was.Known, err, had)
		}
		return nil
	})
	delete(d.members, who)
	delete(d.requests, who)
	delete(d.rebuffs, who)
	d.invites = slices.DeleteFunc(d.invites, func(p pass) bool { return p.by == who })
}

// compare reads the door as an owner does.
func (d *door) compare(rt *rapid.T) {
	d.forget()
	d.desk("chat:owner", func(k core.Desk) error {
		state, err := k.Pairing()
		if err != nil || state.Invitations != len(d.invites) || len(state.Requests) != len(d.requests) || len(state.Grants) != len(d.members) {
			rt.Fatalf("the door is %+v, %v, want %d invitations, requests of %v, and %v", state, err, len(d.invites), d.requests, d.members)
		}
		for _, r := range state.Requests {
			if p, asks := d.requests[r.Person]; !asks || !r.Expires.Equal(p.expires) {
				rt.Errorf("%+v asks: %t", r, asks)
			}
		}
		if len(state.Rebuffs) != len(d.rebuffs) {
			rt.Errorf("refused are %v, want %v", state.Rebuffs, d.rebuffs)
		}
		for _, r := range state.Rebuffs {
			if !d.rebuffs[r.Person].Equal(r.Until) {
				rt.Errorf("%+v, want until %s", r, d.rebuffs[r.Person])
			}
		}
		for _, g := range state.Grants {
			if d.members[g.Person] != g.Role {
				rt.Errorf("%s is %s, want %s", g.Person, g.Role, d.members[g.Person])
			}
		}
		return nil
	})
	d.check()
}
