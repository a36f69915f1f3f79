package store_test

import (
	"fmt"
	"testing"

	"bellhop/core"
)

// A purge of everything takes so many conversations at a time, and says when
// there are others.
func TestPurgeIsBounded(t *testing.T) {
	w := newWorld(t)
	for i := range 52 {
		w.place.Channel = fmt.Sprint("dm", i)
		w.say("hello")
		w.say("again")
	}
	purge := func(want core.Purged) {
		t.Helper()
		w.desk("chat:owner", func(d core.Desk) error {
			got, err := d.Purge("", chief, "Ann")
			if got != want {
				t.Errorf("purged is %+v, want %+v", got, want)
			}
			return err
		})
	}
	purge(core.Purged{Known: true, Messages: 100, Threads: 50, More: true})
	purge(core.Purged{Known: true, Messages: 4, Threads: 2})
	purge(core.Purged{Known: true})
	b, err := w.store.Audit(t.Context())
	w.must(err)
	outcomes := map[core.ID]int{}
	for _, it := range b.Items {
		if it.State != core.Cancelled {
			t.Errorf("item %s is %s", it.ID, it.State)
		}
		outcomes[it.Outcome]++
	}
	if len(outcomes) != 52 {
		t.Errorf("%d outcomes, want one in each conversation", len(outcomes))
	}
}
