package store_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bellhop/core"
	"bellhop/store"
)

// flip damages every row of a family by one bit, on the engine itself, and
// returns how many there were.
func flip(t *testing.T, e store.Engine, family string) int {
	t.Helper()
	n := 0
	err := e.Update(t.Context(), func(tx store.Tx) error {
		kvs, err := tx.Scan([]byte(family), []byte(family[:len(family)-1]+"0"), 0)
		if err != nil {
			return err
		}
		n = len(kvs)
		for _, kv := range kvs {
			raw := bytes.Clone(kv.Value)
			if len(raw) == 0 {
				return fmt.Errorf("%q holds no row", kv.Key)
			}
			raw[len(raw)/2] ^= 4
			if err := tx.Put(bytes.Clone(kv.Key), raw); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// unmended says by family what the checker finds afterwards, apart from damaged
// rows that nothing has met yet: what led to rows of work long done.
var unmended = map[string][]string{
	"t/": nil, "p/": nil, "ta/": nil, "m/": nil, "mp/": nil, "q/": nil, "i/": nil, "ro/": nil, "s/": nil, "o/": nil, "a/": nil, "ac/": nil, "c/": nil, "meta/": nil, "l/": nil,
	"r/":  {"m7 of chief does not belong to its run", "i6 is done in the run", "p6 is the answer of the run"},
	"op/": {"was answered by the post", "is of the post"},
	"j/":  {"in the journal by day and not in the journal"},
}

// lived is a ledger with something in every family: a run in progress with
// steps and an open post, a message that waits, an answer on its way, a
// refusal shown, and a channel that has moved.
type lived struct {
	archived         core.ID
	running, waiting core.Item
	run              core.Run
	rows             []core.Row
}

func live(w *world) lived {
	l := lived{archived: "t1"}
	before := w.message("before")
	before.In.Others, before.In.Direct, before.Mode = true, false, core.ReplyAlways
	w.deliver(w.accept(before, w.command("new")).Rows...)
	w.settle(w.pick(w.say("first")...), end("done|and more"))
	l.rows = append(l.rows, w.restart().Rows...)
	l.running = w.say("second")[0]
	l.run = w.pick(l.running)
	w.must(w.store.Opened(w.Context(), l.run, core.Receipt{ID: "open"}))
	w.must(w.store.Step(w.Context(), l.run, core.Step{Run: l.run.ID, N: 1, Parts: []core.Part{core.Text("working")}}))
	l.waiting = w.say("third")[0]
	moved := w.event(core.InMoved, "", "")
	moved.In.To = "dm2"
	stranger := w.message("who?")
	stranger.Role, stranger.Refusal = core.Stranger, "Go away."
	heard := w.message("nothing for us")
	heard.In.Heard, heard.In.Place.Channel, heard.In.Direct = true, "elsewhere", false
	w.deliver(w.accept(moved, stranger, heard).Rows...)
	return l
}

// Whatever row is damaged, work goes on: the message in the run and the one
// that waits are answered, before or after a restart, nothing is lost without
// a word, and every damaged row that was met has been told of.
func TestDamage(t *testing.T) {
	for family, wrong := range unmended {
		for name, fresh := range map[string]func(*testing.T) *world{"memory": unchecked, "memory/restart": unchecked, "disk/restart": onDisk} {
			t.Run(family[:len(family)-1]+"/"+name, func(t *testing.T) {
				w, restart := fresh(t), strings.HasSuffix(name, "restart")
				l := live(w)
				if flip(t, w.engine, family) == 0 {
					t.Fatal("nothing to damage")
				}
				w.damaged = nil
				w.goOn(l, restart)
				if unread := family == "j/" || family == "ro/" && !restart; (len(w.damaged) == 0) != unread {
					t.Errorf("told of %q", w.damaged)
				}
				found, err := w.store.Check(t.Context())
				w.must(err)
				for _, s := range found {
					if !strings.Contains(s, "stored row is damaged") && !slices.ContainsFunc(wrong, func(known string) bool { return strings.Contains(s, known) }) {
						t.Error(s)
					}
				}
			})
		}
	}
}

// goOn does what is left to do in a life.
func (w *world) goOn(l lived, restart bool) {
	w.Helper()
	ctx := w.Context()
	if restart {
		b := w.restart()
		l.rows = b.Rows
		i := slices.IndexFunc(b.Items, func(it core.Item) bool { return it.Kind == core.ResumeItem })
		if i < 0 || len(b.Items) != 2 {
			w.Fatalf("the run is not resumed, or the message does not wait any more: %+v", b.Items)
		}
		l.run = w.pick(b.Items[i])
		if l.run.Open == nil || l.run.Open.ID != "open" {
			w.Errorf("the open post is forgotten: %+v", l.run.Open)
		}
		w.must(w.store.Begin(ctx, l.run))
	}
	for i, r := range l.rows {
		w.must(w.store.RowOpened(ctx, r, core.Receipt{ID: fmt.Sprintf("part%d", i)}))
		w.receipt(ctx, r, core.Receipt{ID: fmt.Sprintf("part%d", i)})
	}
	done := w.settle(l.run, end("second is done"))
	if len(done.Rows) != 1 || done.Rows[0].Edit != "open" {
		w.Errorf("the final does not replace its open: %+v", done.Rows)
	}
	w.deliver(done.Rows...)
	w.place.Channel = "dm2"
	fate := w.accept(w.message("fourth")).Fates[0]
	waiting, _, err := w.store.Waiting(ctx, chief, l.run.Thread)
	w.must(err)
	if fate != core.FateStored || len(waiting) != 2 || waiting[0].ID != l.waiting.ID {
		w.Fatalf("the next message is %s; waiting: %+v", fate, waiting)
	}
	w.settle(w.pick(waiting...), end("all done"))
	w.wantState(core.Done, l.running, l.waiting, waiting[1])
	if _, err := w.store.Threads(ctx); err != nil {
		w.Error(err)
	}
	if _, err := w.store.Cursors(ctx, "chat"); err != nil {
		w.Error(err)
	}
	for _, id := range []core.ID{l.run.ID, l.run.Post, l.running.Message} {
		w.trace(id)
	}
	if fate := w.accept(w.edit("e3", "first, again")).Fates[0]; fate != core.FateEdited && fate != core.FateIgnored {
		w.Errorf("an edit is %s", fate)
	}
	w.settle(w.pick(w.queue()...), end("corrected"))
	for _, name := range []string{"threads", "resume"} {
		e := w.command(name)
		if name == "resume" {
			e.Args = "1"
		}
		if got := w.accept(e).Rows[0].Text; !strings.Contains(got, string(l.archived)) {
			w.Errorf("/%s: %s", name, got)
		}
	}
	w.restart()
}

// queue is all that waits for the default bot.
func (w *world) queue() []core.Item {
	w.Helper()
	b := w.restart()
	if len(b.Items) > 0 {
		return b.Items
	}
	return w.say("something")
}

// When everything is damaged, nothing of it can be done, and new messages can.
func TestDamageOfAll(t *testing.T) {
	for name, fresh := range map[string]func(*testing.T) *world{"memory": unchecked, "disk": onDisk} {
		t.Run(name, func(t *testing.T) {
			w := fresh(t)
			w.park(w.say("ask me")...)
			w.remember(core.Remembered{Agent: chief, Tool: "exec", Hash: "hash"})
			w.place.Channel = "other"
			items := w.say("hello")
			for family := range unmended {
				flip(t, w.engine, family)
			}
			for _, family := range []string{"k/", "ko/", "y/"} {
				flip(t, w.engine, family)
			}
			if b := w.restart(); len(b.Parked) > 0 {
				t.Errorf("still waiting: %+v", b.Parked)
			}
			if done, next := w.lapse(); len(done.Items) > 0 || !next.IsZero() {
				t.Errorf("still open: %+v, %s", done, next)
			}
			if len(w.damaged) == 0 {
				t.Error("nobody was told")
			}
			_, _, err := w.store.Pick(t.Context(), items, 80, 80)
			w.wantErr(err, core.ErrRunOver)
			again := w.say("again")
			w.deliver(w.settle(w.pick(again...), end("hi")).Rows...)
			w.wantState(core.Done, again...)
		})
	}
}

// A row about what waits for a slot is damaged: its post is still the one that the
// answer replaces.
func TestDamageOfWhatWaits(t *testing.T) {
	for _, family := range []string{"op/", "mp/", "i/", "q/"} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprint(family[:len(family)-1], restart), func(t *testing.T) {
				w := unchecked(t)
				items := w.say("hello")
				waiting := w.waits(items...)
				if flip(t, w.engine, family) == 0 {
					t.Fatal("nothing to damage")
				}
				if restart {
					items = w.restart().Items
				}
				run := w.pick(items...)
				if run.ID != waiting.ID {
					t.Errorf("%+v", run)
				}
				done := w.settle(run, end("hi"))
				if len(done.Rows) != 1 || family != "mp/" && done.Rows[0].Edit != "open" {
					t.Errorf("%+v", done.Rows)
				}
				w.deliver(done.Rows...)
			})
		}
	}
}
