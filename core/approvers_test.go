package core

import "testing"

func TestAnybodyApproves(t *testing.T) {
	for _, c := range []struct {
		list      []string
		requester PersonID
		want      bool
	}{
		{nil, "a:ann", false},
		{[]string{"requester"}, "a:ann", true},
		{[]string{"requester"}, "", false},
		{[]string{"requester", "owner"}, "", true},
		{[]string{"a:bob", "not-requester"}, "", true},
	} {
		if got := NewApprovers(c.list).Anybody(c.requester); got != c.want {
			t.Errorf("%v for %q: %t, want %t", c.list, c.requester, got, c.want)
		}
	}
}

func TestMayApprove(t *testing.T) {
	ann := Human{ID: "a:ann", Identities: []Identity{{Person: "a:ann"}, {Person: "b:ann"}}}
	bob, nobody := Human{ID: "a:bob"}, Human{}
	for _, c := range []struct {
		list      []string
		who       Human
		role      Role
		requester PersonID
		want      bool
		others    []PersonID // whose work it is, too
	}{
		{[]string{"requester"}, ann, Member, "a:ann", true, nil},
		{[]string{"requester"}, ann, Member, "b:ann", true, nil}, // asked there, approves here
		{[]string{"requester"}, bob, Member, "a:ann", false, nil},
		{[]string{"requester"}, bob, Owner, "a:ann", false, nil},
		{[]string{"requester"}, ann, Stranger, "a:ann", false, nil}, // expelled since
		{[]string{"requester"}, nobody, Owner, "", false, nil},

		{[]string{"admin"}, bob, Member, "a:ann", false, nil},
		{[]string{"admin"}, bob, Admin, "a:ann", true, nil},
		{[]string{"admin"}, bob, Owner, "a:ann", true, nil},
		{[]string{"admin"}, ann, Admin, "a:ann", true, nil},
		{[]string{"admin"}, ann, Member, "a:ann", false, nil},
		{[]string{"owner", "member"}, bob, Member, "a:ann", true, nil},
		{[]string{"requester", "owner"}, ann, Member, "b:ann", true, nil},
		{[]string{"requester", "owner"}, bob, Admin, "b:ann", false, nil},
		{[]string{"requester", "owner"}, bob, Owner, "b:ann", true, nil},

		{[]string{"b:ann"}, ann, Member, "a:bob", true, nil}, // as her other identity
		{[]string{"b:ann"}, ann, Stranger, "a:bob", false, nil},
		{[]string{"b:ann"}, bob, Owner, "a:bob", false, nil},

		{[]string{"admin", "not-requester"}, bob, Admin, "a:ann", true, nil},
		{[]string{"admin", "not-requester"}, ann, Admin, "a:ann", false, nil},
		{[]string{"admin", "not-requester"}, ann, Admin, "b:ann", false, nil}, // with another identity, either
		{[]string{"a:ann", "not-requester"}, ann, Owner, "b:ann", false, nil},
		{[]string{"not-requester"}, bob, Owner, "a:ann", false, nil},                                   // it lets nobody
		{[]string{"admin", "not-requester"}, ann, Admin, "a:bob", false, []PersonID{"a:bob", "b:ann"}}, // what she asked for, too
		{[]string{"admin", "not-requester"}, ann, Admin, "a:bob", true, []PersonID{"a:bob", "a:carl"}},
		{[]string{"requester"}, ann, Member, "a:bob", false, []PersonID{"a:bob", "a:ann"}},

		{nil, bob, Owner, "a:bob", false, nil},
		{nil, ann, Owner, "a:bob", false, nil},
		{[]string{"stranger"}, bob, Owner, "a:ann", false, nil},
	} {
		if got := NewApprovers(c.list).MayApprove(c.who, c.role, c.requester, c.others); got != c.want {
			t.Errorf("%v: %s as %s for %s may approve: %t, want %t", c.list, c.who.ID, c.role, c.requester, got, c.want)
		}
	}
}
