package bus

import (
	"testing"

	"bellhop/core"
)

func TestCosts(t *testing.T) {
	price := &core.Price{Input: 1, Output: 10}
	priced := core.Usage{Calls: 1, Input: 100_000, Output: 2000}.At("a/b", price)
	little := core.Usage{Calls: 1, Input: 100, Output: 2}.At("a/b", price)
	free := core.Usage{Calls: 1, Input: 100, Output: 2}.At("a/free", &core.Price{})
	unpriced := core.Usage{Calls: 1, Input: 12_000, Output: 300}.At("openai/gpt-5", nil)
	before := core.Usage{Calls: 1, Input: 1_234_000, Output: 567} // stored by a release without prices
	for _, c := range []struct {
		here, today core.Usage
		want        string
	}{
		{priced, priced.Add(priced), "Costs: 0.12 USD here, 0.24 USD today."},
		{little, priced.Add(little), "Costs: less than 0.01 USD here, 0.12 USD today."},
		{free, free, "Costs: 0.00 USD here, 0.00 USD today."},
		{core.Usage{}, priced, "Costs: nothing here, 0.12 USD today."},
		{core.Usage{Calls: 1}, priced, "Costs: nothing here, 0.12 USD today."},
		{unpriced, unpriced.Add(priced), "Costs: 12,300 tokens here, 0.12 USD and 12,300 tokens today; no price known for openai/gpt-5."},
		{priced, priced.Add(unpriced), "Costs: 0.12 USD here, 0.12 USD and 12,300 tokens today; no price known for openai/gpt-5."},
		{unpriced.Add(priced), core.Usage{}, "Costs: 0.12 USD and 12,300 tokens here, nothing today; no price known for openai/gpt-5."},
		{before, core.Usage{}, "Costs: 1,234,567 tokens here, nothing today."},
		{before.Add(priced), priced, "Costs: 0.12 USD and 1,234,567 tokens here, 0.12 USD today."},
	} {
		if got := costs(core.Spent{Here: c.here, Today: c.today}); got != c.want {
			t.Errorf("%+v and %+v:\n%s, want\n%s", c.here, c.today, got, c.want)
		}
	}
}
