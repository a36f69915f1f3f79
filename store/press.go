package store

import (
	"slices"
	"time"

	"bellhop/core"
)

// What a person is told whose press has done nothing.
const (
	strangerNote = "Only people whom my owner has let in can use this."
	spentNote    = "This does not work any more."
)

// press takes a person's press of a button. It counts if the post still has the
// button: the value is bound to the post that way, and whatever it does, it
// does once. The value is a command, which runs on what the post shows.
func (a *acceptance) press(e *core.Entry, place core.Place) (core.Fate, error) {
	a.note = spentNote
	ref, ok, err := get[platformRow](a.tx, a.platformKey(place, e.In.MessageID))
	if err != nil || !ok {
		return core.FateIgnored, err
	}
	post, ok, err := get[core.Post](a.tx, idKey(famPost, ref.Post))
	if err != nil || !ok || !same(post.Place, place) {
		return core.FateIgnored, err
	}
	a.row.Post = post.ID
	works := e.Command != nil && slices.ContainsFunc(post.Buttons, func(b core.Button) bool { return b.Value == e.In.Button })
	switch {
	case !works && len(post.Buttons) > 0: // somebody has made it up
		return core.FateIgnored, nil
	case !works:
		return core.FateIgnored, a.disarm(post.ID)
	case a.authorise(e, core.Deed{Command: e.Command}) != core.Allowed:
		a.note = "Only an " + e.Command.Role.String() + " can use this."
		return core.FateRefused, nil
	}
	acted, err := a.pointFrom(e, post)
	if err != nil {
		return "", err
	}
	fate := core.FateIgnored
	if acted {
		fate, a.note = core.FateCommand, ""
	}
	return fate, a.disarm(post.ID)
}

// pointFrom runs the entry's command on what the post is about: its run, or the
// task that the button of a command's reply names, wherever that is. We have put
// it there, for those who see the post.
func (a *acceptance) pointFrom(e *core.Entry, post core.Post) (acted bool, err error) {
	if post.Run != "" {
		return a.point(e, post.Place, post.Thread, core.Subject{Run: post.Run})
	}
	id, _ := core.ParseID(e.Args) // of none there is no item
	it, ok, err := get[core.Item](a.tx, idKey(famItem, id))
	if err != nil || !ok {
		return false, err
	}
	th, err := need[core.Thread](a.tx, famThread, it.Thread)
	if err != nil {
		return false, err
	}
	return a.point(e, th.Place, th.ID, core.Subject{Run: it.Run})
}

// disarm takes a post's buttons away. If it is shown, the piece that has them
// is shown again without; one that is on its way will be when somebody presses
// what does not work any more.
func (a *acceptance) disarm(id core.ID) error {
	post, ok, err := get[core.Post](a.tx, idKey(famPost, id))
	if err != nil || !ok || post.Card == nil {
		return err
	}
	post.Buttons = nil
	if post.Dead == "" && !post.Ended.IsZero() {
		seq, err := a.Seq()
		if err != nil {
			return err
		}
		last := len(post.Shown) - 1
		row := core.Row{Seq: seq, Chunk: last, Post: id, Kind: post.Kind, Place: post.Place, Text: post.Card.Text, Thinking: post.Card.Thinking,
			Edit: post.Shown[last].ID, Last: true, Again: true}
		if err := a.insert(rowKey(row.Place, row.Seq, row.Chunk), row); err != nil {
			return err
		}
		a.out.Rows = append(a.out.Rows, row)
		post.Again, post.Shown, post.Ended = &post.Shown[last], post.Shown[:last], time.Time{}
	}
	return a.put(idKey(famPost, id), post)
}
