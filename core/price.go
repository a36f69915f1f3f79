package core

import "math"

// Price is what a model costs, in USD per million tokens.
type Price struct {
	Input        float64 `toml:"input"`
	Output       float64 `toml:"output"`
	CacheRead    float64 `toml:"cache_read"`
	CacheWrite   float64 `toml:"cache_write"`
	CacheWrite1h float64 `toml:"cache_write_1h"` // of what is cached for an hour; Usage does not tell such writes apart
}

// Cost is what u costs in USD. Input that was read from a cache or written to
// one costs that price instead of Input's; counts that contradict each other
// never make it negative.
func (p Price) Cost(u Usage) float64 {
	plain := max(0, u.Input-u.CacheRead-u.CacheWrite)
	return (float64(plain)*p.Input + float64(u.CacheRead)*p.CacheRead +
		float64(u.CacheWrite)*p.CacheWrite + float64(u.Output)*p.Output) / million
}

const million = 1e6

// USD is what the Priced tokens have cost.
func (u Usage) USD() float64 { return float64(u.Cost) / million }

// At is the usage of a model with what it costs at the model's price; nil: it
// is not known.
func (u Usage) At(model string, p *Price) Usage {
	u.Priced, u.Cost, u.Unpriced = 0, 0, ""
	switch {
	case u.Tokens() == 0:
	case p == nil:
		u.Unpriced = model
	default:
		u.Priced, u.Cost = u.Tokens(), int64(math.Round(p.Cost(u)*million))
	}
	return u
}
