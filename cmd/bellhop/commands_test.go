package main

import (
	"log/slog"
	"testing"

	"bellhop/core"
	"bellhop/core/config"
)

// commandRoles says who may use each command. What parts of some are for more
// than that, their talks show.
var commandRoles = map[string]core.Role{
	"agent":       core.Member,
	"agents":      core.Member,
	"allow":       core.Member, // for whom it waits, or the approvers
	"answer":      core.Member,
	"cancel":      core.Member,
	"config":      core.Admin,
	"deny":        core.Member,
	"fork":        core.Member,
	"help":        core.Member,
	"inbox":       core.Member,
	"link":        core.Member, // and whoever has a member's code
	"me":          core.Member,
	"model":       core.Member,
	"new":         core.Member,
	"pair":        core.Owner,
	"permissions": core.Member,
	"purge":       core.Admin,
	"resume":      core.Member,
	"retry":       core.Member,
	"start":       core.Member, // and whoever has an invitation
	"status":      core.Member,
	"stop":        core.Member,
	"task":        core.Member,
	"tasks":       core.Member,
	"threads":     core.Member,
	"trace":       core.Member,
	"whoami":      core.Member,
	"why":         core.Member,
	"workspace":   core.Member,
}

// TestCommandsHaveRoles: every command stands in the table, and is for whom the
// table says, whatever the way in.
func TestCommandsHaveRoles(t *testing.T) {
	a := &appliance{log: slog.New(slog.DiscardHandler)}
	found := map[string]bool{}
	for _, c := range a.commands(&config.Config{}, nil) {
		need, ok := commandRoles[c.Name]
		if found[c.Name] || !ok {
			t.Errorf("/%s has no row in the table, or comes twice", c.Name)
			continue
		}
		found[c.Name] = true
		if c.Codes != (c.Name == "link") {
			t.Errorf("/%s takes codes: %t", c.Name, c.Codes)
		}
		for _, kind := range []core.InboundKind{core.InMessage, core.InButton, core.InReaction} {
			for role := core.Stranger; role <= core.Owner; role++ {
				want := core.Allowed
				switch {
				case role < core.Member:
					want = core.Unknown
				case role < need:
					want = core.Beneath
				}
				if got := core.Authorise(core.Person{ID: "chat:a"}, role, core.Deed{Kind: kind, Command: &c}); got != want {
					t.Errorf("/%s of a %s, by a %s: the verdict is %d, want %d", c.Name, role, kind, got, want)
				}
			}
		}
	}
	for name := range commandRoles {
		if !found[name] {
			t.Errorf("there is no command /%s", name)
		}
	}
}
