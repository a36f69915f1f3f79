package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// rig is a bus over a platform and a ledger that do as they are told. It lives
// in a bubble, whose end makes sure that Close has left no goroutine.
type rig struct {
	*Bus
	t      *testing.T
	chat   *pen
	other  *pen
	ledger *notes
	began  time.Time
}

// bubble runs the test with a bus whose adapters have the features.
func bubble(t *testing.T, f core.Features, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if f.Split == nil {
			f.Split = func(text string) []string { return []string{text} }
		}
		r := &rig{t: t, chat: newPen("chat", f), other: newPen("other", f), ledger: &notes{}, began: time.Now()}
		r.Bus = New(t.Context(), Options{Store: r.ledger, Adapters: []core.Adapter{r.chat, r.other}, Owner: owner,
			Access: core.Access{Members: []string{"chat:ann"}}, Log: slog.New(slog.DiscardHandler)})
		r.Bus.mail = r.ledger
		defer r.Close()
		test(t, r)
	})
}

var (
	here  = core.Place{Adapter: "chat", Channel: "here"}
	there = core.Place{Adapter: "chat", Channel: "there"}
	owner = core.Place{Adapter: "chat", Channel: "owner"}
)

// aRun is a run that answers here.
func aRun(n uint64) core.Run {
	id := core.NewID(core.KindRun, n)
	return core.Run{ID: id, Post: id.As(core.KindPost), Reply: core.Reply{Place: here, Answers: []string{fmt.Sprint("m", n)}}}
}

// aRow is the only piece of the post's outcome.
func aRow(at core.Place, n uint64, text string) core.Row {
	return core.Row{Seq: n, Post: core.NewID(core.KindPost, n), Kind: core.AnswerPost, Place: at, Text: text, Last: true, Answers: []string{fmt.Sprint("m", n)}}
}

// after lets time pass until all waits.
func (r *rig) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// wants compares what was sent so far, and forgets it.
func (r *rig) wants(want ...string) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.chat.read()); diff != "" {
		r.t.Errorf("%s: sent (-want +got):\n%s", time.Since(r.began), diff)
	}
}

// pen is an adapter that writes down what it is asked to send.
type pen struct {
	name     string
	features core.Features

	mu   sync.Mutex // guards the fields below
	sent []string   // "CHANNEL KIND TEXT", with "ID=" before the kind for an edit
	ids  int
	fail []error // of the next calls, in order
	hold chan struct{}

	clock time.Time // what it says the time is

	broken chan error // what ends its Run
}

func newPen(name string, f core.Features) *pen {
	return &pen{name: name, features: f, broken: make(chan error, 1)}
}

func (p *pen) Name() string            { return p.name }
func (p *pen) Features() core.Features { return p.features }

func (p *pen) Run(ctx context.Context, _ core.Sink) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-p.broken:
		return err
	}
}

func (p *pen) Send(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if hold := p.hold; hold != nil {
		p.mu.Unlock()
		select {
		case <-hold:
		case <-ctx.Done():
		}
		p.mu.Lock()
	}
	if ctx.Err() != nil {
		return core.Receipt{}, ctx.Err()
	}
	text := o.Text
	if o.Status != "" {
		text = strings.TrimSpace(text + " (" + o.Status + ")")
	}
	line := fmt.Sprintf("%s %s %s", o.Place.Channel, o.Kind, text)
	if o.Edit != "" {
		line = fmt.Sprintf("%s %s=%s %s", o.Place.Channel, o.Edit, o.Kind, text)
	}
	if len(p.fail) > 0 {
		err := p.fail[0]
		p.fail = p.fail[1:]
		if err != nil {
			p.sent = append(p.sent, "failed: "+line)
			return core.Receipt{}, err
		}
	}
	p.sent = append(p.sent, line)
	if o.Edit != "" {
		return core.Receipt{ID: o.Edit, Time: p.clock}, nil
	}
	p.ids++
	return core.Receipt{ID: fmt.Sprint(p.ids), Time: p.clock}, nil
}

func (p *pen) sign(_ context.Context, at core.Place, id, emoji string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, strings.TrimSpace(fmt.Sprintf("%s sign %s %s", at.Channel, id, emoji)))
	return nil
}

func (p *pen) read() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := p.sent
	p.sent = nil
	return sent
}

func (p *pen) fails(errs ...error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail = errs
}

// always is an error for every try that a row gets.
func always(err error) []error { return slices.Repeat([]error{err}, maxTries) }

// notes is a ledger that keeps nothing but the names of its transactions.
type notes struct {
	mu    sync.Mutex // guards the fields below
	calls []string
	times []time.Time // of what it was told
	full  bool        // it cannot write
	lapse []func() (core.Accepted, time.Time, error)
}

func (n *notes) note(call string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.full {
		return errors.New("disk is full")
	}
	n.calls = append(n.calls, call)
	return nil
}

func (n *notes) date(at time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.times = append(n.times, at)
}

// fills has it refuse to write, or not any more.
func (n *notes) fills(full bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.full = full
}

func (n *notes) read() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	calls := strings.Join(n.calls, ", ")
	n.calls = nil
	return calls
}

func (n *notes) Accept(_ context.Context, b core.Batch) (out core.Accepted, err error) {
	for _, e := range b.Entries {
		if e.Refusal != "" {
			err = errors.Join(err, n.note("refuse "+string(e.In.From.ID)))
		}
		n.date(e.In.Time)
		fate := core.FateStored
		switch {
		case e.In.Kind == core.InDelete:
			fate = core.FateWithdrawn
		case e.Role < core.Member:
			fate = core.FateRefused
		}
		if e.Claim || e.Code != nil {
			err = errors.Join(err, n.note(fmt.Sprintf("code of %s (first %t)", e.In.From.ID, e.Claim)))
		}
		out.Fates, out.Humans, out.Woke = append(out.Fates, fate), append(out.Humans, e.In.From.ID), append(out.Woke, fate == core.FateStored)
	}
	return out, errors.Join(err, n.note("accept"))
}

func (n *notes) AnswerAs(_ context.Context, in core.ExternalAnswer) (core.Said, error) {
	return core.Said{}, n.note("answer " + in.Text)
}

func (n *notes) Say(_ context.Context, say core.Saying) (core.Said, error) {
	return core.Said{}, n.note("say " + say.Text)
}

func (n *notes) Opened(_ context.Context, run core.Run, r core.Receipt) error {
	n.date(r.Time)
	return n.note(fmt.Sprintf("opened %s %s", run.ID, r.ID))
}

func (n *notes) RowOpened(_ context.Context, row core.Row, r core.Receipt) error {
	n.date(r.Time)
	return n.note(fmt.Sprintf("row opened %s %s", row.Post, r.ID))
}

func (n *notes) Delivered(_ context.Context, row core.Row, r core.Receipt) (*core.Row, error) {
	n.date(r.Time)
	return nil, n.note(fmt.Sprintf("delivered %s %s", row.Post, r.ID))
}

func (n *notes) Lapse(context.Context, func(core.Place, string) []core.Piece) (core.Accepted, time.Time, error) {
	if err := n.note("lapse"); err != nil {
		return core.Accepted{}, time.Time{}, err
	}
	n.mu.Lock()
	var look func() (core.Accepted, time.Time, error)
	if len(n.lapse) > 0 {
		look, n.lapse = n.lapse[0], n.lapse[1:]
	}
	n.mu.Unlock()
	if look == nil {
		return core.Accepted{}, time.Time{}, nil
	}
	return look()
}

func (n *notes) Fork(context.Context, core.Row, core.Receipt) ([]core.Row, error) { return nil, nil }

func (n *notes) Bury(_ context.Context, row core.Row, _ string, owner core.Place, tell []core.Piece) ([]core.Row, error) {
	told := aRow(owner, 900, "undeliverable")
	return []core.Row{told}, n.note(fmt.Sprintf("bury %s, tell %d", row.Post, len(tell)))
}

func (n *notes) Notify(_ context.Context, p core.Place, pieces []core.Piece) ([]core.Row, error) {
	row := aRow(p, 901, pieces[0].Text)
	return []core.Row{row}, n.note("notify " + pieces[0].Text)
}

func (n *notes) Moved(_ context.Context, m core.Moving) error {
	return n.note(fmt.Sprintf("moved %s to %s", m.Old, m.New))
}

func (n *notes) Note(_ context.Context, all ...core.Activity) error {
	var err error
	for _, a := range all {
		err = errors.Join(err, n.note(strings.TrimSpace(fmt.Sprintf("%s %s %s", a.Event, a.Place.Adapter, a.Detail))))
	}
	return err
}
func (n *notes) Known(context.Context, core.Place, string) bool { return false }
func (n *notes) Prune(context.Context, time.Time) (bool, error) { return false, nil }
func (n *notes) Hold(time.Duration)                             {}
func (n *notes) Apply(a core.Accepted) {
	var ids []string
	for _, it := range a.Items {
		ids = append(ids, string(it.ID))
	}
	n.mu.Lock()
	looks := n.lapse != nil // somebody wants to know
	n.mu.Unlock()
	if looks {
		_ = n.note("apply " + strings.Join(ids, "+"))
	}
}
