package store

import (
	"slices"

	"bellhop/core"
)

const (
	// maxFeedback is how many marks of people are kept with a post.
	maxFeedback = 100
	// maxEmoji is the longest mark that is kept, in bytes: one by name.
	maxEmoji = 100
)

// reaction takes a person's mark on a message. One that is a command does to
// what the message stands for as the command does, without a word; any other
// on a post of ours, and one that finds nothing to do, is feedback.
func (a *acceptance) reaction(e *core.Entry, place core.Place) (core.Fate, error) {
	ref, ok, err := get[platformRow](a.tx, a.platformKey(place, e.In.MessageID))
	if err != nil || !ok {
		return core.FateIgnored, err
	}
	of, thread := core.Subject{Message: ref.Message}, ref.Thread
	var post core.Post
	if ref.Post != "" {
		if post, ok, err = get[core.Post](a.tx, idKey(famPost, ref.Post)); err != nil || !ok || !same(post.Place, place) {
			return core.FateIgnored, err
		}
		of, thread = core.Subject{Run: post.Run}, post.Thread
		if post.Kind == core.RelayPost {
			of.Message = post.Message
		}
	}
	if e.Command != nil && !e.In.Removed && of != (core.Subject{}) {
		if acted, err := a.point(e, place, thread, of); err != nil || acted {
			a.row.Message, a.row.Post = ref.Message, ref.Post
			return core.FateCommand, err
		}
	}
	if ref.Post == "" || !note(&post, core.Feedback{From: e.In.From.ID, Emoji: e.In.Emoji, Time: a.Now()}, e.In.Removed) {
		return core.FateIgnored, nil
	}
	a.row.Post = ref.Post
	return core.FateFeedback, a.put(idKey(famPost, post.ID), post)
}

// same reports whether two places are in one channel. Not every event tells
// its topic.
func same(p, q core.Place) bool { return p.Adapter == q.Adapter && p.Channel == q.Channel }

// point runs the entry's command on what a person points at, and reports
// whether it has done anything. What a thread that is over has left is not
// taken up again.
func (a *acceptance) point(e *core.Entry, place core.Place, thread core.ID, of core.Subject) (acted bool, err error) {
	th, ok, err := get[core.Thread](a.tx, idKey(famThread, thread))
	if err != nil || !ok || !th.Archived.IsZero() || !same(th.Place, place) {
		return false, err
	}
	reply, err := a.invoke(e, core.Invocation{Place: th.Place, Thread: th, Of: of})
	return err == nil && !reply.Idle, err
}

// note adds a person's mark to a post, or takes it away, and reports whether
// that has changed anything.
func note(p *core.Post, f core.Feedback, removed bool) bool {
	i := slices.IndexFunc(p.Feedback, func(have core.Feedback) bool { return have.From == f.From && have.Emoji == f.Emoji })
	switch {
	case removed && i >= 0:
		p.Feedback = slices.Delete(p.Feedback, i, i+1)
	case !removed && i < 0 && f.Emoji != "" && len(f.Emoji) <= maxEmoji && len(p.Feedback) < maxFeedback:
		p.Feedback = append(p.Feedback, f)
	default:
		return false
	}
	return true
}
