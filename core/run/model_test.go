package run

import (
	"strings"
	"testing"

	"bellhop/core"
)

func TestModelOfARun(t *testing.T) {
	r := New(Options{Facts: func(model string) (int, bool) { return len(model), model == "p/sees" }})
	own := core.Bot{Model: "p/own", Window: 1000, Vision: true}
	tests := []struct {
		name          string
		began, thread string
		want          string
		window        int
		vision        bool
	}{
		{name: "the bot's own", want: "p/own", window: 1000, vision: true},
		{name: "set for the thread", thread: "p/sees", want: "p/sees", window: 6, vision: true},
		{name: "set, and blind", thread: "p/blind", want: "p/blind", window: 7},
		{name: "begun with another", began: "p/began", thread: "p/sees", want: "p/began", window: 7},
		{name: "begun with its own", began: "p/own", thread: "p/sees", want: "p/own", window: 1000, vision: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run := core.Run{Model: tt.began}
			got := r.equip(own, &run, core.Thread{Model: tt.thread})
			if run.Model != tt.want || got.Model != tt.want || got.Window != tt.window || got.Vision != tt.vision {
				t.Errorf("the run has %s, and the bot %+v", run.Model, got)
			}
		})
	}
	run := core.Run{}
	if got := New(Options{}).equip(own, &run, core.Thread{Model: "p/sees"}); got.Vision || got.Window != 0 {
		t.Errorf("without facts, the bot takes %d tokens and sees: %t", got.Window, got.Vision)
	}
}

// mute is an outbox that nothing is shown in.
type mute struct{ Outbox }

func (mute) Features(string) core.Features { return core.Features{} }

func TestModelThatIsNoMore(t *testing.T) {
	gone := func(string) (core.Provider, string, error) {
		return nil, "", &core.UserError{Text: "The model provider is not configured."}
	}
	for set, hint := range map[string]bool{"p/gone": true, "": false} {
		x := turn{Runner: New(Options{Provider: gone, Outbox: mute{}}), run: core.Run{Model: "p/gone"}}
		x.view.Thread.Model = set
		if _, _, err := x.provider(); err == nil || strings.Contains(err.Error(), "/model reset") != hint {
			t.Errorf("with %q set: %v", set, err)
		}
	}
}
