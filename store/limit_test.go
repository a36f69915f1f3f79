package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// TestLimitWithinABatch: what a batch brings is counted in it, and the person
// is told once; what is no message of theirs to us neither counts nor is
// limited.
func TestLimitWithinABatch(t *testing.T) {
	w := newWorld(t)
	limited := func(e core.Entry) core.Entry {
		e.Quota = func(core.PersonID) core.Quota { return core.Quota{Left: 2, Spent: "Too much."} }
		return e
	}
	overheard := w.message("overheard")
	overheard.In.Direct, overheard.In.Place.Channel = false, "group"
	other := w.message("other")
	other.In.From = core.Person{ID: "chat:bob"}
	one := limited(w.message("one"))
	a := w.accept(limited(overheard), one, one, limited(w.message("two")), limited(w.message("three")), limited(w.command("stop")), limited(w.message("four")), limited(other))
	want := []core.Fate{core.FateIgnored, core.FateStored, core.FateDuplicate, core.FateStored, core.FateLimited, core.FateCommand, core.FateLimited, core.FateStored}
	if diff := cmp.Diff(want, a.Fates); diff != "" {
		t.Errorf("fates (-want +got):\n%s", diff)
	}
	var says []string
	for _, r := range a.Rows {
		if r.Kind == core.RefusalPost {
			says = append(says, r.Text)
		}
	}
	if diff := cmp.Diff([]string{"Too much."}, says); diff != "" {
		t.Errorf("says (-want +got):\n%s", diff)
	}
}
