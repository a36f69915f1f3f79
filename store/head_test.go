package store

import (
	"slices"
	"testing"

	"bellhop/core"
)

// A run that cannot take all that waits reads up to the first message that it
// leaves. One that is older than its window does not bound it: it is not read
// anyway, and nothing would be left to read.
func TestHead(t *testing.T) {
	id := func(n uint64) core.ID { return core.NewID(core.KindMessage, n) }
	mail := func(messages ...uint64) (out []core.Item) {
		for i, n := range messages {
			out = append(out, core.Item{ID: core.NewID(core.KindItem, uint64(100+i)), Message: id(n)})
		}
		return out
	}
	for _, c := range []struct {
		what   string
		mail   []core.Item
		most   int
		cut    core.ID
		joined int
		upto   core.ID
	}{
		{what: "all", mail: mail(2, 4, 6), most: 3, joined: 3},
		{what: "the oldest", mail: mail(2, 4, 6), most: 1, joined: 1, upto: id(3)},
		{what: "two", mail: mail(2, 4, 6), most: 2, joined: 2, upto: id(5)},
		{what: "one message twice", mail: mail(2, 2, 6), most: 1, joined: 2, upto: id(5)},
		{what: "what is left begins the window", mail: mail(2, 4, 6), most: 1, cut: id(4), joined: 1, upto: id(3)},
		{what: "what is left is older than the window", mail: mail(2, 4, 6), most: 1, cut: id(5), joined: 1, upto: id(5)},
		{what: "all are older than the window", mail: mail(2, 4, 6), most: 1, cut: id(9), joined: 1},
		{what: "an older one is tried again behind a newer", mail: mail(6, 2), most: 1, joined: 1},
	} {
		joined, upto := head(c.mail, c.most, c.cut)
		if len(joined) != c.joined || !slices.EqualFunc(joined, c.mail[:len(joined)], func(a, b core.Item) bool { return a.ID == b.ID }) || upto != c.upto {
			t.Errorf("%s: %d items up to %q, want %d up to %q", c.what, len(joined), upto, c.joined, c.upto)
		}
	}
}
