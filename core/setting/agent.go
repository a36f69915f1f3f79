package setting

import (
	"cmp"
	"context"
	"strings"

	"bellhop/core"
)

// agent shows who answers in the conversation when nobody is mentioned, or has
// somebody else do it there.
func (o Options) agent(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	if inv.Opens {
		return idle("Every thread here is a conversation of its own. Inside one, %sagent shows and changes who answers.", inv.Mark)
	}
	var known []string
	for _, b := range o.Bots {
		if !b.Delegate {
			known = append(known, "@"+b.Handle)
		}
	}
	choice := "You can choose " + strings.Join(known, ", ") + "."
	now := o.leads(inv)
	want := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(inv.Args), "@"))
	if want == "" && len(known) < 2 {
		return idle("@%s answers here when nobody is mentioned.", now)
	}
	if want == "" {
		return idle("@%s answers here when nobody is mentioned. %sagent NAME changes that. %s", now, inv.Mark, choice)
	}
	for _, b := range o.Bots {
		switch {
		case b.Handle != want:
		case b.Delegate:
			return idle("@%s works for the others alone. %s", want, choice)
		case want == now:
			return idle("@%s answers here already.", now)
		default:
			if err := adjust(inv, func(th *core.Thread) { th.Agent = want }); err != nil {
				return core.CommandReply{}, err
			}
			text := "From here on @" + want + " answers when nobody is mentioned."
			if usual := o.usual(inv); usual != want {
				text += " " + inv.Mark + "new begins with @" + usual + " again."
			}
			return core.CommandReply{Text: text}, nil
		}
	}
	return idle("There is no agent %s. %s", code(inv.Args), choice)
}

// leads is the default bot of the conversation.
func (o Options) leads(inv core.Invocation) string { return cmp.Or(inv.Thread.Agent, o.usual(inv)) }

// usual is the default bot of conversations that begin at the place.
func (o Options) usual(inv core.Invocation) string {
	return core.Bound(o.Bindings, inv.Place, o.Agent)
}
