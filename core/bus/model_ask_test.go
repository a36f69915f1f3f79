package bus

import (
	"context"
	"fmt"
	"slices"

	"bellhop/core"
	"bellhop/core/run"
	"bellhop/store"
)

// What of the model is about a run that asks people, and is answered.

// deed is the only tool of a bot that asks: it asks itself, or must be allowed.
type deed struct {
	p *process
}

func (d deed) Spec() core.ToolSpec {
	return core.ToolSpec{Name: "deed", ReadOnly: d.p.scenario.asks == core.QuestionAsk, Idempotent: d.p.scenario.asks == core.QuestionAsk}
}

// Call implements core.Tool.
func (d deed) Call(ctx context.Context, _ *core.Env, _ core.ToolCall) (core.ToolResult, error) {
	if d.p.scenario.asks == core.QuestionAsk {
		return core.ToolResult{Question: &core.Question{Text: "Red?"}}, nil
	}
	d.p.pause(op{kind: model, name: "the deed"})
	if d.p.dead {
		return core.ToolResult{}, context.Cause(ctx)
	}
	d.p.world.deeds++
	d.p.effect()
	return core.ToolResult{Text: "done"}, nil
}

// tools are those of the scenario.
type toolbox struct{ p *process }

func (b toolbox) Specs(core.Bot) []core.ToolSpec {
	if b.p.scenario.asks == "" {
		return nil
	}
	return []core.ToolSpec{deed(b).Spec()}
}

func (b toolbox) Find(_ core.Bot, name string) (core.Tool, error) {
	if b.p.scenario.asks == "" || name != "deed" {
		return nil, fmt.Errorf("there is no tool %s", name)
	}
	return deed(b), nil
}

// rules allow nothing.
func rules(context.Context, core.Run) (run.Rules, error) { return run.Rules{Role: core.Member}, nil }

func (b books) Park(ctx context.Context, r core.Run, step core.Step, open *core.Receipt, p core.Parking) (out core.Parked, err error) {
	err = b.tx("park", func() error {
		out, err = b.Store.Park(ctx, r, step, open, p)
		b.p.world.promise(out.Rows)
		return err
	})
	return out, err
}

func (b books) Step(ctx context.Context, r core.Run, step core.Step) error {
	return b.tx("step", func() error { return b.Store.Step(ctx, r, step) })
}

// ready is where the next run's mail begins; -1: there is none, or it waits for
// what a person says.
func (p *process) ready() int {
	if i := slices.IndexFunc(p.mail, func(it core.Item) bool { return it.Kind == core.ResumeItem }); i >= 0 {
		return i
	}
	if p.parked != "" || len(p.mail) == 0 {
		return -1
	}
	return 0
}

// asked is what is wrong with what the run has asked, and with what it did then.
func (p *process) asked(ledger store.Books) (wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	want := core.AskAnswered
	switch {
	case p.scenario.asks == "":
		return nil
	case slices.Contains(p.scenario.script, "/stop"): // perhaps before it has asked
		want = core.AskDropped
	case p.scenario.asks == core.ApprovalAsk:
		want = core.AskAllowed
	}
	if n := len(ledger.Asks); n > 1 || n == 0 && want != core.AskDropped {
		bad("people are asked %d times", n)
	}
	for _, a := range ledger.Asks {
		if a.State != want {
			bad("%s is %s, want %s", a.ID, a.State, want)
		}
	}
	unknown := false
	for _, steps := range ledger.Steps {
		for _, st := range steps {
			for _, part := range st.Parts {
				unknown = unknown || part.Tool != nil && part.Tool.State == core.ToolUnknown
			}
		}
	}
	switch n := p.world.deeds; {
	case n > 1, n > 0 && want != core.AskAllowed:
		bad("the deed was done %d times", n)
	case n == 0 && want == core.AskAllowed && !unknown:
		bad("the deed was not done, though it was allowed")
	}
	return wrong
}
