package main

import (
	"context"

	"bellhop/core"
	"bellhop/core/config"
	"bellhop/core/perm"
	runner "bellhop/core/run"
	"bellhop/store"
)

// policy is what the configuration says about the use of tools.
func policy(cfg *config.Config) core.Policy {
	p := core.Policy{Rules: rules(cfg.Rules), Agents: map[string][]core.Rule{}, Bindings: bindings(cfg)}
	for handle, c := range cfg.Agents {
		p.Agents[handle] = rules(c.Rules)
	}
	return p
}

func rules(list []config.Rule) []core.Rule {
	var out []core.Rule
	for _, r := range list {
		out = append(out, r.Core())
	}
	return out
}

// hidden reports which tools an agent's model is not shown. What a binding
// denies it is shown all the same: what a model is told is the same everywhere.
func hidden(p core.Policy, handle string) func(tool string) bool {
	return func(tool string) bool { return perm.Hidden(tool, p.Agents[handle], p.Rules) }
}

// holds is what holds for the calls of a run, as it is now: the configuration's
// rules, what was said in chat, and what those may do whose work it is.
func holds(s *store.Store, p core.Policy, access func() core.Access) func(context.Context, core.Run) (runner.Rules, error) {
	return func(ctx context.Context, run core.Run) (runner.Rules, error) {
		mode, remembered, err := s.Permits(ctx, run.Thread, run.Bot)
		if err != nil {
			return runner.Rules{}, err
		}
		out := runner.Rules{Levels: perm.Of(p, run.Bot, run.Reply.Place, mode, remembered), Nobody: !access().Approvers.Anybody(run.For.ID)}
		for i, id := range run.People {
			st, err := s.Standing(ctx, access(), id)
			if err != nil {
				return out, err
			}
			if i == 0 || st.Role < out.Role {
				out.Role = st.Role
			}
		}
		return out, nil
	}
}
