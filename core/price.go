package core

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
	const million = 1e6
	plain := max(0, u.Input-u.CacheRead-u.CacheWrite)
	return (float64(plain)*p.Input + float64(u.CacheRead)*p.CacheRead +
		float64(u.CacheWrite)*p.CacheWrite + float64(u.Output)*p.Output) / million
}
