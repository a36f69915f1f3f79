package store

import (
	"encoding/binary"
	"slices"

	"bellhop/core"
)

// A bot that sees of a thread only what is for it (core.Thread.Scoped) finds
// that in an index, so that its view costs what it shows, however long the
// thread is: its own messages, those that mention it, and those that woke it.

// forBots notes for whom a message is, which came just now or has been for them
// since it came. What is noted already stays.
func (t *tx) forBots(thread, msg core.ID, bots ...string) error {
	keys := make([][]byte, len(bots))
	for i, bot := range bots {
		keys[i] = forKey(thread, bot, msg)
	}
	rows, err := t.Get(keys...)
	if err != nil {
		return err
	}
	for i, key := range keys {
		if rows[i] != nil {
			continue
		}
		if err := t.Put(key, nil); err != nil {
			return err
		}
	}
	return nil
}

// forBotLate notes that an older message is the bot's from now on. The row says
// so, for runs that began before must not find it where they have read already.
// The caller must put th.
func (t *tx) forBotLate(th *core.Thread, msg core.ID, bot string) error {
	key := forKey(th.ID, bot, msg)
	if rows, err := t.Get(key); err != nil || rows[0] != nil {
		return err
	}
	th.Late++
	return t.Put(key, u64(nil, uint64(th.Late)))
}

// eyes are what reads a thread. The zero value sees all.
type eyes struct {
	bot    string    // sees only what is for it
	thread core.ID   // where it sees
	late   int       // nothing that became its own later,
	joined []core.ID // except these
}

// eyesOf are the eyes of a run, which has taken in what joined it.
func eyesOf(run core.Run, joined ...core.ID) eyes {
	if !run.Scoped {
		return eyes{}
	}
	return eyes{run.Bot, run.Thread, run.Late, joined}
}

// see reports whether a row of the index is for them.
func (e eyes) see(thread core.ID, row KV) bool {
	if len(row.Value) != 8 || thread != e.thread {
		return true
	}
	late := binary.BigEndian.Uint64(row.Value) > uint64(e.late)
	return !late || slices.Contains(e.joined, core.NewID(core.KindMessage, seqOf(row.Key)))
}

// newestFor reads, of the messages between two keys of a stretch for the eyes,
// the latest versions of the n newest, oldest first.
func (t *tx) newestFor(e eyes, thread core.ID, lo, hi []byte, n int) ([]core.Message, error) {
	if e.bot == "" {
		return t.newest(lo, hi, n)
	}
	var rows []KV
	for {
		kvs, err := t.ScanBack(lo, hi, n)
		if err != nil {
			return nil, err
		}
		for _, kv := range kvs {
			if len(rows) < n && e.see(thread, kv) {
				rows = append(rows, kv)
			}
		}
		if len(rows) == n || len(kvs) < n {
			slices.Reverse(rows)
			return t.indexed(thread, rows)
		}
		hi = kvs[len(kvs)-1].Key
	}
}

// since reads the latest versions of all messages of a thread after one, up to
// another (empty: the last), that are for the eyes. It is for what has come
// since a run began.
func (t *tx) since(e eyes, thread, after, upto core.ID) ([]core.Message, error) {
	lo, hi := stretch{Thread: thread}.keys(e.bot, core.NewID(core.KindMessage, after.Seq()+1), upto)
	kvs, err := t.Scan(lo, hi, 0)
	if err != nil {
		return nil, err
	}
	if e.bot == "" {
		return t.latest(kvs)
	}
	return t.indexed(thread, kvs)
}

// indexed reads the messages that the rows of the index lead to.
func (t *tx) indexed(thread core.ID, rows []KV) ([]core.Message, error) {
	out := make([]core.Message, 0, len(rows))
	for _, kv := range rows {
		m, ok, err := t.message(thread, core.NewID(core.KindMessage, seqOf(kv.Key)))
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, m)
		}
	}
	return out, nil
}
