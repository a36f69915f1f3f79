package store

import (
	"slices"

	"bellhop/core"
)

// loadAsks reads what runs have asked.
func (c *checker) loadAsks() (err error) {
	if c.asks, err = byID(c, famAsk, func(a core.Ask) core.ID { return a.ID }); err != nil {
		return err
	}
	c.openAsks = map[core.ID]openAsk{}
	return read(c, famOpenAsk, nil, func(key string, o openAsk) {
		c.openAsks[core.NewID(core.KindAsk, seqOf([]byte(key)))] = o
	})
}

// checkAsks: an ask is open while its run waits for it, and what is open can be
// found by its thread and its time. Its post shows it, and the call that it is
// about knows it.
func (c *checker) checkAsks() {
	for _, id := range sorted(c.asks) {
		a := c.asks[id]
		run, post := c.runs[a.Run], c.posts[a.Post]
		waits := run.State == core.Waiting && run.Ask == id
		row, open := c.openAsks[id]
		switch {
		case (a.State == core.AskOpen) != waits || (a.State == core.AskOpen) != a.Ended.IsZero():
			c.say("ask %s is %s, ended at %v, and its run %s is %s for %q", id, a.State, a.Ended, a.Run, run.State, run.Ask)
		case open != (a.State == core.AskOpen) || open && row != openAskOf(a):
			c.say("ask %s is %s, and among the open ones: %v %v", id, a.State, open, row)
		case a.Thread != run.Thread || a.Bot != run.Bot || post.Ask != id || post.Run != a.Run || post.Kind != core.AskPost:
			c.say("ask %s of @%s in %s does not fit its run %s or its post %s, which shows %q", id, a.Bot, a.Thread, a.Run, a.Post, post.Ask)
		case (a.Kind == core.ApprovalAsk) != (a.Grant != nil):
			c.say("ask %s is of the kind %s and about the call %v", id, a.Kind, a.Grant)
		}
		if len(post.Buttons) > 0 && a.State != core.AskOpen {
			c.say("ask %s is %s, and its post has %d buttons", id, a.State, len(post.Buttons))
		}
		for _, st := range c.steps[a.Run] {
			if use := useOf(&st, a.CallID); st.N == a.Step && !lost(st) && (use == nil || use.Ask != id) {
				c.say("ask %s is about the call %s of step %d, which does not know it", id, a.CallID, a.Step)
			}
		}
	}
	for _, id := range sorted(c.openAsks) {
		if _, ok := c.asks[id]; !ok {
			c.say("ask %s is open and does not exist", id)
		}
	}
	for _, id := range sorted(c.runs) {
		if run := c.runs[id]; (run.State == core.Waiting) != (run.Ask != "") || run.Ask != "" && c.asks[run.Ask].Run != id {
			c.say("run %s is %s for %q", id, run.State, run.Ask)
		}
	}
}

// asked reports whether the run has asked in the post.
func (c *checker) asked(run, post core.ID) bool {
	return slices.ContainsFunc(sorted(c.asks), func(id core.ID) bool { return c.asks[id].Run == run && c.asks[id].Post == post })
}
