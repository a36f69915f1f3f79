package setting

import (
	"context"
	"strings"

	"bellhop/core"
)

// workspace shows the folder in which the agents work in the conversation, or
// sets one that they share there.
func (o Options) workspace(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	if inv.Opens {
		return idle("Every thread here is a conversation of its own. Inside one, %sworkspace shows and sets its folder.", inv.Mark)
	}
	if inv.Thread.ID == "" {
		inv.Thread.Place = inv.Place // what a conversation here would have
	}
	want := strings.Trim(strings.TrimSpace(inv.Args), "`")
	switch {
	case want == "":
		return core.CommandReply{Text: o.folder(inv)}, nil
	case inv.Role < core.Admin:
		return idle("Only an admin may set the folder. %sworkspace shows it.", inv.Mark)
	case strings.EqualFold(want, "reset"):
		if inv.Thread.Workspace == "" {
			return idle("No folder is set here.")
		}
		if err := adjust(inv, func(th *core.Thread) { th.Workspace = "" }); err != nil {
			return core.CommandReply{}, err
		}
		inv.Thread.Workspace = ""
		return core.CommandReply{Text: "The folder that was set here is so no more. " + o.folder(inv)}, nil
	}
	chosen, ok := o.Folders.Choose(want)
	if !ok {
		return idle("%s is no folder that I may use. Name an agent, a folder of my configuration, or one below my folder of workspaces, such as %sworkspace site.", code(want), inv.Mark)
	}
	inv.Thread.Workspace = chosen
	if err := o.Check(o.Folders.Shared(inv.Thread)); err != nil {
		return idle("I cannot use the folder %s: it is no folder, or leads out of where it is.", code(want))
	}
	if err := adjust(inv, func(th *core.Thread) { th.Workspace = chosen }); err != nil {
		return core.CommandReply{}, err
	}
	return core.CommandReply{Text: o.folder(inv) + " " + inv.Mark + "workspace reset takes that back."}, nil
}

// folder says in which folder the agents work in the conversation. Where that
// lies on this machine is for who reads the configuration.
func (o Options) folder(inv core.Invocation) string {
	if shared := o.Folders.Shared(inv.Thread); shared != "" {
		why := "as my configuration says for this place"
		if inv.Thread.Workspace != "" {
			why = "as was set in this conversation"
		}
		return "Everybody here works in the folder " + code(o.Folders.Label(shared)) + ", " + why + "."
	}
	var b strings.Builder
	for _, bot := range o.Bots {
		if own := o.Folders.Of(inv.Thread, bot.Handle); own != "" {
			b.WriteString("\n- @" + bot.Handle + ": " + code(o.Folders.Label(own)))
		}
	}
	if b.Len() == 0 {
		return "There are no folders to work in."
	}
	return "Each agent works in its own folder:\n" + b.String() + "\n"
}
