package bus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

// Commands are the ones that the bus itself answers: /help, /start and
// /status. health is asked for the adapters' state; it must not wait.
func Commands(health func() []AdapterHealth) []core.Command {
	return []core.Command{
		{Name: "help", Usual: true, Help: "what I can do", Role: core.Member, Run: help},
		{Name: "start", Help: "say hello", Role: core.Member, Run: start},
		{Name: "status", Usual: true, Help: "what is going on", Role: core.Member, Run: status(health)},
	}
}

// AdapterHealth is one adapter's state.
type AdapterHealth struct {
	Name string
	Dead error
	core.Health
}

// Health lists the adapters' states by name. It does not wait.
func (b *Bus) Health() []AdapterHealth {
	var out []AdapterHealth
	for _, acc := range b.accounts {
		h := AdapterHealth{Name: acc.Name()}
		_, h.Dead = acc.state()
		if acc.features.Health != nil {
			h.Health = acc.features.Health()
		}
		out = append(out, h)
	}
	slices.SortFunc(out, func(x, y AdapterHealth) int { return strings.Compare(x.Name, y.Name) })
	return out
}

func help(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	var b strings.Builder
	if inv.Direct {
		b.WriteString("Write to me and I answer here.\n\n")
	} else {
		b.WriteString("Mention me, or reply to me, and I answer here.\n\n")
	}
	if inv.Args != "" {
		return explain(inv)
	}
	var others []string
	for _, c := range inv.Commands {
		switch {
		case inv.Role < c.Role || c.Name == "start":
		case c.Usual:
			fmt.Fprintf(&b, "%s%s – %s\n", inv.Mark, c.Name, c.Help)
		default:
			others = append(others, inv.Mark+c.Name)
		}
	}
	if len(others) > 0 {
		fmt.Fprintf(&b, "\nAnd %s. %shelp with a name says more.", strings.Join(others, ", "), inv.Mark)
	}
	return core.CommandReply{Text: b.String()}, nil
}

// explain says what one command does.
func explain(inv core.Invocation) (core.CommandReply, error) {
	name := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(inv.Args), cmp.Or(inv.Mark, "/")))
	for _, c := range inv.Commands {
		if c.Name == name && inv.Role >= c.Role {
			return core.CommandReply{Text: fmt.Sprintf("%s%s – %s", inv.Mark, c.Name, c.Help)}, nil
		}
	}
	return core.CommandReply{Text: "There is no such command. " + inv.Mark + "help lists them.", Idle: true}, nil
}

func start(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	hello := "Hello"
	if name := strings.TrimSpace(inv.From.Name); name != "" {
		hello += ", " + name
	}
	return core.CommandReply{Text: hello + ". Send me a message and I answer. " + inv.Mark + "help lists what else I can do."}, nil
}

func status(health func() []AdapterHealth) func(context.Context, core.Invocation) (core.CommandReply, error) {
	return func(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
		load, err := inv.Desk.Load(inv.Thread.ID)
		if err != nil {
			return core.CommandReply{}, err
		}
		var b strings.Builder
		switch {
		case inv.Thread.ID == "":
			b.WriteString("No conversation here yet.\n")
		default:
			fmt.Fprintf(&b, "This conversation (%s): %s, %s.\n", inv.Thread.ID, doing(load.Running), waiting(load.Queued, load.More))
		}
		fmt.Fprintf(&b, "Everywhere: %s, %s.\n", doing(load.All), waiting(load.Waiting, load.More))
		spent, err := inv.Desk.Spent(inv.Thread.ID)
		if err != nil {
			return core.CommandReply{}, err
		}
		if spent != (core.Spent{}) {
			b.WriteString(costs(spent) + "\n")
		}
		for _, h := range health() {
			switch {
			case h.Dead != nil:
				fmt.Fprintf(&b, "%s: down. %v\n", h.Name, h.Dead)
			case h.Trouble != "":
				fmt.Fprintf(&b, "%s: %s\n", h.Name, h.Trouble)
			case h.LastInbound.IsZero():
				fmt.Fprintf(&b, "%s: connecting\n", h.Name)
			default:
				fmt.Fprintf(&b, "%s: fine, last heard %s ago\n", h.Name, time.Since(h.LastInbound).Round(time.Second))
			}
		}
		return core.CommandReply{Text: b.String()}, nil
	}
}

func doing(n int) string {
	switch n {
	case 0:
		return "idle"
	case 1:
		return "1 run in progress"
	}
	return fmt.Sprintf("%d runs in progress", n)
}

func waiting(n int, more bool) string {
	if more {
		return fmt.Sprintf("%d or more messages waiting", n)
	}
	if n == 1 {
		return "1 message waiting"
	}
	return fmt.Sprintf("%d messages waiting", n)
}
