// Package setting is what people see and set in chat of the appliance itself:
// the team, the model and the folder of a conversation, what agents may do there,
// the configuration in force. What is set stays with the thread, in the ledger;
// the configuration's file is never written.
//
// It imports core and core/workspace and starts no goroutine.
package setting

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"bellhop/core"
	"bellhop/core/workspace"
)

// Options are what there is to choose from.
type Options struct {
	Bots      []core.Bot
	Externals []core.External
	Agent     string // handle of the default agent
	Bindings  []core.Binding
	Providers []string      // names
	Models    []string      // "provider/model" of those that are known, in any order
	Config    func() string // the configuration in force, without secrets
	Folders   workspace.Folders
	Check     func(folder string) error // whether it can be worked in; answers at once
	Policy    core.Policy
}

// Commands are those about settings.
func Commands(o Options) []core.Command {
	o.Providers, o.Models = sorted(o.Providers), sorted(o.Models)
	return []core.Command{
		{Name: "agent", Help: "who answers here when nobody is mentioned", Role: core.Member, Run: o.agent},
		{Name: "agents", Help: "who is here to help", Role: core.Member, Run: o.agents},
		{Name: "config", Help: "my configuration, without secrets", Role: core.Admin, Run: o.config},
		{Name: "model", Help: "the model that answers here", Role: core.Member, Run: o.model},
		{Name: "permissions", Help: "what agents may do here, and what they ask about", Role: core.Member, Run: o.permissions},
		{Name: "workspace", Help: "the folder in which the agents work here", Role: core.Member, Run: o.workspace},
	}
}

func sorted(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}

// agents lists the team, and the programs that talk with it.
func (o Options) agents(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	here := o.leads(inv)
	var b strings.Builder
	for _, bot := range o.Bots {
		fmt.Fprintf(&b, "- @%s", bot.Handle)
		if name := bot.DisplayName(); name != bot.Handle {
			b.WriteString(", " + plain(name))
		}
		if about := plain(bot.Description); about != "" {
			b.WriteString(": " + about)
		}
		fmt.Fprintf(&b, " – model %s", code(cmp.Or(inv.Thread.Model, bot.Model)))
		switch {
		case bot.Delegate:
			b.WriteString(", works for the others alone")
		case bot.Handle == here:
			b.WriteString(", answers here when nobody is mentioned")
		}
		if places := o.bound(bot.Handle); inv.Role >= core.Admin && len(places) > 0 {
			b.WriteString(", default at " + strings.Join(places, ", "))
		}
		b.WriteByte('\n')
	}
	for _, x := range o.Externals {
		fmt.Fprintf(&b, "- @%s", x.Handle)
		if about := plain(x.Description); about != "" {
			b.WriteString(": " + about)
		}
		b.WriteString(" – a program outside")
		if !x.Listens {
			b.WriteString(", which only speaks")
		}
		b.WriteByte('\n')
	}
	return core.CommandReply{Text: b.String()}, nil
}

// bound are the places where the agent is the default by a binding, as patterns.
func (o Options) bound(handle string) []string {
	var out []string
	for _, bind := range o.Bindings {
		if cmp.Or(bind.Agent, o.Agent) == handle {
			out = append(out, code(bind.Place))
		}
	}
	return out
}

// config shows the configuration, to an admin alone.
func (o Options) config(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	if !inv.Direct {
		return idle("Ask me for that in a direct message: it is not for everybody here.")
	}
	text := strings.TrimSpace(o.Config())
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return core.CommandReply{Text: "This is in force. What came from variables is shown as the file writes it.\n\n" + fence + "toml\n" + text + "\n" + fence}, nil
}

func idle(format string, args ...any) (core.CommandReply, error) {
	return core.CommandReply{Text: fmt.Sprintf(format, args...), Idle: true}, nil
}

// adjust changes what is set for the conversation at the place, which begins if
// there is none.
func adjust(inv core.Invocation, change func(*core.Thread)) error {
	th := inv.Thread
	if th.ID == "" {
		var err error
		if th, err = inv.Desk.Begin(inv.Place); err != nil {
			return err
		}
	}
	return inv.Desk.Adjust(th.ID, change)
}

// plain is text on one line.
func plain(s string) string { return strings.Join(strings.Fields(s), " ") }

// code is text on one line, as code so that nothing in it is rendered.
func code(s string) string { return "`" + strings.ReplaceAll(plain(s), "`", "'") + "`" }

func codes(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = code(n)
	}
	return strings.Join(quoted, ", ")
}
