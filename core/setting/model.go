package setting

import (
	"context"
	"slices"
	"strings"

	"bellhop/core"
)

// model shows which model answers in the conversation, or sets it for all
// agents there.
func (o Options) model(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	if inv.Opens {
		return idle("Every thread here is a conversation of its own. Inside one, %smodel shows and sets its model.", inv.Mark)
	}
	want := strings.Trim(strings.TrimSpace(inv.Args), "`")
	switch {
	case want == "":
		return o.shown(inv)
	case inv.Role < core.Admin:
		return idle("Only an admin may set the model. %smodel shows it.", inv.Mark)
	case strings.EqualFold(want, "reset"):
		if inv.Thread.Model == "" {
			return idle("No model is set here: each agent answers with its own.")
		}
		if err := adjust(inv, func(th *core.Thread) { th.Model = "" }); err != nil {
			return core.CommandReply{}, err
		}
		return core.CommandReply{Text: "From the next answer on, each agent uses its own model here again."}, nil
	}
	provider, name, _ := strings.Cut(want, "/")
	switch {
	case provider == "" || name == "" || strings.ContainsAny(want, " \t\r\n") || len(want) > maxModel:
		return idle("Write %smodel provider/model. I know %s.", inv.Mark, codes(o.Models))
	case !slices.Contains(o.Providers, provider):
		return idle("I have no provider %s. There is %s; of models I know %s.", code(provider), codes(o.Providers), codes(o.Models))
	}
	if err := adjust(inv, func(th *core.Thread) { th.Model = want }); err != nil {
		return core.CommandReply{}, err
	}
	text := "From the next answer on, everybody here uses " + code(want) + ". " + inv.Mark + "model reset takes that back."
	if !slices.Contains(o.Models, want) {
		text += "\n\nMy configuration does not mention that model: if " + code(provider) + " does not have it, the next answer says so."
	}
	return core.CommandReply{Text: text}, nil
}

// maxModel bounds the name of a model.
const maxModel = 200

// shown says which model answers in the conversation.
func (o Options) shown(inv core.Invocation) (core.CommandReply, error) {
	var b strings.Builder
	if set := inv.Thread.Model; set != "" {
		b.WriteString("Everybody here uses " + code(set) + ", as was set in this conversation.")
	} else {
		b.WriteString("Each agent uses its own model:\n\n")
		for _, bot := range o.Bots {
			b.WriteString("- @" + bot.Handle + ": " + code(bot.Model) + "\n")
		}
	}
	if inv.Role >= core.Admin {
		b.WriteString("\n\nI know " + codes(o.Models) + ". " + inv.Mark + "model provider/model sets one for this conversation, " + inv.Mark + "model reset takes that back.")
	}
	return core.CommandReply{Text: b.String()}, nil
}
