package prompt

import (
	"cmp"
	"strings"

	"bellhop/core"
)

// names gives each speaker of a view the name that the model reads. Who shows
// first under a name keeps it; the names of the bots, of the system and of the
// appliance are taken from the start.
type names struct {
	view  *View
	taken map[string]core.Actor // by key
	given map[speaker]string
}

// speaker is somebody under a name; people change theirs.
type speaker struct {
	who  core.Actor
	name string
}

func newNames(v *View) names {
	n := names{v, make(map[string]core.Actor), make(map[speaker]string)}
	for _, word := range []string{"system", "bellhop", "you", "assistant"} {
		n.taken[word] = core.Actor{Kind: core.SystemActor}
	}
	for _, b := range append([]core.Bot{v.Bot}, v.Team...) {
		n.taken[key(b.Handle)] = core.Actor{Kind: core.BotActor, ID: b.Handle}
		n.taken[key(b.DisplayName())] = core.Actor{Kind: core.BotActor, ID: b.Handle}
	}
	for _, x := range v.Externals {
		n.taken[key(x.Handle)] = core.Actor{Kind: core.ExternalActor, ID: x.Handle}
	}
	return n
}

// of is the name of the message's sender.
func (n names) of(m *core.Message) string {
	s := speaker{m.Sender, m.Name}
	name, ok := n.given[s]
	if !ok {
		name = n.give(s)
		n.given[s] = name
	}
	return name
}

func (n names) give(s speaker) string {
	switch s.who.Kind {
	case core.SystemActor:
		return "system"
	case core.BotActor:
		return label(s.who.ID, nameLength)
	}
	name := cmp.Or(label(s.name, nameLength), "someone")
	k := cmp.Or(key(name), name)
	who, ok := n.taken[k]
	if !ok {
		n.taken[k] = s.who
	}
	if !ok || who == s.who {
		return name
	}
	mark := " (" + string(s.who.Kind) + " " + idTail(s.who.ID) + ")"
	return strings.TrimSpace(head(name, nameLength-len(mark))) + mark
}

// quoted is the name of a quote's author. Nobody is known by it, so it may not
// be a name that is taken from the start.
func (n names) quoted(q *core.Quote) string {
	name := cmp.Or(label(q.Author, nameLength), "someone")
	if who := n.taken[cmp.Or(key(name), name)]; who.Kind != "" && who.Kind != core.HumanActor {
		name = head(name, nameLength-len(" (quoted)")) + " (quoted)"
	}
	return name
}

// idTail is the end of a platform's id, enough to tell two people apart.
func idTail(id string) string {
	r := []rune(key(id))
	return string(r[max(0, len(r)-4):])
}
