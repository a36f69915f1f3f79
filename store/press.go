package store

import (
	"slices"
	"time"

	"bellhop/core"
)

// What a person is told whose press, or command, has done nothing.
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
	case !works && post.Ask != "" && e.Command != nil:
		ask, _, err := get[core.Ask](a.tx, idKey(famAsk, post.Ask))
		if err != nil || ask.State == core.AskOpen { // it never had such a button
			return core.FateIgnored, err
		}
		return a.pressAsk(e, post) // decided: the command says by whom
	case !works:
		return core.FateIgnored, a.disarm(post.ID)
	case a.authorise(e, core.Deed{Command: e.Command}) != core.Allowed:
		a.note = "Only an " + e.Command.Role.String() + " can use this."
		return core.FateRefused, nil
	}
	switch {
	case post.Ask != "":
		return a.pressAsk(e, post)
	case post.Kind == core.NoticePost && post.Run == "":
		return a.pressNotice(e, post)
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

// pressAsk takes a press below what a run has asked. One by a person who may
// not decide it changes nothing: the buttons are for somebody else.
func (a *acceptance) pressAsk(e *core.Entry, post core.Post) (core.Fate, error) {
	th, err := need[core.Thread](a.tx, famThread, post.Thread)
	if err != nil {
		return "", err
	}
	reply, err := a.invoke(e, core.Invocation{Place: post.Place, Thread: th, Of: core.Subject{Run: post.Run, Ask: post.Ask}})
	switch {
	case err != nil:
		return "", err
	case reply.Idle:
		a.note = reply.Text
		return core.FateIgnored, nil
	}
	a.note = ""
	return core.FateAnswer, nil
}

// pressNotice takes a press below what the appliance has said on its own. The
// command says there what has come of it.
func (a *acceptance) pressNotice(e *core.Entry, post core.Post) (core.Fate, error) {
	reply, err := a.invoke(e, core.Invocation{Place: post.Place})
	if err != nil {
		return "", err
	}
	if reply.Idle {
		a.note = reply.Text
		return core.FateIgnored, a.disarm(post.ID)
	}
	a.note = ""
	return core.FateCommand, nil
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

// disarm takes a post's buttons away.
func (a *acceptance) disarm(id core.ID) error {
	rows, err := a.redraw(id, func(text string) string { return text })
	a.out.Rows = append(a.out.Rows, rows...)
	return err
}

// redraw shows a post's last piece again, without its buttons and with the text
// that f makes of its own, if that may be. One that is on its way is shown again
// when its receipt comes.
func (t *tx) redraw(id core.ID, f func(text string) string) ([]core.Row, error) {
	post, ok, err := get[core.Post](t, idKey(famPost, id))
	if err != nil || !ok || post.Card == nil {
		return nil, err
	}
	post.Buttons, post.Card.Text = nil, f(post.Card.Text)
	var rows []core.Row
	if post.Dead == "" && !post.Ended.IsZero() {
		seq, err := t.Seq()
		if err != nil {
			return nil, err
		}
		last := len(post.Shown) - 1
		row := core.Row{Seq: seq, Chunk: last, Post: id, Kind: post.Kind, Place: post.Place, Text: post.Card.Text, Thinking: post.Card.Thinking,
			Edit: post.Shown[last].ID, Last: true, Again: true}
		if err := t.insert(rowKey(row.Place, row.Seq, row.Chunk), row); err != nil {
			return nil, err
		}
		rows = append(rows, row)
		post.Again, post.Shown, post.Ended = &post.Shown[last], post.Shown[:last], time.Time{}
	}
	return rows, t.put(idKey(famPost, id), post)
}
