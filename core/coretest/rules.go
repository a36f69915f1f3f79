package coretest

import (
	"bellhop/core"
	"bellhop/core/perm"
)

// policy is what the rules of the script say.
func (sc *scene) policy() core.Policy {
	return core.Policy{Rules: sc.rules[everybody], Agents: sc.rules, Bindings: sc.bindings}
}

// everybody stands for all bots in a rule.
const everybody = "all"

// rule takes: all, the last bind line's places (bind) or a bot; what is done;
// the tool; of which people; and what the call is about.
func (sc *scene) rule(s *scanner) error {
	whose := s.word()
	r := core.Rule{Action: core.Action(s.word()), Tool: s.word()}
	if _, v, ok := s.option("role"); ok {
		if err := r.Role.UnmarshalText([]byte(v)); err != nil {
			return err
		}
	}
	var err error
	if r.Pattern, err = s.text(); err != nil {
		return err
	}
	if whose == "bind" {
		b := &sc.bindings[len(sc.bindings)-1]
		b.Rules = append(b.Rules, r)
		return nil
	}
	if sc.rules == nil {
		sc.rules = map[string][]core.Rule{}
	}
	sc.rules[whose] = append(sc.rules[whose], r)
	return nil
}

// hide keeps from models what the rules deny them altogether.
func (sc *scene) hide() {
	p := sc.policy()
	for i := range sc.bots {
		handle := sc.bots[i].Handle
		sc.bots[i].Hidden = func(tool string) bool { return perm.Hidden(tool, p.Agents[handle], p.Rules) }
	}
}
