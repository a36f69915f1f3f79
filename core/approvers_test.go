package core

import "testing"

func TestMayApprove(t *testing.T) {
	ann := Human{ID: "a:ann", Identities: []Identity{{Person: "a:ann"}, {Person: "b:ann"}}}
	bob, nobody := Human{ID: "a:bob"}, Human{}
	for _, c := range []struct {
		list      []string
		who       Human
		role      Role
		requester PersonID
		want      bool
	}{
		{[]string{"requester"}, ann, Member, "a:ann", true},
		{[]string{"requester"}, ann, Member, "b:ann", true}, // asked there, approves here
		{[]string{"requester"}, bob, Member, "a:ann", false},
		{[]string{"requester"}, bob, Owner, "a:ann", false},
		{[]string{"requester"}, ann, Stranger, "a:ann", false}, // expelled since
		{[]string{"requester"}, nobody, Owner, "", false},

		{[]string{"admin"}, bob, Member, "a:ann", false},
		{[]string{"admin"}, bob, Admin, "a:ann", true},
		{[]string{"admin"}, bob, Owner, "a:ann", true},
		{[]string{"admin"}, ann, Admin, "a:ann", true},
		{[]string{"admin"}, ann, Member, "a:ann", false},
		{[]string{"owner", "member"}, bob, Member, "a:ann", true},
		{[]string{"requester", "owner"}, ann, Member, "b:ann", true},
		{[]string{"requester", "owner"}, bob, Admin, "b:ann", false},
		{[]string{"requester", "owner"}, bob, Owner, "b:ann", true},

		{[]string{"b:ann"}, ann, Member, "a:bob", true}, // as her other identity
		{[]string{"b:ann"}, ann, Stranger, "a:bob", false},
		{[]string{"b:ann"}, bob, Owner, "a:bob", false},

		{[]string{"admin", "not-requester"}, bob, Admin, "a:ann", true},
		{[]string{"admin", "not-requester"}, ann, Admin, "a:ann", false},
		{[]string{"admin", "not-requester"}, ann, Admin, "b:ann", false}, // with another identity, either
		{[]string{"a:ann", "not-requester"}, ann, Owner, "b:ann", false},
		{[]string{"not-requester"}, bob, Owner, "a:ann", false}, // it lets nobody

		{nil, bob, Owner, "a:bob", false},
		{nil, ann, Owner, "a:bob", false},
		{[]string{"stranger"}, bob, Owner, "a:ann", false},
	} {
		if got := NewApprovers(c.list).MayApprove(c.who, c.role, c.requester); got != c.want {
			t.Errorf("%v: %s as %s for %s may approve: %t, want %t", c.list, c.who.ID, c.role, c.requester, got, c.want)
		}
	}
}
