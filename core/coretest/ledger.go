package coretest

import (
	"context"
	"slices"
	"sync"
	"time"

	"bellhop/core"
	"bellhop/store"
)

// ledger is the store as the appliance's parts see it: each transaction that
// writes passes its moments and is noted.
type ledger struct {
	*store.Store
	life *life
	log  *journal
}

// journal notes transactions for the commits section, and the order in which
// outcomes were decided.
type journal struct {
	mu    sync.Mutex // guards the fields below
	names []string
	order map[string]decided // by outbound key
	line  int                // of the script
}

// decided is when an outcome was, or at the latest.
type decided struct {
	seq  uint64 // Row.Seq
	line int    // of the script
	at   time.Time
}

// before reports whether an outcome must be shown before another. Those of one
// instant may be shown in any order: two goroutines have decided them at once.
func (d decided) before(e decided) bool {
	return d.seq < e.seq && (d.line < e.line || d.at.Before(e.at))
}

func (j *journal) note(name string, rows []core.Row) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.names = append(j.names, name)
	j.place(rows)
}

// next is called before each line.
func (j *journal) next() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.line++
}

// learn notes the order of rows that were found.
func (j *journal) learn(rows []core.Row) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.place(rows)
}

// place notes the order of rows. j.mu is held.
func (j *journal) place(rows []core.Row) {
	for _, r := range rows {
		if r.Again {
			continue // it is in its place already
		}
		if key := chunkKey(r.Post, r.Chunk); j.order[key].seq != r.Seq {
			j.order[key] = decided{r.Seq, j.line, time.Now()}
		}
	}
}

// since lists the transactions after the first n.
func (j *journal) since(n int) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.names[n:])
}

func (l *ledger) tx(name string, rows *[]core.Row, f func() error) error {
	if l.life.reach("before", name) {
		return store.ErrClosed
	}
	if err := f(); err != nil {
		return err
	}
	var out []core.Row
	if rows != nil {
		out = *rows
	}
	l.log.note(name, out)
	if l.life.reach("after", name) {
		return store.ErrClosed
	}
	return nil
}

func (l *ledger) Accept(ctx context.Context, b core.Batch) (out core.Accepted, err error) {
	err = l.tx("accept", &out.Rows, func() (err error) { out, err = l.Store.Accept(ctx, b); return err })
	return out, err
}

// Note has no moments: nothing waits for it.
func (l *ledger) Note(ctx context.Context, all ...core.Activity) error {
	if l.life.over() {
		return store.ErrClosed
	}
	l.log.note("note", nil)
	return l.Store.Note(ctx, all...)
}

func (l *ledger) AnswerAs(ctx context.Context, in core.ExternalAnswer) (out core.Said, err error) {
	err = l.tx("say", &out.Rows, func() (err error) { out, err = l.Store.AnswerAs(ctx, in); return err })
	return out, err
}

func (l *ledger) Say(ctx context.Context, say core.Saying) (out core.Said, err error) {
	err = l.tx("say", &out.Rows, func() (err error) { out, err = l.Store.Say(ctx, say); return err })
	return out, err
}

func (l *ledger) Attempted(ctx context.Context, item core.ID, a core.Attempt) (out core.Attempted, err error) {
	err = l.tx("attempted", &out.Rows, func() (err error) { out, err = l.Store.Attempted(ctx, item, a); return err })
	return out, err
}

func (l *ledger) Begin(ctx context.Context, run core.Run) error {
	return l.tx("begin", nil, func() error { return l.Store.Begin(ctx, run) })
}

func (l *ledger) Opened(ctx context.Context, run core.Run, r core.Receipt) error {
	return l.tx("opened", nil, func() error { return l.Store.Opened(ctx, run, r) })
}

func (l *ledger) Prepared(ctx context.Context, run core.Run, msgs []core.Message) (out core.Run, err error) {
	err = l.tx("prepared", nil, func() (err error) { out, err = l.Store.Prepared(ctx, run, msgs); return err })
	return out, err
}

func (l *ledger) Sort(ctx context.Context, items []core.Item, bot string, usage core.Usage) (out []core.Item, err error) {
	err = l.tx("sort", nil, func() (err error) { out, err = l.Store.Sort(ctx, items, bot, usage); return err })
	return out, err
}

func (l *ledger) Step(ctx context.Context, run core.Run, st core.Step) error {
	return l.tx("step", nil, func() error { return l.Store.Step(ctx, run, st) })
}

func (l *ledger) Join(ctx context.Context, run core.Run, in core.Arrival, prepared []core.Message) (out core.Run, err error) {
	err = l.tx("join", nil, func() (err error) { out, err = l.Store.Join(ctx, run, in, prepared); return err })
	return out, err
}

func (l *ledger) Settle(ctx context.Context, run core.Run, open *core.Receipt, end core.Settlement) (out core.Settled, err error) {
	err = l.tx("settle", &out.Rows, func() (err error) { out, err = l.Store.Settle(ctx, run, open, end); return err })
	return out, err
}

func (l *ledger) RowOpened(ctx context.Context, row core.Row, r core.Receipt) error {
	return l.tx("chunk", nil, func() error { return l.Store.RowOpened(ctx, row, r) })
}

func (l *ledger) Delivered(ctx context.Context, row core.Row, r core.Receipt) (again *core.Row, err error) {
	err = l.tx("receipt", nil, func() (err error) { again, err = l.Store.Delivered(ctx, row, r); return err })
	return again, err
}

func (l *ledger) Park(ctx context.Context, run core.Run, st core.Step, open *core.Receipt, p core.Parking) (out core.Parked, err error) {
	err = l.tx("park", &out.Rows, func() (err error) { out, err = l.Store.Park(ctx, run, st, open, p); return err })
	return out, err
}

func (l *ledger) Lapse(ctx context.Context, split func(core.Place, string) []core.Piece) (out core.Accepted, next time.Time, err error) {
	err = l.tx("lapse", &out.Rows, func() (err error) { out, next, err = l.Store.Lapse(ctx, split); return err })
	return out, next, err
}

// Fork implements bus.Store.
func (l *ledger) Fork(ctx context.Context, row core.Row, r core.Receipt) (rows []core.Row, err error) {
	err = l.tx("fork", &rows, func() (err error) {
		rows, err = l.Store.Fork(ctx, row, r)
		return err
	})
	return rows, err
}

func (l *ledger) Bury(ctx context.Context, row core.Row, why string, owner core.Place, tell []core.Piece) (out []core.Row, err error) {
	err = l.tx("bury", &out, func() (err error) { out, err = l.Store.Bury(ctx, row, why, owner, tell); return err })
	return out, err
}

func (l *ledger) Notify(ctx context.Context, p core.Place, pieces []core.Piece) (out []core.Row, err error) {
	err = l.tx("notify", &out, func() (err error) { out, err = l.Store.Notify(ctx, p, pieces); return err })
	return out, err
}

func (l *ledger) Moved(ctx context.Context, m core.Moving) error {
	return l.tx("moved", nil, func() error { return l.Store.Moved(ctx, m) })
}

func (l *ledger) StopClean(ctx context.Context, runs []core.ID) error {
	if len(runs) == 0 {
		return nil
	}
	return l.tx("stopclean", nil, func() error { return l.Store.StopClean(ctx, runs) })
}
