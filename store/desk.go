package store

import (
	"encoding/binary"
	"slices"
	"strings"

	"bellhop/core"
)

// desk is the ledger as a command sees it. It implements core.Desk within an
// Accept.
type desk struct {
	*acceptance
	entry   *core.Entry
	message string // platform id of the event with the command
}

// meant are the bots whose work in the thread the subject is; all: everybody's.
func (d *desk) meant(of core.Subject) (bots []string, all bool, err error) {
	switch {
	case of.Run != "":
		run, ok, err := get[core.Run](d.tx, idKey(famRun, of.Run))
		if err != nil {
			return nil, false, err
		}
		if ok {
			return []string{run.Bot}, false, nil
		}
		it, _, err := get[core.Item](d.tx, idKey(famItem, of.Run.As(core.KindItem)))
		if it.Waits {
			bots = append(bots, it.Bot)
		}
		return bots, false, err
	case of.Message != "":
		items, err := d.itemsOf(of.Message)
		for _, it := range items {
			if !it.State.Terminal() {
				bots = append(bots, it.Bot)
			}
		}
		return bots, false, err
	}
	return nil, true, nil
}

// Cancel ends, in this transaction, what the bots do and have waiting in the
// thread. Every run so ended has one outcome, "(stopped by …)" after what it
// has shown; messages that waited behind a run share its outcome, and those
// that no run had joined get the outcome of the run that they would have
// begun, so that whatever a picked but unstored run has opened is finished too.
func (d *desk) Cancel(thread core.ID, of core.Subject, by string) (runs, items int, err error) {
	th, ok, err := get[core.Thread](d.tx, idKey(famThread, thread))
	if err != nil || !ok {
		return 0, 0, err
	}
	whose, all, err := d.meant(of)
	if err != nil {
		return 0, 0, err
	}
	meant := func(bot string) bool { return all || slices.Contains(whose, bot) }
	open, err := d.openRuns(thread)
	if err != nil {
		return 0, 0, err
	}
	open = slices.DeleteFunc(open, func(r core.Run) bool { return !meant(r.Bot) })
	waiting, err := d.queued("", func(it core.Item) bool { return it.Thread == thread && !it.External() && meant(it.Bot) })
	if err != nil {
		return 0, 0, err
	}
	byBot := map[string][]core.Item{}
	var bots []string
	for _, r := range open {
		bots = append(bots, r.Bot)
	}
	for _, it := range waiting {
		if !slices.Contains(bots, it.Bot) {
			bots = append(bots, it.Bot)
		}
		byBot[it.Bot] = append(byBot[it.Bot], it)
	}
	for _, name := range bots {
		mail := byBot[name]
		i := slices.IndexFunc(open, func(r core.Run) bool { return r.Bot == name })
		var run core.Run
		if i >= 0 {
			run = open[i]
			runs++
		} else if run, err = d.wouldBe(th, mail); err != nil {
			return 0, 0, err
		}
		for _, it := range mail {
			if it.Kind == core.MessageItem {
				items++
			}
			d.out.Ended = append(d.out.Ended, it.ID)
		}
		if err := d.stop(&th, run, mail, by); err != nil {
			return 0, 0, err
		}
		if err := d.drop(&th, name); err != nil {
			return 0, 0, err
		}
	}
	return runs, items, d.put(idKey(famThread, th.ID), th)
}

// wouldBe is the run that the waiting items would have begun.
func (d *desk) wouldBe(th core.Thread, mail []core.Item) (core.Run, error) {
	run, err := d.draft(th, mail)
	run.State = core.Doing
	return run, err
}

// stop settles a run as stopped by a person.
func (d *desk) stop(th *core.Thread, run core.Run, mail []core.Item, by string) error {
	for _, id := range run.Items {
		it, ok, err := get[core.Item](d.tx, idKey(famItem, id))
		if err != nil {
			return err
		}
		if ok && !it.State.Terminal() && !slices.ContainsFunc(mail, func(m core.Item) bool { return m.ID == id }) {
			mail = append(mail, it)
		}
	}
	for _, it := range mail {
		if err := d.end(it, core.Cancelled, run.ID, run.Post); err != nil {
			return err
		}
		if slices.Contains(run.Items, it.ID) {
			continue
		}
		run.Items = append(run.Items, it.ID)
		if it.Message == "" {
			continue
		}
		msg, _, err := d.tx.message(it.Thread, it.Message)
		if err != nil {
			return err
		}
		if msg.PlatformID != "" && !slices.Contains(run.Reply.Answers, msg.PlatformID) {
			run.Reply.Answers = append(run.Reply.Answers, msg.PlatformID)
		}
	}
	text := "(stopped by " + by + ")"
	answer := ""
	if shown := strings.TrimSpace(d.batch.Shown(run.Post)); shown != "" {
		text = shown + "\n\n" + text
		answer = text
	}
	run.State, run.Error = core.Cancelled, "stopped by "+by
	rows, msg, err := d.finish(th, run, core.Settlement{Kind: core.StoppedPost, Speaker: d.speaker(run.Bot), Text: text, Answer: answer, Split: d.batch.Split, Bots: d.batch.Bots, Externals: d.batch.Externals})
	if err != nil {
		return err
	}
	d.out.Stopped = append(d.out.Stopped, run.ID)
	d.out.Rows = append(d.out.Rows, rows...)
	if msg.ID == "" {
		return nil
	}
	told, err := d.inform(th, msg, d.batch.Externals, nil)
	d.out.Items = append(d.out.Items, told...)
	return err
}

// retryReach is how many of a thread's newest messages /retry looks at.
const retryReach = 50

// Retry queues again what failed or was stopped: new items for the same
// messages, with the ended ones as parents.
func (d *desk) Retry(thread core.ID, of core.Subject) (core.Message, bool, error) {
	th, ok, err := get[core.Thread](d.tx, idKey(famThread, thread))
	if err != nil || !ok {
		return core.Message{}, false, err
	}
	msgs, err := d.candidates(thread, of)
	if err != nil {
		return core.Message{}, false, err
	}
	for _, id := range msgs {
		items, err := d.itemsOf(id)
		if err != nil {
			return core.Message{}, false, err
		}
		ended := slices.DeleteFunc(unanswered(items), func(it core.Item) bool { return of.Run != "" && it.Run != of.Run })
		for _, it := range ended {
			if err := d.again(&th, it); err != nil {
				return core.Message{}, false, err
			}
		}
		if len(ended) > 0 {
			msg, _, err := d.tx.message(thread, id)
			return msg, true, err
		}
	}
	return core.Message{}, false, nil
}

// candidates are the messages among which to look for what can be retried.
func (d *desk) candidates(thread core.ID, of core.Subject) ([]core.ID, error) {
	switch {
	case of.Message != "":
		return []core.ID{of.Message}, nil
	case of.Run != "":
		run, _, err := get[core.Run](d.tx, idKey(famRun, of.Run))
		return run.Triggers, err
	}
	prefix := idKey(famMessage, thread)
	kvs, err := d.ScanBack(prefix, after(prefix), retryReach)
	var out []core.ID
	for _, kv := range kvs {
		id := core.NewID(core.KindMessage, binary.BigEndian.Uint64(kv.Key[len(prefix):]))
		if !slices.Contains(out, id) { // one with several versions
			out = append(out, id)
		}
	}
	return out, err
}

// unanswered are a message's items, oldest first, that failed or were stopped
// and have not been retried: one at most for each bot.
func unanswered(items []core.Item) []core.Item {
	var out []core.Item
	for i, it := range items {
		newer := slices.ContainsFunc(items[i+1:], func(x core.Item) bool { return x.Bot == it.Bot })
		if !newer && (it.State == core.Failed || it.State == core.Cancelled) {
			out = append(out, it)
		}
	}
	return out
}

// again queues new items for all messages of the ended item's run.
func (d *desk) again(th *core.Thread, ended core.Item) error {
	if ended.External() {
		return d.resend(th, ended)
	}
	batch := []core.Item{ended}
	if run, ok, err := get[core.Run](d.tx, idKey(famRun, ended.Run)); err != nil {
		return err
	} else if ok {
		if err := d.disarm(run.Post); err != nil {
			return err
		}
		batch = nil
		for _, id := range run.Items {
			it, ok, err := get[core.Item](d.tx, idKey(famItem, id))
			if err != nil {
				return err
			}
			if ok && it.Kind == core.MessageItem {
				batch = append(batch, it)
			}
		}
	}
	for _, it := range batch {
		items, err := d.enqueue(th, it.Message, []string{it.Bot}, it.ID)
		if err != nil {
			return err
		}
		msg, _, err := d.tx.message(it.Thread, it.Message)
		if err != nil {
			return err
		}
		if err := d.own(msg.Sender, items); err != nil {
			return err
		}
		if err := d.log(core.Activity{Event: core.ItemRetried, Thread: th.ID, Place: th.Place, Messages: []core.ID{it.Message}, Items: []core.ID{it.ID, items[0].ID}}); err != nil {
			return err
		}
		d.out.Items = append(d.out.Items, items...)
	}
	return d.put(idKey(famThread, th.ID), *th)
}

// Load implements core.Desk.
func (d *desk) Load(thread core.ID) (core.Load, error) {
	var l core.Load
	err := each(d.tx, []byte(famOpenRun), 0, func([]byte, openRow) error {
		l.Running++
		return nil
	})
	if err != nil {
		return l, err
	}
	asks, err := d.openAsks("")
	if err != nil {
		return l, err
	}
	l.Parked = len(asks)
	l.Running -= l.Parked
	if l.Works, err = d.works(thread, asks); err != nil {
		return l, err
	}
	rows := 0
	err = each(d.tx, []byte(famQueue), maxCounted, func(_ []byte, it struct {
		Kind   core.ItemKind  `json:"kind"`
		Actor  core.ActorKind `json:"actor"`
		Thread core.ID        `json:"thread"`
	},
	) error {
		rows++
		if it.Kind == core.MessageItem && it.Actor == "" {
			l.Waiting++
			if it.Thread == thread {
				l.Queued++
			}
		}
		return nil
	})
	l.More = rows == maxCounted
	return l, err
}

// maxCounted is how much of what waits is counted: in a burst it is thousands,
// and who asks for them holds up who writes.
const maxCounted = 200

// works are the thread's runs that have not ended; none of no thread.
func (d *desk) works(thread core.ID, asks []core.Ask) ([]core.Work, error) {
	if thread == "" {
		return nil, nil
	}
	runs, err := d.openRuns(thread)
	if err != nil {
		return nil, err
	}
	var out []core.Work
	for _, run := range runs {
		w := core.Work{Run: run}
		if i := slices.IndexFunc(asks, func(a core.Ask) bool { return a.ID == run.Ask }); i >= 0 {
			w.Ask = asks[i]
		}
		out = append(out, w)
	}
	return out, nil
}
