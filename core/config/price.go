package config

import "bellhop/core"

// price reads what a model costs, nil where nothing is known. What a cache
// costs is the price of other input if the file does not say.
func (t *table) price() *core.Price {
	sub := t.table("price")
	if sub.values == nil { // there is none, or no table
		return nil
	}
	usd := func(key string, fallback float64) float64 { return sub.number(key, fallback, 0, 100_000) }
	for _, key := range []string{"input", "output"} {
		if !sub.has(key) {
			sub.fail(key, "is missing: want USD per million tokens")
		}
	}
	p := core.Price{Input: usd("input", 0), Output: usd("output", 0)}
	p.CacheRead = usd("cache_read", p.Input)
	p.CacheWrite = usd("cache_write", p.Input)
	p.CacheWrite1h = usd("cache_write_1h", p.CacheWrite)
	sub.done()
	return &p
}
