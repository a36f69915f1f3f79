package store

import (
	"encoding/binary"
	"slices"

	"bellhop/core"
)

// waits reports whether the post says that an item waits for a slot.
func (c *checker) waits(p core.Post) bool {
	it := c.items[p.ID.As(core.KindItem)]
	return it.Waits && it.State == core.Queued && p.Run == p.ID.As(core.KindRun) && p.Chunks == 0
}

func (c *checker) checkPosts() {
	for _, id := range sorted(c.posts) {
		p, rows := c.posts[id], c.rows[id]
		run, ran := c.runs[p.Run]
		switch p.Kind {
		case core.AnswerPost, core.ErrorPost, core.StoppedPost:
			if run.Post != id && (ran || !c.pruned(p.Run)) && !c.waits(p) {
				c.say("post %s is the %s of the run %q, which has the post %q", id, p.Kind, p.Run, run.Post)
			}
		case core.AskPost:
			if c.asks[p.Ask].Post != id && (ran || !c.pruned(p.Run)) {
				c.say("post %s shows the ask %q of the run %q, which is asked in %q", id, p.Ask, p.Run, c.asks[p.Ask].Post)
			}
		case core.CommandPost, core.RefusalPost, core.NoticePost:
			if p.Run != "" || p.Message != "" {
				c.say("post %s is a %s and has run %q and message %q", id, p.Kind, p.Run, p.Message)
			}
		case core.RelayPost:
			if msgs := c.messages[p.Message]; p.Run != "" || msgs == nil || msgs[0].Post != id || msgs[0].Sender.Kind != core.ExternalActor {
				c.say("post %s is a relay and has run %q and message %q", id, p.Run, p.Message)
			}
		default:
			c.say("post %s is of the kind %q", id, p.Kind)
		}
		if p.Message != "" && c.messages[p.Message] == nil {
			c.say("post %s shows the message %s, which does not exist", id, p.Message)
		}
		over := p.Dead != "" || p.Chunks > 0 && len(p.Shown) == p.Chunks
		switch {
		case p.Chunks == 0 && (run.State.Terminal() || len(p.Shown)+len(rows) > 0):
			c.say("post %s has no chunks yet, %d are shown, and its run is %s", id, len(p.Shown), run.State)
		case over != !p.Ended.IsZero():
			c.say("post %s has %d chunks, %d of them shown, and ended at %v", id, p.Chunks, len(p.Shown), p.Ended)
		case over && len(rows) > 0:
			c.say("post %s is over, and %d rows of it wait", id, len(rows))
		case !over && len(rows)+len(p.Shown) != p.Chunks:
			c.say("post %s has %d chunks, %d are shown and %d wait", id, p.Chunks, len(p.Shown), len(rows))
		}
		again := len(rows) == 1 && rows[0].Again
		if len(p.Buttons) > 0 && p.Card == nil || again != (p.Again != nil) || again && rows[0].Edit != p.Again.ID {
			c.say("post %s has %d buttons below %v, and %v waits to be shown again: %v", id, len(p.Buttons), p.Card, p.Again, again)
		}
		for i, f := range p.Feedback {
			twice := slices.ContainsFunc(p.Feedback[:i], func(have core.Feedback) bool { return have.From == f.From && have.Emoji == f.Emoji })
			if twice || f.From == "" || f.Emoji == "" {
				c.say("post %s has the mark %q of %q twice, or it is none", id, f.Emoji, f.From)
			}
		}
		for i, r := range rows {
			if r.Chunk != len(p.Shown)+i || r.Last != (r.Chunk == p.Chunks-1) || r.Kind != p.Kind || r.Place != p.Place || r.Seq != rows[0].Seq {
				c.say("post %s (%s, %d chunks, %d shown) has chunk %d (%s, last: %v) at %d in %q", id, p.Kind, p.Chunks, len(p.Shown), r.Chunk, r.Kind, r.Last, r.Seq, r.Place)
			}
		}
	}
	for _, id := range sorted(c.rows) {
		if _, ok := c.posts[id]; !ok {
			c.say("rows wait of the post %s, which does not exist", id)
		}
	}
}

// checkHeld: a hand-off is held only while its sender has work in the thread
// that will release it.
func (c *checker) checkHeld() {
	for key, row := range c.held {
		thread := core.NewID(core.KindThread, binary.BigEndian.Uint64([]byte(key[len(famHeld):])))
		bot := key[len(famHeld)+8:]
		at := slices.ContainsFunc(sorted(c.items), func(id core.ID) bool {
			it := c.items[id]
			return it.Thread == thread && it.Bot == bot && !it.State.Terminal()
		})
		if !at || len(row.HandOffs) == 0 {
			c.say("@%s holds %d hand-offs in %s and has no work there", bot, len(row.HandOffs), thread)
		}
		for _, h := range row.HandOffs {
			if msgs := c.messages[h.Message]; msgs == nil || msgs[0].Sender.ID != bot || msgs[0].Thread != thread {
				c.say("@%s holds a hand-off of the message %s in %s, which is not its own", bot, h.Message, thread)
			}
		}
	}
}

// checkIndexes checks the rows that only lead to others.
func (c *checker) checkIndexes() {
	for _, msg := range sorted(c.itemsAt) {
		for _, id := range c.itemsAt[msg] {
			if c.items[id].Message != msg {
				c.say("message %s has the item %s, which points at %q", msg, id, c.items[id].Message)
			}
		}
	}
	for id := range c.gone {
		if _, ok := c.items[id]; ok {
			c.say("item %s was pruned, and is there", id)
		}
	}
	for key := range c.own {
		if it := c.items[core.NewID(core.KindItem, seqOf([]byte(key)))]; it.Message == "" {
			c.say("%q leads to an item that does not exist, or is of no message", key)
		}
	}
	c.checkFor()
	for key, row := range c.platform {
		if msgs := c.messages[row.Message]; row.Message != "" && (msgs == nil || msgs[0].Thread != row.Thread) {
			c.say("platform id %q is the message %s of %s, which does not exist", key, row.Message, row.Thread)
		}
		if _, ok := c.posts[row.Post]; row.Post != "" && !ok {
			c.say("platform id %q is of the post %s, which does not exist", key, row.Post)
		}
	}
	for key, row := range c.journal {
		event := key[len(famJournal):]
		if !c.days[event] {
			c.say("event %q is not in the journal by day and will never be forgotten", event)
		}
		delete(c.days, event)
		if row.Message != "" && c.messages[row.Message] == nil {
			c.say("event %q became the message %s, which does not exist", event, row.Message)
		}
		if _, ok := c.posts[row.Post]; row.Post != "" && !ok {
			c.say("event %q was answered by the post %s, which does not exist", event, row.Post)
		}
	}
	for event := range c.days {
		c.say("event %q is in the journal by day and not in the journal", event)
	}
	for key, m := range c.currents {
		if string(currentKey(m.Adapter, m.Old)) != key || c.aliases[string(aliasKey(m.Adapter, m.New))].Old != m.Old {
			c.say("channel %q of %s is called %q, which does not lead back to it", m.Old, m.Adapter, m.New)
		}
	}
	for key, m := range c.aliases {
		if _, ok := c.currents[string(currentKey(m.Adapter, m.Old))]; !ok || string(aliasKey(m.Adapter, m.New)) != key {
			c.say("channel %q of %s is an alias of %q, which is not known to have moved", m.New, m.Adapter, m.Old)
		}
	}
}

// checkFor: the messages that are for a bot are those that it wrote, that
// mention it, in any version, or that woke it.
func (c *checker) checkFor() {
	want := map[string]bool{}
	add := func(m core.Message, bot string) { want[string(forKey(m.Thread, bot, m.ID))] = true }
	for id, versions := range c.messages {
		m := versions[0]
		for _, v := range versions {
			for _, bot := range v.Mentions {
				add(v, bot)
			}
		}
		if m.Sender.Kind == core.BotActor {
			add(m, m.Sender.ID)
		}
		if m.For != "" {
			add(m, m.For)
		}
		for _, bot := range c.had[id] {
			add(m, bot)
		}
		for _, it := range c.itemsAt[id] {
			if it := c.items[it]; !it.External() {
				add(m, it.Bot)
			}
		}
	}
	for key := range want {
		if !c.forBot[key] {
			c.say("%q is missing: a bot does not see a message that is for it", key)
		}
	}
	for key := range c.forBot {
		msgs := c.messages[core.NewID(core.KindMessage, seqOf([]byte(key)))]
		lost := msgs != nil && msgs[0].Sender.Kind == core.SystemActor // and what is in its place says nothing of that
		if !want[key] && !lost {
			c.say("%q leads a bot to a message that is not for it", key)
		}
	}
}
