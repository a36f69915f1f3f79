package bus

import (
	"cmp"
	"fmt"

	"bellhop/core"
)

// costs says what was spent: money, and tokens where no price was known.
func costs(spent core.Spent) string {
	out := fmt.Sprintf("Costs: %s here, %s today", cost(spent.Here), cost(spent.Today))
	if model := cmp.Or(spent.Here.Unpriced, spent.Today.Unpriced); model != "" {
		out += "; no price known for " + model
	}
	return out + "."
}

// cost is a usage in a word.
func cost(u core.Usage) string {
	unpriced := u.Tokens() - u.Priced
	switch {
	case u.Tokens() == 0:
		return "nothing"
	case u.Priced <= 0:
		return tokens(unpriced)
	case unpriced > 0:
		return usd(u) + " and " + tokens(unpriced)
	}
	return usd(u)
}

// usd is money to the cent.
func usd(u core.Usage) string {
	const cent = 10_000
	if 0 < u.Cost && u.Cost < cent {
		return "less than 0.01 USD"
	}
	return fmt.Sprintf("%.2f USD", u.USD())
}

func tokens(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s + " tokens"
}
