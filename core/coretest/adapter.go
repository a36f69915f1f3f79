package coretest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"bellhop/core"
)

// adapter is one process's connection to a platform. It implements
// core.Adapter as a real one would, and does nothing any more once its life is
// over.
type adapter struct {
	*platform
	life *life
}

// Name implements core.Adapter.
func (a *adapter) Name() string { return a.name }

// Features implements core.Adapter.
func (a *adapter) Features() core.Features {
	f := core.Features{Once: a.once, MaxText: a.max, MaxPieces: a.pieces, Mark: a.mark, Threads: a.threads, Reply: a.reply, Replies: a.replies, Edits: a.edits, Buttons: a.buttons, Split: a.split}
	switch a.once {
	case core.OnceEdit:
		f.Resolve = a.probe
	case core.OnceReadback:
		f.Resolve = a.readBack
	}
	if a.signs {
		f.React = a.react
		f.Typing = func(context.Context, core.Place) error { return nil }
	}
	if a.branches {
		f.Branch = func(p core.Place) bool { return !direct(p) && p.Topic != "" }
	}
	if a.topics {
		f.Branch = func(p core.Place) bool { return !direct(p) }
	}
	if a.names {
		f.Title = a.title
	}
	if a.reads {
		f.Before, f.Read = a.before, a.read
	}
	f.Health = func() core.Health { return core.Health{LastInbound: time.Now()} }
	f.Preview = func(core.Place) time.Duration { return time.Second }
	return f
}

// split cuts after so many characters.
func (a *adapter) split(markdown string) []string {
	if strings.TrimSpace(markdown) == "" {
		return nil
	}
	var out []string
	for piece := range slices.Chunk([]rune(strings.TrimSpace(markdown)), a.max) {
		out = append(out, string(piece))
	}
	return out
}

// backoff is how long the adapter waits when its events could not be stored.
const backoff = time.Second

// Run implements core.Adapter.
func (a *adapter) Run(ctx context.Context, sink core.Sink) error {
	for ctx.Err() == nil {
		a.mu.Lock()
		batch, wake, revoked := slices.Clone(a.pending), a.wake, a.revoked
		a.mu.Unlock()
		if revoked {
			return fmt.Errorf("%w: the token is not valid any more; give me a new one", core.ErrFatal)
		}
		if len(batch) == 0 {
			select {
			case <-wake:
			case <-ctx.Done():
			}
			continue
		}
		if err := sink(ctx, batch); err != nil {
			pause(ctx, backoff)
			continue
		}
		a.mu.Lock()
		a.pending = a.pending[len(batch):]
		for _, in := range batch {
			if in.Kind == core.InButton && in.Note != "" {
				a.notes[in.Place] = append(a.notes[in.Place], in.From.Name+" alone sees: "+in.Note)
			}
		}
		a.mu.Unlock()
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// Send implements core.Adapter.
func (a *adapter) Send(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	op := "post"
	switch {
	case o.Kind == core.OutUpdate:
		op = "update"
	case o.Edit != "":
		op = "edit"
	case o.Kind == core.OutOpen:
		op = "open"
	}
	return a.call(ctx, op, func() (core.Receipt, error) { return a.show(o) })
}

// call makes one request: it may fail on its way there or on its way back.
func (a *adapter) call(ctx context.Context, op string, do func() (core.Receipt, error)) (core.Receipt, error) {
	if a.life.reach("before", op) {
		return core.Receipt{}, core.ErrUnknown
	}
	a.mu.Lock()
	a.calls++
	f := a.strike(op)
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.calls--
		a.mu.Unlock()
	}()
	var r core.Receipt
	var err error
	switch {
	case f == nil:
		r, err = do()
	case f.how == "slow":
		pause(ctx, f.after)
		r, err = do()
	case f.how == "lost":
		if _, err = do(); err == nil {
			err = core.ErrUnknown
		}
	case f.how == "hang":
		pause(ctx, f.after)
		err = core.ErrUnknown
	case f.how == "rate":
		err = &core.RetryAfter{After: f.after, Global: f.global, Err: errors.New("too many requests")}
	default:
		err = fmt.Errorf("%w: as the script wants it", outcomes[f.how])
	}
	if a.life.reach("after", op) {
		return core.Receipt{}, core.ErrUnknown
	}
	return r, err
}

// show does what the platform does with a request.
func (a *adapter) show(o core.Outbound) (core.Receipt, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.life.over():
		return core.Receipt{}, core.ErrUnknown
	case a.revoked:
		return core.Receipt{}, fmt.Errorf("%w: the token is not valid any more", core.ErrFatal)
	case a.moved[o.Place.Channel] != "":
		return core.Receipt{}, &core.Moved{From: o.Place.Channel, To: a.moved[o.Place.Channel]}
	}
	a.nonces = append(a.nonces, nonces(o.Buttons)...)
	if o.Status != "" {
		o.Text = strings.TrimSpace(o.Text + "\n\n_" + o.Status + "_")
	}
	if n := len([]rune(o.Text + o.Thinking)); strings.TrimSpace(o.Text) == "" || n > a.max+100 {
		return core.Receipt{}, fmt.Errorf("%w: a text of %d characters", core.ErrRefused, n)
	}
	if o.File != nil && a.heavy {
		return core.Receipt{}, fmt.Errorf("%w: files are forbidden here", core.ErrRefused)
	}
	if len(o.Buttons) > 0 && a.bare {
		return core.Receipt{}, fmt.Errorf("%w: buttons are forbidden here", core.ErrRefused)
	}
	if o.Edit != "" {
		return a.change(o.Place, o.Edit, o)
	}
	if m := a.keyed(o.Place, o.Key); m != nil && a.once == core.OnceKey {
		return receipt(m), nil // the second send of a key is dropped
	}
	m := &message{author: self, text: o.Text, file: o.File, thinking: o.Thinking, re: o.ReplyTo, key: o.Key, kind: o.Kind, buttons: a.shownButtons(o)}
	if o.Speaker.Name != "" {
		m.author = o.Speaker.Name
	}
	if a.find(o.Place, o.ReplyTo) == nil {
		m.re = ""
	}
	a.add(o.Place, m)
	if o.Begin != "" {
		a.titles[core.Place{Adapter: o.Place.Adapter, Channel: o.Place.Channel, Topic: m.id}] = o.Begin
	}
	a.became(o)
	return receipt(m), nil
}

// shownButtons are those that the platform shows.
func (a *adapter) shownButtons(o core.Outbound) []core.Button {
	if !a.buttons {
		return nil
	}
	return o.Buttons
}

func receipt(m *message) core.Receipt { return core.Receipt{ID: m.id, Time: time.Now().UTC()} }

// change edits a message of ours. The caller holds mu.
func (a *adapter) change(at core.Place, id string, o core.Outbound) (core.Receipt, error) {
	m := a.find(at, id)
	if m == nil || m.person != "" {
		return core.Receipt{}, fmt.Errorf("%w: there is no message %s of ours", core.ErrGone, id)
	}
	if o.Speaker.Name != "" {
		m.author = o.Speaker.Name
	}
	again := m.kind == o.Kind && m.key == o.Key // it is in its place, whatever it says now
	m.text, m.file, m.thinking, m.kind, m.key, m.buttons = o.Text, o.File, o.Thinking, o.Kind, o.Key, a.shownButtons(o)
	if !again {
		a.became(o)
	}
	if o.Kind == core.OutUpdate {
		a.previews = append(a.previews, preview{at, id, o.Text, time.Now()})
	}
	return receipt(m), nil
}

// became notes a piece of an outcome that people see now. The caller holds mu.
func (a *adapter) became(o core.Outbound) {
	if o.Kind == core.OutFinal {
		a.finals = append(a.finals, shown{o.Key, o.Place})
	}
}

// keyed finds the message that was sent with a key. The caller holds mu.
func (a *adapter) keyed(at core.Place, key string) *message {
	for _, m := range a.rooms[at] {
		if m.key == key {
			return m
		}
	}
	return nil
}

// readBack looks for the key in the place.
func (a *adapter) readBack(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	return a.call(ctx, "resolve", func() (core.Receipt, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if m := a.keyed(o.Place, o.Key); m != nil {
			return receipt(m), nil
		}
		return core.Receipt{}, core.ErrNotSent
	})
}

// probes is how many ids a probe looks at.
const probes = 12

// probe looks for a lost message by editing what comes after another one: what
// is ours, in this place, and not known is it.
func (a *adapter) probe(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	if o.Edit != "" {
		return a.Send(ctx, o)
	}
	return a.call(ctx, "resolve", func() (core.Receipt, error) {
		after, err := strconv.Atoi(o.After)
		if err != nil {
			return core.Receipt{}, core.ErrNotSent
		}
		for id, left := after+1, probes; left > 0; id++ {
			if ctx.Err() != nil {
				return core.Receipt{}, core.ErrUnknown
			}
			if o.Known(strconv.Itoa(id)) {
				continue
			}
			left--
			a.mu.Lock()
			r, err := a.change(o.Place, strconv.Itoa(id), o)
			a.mu.Unlock()
			if err == nil {
				return r, nil
			}
		}
		return core.Receipt{}, core.ErrNotSent
	})
}

func (a *adapter) react(_ context.Context, at core.Place, id, emoji string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.find(at, id)
	if m == nil || a.life.over() {
		return core.ErrGone
	}
	m.marks = nil
	if emoji != "" {
		m.marks = []string{emoji}
	}
	return nil
}
