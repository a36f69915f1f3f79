package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"bellhop/core"
)

// join has a run take in, after a step, what has come meanwhile; more may come
// before, and between reading that and joining it.
func (h *house) join(t *rapid.T) {
	at, ok := h.busy(t)
	if !ok {
		return
	}
	if f := h.at[at]; f.run.Steps == 0 {
		h.step(at)
	}
	if rapid.Bool().Draw(t, "more is wanted") {
		h.want(at)
	}
	f := h.at[at]
	if !h.flying(at) || f.run.Steps == 0 {
		return
	}
	most := rapid.SampledFrom([]int{1, 2, 80}).Draw(t, "most messages")
	in, err := h.store.Arrived(h.ctx, f.run, most)
	if err != nil {
		h.Fatal(err)
	}
	lines, items, read := at.th.arrived(at.bot, f.scoped, f.read, most)
	var want, got []string
	for _, ln := range lines {
		want = append(want, fmt.Sprintf("%s (version %d)", ln.text, ln.version))
	}
	for _, m := range in.Messages {
		got = append(got, fmt.Sprintf("%s (version %d)", m.Text(), m.Version))
	}
	h.same("arrived", want, got)
	want, got = nil, nil
	for _, it := range items {
		want = append(want, string(it.told.Message))
	}
	for _, id := range in.Triggers {
		got = append(got, string(id))
	}
	h.same("triggers", want, got)
	if len(lines) == 0 {
		return
	}
	versions := make([]int, len(lines))
	for i, ln := range lines {
		versions[i] = ln.version
	}
	switch rapid.SampledFrom([]string{"nothing", "nothing", "nothing", "an event", "edit", "delete"}).Draw(t, "what happens") {
	case "an event":
		h.accept(t)
	case "edit":
		h.change(t, "edit", core.InEdit, lines)
	case "delete":
		h.change(t, "delete", core.InDelete, lines)
	}
	if h.at[at] != f {
		return
	}
	prepared := in.Messages[:rapid.IntRange(0, 1).Draw(t, "prepared")]
	var run core.Run
	var over error
	h.do(func() error {
		joined, err := h.store.Join(h.ctx, f.run, in, prepared)
		if errors.Is(err, core.ErrRunOver) || errors.Is(err, core.ErrStale) {
			over, err = err, nil
		}
		run = joined
		return err
	}, func() {
		if err := f.model.join(lines, items, versions); !errors.Is(over, err) || err == nil && over != nil {
			h.Fatalf("%s joins: %v, want %v", f.run.ID, over, err)
		}
		if over == nil {
			f.model.clean = f.model.clean && f.resume.ID == ""
			f.model.read, f.whose = read, f.model.whose
			for i := range prepared {
				lines[i].version++
			}
		}
	}, func() {
		switch {
		case errors.Is(over, core.ErrRunOver):
			delete(h.at, at)
		case over == nil:
			f.run, f.read = run, read
			if last := in.Messages[len(in.Messages)-1].ID; run.Upto != last || !slices.Contains(run.Triggers, last) || len(run.Versions) != len(run.Triggers) {
				h.Fatalf("%+v does not have %s", run, last)
			}
		}
	})
}

// change has a person change one of the messages, if one of them is a person's.
func (h *house) change(t *rapid.T, kind string, as core.InboundKind, of []*line) {
	for _, id := range slices.Sorted(maps.Keys(h.lines)) {
		ln := h.lines[id]
		if !slices.Contains(of, ln) {
			continue
		}
		h.events++
		h.offer([]string{kind}, []core.Entry{{Role: core.Member, Agent: chief, In: core.Inbound{Key: fmt.Sprint("e", h.events), Kind: as, Direct: true,
			From: core.Person{ID: ln.from, Name: "Ann"}, MessageID: id, Text: someText(t), Place: core.Place{Adapter: "chat", Channel: ln.th.channel}}}})
		return
	}
}

// step stores that a run has gone a step.
func (h *house) step(at desk) {
	f := h.at[at]
	h.write(at, func() error {
		return h.store.Step(h.ctx, f.run, core.Step{Run: f.run.ID, N: f.run.Steps + 1})
	}, func() {}, func() { f.run.Steps++ })
}

// arrived are the messages of others, as far as the bot sees them, after the first so many, up to the last
// that waits for the bot, with the items that do; and how many messages a run
// has read with them.
func (th *thread) arrived(bot string, scoped bool, read, most int) (lines []*line, items []*item, upto int) {
	for i, ln := range th.lines[read:] {
		if ln.by == bot || ln.answers != nil && ln.answers.bot == bot || scoped && !ln.isFor(bot) {
			continue
		}
		if most--; most < 0 {
			break
		}
		lines = append(lines, ln)
		for _, it := range ln.items {
			if it.bot == bot && it.state == core.Queued {
				items, upto = append(items, it), read+i+1
			}
		}
	}
	if len(items) == 0 {
		return nil, nil, 0
	}
	last := slices.Index(lines, items[len(items)-1].line)
	return lines[:last+1], items, upto
}

// join moves the items of the messages into the run. It says what is wrong if
// it is over, or if one has changed since it was read.
func (r *run) join(lines []*line, items []*item, versions []int) error {
	if r.state != core.Doing {
		return core.ErrRunOver
	}
	for i, ln := range lines {
		if ln.version != versions[i] {
			return core.ErrStale
		}
	}
	if slices.ContainsFunc(items, func(it *item) bool { return it.state != core.Queued }) {
		return core.ErrStale
	}
	for _, it := range items {
		it.state, it.run = core.Doing, r
		r.items = append(r.items, it)
		r.whose = it.line.requester(r.whose)
	}
	return nil
}
