package coretest

import (
	"slices"

	"bellhop/core"
)

// checkRoutes: whom messages have woken (invariants 6 and 7). What a person has
// edited since may have woken others.
func (c *checker) checkRoutes(bots []core.Bot, maxHops int) {
	woken := map[core.ID][]string{}
	for _, it := range c.Items {
		if it.Kind == core.MessageItem && it.Parent == "" && !it.External() {
			woken[it.Message] = append(woken[it.Message], it.Bot)
		}
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		got := woken[m.ID]
		slices.Sort(got)
		others := slices.DeleteFunc(slices.Clone(m.Mentions), func(h string) bool { return h == m.Sender.ID })
		named := slices.DeleteFunc(slices.Clone(others), func(h string) bool {
			return !slices.ContainsFunc(bots, func(b core.Bot) bool { return b.Handle == h && !b.Delegate })
		})
		slices.Sort(named)
		switch {
		case m.Answers != "" && len(got) > 0:
			c.problem("%s, the answer to a question, has woken %v", m.ID, got)
		case m.Hop > maxHops, m.Hop == maxHops && len(got) > 0:
			c.problem("%s has hop %d of %d, and has woken %v", m.ID, m.Hop, maxHops, got)
		case m.Sender.Kind == core.BotActor && len(got) > 0 && !slices.Equal(got, others[:min(1, len(others))]):
			c.problem("%s of @%s mentions %v and has woken %v", m.ID, m.Sender.ID, m.Mentions, got)
		case m.Sender.Kind == core.HumanActor && m.Answers == "" && m.Version == 0 && len(named) > 0 && !slices.Equal(got, named),
			m.Sender.Kind == core.HumanActor && len(named) == 0 && m.Version == 0 && len(got) > 1:
			c.problem("%s of a person mentions %v and has woken %v", m.ID, m.Mentions, got)
		case m.Sender.Kind == core.ExternalActor && len(got) > 1 && !slices.Equal(got, named):
			c.problem("%s of %s mentions %v and has woken %v", m.ID, m.Sender.ID, m.Mentions, got)
		}
	}
}
