package store

import "bellhop/core"

// checkForks: what a fork shares exists, is said once, and is as much as the
// fork believes.
func (c *checker) checkForks() {
	for _, id := range sorted(c.threads) {
		th := c.threads[id]
		row, forked := c.lineages[id]
		switch {
		case forked != (th.Fork != ""), th.Fork == "" && th.Shared != 0:
			c.say("thread %s was forked at %q, shares %d messages, and has a lineage: %v", id, th.Fork, th.Shared, forked)
		case forked && (len(row.Spans) == 0 || row.Spans[len(row.Spans)-1].Upto != th.Fork || row.Shared != th.Shared):
			c.say("thread %s was forked at %q and shares %d messages, its lineage is %v", id, th.Fork, th.Shared, row)
		}
		for bot, cut := range th.Cuts {
			if m := c.messages[cut]; m == nil || m[0].Thread != id && cut.Seq() > th.Fork.Seq() {
				c.say("thread %s: the window of @%s begins at %s, which is not in it", id, bot, cut)
			}
		}
	}
	for _, id := range sorted(c.lineages) {
		if _, ok := c.threads[id]; !ok {
			c.say("thread %s has a lineage and does not exist", id)
		}
		row, n := c.lineages[id], 0
		before := core.ID("")
		for _, s := range row.Spans {
			m := c.messages[s.Upto]
			if m == nil || m[0].Thread != s.Thread || before != "" && s.Upto.Seq() <= before.Seq() {
				c.say("thread %s shares %s up to %s, which is not in it or out of order", id, s.Thread, s.Upto)
				continue
			}
			before, n = s.Upto, m[0].N
		}
		if n != row.Shared {
			c.say("thread %s shares %d messages, and the last of them is number %d", id, row.Shared, n)
		}
	}
}
