package prompt

import (
	"testing"

	"bellhop/core"
)

// A run's triggers stay in its window while they fit, also when the bot has
// spoken after them: a retry takes up what was stopped.
func TestFoldKeepsTriggers(t *testing.T) {
	v := View{Bot: core.Bot{Handle: "chief", History: core.Budget{Tokens: 24_000, Messages: 80}}}
	add := func(n int, own bool) {
		for range n {
			m := core.Message{ID: core.NewID(core.KindMessage, uint64(len(v.Messages)+1)), Sender: core.Actor{Kind: core.HumanActor, ID: "chat:ann"}, Name: "Ann", Parts: []core.Part{core.Text("hello")}}
			if own {
				m.Sender = core.Actor{Kind: core.BotActor, ID: "chief"}
			}
			v.Messages = append(v.Messages, m)
		}
	}
	add(50, false)
	add(15, false)
	first := len(v.Messages) - 15
	add(1, true) // "(stopped by Ann)"
	add(40, false)
	for i, m := range v.Messages[first:] {
		if i != 15 {
			v.Triggers = append(v.Triggers, m.ID)
		}
	}
	folded, cut := Fold(v)
	if cut == "" || folded.Messages[0].ID.Seq() > v.Triggers[0].Seq() {
		t.Errorf("the window begins at %s, after the oldest trigger %s", cut, v.Triggers[0])
	}
	v.Triggers = nil
	if _, cut := Fold(v); cut.Seq() <= uint64(first+1) {
		t.Errorf("without triggers the window begins at %s: this test shows nothing", cut)
	}
}
