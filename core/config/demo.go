package config

import "time"

// Demo is the configuration of the demo bot: the scripted provider, one agent,
// the console alone, and a store that nothing is written to.
func Demo() *Config {
	return &Config{
		DefaultAgent: "demo",
		Providers:    map[string]Provider{"demo": {Type: "script"}},
		Agents: map[string]Agent{"demo": {Model: "demo/demo", Mode: Primary, History: History{Tokens: 24000, Messages: 80},
			Limits: AgentLimits{Steps: 40, RunTime: 15 * time.Minute}}},
		Limits: Limits{MaxRuns: 64, MaxHops: 20},
	}
}
