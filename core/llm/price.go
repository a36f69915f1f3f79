package llm

import (
	"context"
	"iter"

	"bellhop/core"
)

// Priced is the provider as one model's: each usage says what it has cost at
// that model's price; nil: it is not known.
func Priced(p core.Provider, model string, price *core.Price) core.Provider {
	return priced{p, model, price}
}

type priced struct {
	core.Provider
	model string
	price *core.Price
}

// Stream implements core.Provider.
func (p priced) Stream(ctx context.Context, call core.Call) iter.Seq2[core.Chunk, error] {
	return func(yield func(core.Chunk, error) bool) {
		for chunk, err := range p.Provider.Stream(ctx, call) {
			if chunk.Usage != nil {
				chunk.Usage = new(chunk.Usage.At(p.model, p.price))
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}
