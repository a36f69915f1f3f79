package main

import (
	"regexp"
	"testing"

	"bellhop/core"
)

// TestRunsCost: a run is listed with what it has cost, be it nothing; with a
// plus if that is not all, for a price was not known then; with a dash if none
// was.
func TestRunsCost(t *testing.T) {
	gpt := core.Usage{Input: 10_000, Output: 1000}.At("openai/gpt-5", &core.Price{Input: 1.25, Output: 10})
	free := core.Usage{Input: 10_000, Output: 1000}.At("local/free", &core.Price{})
	other := core.Usage{Input: 10_000, Output: 1000}.At("local/other", nil)
	for name, c := range map[string]struct {
		used core.Usage
		want string
	}{
		"a price": {gpt, "10000 +1000 +0.0225"}, "for nothing": {free, "10000 +1000 +0.0000"}, "no price": {other, "10000 +1000 +-"},
		"no price at times": {gpt.Add(other), `20000 +2000 +0.0225\+`}, "nothing used": {core.Usage{Calls: 1}, "0 +0 +-"},
	} {
		run := core.Run{ID: "r1", Bot: "chief", Thread: "t1", State: core.Done, Usage: c.used}
		line := regexp.MustCompile(`(?m)^r1 +done +chief +t1 +0 +` + c.want + ` `)
		if got := listRuns([]core.Run{run}); !line.MatchString(got) {
			t.Errorf("%s: it is listed as\n%swant %s", name, got, c.want)
		}
	}
}
