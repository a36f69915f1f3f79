package store

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"bellhop/core"
)

// rebuildPost makes a post from its run, the rows that wait of it, and the
// platform ids that are known as its own.
func (t *tx) rebuildPost(id core.ID) error {
	run, ask, err := t.ownerOf(id)
	if err != nil {
		return err
	}
	ran := run.ID != ""
	var rows []core.Row
	if err := each(t, []byte(famOutbox), 0, func(_ []byte, r core.Row) error {
		if r.Post == id {
			rows = append(rows, r)
		}
		return nil
	}); err != nil {
		return err
	}
	p := core.Post{ID: id, Kind: core.AnswerPost, Created: t.Now()}
	waits, _, err := get[core.Item](t, idKey(famItem, id.As(core.KindItem)))
	if err != nil {
		return err
	}
	switch {
	case waits.Waits:
		th, _, err := get[core.Thread](t, idKey(famThread, waits.Thread))
		if err != nil {
			return err
		}
		p.Thread, p.Place, p.Run = th.ID, th.Place, id.As(core.KindRun)
	case ran:
		p.Thread, p.Place, p.Run, p.Created = run.Thread, run.Reply.Place, run.ID, run.Created
	case len(rows) == 0:
		return nil
	}
	if len(rows) > 0 {
		last := rows[len(rows)-1]
		p.Kind, p.Place, p.Chunks = last.Kind, last.Place, last.Chunk+1
		if p.Buttons = last.Buttons; len(p.Buttons) > 0 || last.Again || last.Kind == core.AskPost {
			p.Card = &core.Card{Text: last.Text, Thinking: last.Thinking}
		}
		if last.Again {
			p.Again = &core.Receipt{ID: last.Edit}
		}
	}
	shown, err := t.shown(p)
	if err != nil {
		return err
	}
	if p.Ask = ask.ID; ask.ID != "" {
		p.Kind = core.AskPost
	}
	switch {
	case ask.ID != "" && len(rows) == 0:
		p.Chunks, p.Ended = max(1, len(shown)), ask.Created
		if len(shown) == 1 { // else it is not known which of them was the last
			p.Card = &core.Card{Text: ask.Text}
		}
	case waits.Waits, ran && run.Post == id && !run.State.Terminal():
		if len(shown) > 0 {
			p.Open = &shown[0]
		}
		return t.insert(idKey(famPost, id), p)
	case len(rows) == 0:
		p.Chunks, p.Ended = max(1, len(shown)), run.Ended
	}
	p.Shown = shown[:min(len(shown), p.Chunks-len(rows))]
	for len(p.Shown) < p.Chunks-len(rows) {
		p.Shown = append(p.Shown, core.Receipt{})
	}
	if ran {
		prefix := idKey(famMessage, run.Thread)
		msgs, err := t.newest(prefix, after(prefix), nearby)
		if err != nil {
			return err
		}
		for _, m := range msgs {
			if m.Post == id {
				p.Message = m.ID
			}
		}
	}
	return t.insert(idKey(famPost, id), p)
}

// shown are the platform ids known as the post's, in no order that means
// anything.
func (t *tx) shown(p core.Post) ([]core.Receipt, error) {
	prefix := t.platformKey(p.Place, "")
	var out []core.Receipt
	err := each(t, prefix, 0, func(key []byte, row platformRow) error {
		if row.Post == p.ID {
			out = append(out, core.Receipt{ID: string(key[len(prefix):])})
		}
		return nil
	})
	return out, err
}

// rebuildRow puts a piece in the place of a lost one: the text if it is in the
// thread as well, else a word about the loss.
func (t *tx) rebuildRow(key []byte) error {
	at := key[:len(key)-2]
	seq, chunk := seqOf(at), int(binary.BigEndian.Uint16(key[len(at):]))
	p, ok, err := t.postOf(at, seq, chunk)
	if err != nil || !ok {
		return err
	}
	row := core.Row{Seq: seq, Chunk: chunk, Post: p.ID, Kind: p.Kind, Place: p.Place, Text: lostPiece, Last: chunk == p.Chunks-1}
	if p.Again != nil && p.Card != nil {
		row.Text, row.Thinking, row.Edit, row.Again = p.Card.Text, p.Card.Thinking, p.Again.ID, true
		return t.insert(key, row)
	}
	if row.Last {
		row.Buttons = p.Buttons
	}
	row.Fork = p.Fork != ""
	if p.Message != "" && p.Chunks == 1 {
		msg, ok, err := t.message(p.Thread, p.Message)
		if err != nil {
			return err
		}
		if said := strings.TrimSpace(msg.Text()); ok && said != "" {
			row.Text = said
		}
	}
	run, ran, err := get[core.Run](t, idKey(famRun, p.Run))
	if err != nil {
		return err
	}
	if ran {
		row.After, row.Answers = run.Reply.After, run.Reply.Answers
	}
	if chunk == 0 {
		row.ReplyTo = run.Reply.To
		if p.Open != nil {
			row.Edit = p.Open.ID
		}
	}
	return t.insert(key, row)
}

// postOf finds the post that a row belongs to: that of the rows beside it, or
// the newest of its place of which the piece is missing.
func (t *tx) postOf(at []byte, seq uint64, chunk int) (core.Post, bool, error) {
	var beside core.ID
	if err := each(t, at, 0, func(_ []byte, r core.Row) error { beside = r.Post; return nil }); err != nil {
		return core.Post{}, false, err
	}
	if beside != "" {
		return get[core.Post](t, idKey(famPost, beside))
	}
	waiting := map[core.ID]bool{}
	if err := each(t, []byte(famOutbox), 0, func(_ []byte, r core.Row) error { waiting[r.Post] = true; return nil }); err != nil {
		return core.Post{}, false, err
	}
	kvs, err := t.ScanBack([]byte(famPost), idKey(famPost, core.NewID(core.KindPost, seq+1)), nearby)
	if err != nil {
		return core.Post{}, false, err
	}
	i := slices.IndexFunc(kvs, func(kv KV) bool {
		p, ok, err := get[core.Post](t, kv.Key)
		return err == nil && ok && !waiting[p.ID] && p.Dead == "" && chunk < p.Chunks && len(p.Shown) == chunk &&
			bytes.Equal(rowKey(p.Place, seq, 0)[:len(at)], at)
	})
	if i < 0 {
		return core.Post{}, false, nil
	}
	return get[core.Post](t, kvs[i].Key)
}

// ownerOf is the run that a post belongs to, if it is known, and what it has
// asked in it, if anything.
func (t *tx) ownerOf(post core.ID) (run core.Run, ask core.Ask, err error) {
	run, ok, err := get[core.Run](t, idKey(famRun, post.As(core.KindRun)))
	if err != nil {
		return run, ask, err
	}
	if !ok {
		open, err := t.openRuns("")
		if err != nil {
			return run, ask, err
		}
		for _, r := range open { // one that has asked before has a later post
			if r.ID.Seq() < post.Seq() && post.Seq() <= r.Post.Seq() {
				if r.Post == post {
					return r, ask, nil
				}
				if found, err := t.askIn(r, post); err != nil || found.ID != "" {
					return r, found, err
				}
			}
		}
		return run, ask, nil
	}
	if run.Post != post {
		ask, err = t.askIn(run, post)
	}
	return run, ask, err
}

// askIn is what the run has asked in the post.
func (t *tx) askIn(run core.Run, post core.ID) (core.Ask, error) {
	steps, err := t.steps(run.ID)
	if err != nil {
		return core.Ask{}, err
	}
	asks, err := t.asksOf(steps)
	if err != nil {
		return core.Ask{}, err
	}
	if run.Ask != "" { // also if the step that knows it is lost
		a, _, err := get[core.Ask](t, idKey(famAsk, run.Ask))
		if err != nil {
			return core.Ask{}, err
		}
		asks = append(asks, a)
	}
	if i := slices.IndexFunc(asks, func(a core.Ask) bool { return a.Post == post }); i >= 0 {
		return asks[i], nil
	}
	return core.Ask{}, nil
}
