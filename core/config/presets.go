package config

import (
	"embed"
	"strings"
	"sync"
)

//go:embed presets/*.md
var presetTexts embed.FS

// preset is what an agent of a certain handle is where its table does not say
// otherwise, key by key. There is such an agent once there is its table, which
// may be empty.
type preset struct {
	description  string
	instructions string
	mode         string
	readOnly     bool
}

// presets are the agents that need no instructions of their own, by handle.
var presets = sync.OnceValue(func() map[string]preset {
	all := map[string]preset{
		"coordinator": {description: "Leads the team: plans, hands work on, checks what comes back, reports"},
		"engineer":    {description: "Builds and changes code, configuration and documents"},
		"reviewer":    {description: "Reviews what others have made, and changes nothing", readOnly: true},
		"tester":      {description: "Tries whether things work, and says how they fail"},
		"build":       {description: "Gets things done with all tools"},
		"plan":        {description: "Thinks things through and writes a plan, and changes nothing", readOnly: true},
		"general":     {description: "Finds things out for its colleagues", mode: Subagent},
	}
	for name, p := range all {
		text, err := presetTexts.ReadFile("presets/" + name + ".md")
		if err != nil {
			panic("config: " + err.Error()) // it is part of the program
		}
		p.instructions = strings.TrimSpace(string(text))
		all[name] = p
	}
	return all
})

// The modes of an agent.
const (
	Primary  = "primary"  // people talk to it
	Subagent = "subagent" // other agents do, and it has only tools that change nothing
)

// inherit gives the agents without a model of their own that of the default one,
// which must have one.
func (l *loader) inherit(c *Config) {
	lead, ok := c.Agents[c.DefaultAgent]
	if !ok {
		return // which is said already
	}
	if lead.Model == "" {
		l.missingModel(c.DefaultAgent)
	}
	for name, a := range c.Agents {
		if a.Model == "" {
			a.Model = lead.Model
			c.Agents[name] = a
		}
	}
}

// missingModel reports that an agent that needs a model says nothing of one. What
// it says wrong was reported.
func (l *loader) missingModel(agent string) {
	if key := join(join("agents", agent), "model"); l.lines[key] == 0 {
		l.failAt(key, "", `is missing: want "provider/model"`)
	}
}
