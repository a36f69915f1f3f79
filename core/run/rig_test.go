package run_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/core/llm/script"
	"bellhop/core/mailbox"
	"bellhop/core/run"
	"bellhop/media"
	"bellhop/store"
	"bellhop/store/memkv"
	"bellhop/tools"
)

var _ run.Files = (*media.Store)(nil)

// rig is a runner of the bot chief over a real ledger, with a platform and a
// folder of files that tests control.
type rig struct {
	*testing.T
	engine *memkv.Engine
	store  *store.Store
	runner *run.Runner
	model  *script.Provider
	bot    core.Bot
	fetch  func(ctx context.Context, f core.File) (io.ReadCloser, error)
	before func(ctx context.Context, n core.Need) (core.Before, error)
	waits  func() bool // asked between two steps of a bot that steers
	joined []core.ID
	events int

	mu      sync.Mutex // guards what follows
	fetched []string   // refs
	now     int        // fetches in progress
	most    int
	saved   map[string]string // content by hash
	looked  []string          // hashes
}

func newRig(t *testing.T, replies ...string) *rig {
	r := &rig{T: t, engine: memkv.New(memkv.Options{}), model: script.New(replies...), saved: map[string]string{},
		bot: core.Bot{Handle: "chief", Model: "script/m", Vision: true, Steps: 5, RunTime: 10 * time.Minute, History: core.Budget{Tokens: 24_000, Messages: 80}}}
	r.fetch = func(_ context.Context, f core.File) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("content of " + f.Ref)), nil
	}
	r.start(r)
	return r
}

// start opens the ledger and makes a runner that keeps files in the folder; nil:
// none.
func (r *rig) start(files run.Files) {
	r.Helper()
	s, err := store.Open(r.Context(), r.engine, store.Options{})
	if err != nil {
		r.Fatal(err)
	}
	r.store = s
	set, err := tools.NewSet()
	if err != nil {
		r.Fatal(err)
	}
	r.runner = run.New(run.Options{Store: s, Outbox: outbox{r}, Bots: []core.Bot{r.bot}, Tools: set, Files: files, Repair: tools.Repair, Canonical: tools.Canonical,
		Cap: tools.Cap, Provider: func(string) (core.Provider, string, error) { return r.model, "m", nil },
		Wake: func([]core.Item) {}, Waits: func(string, core.ID) bool { return r.waits() }, MaxHops: 3,
		Joined: func(_ string, items []core.ID) { r.joined = append(r.joined, items...) }, Log: slog.New(slog.DiscardHandler)})
}

// restart is kill -9 and a start; it returns what is left to do.
func (r *rig) restart() []core.Item {
	r.Helper()
	r.engine = r.engine.Reopen()
	r.start(r)
	b, err := r.store.Recover(r.Context(), func(string) bool { return true })
	if err != nil {
		r.Fatal(err)
	}
	return b.Items
}

// send accepts a message with files, by their refs.
func (r *rig) send(text string, refs ...string) []core.Item {
	r.Helper()
	return r.accept(core.Entry{In: r.inbound(text, refs...), Role: core.Member, Agent: "chief"})
}

func (r *rig) inbound(text string, refs ...string) core.Inbound {
	r.events++
	in := core.Inbound{Key: fmt.Sprint(r.events), Kind: core.InMessage, Place: place, Direct: true, From: ann, MessageID: fmt.Sprint(r.events), Text: text, Time: time.Unix(0, 0)}
	for _, ref := range refs {
		in.Files = append(in.Files, core.File{Name: ref + ".jpg", MIME: "image/jpeg", Ref: ref})
	}
	return in
}

// retry is the command /retry.
func (r *rig) retry() []core.Item {
	r.Helper()
	for _, c := range mailbox.Commands() {
		if c.Name != "retry" {
			continue
		}
		r.events++
		in := core.Inbound{Key: fmt.Sprint(r.events), Kind: core.InMessage, Place: place, Direct: true, From: ann, MessageID: fmt.Sprint(r.events), Text: "/retry"}
		return r.accept(core.Entry{In: in, Role: core.Member, Command: &c})
	}
	r.Fatal("there is no /retry")
	return nil
}

func (r *rig) accept(e core.Entry) []core.Item {
	r.Helper()
	a, err := r.store.Accept(r.Context(), core.Batch{Entries: []core.Entry{e}, Bots: []string{"chief"}, Split: split})
	if err != nil {
		r.Fatal(err)
	}
	return a.Items
}

func (r *rig) mustRun(items []core.Item) {
	r.Helper()
	if _, err := r.runner.Run(r.Context(), r.bot, items); err != nil {
		r.Fatal(err)
	}
}

// file is the n-th file of the item's message, as it is stored.
func (r *rig) file(item core.Item, n int) core.File {
	r.Helper()
	l, err := r.store.Trace(r.Context(), item.ID)
	if err != nil {
		r.Fatal(err)
	}
	for _, p := range l.Message.Parts {
		if p.File != nil {
			if n--; n < 0 {
				return *p.File
			}
		}
	}
	r.Fatalf("%s has no such file", item.Message)
	return core.File{}
}

// asked is what the model read in its n-th call.
func (r *rig) asked(n int) string {
	r.Helper()
	calls := r.model.Calls("")
	if n >= len(calls) {
		r.Fatalf("the model was called %d times", len(calls))
	}
	return script.Render(calls[n])
}

func (r *rig) wantAsked(n int, parts ...string) {
	r.Helper()
	for _, part := range parts {
		if got := r.asked(n); !strings.Contains(got, part) {
			r.Errorf("call %d does not say %q:\n%s", n, part, got)
		}
	}
}

// Save implements run.Files.
func (r *rig) Save(ctx context.Context, body io.Reader, f core.File) (core.Saved, error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return core.Saved{}, err
	}
	if strings.Contains(string(data), "page") {
		return core.Saved{}, &core.UserError{Text: "a web page came instead of the file"}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	hash := "hash of " + f.Ref
	r.saved[hash] = string(data)
	return core.Saved{Hash: hash, MIME: "image/png", Size: int64(len(data)), Name: "safe-" + f.Name}, ctx.Err()
}

// Image implements run.Files.
func (r *rig) Image(_ context.Context, hash string) (core.Image, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looked = append(r.looked, hash)
	data, ok := r.saved[hash]
	switch {
	case !ok:
		return core.Image{}, core.ErrNotFound
	case strings.Contains(data, "bomb"):
		return core.Image{}, &core.UserError{Text: "the image is too large: 1600.0 megapixels"}
	}
	return core.Image{MIME: "image/jpeg", Data: []byte(data)}, nil
}

var (
	place = core.Place{Adapter: "chat", Channel: "dm"}
	ann   = core.Person{ID: "chat:ann", Name: "Ann"}
)

func split(_ core.Place, text string) []core.Piece { return []core.Piece{{Text: text}} }

// outbox is a platform on which nothing is shown.
type outbox struct{ *rig }

func (outbox) Open(core.Run, core.Speaker, string)                  {}
func (outbox) Wait(core.Run, core.Speaker)                          {}
func (outbox) Update(core.Run, core.Preview)                        {}
func (outbox) Receipt(context.Context, core.Run) *core.Receipt      { return nil }
func (outbox) Abandon(core.Run)                                     {}
func (outbox) Parked(core.Parked)                                   {}
func (outbox) Deliver([]core.Row)                                   {}
func (outbox) Split(p core.Place, text string) []core.Piece         { return split(p, text) }
func (outbox) SplitBelow(p core.Place, text, _ string) []core.Piece { return split(p, text) }
func (outbox) Thinks(core.Place) bool                               { return false }
func (outbox) Handles() []string                                    { return []string{"chief"} }
func (outbox) Trouble(_ context.Context, _, _ string)               {}
func (o outbox) Features(string) core.Features {
	f := core.Features{Before: o.before}
	if o.fetch != nil {
		f.Fetch = o.rig.open
	}
	return f
}

func (r *rig) open(ctx context.Context, f core.File) (io.ReadCloser, error) {
	r.mu.Lock()
	r.fetched = append(r.fetched, f.Ref)
	r.now++
	r.most = max(r.most, r.now)
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.now--
	}()
	return r.fetch(ctx, f)
}
