package store

import (
	"cmp"
	"context"
	"fmt"

	"bellhop/core"
)

// Branch implements core.Desk. The thread begins when the platform has said
// where: see Fork.
func (d *desk) Branch(at core.Place, message core.ID, text func(core.Message) (text, name string)) (core.Message, bool, error) {
	f, ok, err := d.forked(at, message)
	if err != nil || !ok {
		return core.Message{}, false, err
	}
	top := core.Place{Adapter: at.Adapter, Channel: at.Channel}
	said, name := text(f.message)
	rows, err := d.show(core.Post{Kind: core.NoticePost, Thread: f.source.ID, Place: top, Fork: f.message.ID},
		core.Row{After: d.message, Fork: true, Begin: name}, []core.Piece{{Text: said}})
	d.out.Rows = append(d.out.Rows, rows...)
	return f.message, true, err
}

// branchText is the first word in the thread of a fork, which some platforms
// need for it to be there, and where others show nothing else. To reply reaches
// us wherever we listen.
func branchText(name string, at core.ID, left bool) string {
	seen := string(at)
	if name != "" { // not of a release before, nor lost
		seen = fmt.Sprintf("`%s` (%s)", name, at)
	}
	if left {
		seen += ", and not what was written here before I could note that"
	}
	return fmt.Sprintf("I see what was said up to %s. Reply here to go on.", seen)
}

// Fork begins the thread that the message which shows the row begins. It
// returns what is to be said there; nothing, if that has been done. Where
// somebody has written there already, that conversation is left, as by Archive:
// what it is about goes on.
func (s *Store) Fork(ctx context.Context, row core.Row, r core.Receipt) ([]core.Row, error) {
	var out []core.Row
	var ended bool
	err := s.update(ctx, func(t *tx) error {
		out, ended = nil, false
		post, ok, err := get[core.Post](t, idKey(famPost, row.Post))
		if err != nil || !ok || post.Fork == "" {
			return err
		}
		at := core.Place{Adapter: post.Place.Adapter, Channel: post.Place.Channel, Topic: r.ID}
		if post.Begun != "" {
			told, _ := s.branched.get(string(post.ID))
			out, err = t.waiting(told)
			return err
		}
		was, early, err := t.threadAt(at)
		if err != nil {
			return err
		}
		var f forking
		if f.source, ok, err = get[core.Thread](t, idKey(famThread, post.Thread)); err != nil || !ok {
			return err
		}
		if f.message, f.spans, err = t.spoken(f.source, post.Fork); err != nil || f.spans == nil {
			return err
		}
		if early {
			if err := t.leave(was); err != nil {
				return err
			}
		}
		th, err := t.newThread(at, f.source.Agent, false)
		if err != nil {
			return err
		}
		th.Heard, th.Unnamed = cmp.Or(was.Heard, r.ID), true
		if th, err = t.beginFork(th, f); err != nil {
			return err
		}
		post.Begun = th.ID
		if err := t.put(idKey(famPost, post.ID), post); err != nil {
			return err
		}
		out, err = t.show(core.Post{Kind: core.NoticePost, Thread: th.ID, Place: at}, core.Row{After: r.ID}, []core.Piece{{Text: branchText(row.Begin, post.Fork, was.Said() > 0)}})
		ended = err == nil
		return err
	})
	s.branched.note(string(row.Post), out, ended, err)
	if err != nil {
		return nil, err
	}
	return out, nil
}
