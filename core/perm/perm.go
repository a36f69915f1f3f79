// Package perm decides who may use which tool how: it holds calls of tools
// against rules. It is pure: what it says depends on its arguments alone. It
// imports core, a shell's parser and a matcher of globs, and starts no goroutine.
//
// Rules are for what people want to be asked about. They are no wall: a command
// can be disguised in ways that no rule sees, so what it can reach is bounded
// elsewhere, by the sandbox, the file tools and the guard of connections.
package perm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"bellhop/core"
)

// Call is one use of a tool that is to be decided about.
type Call struct {
	Agent     string
	Workspace string // the folder in which the agent works; empty: none
	Tool      string
	Args      string // JSON object in the canonical form, that of tools.Canonical
	ReadOnly  bool   // the tool changes nothing
	// Role is that of who asks for it: the least of the people for whom the bot
	// works.
	Role core.Role
}

// Levels are all the rules for a call.
type Levels struct {
	Mode       core.Mode // of the thread; empty: the default
	Agent      []core.Rule
	Binding    []core.Rule
	Global     []core.Rule
	Remembered []core.Remembered
}

// Of is the levels for an agent at a place. mode is what the thread was set to;
// empty: the binding's counts.
func Of(p core.Policy, agent string, place core.Place, mode core.Mode, remembered []core.Remembered) Levels {
	b := p.At(place)
	if mode == "" {
		mode = b.Mode
	}
	return Levels{Mode: mode, Agent: p.Agents[agent], Binding: b.Rules, Global: p.Rules, Remembered: remembered}
}

// Level is where a decision comes from.
type Level string

// The levels, the first that says something before the others.
const (
	ByMode       Level = "mode"
	ByAgent      Level = "agent"
	ByBinding    Level = "binding"
	ByGlobal     Level = "global"
	ByRemembered Level = "remembered"
	ByDefault    Level = "default"
)

// Decision is what is to be done about a call, and why.
type Decision struct {
	Action core.Action
	Level  Level
	Rule   core.Rule // that decides, at the levels of rules
	// Always: the person who is asked may allow this very call for good. Not where
	// a rule says that it is to be asked about.
	Always bool
	// Vague: nobody can tell before what the command would do, so no pattern
	// allows it.
	Vague bool
}

// Decide says what is to be done about a call. Each level has its say: that of
// its first rule that matches. A deny at any level wins. Else the first level
// that says something counts: the thread's mode (bypass allows everything, smart
// what it lists), the rules of the agent, of the binding, of everything, what was
// allowed for good; and last the tool's default: what changes nothing is allowed,
// anything else is asked about.
func Decide(l Levels, c Call) Decision {
	s := read(c)
	d := Decision{Action: core.ActionAsk, Level: ByDefault, Vague: s.vague}
	asks := false
	found := false
	say := func(level Level, action core.Action, rule core.Rule) {
		asks = asks || action == core.ActionAsk
		if !found || action == core.ActionDeny && d.Action != core.ActionDeny {
			d.Action, d.Level, d.Rule, found = action, level, rule, true
		}
	}
	switch l.Mode {
	case core.ModeBypass:
		say(ByMode, core.ActionAllow, core.Rule{})
	case core.ModeSmart:
		if a, _ := first(smart, c, s); a == core.ActionAllow || c.ReadOnly {
			say(ByMode, core.ActionAllow, core.Rule{})
		}
	}
	for _, level := range []struct {
		Level
		rules []core.Rule
	}{{ByAgent, l.Agent}, {ByBinding, l.Binding}, {ByGlobal, l.Global}} {
		if action, rule := first(level.rules, c, s); action != "" {
			say(level.Level, action, rule)
		}
	}
	for _, r := range l.Remembered {
		if Recalls(r, c) {
			say(ByRemembered, core.ActionAllow, core.Rule{})
			break
		}
	}
	if !found && c.ReadOnly {
		d.Action = core.ActionAllow
	}
	d.Always = d.Action == core.ActionAsk && !asks
	return d
}

// first is what a level says, and the rule that says it; empty: nothing. Every
// part of what the call is about is held against the rules in their order. If
// they deny one, the call is denied; else if one is to be asked about, so is the
// call; else it is allowed if every part is.
func first(rules []core.Rule, c Call, s subject) (core.Action, core.Rule) {
	open := make([]bool, len(s.units))
	left := 0
	for i, u := range s.units {
		open[i] = true
		if !u.idle {
			left++
		}
	}
	said := map[core.Action]core.Rule{}
	note := func(r core.Rule) {
		if _, ok := said[r.Action]; !ok {
			said[r.Action] = r
		}
	}
	for _, r := range rules {
		if left == 0 {
			break
		}
		if !r.Speaks(c.Role) || !like(r.Tool, c.Tool) {
			continue
		}
		entire := s.entire(r)
		if !entire && r.Action != core.ActionAllow && s.holds != nil && s.holds(r.Pattern) {
			note(r)
		}
		for i, u := range s.units {
			hit := misses
			switch {
			case !open[i]:
			case entire:
				hit = hits
			case r.Action != core.ActionAllow:
				hit = u.struck(r.Pattern)
			case !u.idle:
				hit = strikes(u.allowed(r.Pattern))
			}
			if hit == misses {
				continue
			}
			note(r)
			if hit == mayHit {
				continue
			}
			open[i] = false
			if !u.idle {
				left--
			}
		}
	}
	for _, action := range []core.Action{core.ActionDeny, core.ActionAsk} {
		if r, ok := said[action]; ok {
			return action, r
		}
	}
	if r, ok := said[core.ActionAllow]; ok && left == 0 {
		return core.ActionAllow, r
	}
	return "", core.Rule{}
}

// entire reports whether the rule matches all of the call, whatever its parts.
func (s *subject) entire(r core.Rule) bool {
	return r.Pattern == "" || r.Action == core.ActionAllow && s.is != nil && s.is(r.Pattern)
}

// Remember is the permission for a call, for good. Its ID, its time and who gave
// it are the caller's to set.
func Remember(c Call) core.Remembered {
	shown := []rune(Spell(Shown(c)))
	if len(shown) > maxShown {
		shown = append(shown[:maxShown-1], '…')
	}
	return core.Remembered{Agent: c.Agent, Workspace: c.Workspace, Tool: c.Tool, Hash: hash(c.Args), Shown: string(shown)}
}

// maxShown is how many characters are kept of what was allowed for good, to tell
// people which call that is.
const maxShown = 200

// Recalls reports whether the permission is for the call.
func Recalls(r core.Remembered, c Call) bool {
	return r.Agent == c.Agent && r.Workspace == c.Workspace && r.Tool == c.Tool && r.Hash == hash(c.Args)
}

func hash(args string) string {
	sum := sha256.Sum256([]byte(args))
	return hex.EncodeToString(sum[:])
}

// Why says to a person in one sentence where the decision comes from.
func (d Decision) Why() string {
	verb := map[core.Action]string{core.ActionAllow: "allows it", core.ActionAsk: "wants it asked about", core.ActionDeny: "denies it"}[d.Action]
	switch d.Level {
	case ByMode:
		return "The mode of this conversation allows it."
	case ByRemembered:
		return "It was allowed for good."
	case ByDefault:
		switch {
		case d.Action == core.ActionAllow:
			return "It changes nothing."
		case d.Vague:
			return "No rule allows it: nobody can tell beforehand what it would do."
		}
		return "No rule allows it, and it may change something."
	}
	whose := map[Level]string{ByAgent: "of this agent", ByBinding: "of this place", ByGlobal: "for all agents"}[d.Level]
	return fmt.Sprintf("A rule %s %s.", whose, verb)
}

// Refusal is what a model reads of its call that was denied. It names no rule, so
// that it tells nobody how to pass it.
func (d Decision) Refusal(tool string) string {
	return fmt.Sprintf("Permission denied: %s was not run, because a rule forbids this call. Do not try to do the same in another way. Say what you could not do.", tool)
}
