package llm

import (
	"testing"

	"bellhop/core"
	"bellhop/core/llm/script"
)

// TestPriced: usages say what they cost at the model's own price, and the rest of
// a reply stays as it is.
func TestPriced(t *testing.T) {
	price := &core.Price{Input: 1000, Output: 1_000_000}
	for name, price := range map[string]*core.Price{"a price": price, "none": nil} {
		p := script.New()
		p.Queue("gpt-5", script.Say("Good day."), script.Say("Good day."))
		call := core.Call{Model: "gpt-5", System: "Be nice.", Messages: []core.ChatMessage{{Role: core.UserRole, Content: "Hello"}}}
		plain := hear(t, t.Context(), p, call)
		if plain.Err != nil || plain.Usage == nil {
			t.Fatalf("the plain provider: %+v", plain)
		}
		got := hear(t, t.Context(), Priced(p, "openai/gpt-5", price), call)
		if got.Err != nil || got.Text != plain.Text || got.Finish != plain.Finish {
			t.Errorf("%s: %+v, want %+v", name, got, plain)
		}
		if want := plain.Usage.At("openai/gpt-5", price); *got.Usage != want || want.Priced+len(want.Unpriced) == 0 {
			t.Errorf("%s: the usage is %+v, want %+v", name, *got.Usage, want)
		}
	}
}
