package config

import (
	"strings"
	"testing"
)

// TestPresets: a preset is there once there is its table, and each key of the
// table is that key alone.
func TestPresets(t *testing.T) {
	folder(t, map[string]string{"config.toml": `
default_agent = "coordinator"
[providers.script]
[agents.coordinator]
model = "script/x"
[agents.engineer]
description = "Mends engines"
[agents.plan]
[agents.reviewer]
tools = ["exec"]
[agents.general]
instructions = "Dig."
model = "script/y"
[agents.build]
mode = "subagent"
`})
	c, err := Load("config.toml", variables(nil))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Agents) != 6 {
		t.Errorf("there is %s", names(c.Agents))
	}
	for handle, want := range map[string]Agent{
		"coordinator": {Model: "script/x", Mode: Primary},
		"engineer":    {Model: "script/x", Mode: Primary},
		"plan":        {Model: "script/x", Mode: Primary, ReadOnly: true},
		"reviewer":    {Model: "script/x", Mode: Primary, Tools: []string{"exec"}},
		"general":     {Model: "script/y", Mode: Subagent, ReadOnly: true},
		"build":       {Model: "script/x", Mode: Subagent, ReadOnly: true},
	} {
		got := c.Agents[handle]
		if got.Model != want.Model || got.Mode != want.Mode || got.ReadOnly != want.ReadOnly || len(got.Tools) != len(want.Tools) {
			t.Errorf("%s is %+v, want %+v", handle, got, want)
		}
		if own := handle == "engineer"; (got.Description == "Mends engines") != own || got.Description == "" {
			t.Errorf("%s: %q", handle, got.Description)
		}
		if own := handle == "general"; (got.Instructions == "Dig.") != own || got.Instructions == "" {
			t.Errorf("%s: %q", handle, got.Instructions)
		}
	}
}

// TestPresetTexts: what each preset is told names nobody who may not be there,
// and is short.
func TestPresetTexts(t *testing.T) {
	for handle, p := range presets() {
		if n := len(p.instructions); n < 100 || n > 1500 || len(p.description) > 100 || p.description == "" {
			t.Errorf("%s: %q, %d bytes", handle, p.description, n)
		}
		for other := range presets() {
			if other != handle && strings.Contains(p.instructions, "@"+other) {
				t.Errorf("%s is told of @%s", handle, other)
			}
		}
	}
}
