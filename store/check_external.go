package store

import "bellhop/core"

// participants are those of the thread among whom the item's actor must be.
func participants(th core.Thread, it core.Item) []string {
	if it.External() {
		return th.Externals
	}
	return th.Bots
}

// checkErrand: an external's item has no run. It has an outcome exactly if it has
// failed, which is a notice in its thread; what has been tried and goes on says
// when.
func (c *checker) checkErrand(it core.Item) {
	ended := it.State.Terminal()
	post, told := c.posts[it.Outcome]
	switch {
	case it.Run != "" || ended == it.Ended.IsZero():
		c.say("item %s of @%s is %s, ended at %v and has the run %q", it.ID, it.Bot, it.State, it.Ended, it.Run)
	case (it.State == core.Failed) != told || told && (post.Kind != core.NoticePost || post.Thread != it.Thread):
		c.say("item %s of @%s is %s with the outcome %q, a %s in %s", it.ID, it.Bot, it.State, it.Outcome, post.Kind, post.Thread)
	case (it.State == core.Doing) != (!ended && it.Tries > 0) || (it.State == core.Doing) == it.Next.IsZero():
		c.say("item %s of @%s is %s after %d tries and goes on at %v", it.ID, it.Bot, it.State, it.Tries, it.Next)
	}
}

// checkUnreached: a thread says of a participant that it cannot be reached only
// where it has said so.
func (c *checker) checkUnreached(th core.Thread) {
	for handle, id := range th.Unreached {
		if post, ok := c.posts[id]; ok && (post.Thread != th.ID || post.Kind != core.NoticePost) {
			c.say("thread %s has told in the post %q, which is a %s in %q, that it cannot reach @%s", th.ID, id, post.Kind, post.Thread, handle)
		}
	}
}
