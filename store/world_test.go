package store_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/core/mailbox"
	"bellhop/store"
	"bellhop/store/boltkv"
	"bellhop/store/memkv"
)

// engine is what both engines are.
type engine interface {
	store.Engine
	Commits() uint64
}

// world is a ledger, over memkv if nothing else is said, as the bus, the mailboxes and the runs use it.
// When its test ends, the ledger must keep its invariants.
type world struct {
	*testing.T
	engine  engine
	reopen  func() engine // the engine after kill -9
	store   *store.Store
	place   core.Place  // where people write
	damaged []string    // keys of quarantined rows
	shown   string      // what open posts show
	access  core.Access // what the configuration gives
	events  int
}

const (
	chief  = "chief"
	scout  = "scout"
	scribe = "scribe"
)

var bots = []string{chief, scout, scribe}

var ann = core.Person{ID: "chat:ann", Name: "Ann"}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := unchecked(t)
	t.Cleanup(w.check)
	return w
}

// unchecked is a world for tests that break its ledger.
func unchecked(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, engine: memkv.New(memkv.Options{}), place: core.Place{Adapter: "chat", Channel: "dm"}}
	w.reopen = func() engine { return w.memory().Reopen() }
	w.open()
	return w
}

// onDisk is a world over boltkv.
func onDisk(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{T: t, place: core.Place{Adapter: "chat", Channel: "dm"}}
	w.reopen = func() engine {
		w.Helper()
		if w.engine != nil {
			w.must(w.engine.Close())
		}
		e, err := boltkv.Open(dir, boltkv.Options{})
		w.must(err)
		return e
	}
	w.engine = w.reopen()
	w.open()
	t.Cleanup(func() { w.must(w.engine.Close()) })
	return w
}

func (w *world) memory() *memkv.Engine { return w.engine.(*memkv.Engine) }

func (w *world) open() {
	w.Helper()
	s, err := store.Open(w.Context(), w.engine, store.Options{Damaged: func(key string, _ error) { w.damaged = append(w.damaged, key) }})
	if err != nil {
		w.Fatal(err)
	}
	w.store = s
}

// restart is kill -9 and a start.
func (w *world) restart() core.Backlog {
	w.Helper()
	w.engine = w.reopen()
	w.open()
	b, err := w.store.Recover(w.Context(), func(string) bool { return true })
	if err != nil {
		w.Fatal(err)
	}
	return b
}

func (w *world) check() {
	w.Helper()
	wrong, err := w.store.Check(context.Background())
	if err != nil {
		w.Error(err)
	}
	for _, s := range wrong {
		w.Error(s)
	}
}

func split(_ core.Place, text string) []core.Piece {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return piecesOf(strings.Split(text, "|")...)
}

func piecesOf(texts ...string) (pieces []core.Piece) {
	for _, text := range texts {
		pieces = append(pieces, core.Piece{Text: text})
	}
	return pieces
}

// event is the next event of a person.
func (w *world) event(kind core.InboundKind, id, text string) core.Entry {
	w.events++
	in := core.Inbound{Key: fmt.Sprintf("e%d", w.events), Kind: kind, Place: w.place, Direct: true, From: ann, MessageID: id, Text: text,
		Time: time.Now().UTC()}
	if in.MessageID == "" {
		in.MessageID = in.Key
	}
	return core.Entry{In: in, Role: core.Member, Agent: chief, Mode: core.ReplyMention}
}

func (w *world) message(text string) core.Entry { return w.event(core.InMessage, "", text) }

func (w *world) edit(id, text string) core.Entry { return w.event(core.InEdit, id, text) }

// command is a person's use of one of the mailboxes' commands.
func (w *world) command(name string) core.Entry {
	e := w.message("/" + name)
	e.In.Command = true
	for _, c := range mailbox.Commands() {
		if c.Name == name {
			e.Command = &c
		}
	}
	return e
}

func (w *world) batch(entries ...core.Entry) core.Batch {
	return core.Batch{Entries: entries, Bots: bots, Access: w.access, Split: split, Shown: func(core.ID) string { return w.shown }}
}

func (w *world) accept(entries ...core.Entry) core.Accepted {
	w.Helper()
	a, err := w.store.Accept(w.Context(), w.batch(entries...))
	if err != nil {
		w.Fatal(err)
	}
	return a
}

// say accepts one message, which must be stored, and returns its items.
func (w *world) say(text string) []core.Item {
	w.Helper()
	a := w.accept(w.message(text))
	if a.Fates[0] != core.FateStored {
		w.Fatalf("the fate of %q is %s", text, a.Fates[0])
	}
	return a.Items
}

func (w *world) pick(items ...core.Item) core.Run {
	w.Helper()
	run, scene, err := w.store.Pick(w.Context(), items, 80, 80)
	if err != nil {
		w.Fatalf("pick %v: %v", items, err)
	}
	if n := len(scene.Messages); n > 0 { // as the run loop does
		run.Upto = scene.Messages[n-1].ID
	}
	return run
}

func end(text string) core.Settlement {
	return core.Settlement{State: core.Done, Kind: core.AnswerPost, Text: text, Answer: text, Bots: bots, MaxHops: 3, Split: split}
}

func failure() core.Settlement {
	return core.Settlement{State: core.Failed, Kind: core.ErrorPost, Text: "⚠ It broke.", Error: "broken", Split: split}
}

func (w *world) settle(run core.Run, s core.Settlement) core.Settled {
	w.Helper()
	out, err := w.store.Settle(w.Context(), run, nil, s)
	if err != nil {
		w.Fatalf("settle %s: %v", run.ID, err)
	}
	return out
}

// deliver stores the receipts of rows.
func (w *world) deliver(rows ...core.Row) {
	w.Helper()
	for _, r := range rows {
		w.receipt(w.Context(), r, core.Receipt{ID: fmt.Sprintf("out%d.%d", r.Seq, r.Chunk)})
	}
}

// receipt stores the receipt of a row, and once more if it is shown again.
func (w *world) receipt(ctx context.Context, row core.Row, r core.Receipt) {
	w.Helper()
	again, err := w.store.Delivered(ctx, row, r)
	w.must(err)
	if again != nil {
		_, err = w.store.Delivered(ctx, *again, r)
		w.must(err)
	}
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) wantErr(err, want error) {
	w.Helper()
	if !errors.Is(err, want) {
		w.Errorf("error %v, want %v", err, want)
	}
}

// commits is how many commits f costs.
func (w *world) commits(want uint64, what string, f func()) {
	w.Helper()
	before := w.engine.Commits()
	f()
	if got := w.engine.Commits() - before; got != want {
		w.Errorf("%s costs %d commits, want %d", what, got, want)
	}
}

func (w *world) trace(id core.ID) core.Life {
	w.Helper()
	l, err := w.store.Trace(w.Context(), id)
	if err != nil {
		w.Fatalf("trace %s: %v", id, err)
	}
	return l
}

// item is the item as it is stored now.
func (w *world) item(id core.ID) core.Item {
	w.Helper()
	return w.trace(id).Items[0]
}

func (w *world) wantState(want core.State, items ...core.Item) {
	w.Helper()
	for _, it := range items {
		if got := w.item(it.ID); got.State != want {
			w.Errorf("item %s is %s, want %s", it.ID, got.State, want)
		}
	}
}

// texts are the texts of rows.
func texts(rows []core.Row) []string {
	var out []string
	for _, r := range rows {
		out = append(out, r.Text)
	}
	return out
}
