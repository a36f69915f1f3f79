package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"bellhop/core"
)

// kin is a model of who is whom: a partition of people into humans.
type kin struct {
	*door
	of    map[core.PersonID]int // human by person
	wants map[int]string        // by human, the time zone that they want
	made  []linkCode
	last  int
}

type linkCode struct {
	pass
	ended bool
}

// crowd are the people: an owner, an admin, two members, and those who are let in
// in chat or not at all.
const crowd = 12

// TestKin lets random people link and part their identities, be let in and
// expelled, and become guests, while time passes, commits fail and the process
// dies, and compares who is whom, and what each may do, with a model.
func TestKin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var found any
		synctest.Test(t, func(t *testing.T) {
			defer func() { found = recover() }() // rapid's own, which belongs outside the bubble
			k := &kin{door: &door{world: unchecked(t), members: map[core.PersonID]core.Role{}, requests: map[core.PersonID]pass{}, rebuffs: map[core.PersonID]time.Time{}},
				of: map[core.PersonID]int{}, wants: map[int]string{}}
			k.access = core.Access{Owners: []string{"chat:0"}, Admins: []string{"chat:1"}, Members: []string{"chat:2", "chat:3"}}
			for i := range crowd {
				k.of[relative(i)] = i
			}
			k.last = crowd
			rt.Repeat(map[string]func(*rapid.T){
				"":         k.compare,
				"open":     k.open,
				"link":     k.link,
				"link too": k.link,
				"unlink":   k.unlink,
				"prefer":   k.prefer,
				"admit":    k.admit,
				"expel":    k.expel,
				"guest":    k.guest,
				"restart":  func(*rapid.T) { k.restart() },
				"time": func(rt *rapid.T) {
					time.Sleep(rapid.SampledFrom([]time.Duration{time.Second, 5 * time.Minute}).Draw(rt, "time"))
				},
			})
		})
		if found != nil {
			panic(found)
		}
	})
}

func relative(i int) core.PersonID { return core.PersonID(fmt.Sprint("chat:", i)) }

func (k *kin) anyone(rt *rapid.T) core.PersonID {
	return relative(rapid.IntRange(0, crowd-1).Draw(rt, "who"))
}

// does runs what a command of the person would do. Its code lets anybody use it.
func (k *kin) does(rt *rapid.T, who core.PersonID, do func(core.Invocation) error) {
	e := k.message("/do")
	e.In.From, e.Role, e.Code = core.Person{ID: who}, k.access.Role(core.Person{ID: who}), hashOf("any")
	e.Command = &core.Command{Name: "do", Role: core.Member, Codes: true, Run: func(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
		return core.CommandReply{Text: "Done."}, do(inv)
	}}
	a, again := k.offer(rt, e)
	want(rt, a, again, core.FateCommand)
}

// family are a person's identities.
func (k *kin) family(who core.PersonID) []core.PersonID {
	return slices.Sorted(func(yield func(core.PersonID) bool) {
		for p, h := range k.of {
			if h == k.of[who] && !yield(p) {
				return
			}
		}
	})
}

// role is the highest of a person's identities.
func (k *kin) role(who core.PersonID) (role core.Role) {
	for _, p := range k.family(who) {
		role = max(role, k.access.Role(core.Person{ID: p}), k.members[p])
	}
	return role
}

// part makes a person one alone.
func (k *kin) part(who core.PersonID) bool {
	if len(k.family(who)) == 1 {
		return false
	}
	k.last++
	k.of[who] = k.last
	return true
}

func (k *kin) open(rt *rapid.T) {
	who, code := k.anyone(rt), k.code()
	k.does(rt, who, func(inv core.Invocation) error {
		ok, err := inv.Desk.OpenLink(hashOf(code), "/")
		if !ok {
			rt.Error("there is no room for a code")
		}
		return err
	})
	for i, c := range k.made {
		k.made[i].ended = c.ended || k.of[c.by] == k.of[who]
	}
	k.made = append(k.made, linkCode{pass: pass{code, who, time.Now().Add(10 * time.Minute)}})
}

func (k *kin) link(rt *rapid.T) {
	who := k.anyone(rt)
	c := &linkCode{pass: pass{code: "wrong"}, ended: true}
	if len(k.made) > 0 && rapid.IntRange(0, 9).Draw(rt, "right") > 0 {
		c = &k.made[len(k.made)-1-rapid.IntRange(0, min(len(k.made), 3)-1).Draw(rt, "code")]
	}
	works := !c.ended && time.Now().Before(c.expires)
	end := core.LinkDone
	switch {
	case !works || k.role(c.by) < core.Member:
		end = core.LinkUnknown
	case k.of[c.by] == k.of[who]:
		end = core.LinkSame
	case k.role(who) > k.role(c.by):
		end = core.LinkLesser
	case len(k.family(who))+len(k.family(c.by)) > core.MaxIdentities:
		end = core.LinkFull
	}
	k.does(rt, who, func(inv core.Invocation) error {
		got, err := inv.Desk.Link(hashOf(c.code))
		if got.End != end || end == core.LinkDone && got.With.Person != c.by {
			rt.Errorf("%s links with %s: %+v, want %d", who, c.by, got, end)
		}
		return err
	})
	c.ended = true
	if end != core.LinkDone {
		return
	}
	mine, theirs := k.of[who], k.of[c.by]
	if k.wants[theirs] == "" {
		k.wants[theirs] = k.wants[mine]
	}
	for _, p := range k.family(who) {
		k.of[p] = theirs
	}
}

func (k *kin) unlink(rt *rapid.T) {
	who, whom := k.anyone(rt), k.anyone(rt)
	can := k.of[who] == k.of[whom] && len(k.family(who)) > 1
	k.does(rt, who, func(inv core.Invocation) error {
		ok, err := inv.Desk.Unlink(whom)
		if ok != can {
			rt.Errorf("%s parts %s: %t, want %t", who, whom, ok, can)
		}
		return err
	})
	if can {
		k.part(whom)
	}
}

func (k *kin) prefer(rt *rapid.T) {
	who := k.anyone(rt)
	zone := rapid.SampledFrom([]string{"", "Europe/Berlin", "Asia/Tokyo"}).Draw(rt, "zone")
	k.does(rt, who, func(inv core.Invocation) error { return inv.Desk.Prefer(core.Preferences{Zone: zone}) })
	k.wants[k.of[who]] = zone
}

func (k *kin) admit(rt *rapid.T) {
	who, code := k.anyone(rt), k.code()
	if k.role(who) > core.Stranger {
		return
	}
	e := k.offered(string(who), code)
	a, again := k.offer(rt, e)
	want(rt, a, again, core.FateRefused)
	k.desk("chat:0", func(d core.Desk) error { _, _, err := d.Admit(hashOf(code), "chat:0"); return err })
	k.members[who] = core.Member
}

func (k *kin) expel(rt *rapid.T) {
	who := k.anyone(rt)
	had := k.members[who] > core.Stranger
	had = k.part(who) || had
	k.desk("chat:0", func(d core.Desk) error {
		if was, err := d.Expel(who, "Ann"); was.Known != had || err != nil {
			rt.Errorf("%s is expelled: %t, %v; want %t", who, was.Known, err, had)
		}
		return nil
	})
	delete(k.members, who)
}

// guest is an event of somebody of whom the platform says that they are a guest.
func (k *kin) guest(rt *rapid.T) {
	who := k.anyone(rt)
	e := k.message("hello")
	e.In.From = core.Person{ID: who, Guest: true}
	e.Role = k.access.Role(e.In.From)
	k.offer(rt, e)
	k.part(who)
}

// errAsked undoes a question.
var errAsked = errors.New("asked")

// compare asks everybody who they are.
func (k *kin) compare(rt *rapid.T) {
	for _, who := range slices.Sorted(maps.Keys(k.of)) {
		e := k.message("/who")
		e.In.From, e.Role, e.Code = core.Person{ID: who}, k.access.Role(core.Person{ID: who}), hashOf("any")
		e.Command = &core.Command{Name: "who", Role: core.Member, Codes: true, Run: func(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
			people := slices.Sorted(slices.Values(inv.Human.People()))
			if want := k.family(who); !slices.Equal(people, want) || inv.Role != k.role(who) || inv.Human.Zone != k.wants[k.of[who]] {
				rt.Errorf("%s is %v, %s, in %q; want %v, %s, in %q", who, people, inv.Role, inv.Human.Zone, want, k.role(who), k.wants[k.of[who]])
			}
			if of := inv.Standing.Of; inv.Role > core.Stranger && max(k.access.Role(core.Person{ID: of}), k.members[of]) != inv.Role {
				rt.Errorf("%s is %s as %s", who, inv.Role, of)
			}
			return core.CommandReply{}, errAsked
		}}
		if _, err := k.store.Accept(k.Context(), k.batch(e)); !errors.Is(err, errAsked) {
			rt.Error(err)
		}
	}
	k.check()
}
