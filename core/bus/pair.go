package bus

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"bellhop/core"
)

// PairCommand is /pair, with which owners let people in. code makes codes; link
// is the address that opens a direct conversation with us and sends a code,
// empty where there is none.
func PairCommand(code func() string, link func(adapter, code string) string) core.Command {
	p := pairer{code, link}
	return core.Command{Name: "pair", Help: "let people in, or take that back", Role: core.Owner, Run: p.run}
}

type pairer struct {
	code func() string
	link func(adapter, code string) string
}

func (p pairer) run(_ context.Context, inv core.Invocation) (core.CommandReply, error) {
	word, rest, _ := strings.Cut(inv.Args, " ")
	switch strings.ToLower(word) {
	case "", "list":
		return p.list(inv)
	case "new":
		return p.invite(inv)
	case "remove":
		return p.remove(inv, core.PersonID(strings.Trim(rest, "` ")))
	case "accept":
		g, ok, err := inv.Desk.Accept(core.PersonID(strings.Trim(rest, "` ")), inv.From.ID)
		if err == nil && !ok {
			return idle("Nobody with that id asks to be let in now. Who writes to me directly asks, for an hour; %spair lists them.", inv.Mark)
		}
		return admitted(inv, g), err
	case "refuse":
		return p.refuse(inv, core.PersonID(strings.Trim(rest, "` ")))
	}
	hash, ok := readCode(inv.Args)
	if !ok {
		return idle("That is no code. A code has %d letters and digits; who writes to me and is not known gets one.", codeLength)
	}
	g, ok, err := inv.Desk.Admit(hash, inv.From.ID)
	switch {
	case err != nil:
		return core.CommandReply{}, err
	case !ok:
		return idle("That code does not work, or not any more: each works once, for an hour. Who writes to me again then gets a new one.")
	}
	return admitted(inv, g), nil
}

func admitted(inv core.Invocation, g core.Grant) core.CommandReply {
	return core.CommandReply{Text: fmt.Sprintf("%s is let in. %spair remove %s takes that back.", core.ShowPerson(g.Person, g.Name), inv.Mark, g.Person)}
}

func (p pairer) refuse(inv core.Invocation, who core.PersonID) (core.CommandReply, error) {
	r, ok, err := inv.Desk.Refuse(who, inv.From.ID)
	switch {
	case err != nil:
		return core.CommandReply{}, err
	case !ok:
		return idle("Nobody with that id asks to be let in now.")
	}
	return core.CommandReply{Text: fmt.Sprintf("%s is refused: I tell you nothing more of them until %s. %spair remove %s takes that back.",
		core.ShowPerson(r.Person, r.Name), r.Until.UTC().Format(time.DateOnly), inv.Mark, r.Person)}, nil
}

func (p pairer) list(inv core.Invocation) (core.CommandReply, error) {
	state, err := inv.Desk.Pairing()
	if err != nil {
		return core.CommandReply{}, err
	}
	var b strings.Builder
	for _, g := range state.Grants {
		by := "with the first code"
		if g.By != "" {
			by = "by `" + string(g.By) + "`"
		}
		fmt.Fprintf(&b, "- %s: %s, let in %s on %s\n", core.ShowPerson(g.Person, g.Name), g.Role, by, g.Time.UTC().Format(time.DateOnly))
	}
	if len(state.Grants) == 0 {
		b.WriteString("Nobody has been let in here. Who stands in my configuration is let in by that.\n")
	}
	for _, h := range state.Links {
		var names []string
		for _, id := range h.Identities {
			names = append(names, core.ShowPerson(id.Person, id.Name))
		}
		fmt.Fprintf(&b, "- %s are one person\n", strings.Join(names, " and "))
	}
	for _, r := range state.Requests {
		fmt.Fprintf(&b, "- %s asks to be let in\n", core.ShowPerson(r.Person, r.Name))
	}
	for _, r := range state.Rebuffs {
		fmt.Fprintf(&b, "- %s is refused until %s\n", core.ShowPerson(r.Person, r.Name), r.Until.UTC().Format(time.DateOnly))
	}
	if n := state.Invitations; n > 0 {
		fmt.Fprintf(&b, "\nOpen invitations: %d\n", n)
	}
	fmt.Fprintf(&b, "\n%[1]spair CODE lets in who has shown you the code, as does %[1]spair accept ID, %[1]spair new makes an invitation, %[1]spair remove ID takes it back.", inv.Mark)
	return core.CommandReply{Text: b.String()}, nil
}

// invite makes an invitation. Its code is for one person, so it is not shown
// to many.
func (p pairer) invite(inv core.Invocation) (core.CommandReply, error) {
	if !inv.Direct {
		return idle("Ask me for an invitation in a direct message: who reads it first can use it.")
	}
	code := p.code()
	ok, err := inv.Desk.Invite(hashCode(code), inv.From.ID)
	switch {
	case err != nil:
		return core.CommandReply{}, err
	case !ok:
		return idle("There are too many open invitations. Each ends when it is used, or after a day.")
	}
	text := fmt.Sprintf("This lets in one person, within a day, who sends it to me in a direct message: `%sstart %s`", inv.Mark, showCode(code))
	if link := p.link(inv.Place.Adapter, showCode(code)); link != "" {
		text += "\n\nOr they open " + link
	}
	return core.CommandReply{Text: text}, nil
}

func (p pairer) remove(inv core.Invocation, who core.PersonID) (core.CommandReply, error) {
	switch {
	case who == "":
		return idle("Whom? %[1]spair remove ID takes the id that %[1]spair list shows.", inv.Mark)
	case inv.Human.Is(who):
		return idle("You cannot remove yourself.")
	}
	was, err := inv.Desk.Expel(who, cmp.Or(inv.From.Name, string(inv.From.ID)))
	switch {
	case err != nil:
		return core.CommandReply{}, err
	case !was.Known:
		return idle("I have let in nobody with that id here. Who stands in my configuration is removed there.")
	}
	text := fmt.Sprintf("%s is not let in any more, unless my configuration does.", core.ShowPerson(who, ""))
	if was.Messages > 0 {
		text += fmt.Sprintf(" What I had not answered of theirs is dropped: %s.", plural(was.Messages, "message"))
	}
	return core.CommandReply{Text: text}, nil
}

func idle(format string, args ...any) (core.CommandReply, error) {
	return core.CommandReply{Text: fmt.Sprintf(format, args...), Idle: true}, nil
}
