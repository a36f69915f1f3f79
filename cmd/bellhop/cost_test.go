package main

import (
	"regexp"
	"testing"

	"bellhop/core"
	"bellhop/core/config"
)

// TestRunsCost: a run is listed with what it has cost where its model has a
// price, be it nothing, and with a dash where it has none.
func TestRunsCost(t *testing.T) {
	models := map[string]config.Model{
		"openai/gpt-5": {Price: &core.Price{Input: 1.25, Output: 10}},
		"local/free":   {Price: &core.Price{}},
		"local/facts":  {Context: 8192},
	}
	for model, want := range map[string]string{
		"openai/gpt-5": "0.0225", "local/free": "0.0000", "local/facts": "-", "local/other": "-", "": "-",
	} {
		run := core.Run{ID: "r1", Bot: "chief", Thread: "t1", State: core.Done, Model: model,
			Usage: core.Usage{Calls: 1, Input: 10_000, Output: 1000}}
		line := regexp.MustCompile(`(?m)^r1 +done +chief +t1 +0 +10000 +1000 +` + regexp.QuoteMeta(want) + ` `)
		if got := listRuns([]core.Run{run}, models); !line.MatchString(got) {
			t.Errorf("a run of %q is listed as\n%swant its cost %s", model, got, want)
		}
	}
}
