package core_test

import (
	"math"
	"testing"

	"bellhop/core"
)

func TestCost(t *testing.T) {
	price := core.Price{Input: 1.25, Output: 10, CacheRead: 0.125, CacheWrite: 1.5, CacheWrite1h: 2.5}
	for name, c := range map[string]struct {
		price core.Price
		used  core.Usage
		want  float64
	}{
		"nothing":           {price, core.Usage{}, 0},
		"input":             {price, core.Usage{Calls: 1, Input: 1_000_000}, 1.25},
		"output":            {price, core.Usage{Output: 1_000_000}, 10},
		"reasoning":         {price, core.Usage{Output: 1_000_000, Reasoning: 900_000}, 10}, // part of the output
		"all from a cache":  {price, core.Usage{Input: 1_000_000, CacheRead: 1_000_000}, 0.125},
		"all into a cache":  {price, core.Usage{Input: 1_000_000, CacheWrite: 1_000_000}, 1.5},
		"some of each":      {price, core.Usage{Input: 1000, Output: 100, CacheRead: 600, CacheWrite: 300}, 0.00165},
		"more than all":     {price, core.Usage{Input: 10, CacheRead: 1_000_000}, 0.125},
		"free":              {core.Price{}, core.Usage{Input: 1_000_000, Output: 1_000_000}, 0},
		"a cache for free":  {core.Price{Input: 1}, core.Usage{Input: 3_000_000, CacheRead: 2_000_000}, 1},
		"tokens one by one": {price, core.Usage{Input: 1}, 0.00000125},
	} {
		if got := c.price.Cost(c.used); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s costs %v, want %v", name, got, c.want)
		}
	}
}

// Costs are reckoned call by call and add up; what has no price stays apart.
func TestUsageAt(t *testing.T) {
	used := core.Usage{Calls: 1, Input: 1_000_000, Output: 100_000, CacheRead: 500_000}
	priced := used.At("a/b", &core.Price{Input: 2, Output: 10, CacheRead: 1})
	if priced.Priced != 1_100_000 || priced.Cost != 2_500_000 || priced.USD() != 2.5 || priced.Unpriced != "" {
		t.Errorf("with a price: %+v", priced)
	}
	unpriced := used.At("c/d", nil)
	if unpriced.Priced != 0 || unpriced.Cost != 0 || unpriced.Unpriced != "c/d" {
		t.Errorf("without: %+v", unpriced)
	}
	if got := (core.Usage{Calls: 1}).At("c/d", nil); got != (core.Usage{Calls: 1}) {
		t.Errorf("no tokens: %+v", got)
	}
	if again := unpriced.At("a/b", &core.Price{}); again.Priced != again.Tokens() || again.Unpriced != "" {
		t.Errorf("for nothing: %+v", again)
	}
	for _, sum := range []core.Usage{priced.Add(unpriced), unpriced.Add(priced)} {
		if sum.Tokens() != 2_200_000 || sum.Priced != 1_100_000 || sum.Cost != priced.Cost || sum.Unpriced != "c/d" || sum.CacheRead != 1_000_000 {
			t.Errorf("together: %+v", sum)
		}
	}
}
