package bus

import (
	"cmp"
	"context"
	"fmt"
	"strings"

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
