package config

import (
	"slices"
	"strings"
	"time"
)

// approverWords are the entries of access.approvers that are no people.
var approverWords = []string{"requester", "not-requester", "owner", "admin", "member"}

// access reads who may do what.
func (t *table) access(c *Config) Access {
	a := Access{
		Owners:    t.people("owners", c),
		Admins:    t.people("admins", c),
		Members:   t.people("members", c),
		Approvers: []string{"requester"},
		Pairing:   t.boolean("pairing", true),
		Guests:    t.boolean("guests", false),
	}
	if t.has("approvers") {
		a.Approvers = t.approvers(c)
	}
	t.done()
	return a
}

// approvers reads who may approve. An empty list lets nobody.
func (t *table) approvers(c *Config) []string {
	out := []string{}
	for _, e := range t.list("approvers") {
		switch {
		case slices.Contains(approverWords, e.value):
			out = append(out, e.value)
		case !strings.Contains(e.value, ":"):
			t.failAt(e.key, nearest(e.value, approverWords), `%s is none of %s, and nobody's id, as in telegram:1111`, quote(e.raw), strings.Join(approverWords, ", "))
		case strings.HasSuffix(e.value, ":*"):
			t.failAt(e.key, "", `%s would let everybody there approve: write "member" for everybody who is let in`, quote(e.raw))
		default:
			if t.person(e, c) {
				out = append(out, e.value)
			}
		}
	}
	if slices.Contains(out, "not-requester") {
		switch {
		case slices.Contains(out, "requester"):
			t.fail("approvers", `"requester" and "not-requester" contradict each other: leave one out`)
		case len(out) == 1:
			t.fail("approvers", `"not-requester" only says who may not: add who may, as in ["admin", "not-requester"]`)
		}
	}
	return out
}

// Zone is the time zone of people of whom their platform tells none.
func (s Schedule) Zone() *time.Location {
	if loc, err := time.LoadLocation(s.Timezone); s.Timezone != "" && err == nil {
		return loc
	}
	return time.Local
}

func (t *table) schedule() Schedule {
	s := Schedule{Timezone: t.str("timezone", "")}
	if _, err := time.LoadLocation(s.Timezone); err != nil || s.Timezone == "Local" {
		t.fail("timezone", "%s is no time zone that this machine knows: write it as in Europe/Berlin", t.quoted("timezone"))
	}
	t.done()
	return s
}
