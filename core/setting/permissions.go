package setting

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"bellhop/core"
)

// permissions shows what agents may do in the conversation, or changes it.
func (o Options) permissions(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	word, rest, _ := strings.Cut(strings.TrimSpace(inv.Args), " ")
	rest = strings.ToLower(strings.Trim(rest, "` "))
	switch strings.ToLower(word) {
	case "":
		return o.permitted(inv)
	case "forget":
		return o.forget(inv, rest)
	case "mode":
		return o.mode(inv, core.Mode(rest))
	case "reset":
		return o.reset(inv)
	}
	return idle("%[1]spermissions shows what agents may do here. Admins change it with %[1]spermissions mode default, smart or bypass, and %[1]spermissions reset.", inv.Mark)
}

// modes say what each mode means.
var modes = map[core.Mode]string{
	core.ModeDefault: "the rules decide. Where none does, what changes nothing is done at once and anything else is asked about",
	core.ModeSmart:   "what changes nothing, or can be taken back, is done at once; about anything else the rules decide",
	core.ModeBypass:  "nothing is asked about",
}

// current is the mode in the conversation, and where it comes from.
func (o Options) current(inv core.Invocation) (mode core.Mode, from string) {
	if set := inv.Thread.Mode; set != "" {
		return set, "set in this conversation"
	}
	if set := o.Policy.At(inv.Place).Mode; set != "" && set != core.ModeDefault {
		return set, "from my configuration"
	}
	return core.ModeDefault, ""
}

// permitted lists what there is, in the order in which it counts.
func (o Options) permitted(inv core.Invocation) (core.CommandReply, error) {
	mode, from := o.current(inv)
	if from != "" {
		from = ", " + from
	}
	say := []string{fmt.Sprintf("Mode %s%s: %s.", mode, from, modes[mode])}
	if rules := o.rules(inv); len(rules) == 0 {
		say = append(say, "There are no rules.")
	} else {
		say = append(say, "Of each list the first rule that fits counts, and a deny in any of them wins; else the lists count in this order.")
		say = append(say, rules...)
	}
	all, err := o.remembered(inv)
	if err != nil {
		return core.CommandReply{}, err
	}
	total := len(all)
	all = slices.DeleteFunc(all, func(r core.Remembered) bool { return !mayForget(inv, r) })
	if others := total - len(all); others > 0 {
		say = append(say, fmt.Sprintf("Allowed for good by others: %d.", others))
	}
	if len(all) > 0 {
		var b strings.Builder
		b.WriteString("Allowed for good:\n")
		if older := len(all) - mostRemembered; older > 0 {
			fmt.Fprintf(&b, "- … and %d before these\n", older)
			all = all[older:]
		}
		for _, r := range all {
			fmt.Fprintf(&b, "- %s: @%s, %s %s\n", r.ID, r.Agent, r.Tool, short(r.Shown))
		}
		say = append(say, b.String()+fmt.Sprintf("\n%spermissions forget %s takes the last one back.", inv.Mark, all[len(all)-1].ID))
	}
	if inv.Role >= core.Admin {
		say = append(say, fmt.Sprintf("%[1]spermissions mode default, smart or bypass sets the mode here; %[1]spermissions reset takes back the mode and what was allowed for good.", inv.Mark))
	}
	return core.CommandReply{Text: strings.Join(say, "\n\n")}, nil
}

// rules are the lists of rules for the conversation, in their order.
func (o Options) rules(inv core.Invocation) []string {
	var out []string
	list := func(head string, level []core.Rule) {
		if len(level) == 0 {
			return
		}
		lines := []string{head + ":"}
		for i, r := range level {
			lines = append(lines, fmt.Sprintf("%d. %s", i+1, ruled(r)))
		}
		out = append(out, strings.Join(lines, "\n"))
	}
	for _, handle := range o.present(inv) {
		list("@"+handle, o.Policy.Agents[handle])
	}
	list("At this place", o.Policy.At(inv.Place).Rules)
	list("All agents", o.Policy.Rules)
	return out
}

// mostRemembered is how many of what was allowed for good are shown.
const mostRemembered = 20

// ruled is a rule in words.
func ruled(r core.Rule) string {
	text := fmt.Sprintf("%s %s", r.Action, code(r.Tool))
	if r.Pattern != "" {
		text += " " + code(r.Pattern)
	}
	switch {
	case r.Role == core.Stranger:
	case r.Action == core.ActionAllow && r.Role == core.Owner:
		text += ", for owners"
	case r.Action == core.ActionAllow:
		text += fmt.Sprintf(", for %ss and above", r.Role)
	case r.Role == core.Member:
		text += ", for members"
	default:
		text += fmt.Sprintf(", for %ss and below", r.Role)
	}
	return text
}

// short is the beginning of a text, as code.
func short(s string) string {
	if r := []rune(plain(s)); len(r) > 80 {
		s = string(r[:80]) + "…"
	}
	return code(s)
}

// present are the agents of the conversation: its own, and who takes part.
func (o Options) present(inv core.Invocation) []string {
	out := []string{o.leads(inv)}
	for _, bot := range inv.Thread.Bots {
		if !slices.Contains(out, bot) {
			out = append(out, bot)
		}
	}
	return out
}

// remembered is what the agents of the conversation may do for good where they
// work in it, oldest first.
func (o Options) remembered(inv core.Invocation) ([]core.Remembered, error) {
	var out []core.Remembered
	th := inv.Thread
	th.Place = inv.Place // of a conversation that is yet to begin, too
	for _, handle := range o.present(inv) {
		all, err := inv.Desk.Remembered(handle)
		if err != nil {
			return nil, err
		}
		here := o.Folders.Of(th, handle)
		for _, r := range all {
			if r.Workspace == here {
				out = append(out, r)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y core.Remembered) int { return cmp.Compare(x.ID.Seq(), y.ID.Seq()) })
	return out, nil
}

// mayForget reports whether the person may see the permission and take it back:
// they gave it, or are an admin.
func mayForget(inv core.Invocation, r core.Remembered) bool {
	return inv.Role >= core.Admin || inv.Human.Is(r.By)
}

// forget takes one permission back.
func (o Options) forget(inv core.Invocation, which string) (core.CommandReply, error) {
	all, err := o.remembered(inv)
	if err != nil {
		return core.CommandReply{}, err
	}
	id, err := core.ParseID(which)
	at := slices.IndexFunc(all, func(r core.Remembered) bool { return r.ID == id && mayForget(inv, r) })
	if err != nil || at < 0 {
		return idle("Nothing that you may take back here has the number %s. %spermissions lists what was allowed for good.", short(which), inv.Mark)
	}
	if err := inv.Desk.Forget(all[at]); err != nil {
		return core.CommandReply{}, err
	}
	return core.CommandReply{Text: fmt.Sprintf("Forgotten: @%s, %s %s is asked about again.", all[at].Agent, all[at].Tool, short(all[at].Shown))}, nil
}

// mode sets how freely tools may be used in the conversation.
func (o Options) mode(inv core.Invocation, want core.Mode) (core.CommandReply, error) {
	now, _ := o.current(inv)
	switch _, known := modes[want]; {
	case inv.Role < core.Admin:
		return idle("Only an admin may set the mode. It is %s: %s.", now, modes[now])
	case inv.Opens:
		return idle("Every thread here is a conversation of its own. Inside one, %spermissions mode sets its mode.", inv.Mark)
	case !known:
		return idle("Write %spermissions mode default, smart or bypass. It is %s: %s.", inv.Mark, now, modes[now])
	case inv.Thread.Mode == want:
		return idle("The mode is %s already: %s.", now, modes[now])
	}
	if err := adjust(inv, func(th *core.Thread) { th.Mode = want }); err != nil {
		return core.CommandReply{}, err
	}
	if want == core.ModeBypass {
		return core.CommandReply{Text: fmt.Sprintf("⚠ From now on nothing is asked about in this conversation. Whatever an agent decides to do, it does at once: commands, files, messages. "+
			"That includes what a web page or a file has talked it into. Only what a rule denies stays denied. %spermissions mode default ends this.", inv.Mark)}, nil
	}
	return core.CommandReply{Text: fmt.Sprintf("From now on the mode is %s in this conversation: %s.", want, modes[want])}, nil
}

// reset takes back what was said about permissions in chat.
func (o Options) reset(inv core.Invocation) (core.CommandReply, error) {
	if inv.Role < core.Admin {
		return idle("Only an admin may do that. %spermissions forget takes back one that you have given.", inv.Mark)
	}
	all, err := o.remembered(inv)
	if err != nil {
		return core.CommandReply{}, err
	}
	if len(all) == 0 && inv.Thread.Mode == "" {
		return idle("There is nothing to take back here: no mode was set and nothing was allowed for good.")
	}
	if err := inv.Desk.Forget(all...); err != nil {
		return core.CommandReply{}, err
	}
	if inv.Thread.Mode != "" {
		if err := adjust(inv, func(th *core.Thread) { th.Mode = "" }); err != nil {
			return core.CommandReply{}, err
		}
		inv.Thread.Mode = ""
	}
	now, from := o.current(inv)
	if from != "" {
		from = ", " + from
	}
	text := fmt.Sprintf("The mode is %s%s: %s.", now, from, modes[now])
	if len(all) > 0 {
		text += fmt.Sprintf(" What was allowed for good is forgotten, %d in all.", len(all))
	}
	return core.CommandReply{Text: text}, nil
}
