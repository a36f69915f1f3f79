package store

import (
	"slices"

	"bellhop/core"
)

// A bot that sees of a thread only what is for it (core.Thread.Scoped) finds
// that in an index, so that its view costs what it shows, however long the
// thread is: its own messages, those that mention it, and those that woke it.

// forBots notes for whom a message is. What is noted already stays.
func (t *tx) forBots(thread, msg core.ID, bots ...string) error {
	for _, bot := range bots {
		if err := t.Put(forKey(thread, bot, msg), nil); err != nil {
			return err
		}
	}
	return nil
}

// viewer is the bot of a run that sees only what is for it; empty: it sees all.
func viewer(run core.Run) string {
	if run.Scoped {
		return run.Bot
	}
	return ""
}

// newestFor reads, of the messages between two keys of a stretch for the bot
// (empty: of all), the latest versions of the n newest, oldest first.
func (t *tx) newestFor(bot string, thread core.ID, lo, hi []byte, n int) ([]core.Message, error) {
	if bot == "" {
		return t.newest(lo, hi, n)
	}
	kvs, err := t.ScanBack(lo, hi, n)
	if err != nil {
		return nil, err
	}
	slices.Reverse(kvs)
	return t.indexed(thread, kvs)
}

// since reads the latest versions of all messages of a thread after one, up to
// another (empty: the last), that are for the bot (empty: all). It is for what
// has come since a run began.
func (t *tx) since(bot string, thread, after, upto core.ID) ([]core.Message, error) {
	lo, hi := stretch{Thread: thread}.keys(bot, core.NewID(core.KindMessage, after.Seq()+1), upto)
	kvs, err := t.Scan(lo, hi, 0)
	if err != nil {
		return nil, err
	}
	if bot == "" {
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
