package main

import (
	"bellhop/core"
	"bellhop/core/config"
	"bellhop/core/perm"
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
