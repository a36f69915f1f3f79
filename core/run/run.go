// Package run executes one run of a bot: it prepares and unrolls the thread,
// calls the model and its tools step by step, each step durable before the
// next, and settles the outcome. A run can be resumed after every step.
//
// It imports core, core/perm and core/prompt alone. The only goroutines it starts fetch a
// run's files, and the run waits for them.
package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"bellhop/core"
	"bellhop/core/perm"
	"bellhop/core/prompt"
)

// Store is the part of the ledger that runs use.
type Store interface {
	Pick(ctx context.Context, items []core.Item, window, most int) (core.Run, core.Scene, error)
	Before(ctx context.Context, thread, before core.ID, limit int) (msgs []core.Message, more bool, err error)
	Sort(ctx context.Context, items []core.Item, bot string, usage core.Usage) ([]core.Item, error)
	Await(ctx context.Context, run core.Run) error
	Begin(ctx context.Context, run core.Run) error
	Prepared(ctx context.Context, run core.Run, msgs []core.Message) (core.Run, error)
	Step(ctx context.Context, run core.Run, step core.Step) error
	Arrived(ctx context.Context, run core.Run, most int) (core.Arrival, error)
	Join(ctx context.Context, run core.Run, in core.Arrival, prepared []core.Message) (core.Run, error)
	Park(ctx context.Context, run core.Run, step core.Step, open *core.Receipt, p core.Parking) (core.Parked, error)
	Settle(ctx context.Context, run core.Run, open *core.Receipt, end core.Settlement) (core.Settled, error)
}

// Outbox is where runs show their posts. See package bus.
type Outbox interface {
	Open(run core.Run, speaker core.Speaker, status string)
	Wait(run core.Run, speaker core.Speaker)
	Update(run core.Run, p core.Preview)
	Receipt(ctx context.Context, run core.Run) *core.Receipt
	Deliver(rows []core.Row)
	Parked(p core.Parked)
	Split(p core.Place, markdown string) []core.Piece
	SplitBelow(p core.Place, markdown, thinking string) []core.Piece
	Thinks(p core.Place) bool
	Features(adapter string) core.Features
	Handles() []string
	Trouble(ctx context.Context, what, text string)
}

// Toolbox is the tools that bots can use. See package tools.
type Toolbox interface {
	// Specs lists what the bot may use, by name.
	Specs(bot core.Bot) []core.ToolSpec
	// Find is a tool that the bot may use; the error is for the model to read.
	Find(bot core.Bot, name string) (core.Tool, error)
}

// Options of a Runner.
type Options struct {
	Store     Store
	Outbox    Outbox
	Bots      []core.Bot      // the whole team, for the roster
	Externals []core.External // the external actors, for the roster
	Tools     Toolbox
	Files     Files // nil: files stay references
	// Repair makes a JSON object of a model's arguments, if there is one in
	// them. Canonical is one form of arguments, for comparing. Cap bounds a
	// tool's output. See package tools.
	Repair    func(args string) (string, bool)
	Canonical func(args string) string
	Cap       func(text string, most int) string
	// Provider finds the endpoint of a "provider/model", and the model's name
	// there.
	Provider func(model string) (core.Provider, string, error)
	// Facts are what is known of a "provider/model" that is not the bot's own: the
	// tokens it takes (0: unknown), and whether it can see images. Nil: nothing.
	Facts func(model string) (window int, vision bool)
	// Workspace is the folder of a bot's run in a thread, made if it is missing;
	// empty: none. Nil: there are none.
	Workspace func(th core.Thread, bot string) (string, error)
	// Wake is told of items that a settled run has queued, and of those that a
	// run was given and has not taken.
	Wake func([]core.Item)
	// Waits reports whether something waits for the bot in the thread, and Joined
	// is told which items do no more, since a run has taken them in: of bots that
	// steer. Neither waits.
	Waits  func(bot string, thread core.ID) bool
	Joined func(bot string, items []core.ID)
	// Rules are what holds for the calls of a run; nil: every call may be made.
	Rules func(ctx context.Context, run core.Run) (Rules, error)
	// Due is told of a thread that is to be given a title, and does not wait; nil:
	// none is.
	Due     func(thread core.ID)
	Sorting *Sorting // nil: what names nobody is the default bot's
	MaxHops int
	Zone    *time.Location // of the time that models are told
	Log     *slog.Logger
}

// Rules are what holds for the calls of a run.
type Rules struct {
	perm.Levels
	Role   core.Role // the least of the people whose work it is; a run that is nobody's has none
	Nobody bool      // nobody may approve a call of it
}

// Runner executes runs. Any number may be in progress.
type Runner struct{ o Options }

// New makes a Runner.
func New(o Options) *Runner { return &Runner{o} }

// openStatus is what a run's post shows before there is text.
const openStatus = "…"

// errRunTime ends a run that has taken too long.
var errRunTime = errors.New("run time is over")

// Run implements mailbox.Runner.
func (r *Runner) Run(ctx context.Context, bot core.Bot, items []core.Item) (core.ID, error) {
	items, err := r.sort(ctx, bot, items)
	switch {
	case err != nil:
		return "", err
	case len(items) == 0: // they are other bots'
		return "", core.ErrRunOver
	}
	for {
		t, err := r.pick(ctx, bot, items)
		if err != nil {
			return "", err
		}
		if len(t.left) > 0 {
			r.o.Wake(t.left)
		}
		err = t.safely(ctx)
		switch {
		case errors.Is(err, core.ErrStale):
			continue
		case errors.Is(err, core.ErrStopping):
			return t.run.ID, err
		case errors.Is(err, core.ErrWaiting):
			return "", err
		}
		return "", err
	}
}

// Wait implements mailbox.Runner.
func (r *Runner) Wait(ctx context.Context, bot core.Bot, items []core.Item) {
	if open := unsorted(items); len(open) > 0 { // who has waited so long does not wait for a choice as well
		if _, err := r.o.Store.Sort(ctx, open, bot.Handle, core.Usage{}); err != nil {
			return
		}
	}
	t, err := r.pick(ctx, bot, items)
	if err == nil {
		err = r.o.Store.Await(ctx, t.run)
	}
	if err == nil {
		r.o.Outbox.Wait(t.run, t.speaker())
	}
}

// turn is one run in progress.
type turn struct {
	*Runner
	log   *slog.Logger
	bot   core.Bot
	run   core.Run
	view  prompt.View
	steps []core.Step
	began time.Time // of its work: the start, or where it went on
	// strikes counts tool calls whose arguments could not be read.
	strikes int
	folded  bool        // the window was narrowed after an overflow
	retried bool        // a person has asked for another try
	upto    core.ID     // newest message that it reads
	left    []core.Item // do not fit in the window, and wait for the next run
	folder  string      // in which it works; empty: none
}

// pick reads the run and freezes what it reads of the thread: its window, its
// tail, its reply address. Of more messages than the window holds, the oldest
// join and the others wait for the next run: what the model does not see whole
// it cannot answer.
func (r *Runner) pick(ctx context.Context, bot core.Bot, items []core.Item) (*turn, error) {
	window := bot.History.Messages
	t, err := r.read(ctx, bot, items, window)
	if err != nil {
		return nil, err
	}
	if fit := prompt.Joining(t.view); t.run.Upto == "" && fit < len(t.run.Triggers) {
		if t, err = r.read(ctx, bot, items, fit); err != nil {
			return nil, err
		}
	}
	t.left = slices.DeleteFunc(slices.Clone(items), func(it core.Item) bool { return slices.Contains(t.run.Items, it.ID) })
	if t.run.Upto == "" { // else the window is that of the stored pick
		t.fold(bot.History)
	}
	t.run.Upto = t.upto
	if t.run.Tail == "" {
		t.run.Tail = prompt.Tail(t.view, t.run.Triggers, time.Now(), r.o.Zone)
	}
	if f := r.o.Outbox.Features(t.run.Reply.Place.Adapter); !f.Replies || t.run.Reply.Direct {
		t.run.Reply.To = ""
	}
	return t, nil
}

// read is the run of the items, of at most so many messages that wait.
func (r *Runner) read(ctx context.Context, bot core.Bot, items []core.Item, most int) (*turn, error) {
	run, scene, err := r.o.Store.Pick(ctx, items, bot.History.Messages, most)
	if err != nil {
		return nil, err
	}
	bot = r.equip(bot, &run, scene.Thread)
	t := &turn{Runner: r, bot: bot, run: run, steps: scene.Steps, upto: scene.Upto,
		log: r.o.Log.With("run", run.ID, "bot", bot.Handle, "thread", run.Thread, "place", run.Reply.Place.String())}
	team := make([]core.Bot, 0, len(r.o.Bots))
	for _, b := range r.o.Bots {
		if b.Handle != bot.Handle {
			team = append(team, b)
		}
	}
	t.retried = slices.ContainsFunc(items, func(it core.Item) bool { return it.Parent != "" })
	t.view = prompt.View{Bot: bot, Team: team, Externals: r.o.Externals, Thread: scene.Thread, Messages: scene.Messages, Triggers: run.Triggers,
		Local: local(scene.Messages, run.Triggers), Language: newest(scene.Messages, run.Triggers).Language}
	t.view.Scoped, t.view.Older = run.Scoped, older(scene, run.Scoped)
	return t, nil
}

// newest is the newest trigger that a person has sent; zero: there is none.
func newest(messages []core.Message, triggers []core.ID) core.Message {
	for i := range slices.Backward(messages) {
		if m := &messages[i]; m.Sender.Kind == core.HumanActor && slices.Contains(triggers, m.ID) {
			return *m
		}
	}
	return core.Message{}
}

// local is the time zone of the person who sent the newest trigger; nil when
// nobody tells, or this machine does not know the zone.
func local(messages []core.Message, triggers []core.ID) *time.Location {
	m := newest(messages, triggers)
	if loc, err := time.LoadLocation(m.Zone); m.Zone != "" && err == nil {
		return loc
	}
	return nil
}

// fold moves the bot's window in the thread when its budget is passed. The new
// cut is stored with the run.
func (t *turn) fold(budget core.Budget) {
	t.view.Bot.History = budget
	var cut core.ID
	t.view, cut = prompt.Fold(t.view)
	if cut == "" {
		cut = t.run.Cut
	}
	if cut == "" {
		cut = t.view.Thread.Cuts[t.bot.Handle]
	}
	t.run.Cut = cut
}

func (t *turn) speaker() core.Speaker { return core.Speaker{Name: t.bot.DisplayName()} }

// safely is the whole run; a panic in it ends it with one notice.
func (t *turn) safely(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("run panicked", "panic", p, "stack", string(debug.Stack()))
			err = t.settle(ctx, t.failed("Something went wrong inside me, and I stopped working on this.", fmt.Sprintf("panic: %v", p)))
		}
	}()
	return t.work(ctx)
}

func (t *turn) work(ctx context.Context) error {
	if t.run.Resumes > core.MaxResumes {
		return t.settle(ctx, t.failed(fmt.Sprintf("I crashed %d times while I worked on this, so I stopped trying.", t.run.Resumes), "crashed repeatedly"))
	}
	if t.run.Resumed {
		if err := t.store(ctx, func(ctx context.Context) error { return t.o.Store.Begin(ctx, t.run) }); err != nil {
			return err
		}
	}
	t.o.Outbox.Open(t.run, t.speaker(), openStatus)
	t.began = t.run.Created
	if t.run.Resumed || t.run.Asked() { // the time it lay still or waited does not count
		t.began = time.Now()
	}
	limit, cancel := context.WithDeadlineCause(ctx, t.began.Add(t.bot.RunTime-t.run.Worked), errRunTime)
	defer cancel()
	end, err := t.loop(limit)
	switch {
	case err == nil: // what is worked out is not lost to the time limit any more
		return t.settle(ctx, end)
	case errors.Is(err, core.ErrRunOver), errors.Is(err, core.ErrStale), errors.Is(err, core.ErrStopping), errors.Is(err, core.ErrWaiting):
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limit.Err() != nil:
		return t.settle(ctx, t.failed(fmt.Sprintf("I worked on this for %s, which is my limit, and stopped.", t.bot.RunTime), "run time is over"))
	}
	return t.settle(ctx, t.failed(t.explain(err)))
}

// loop calls the model until it answers or reaches a bound. Errors are those of
// the model, of tools that cannot go on, and of the store.
func (t *turn) loop(ctx context.Context) (core.Settlement, error) {
	var none core.Settlement
	provider, model, err := t.provider()
	if err != nil {
		return none, err
	}
	t.settleIn()
	if n := len(t.steps); n > 0 {
		if err := t.finishTools(ctx, &t.steps[n-1]); err != nil {
			return none, err
		}
	}
	if err := t.prepare(ctx); err != nil {
		return none, err
	}
	t.view.Pictures = map[string]core.Image{}
	if err := t.look(ctx, t.view.Messages); err != nil {
		return none, err
	}
	for {
		if len(t.steps) >= t.bot.Steps {
			return t.limited(fmt.Sprintf("I took %d steps on this, which is my limit, and stopped before I was done.", len(t.steps))), nil
		}
		if err := t.join(ctx); err != nil {
			return none, err
		}
		call := core.Call{Model: model, System: prompt.System(t.bot, t.view.Team, t.view.Externals), Tools: t.o.Tools.Specs(t.bot), Params: t.bot.Params,
			Messages: prompt.Unroll(t.view, t.run.Tail, t.steps...)}
		reply, err := t.call(ctx, provider, call)
		if fault, ok := errors.AsType[*core.ModelError](err); ok && t.lessen(fault) {
			continue
		}
		if err != nil {
			return none, err
		}
		t.run.Usage = t.run.Usage.Add(reply.usage)
		switch {
		case len(reply.calls) > 0:
			if why, err := t.step(ctx, reply); err != nil {
				return none, err
			} else if why != "" {
				return t.limited(why), nil
			}
		case reply.finish == core.FinishLength && t.continuations() < maxContinuations:
			if err := t.keep(ctx, core.Step{Run: t.run.ID, N: len(t.steps) + 1, Parts: reply.parts(), Finish: reply.finish, Usage: reply.usage}); err != nil {
				return none, err
			}
		default:
			return t.answer(reply), nil
		}
	}
}

// lessen leaves out of the next request what the model has refused, once: what
// is old when it was too large, and images when it may be these. It reports
// whether the call is worth another try.
func (t *turn) lessen(fault *core.ModelError) bool {
	switch {
	case fault.Fault == core.FaultOverflow && !t.folded && len(t.steps) == 0:
		t.folded = true
		t.fold(core.Budget{Tokens: t.bot.History.Tokens / 4, Messages: max(2, t.bot.History.Messages/4)})
	case fault.Fault == core.FaultRequest && t.view.Bot.Vision && len(t.view.Pictures) > 0:
		t.log.Warn("the model refuses a request with images; it goes on without them", "err", fault)
		t.view.Bot.Vision = false
	default:
		return false
	}
	return true
}

// maxContinuations is how often a reply that hit the model's output limit is
// continued.
const maxContinuations = 3

// continuations counts the steps at the end that were cut at the output limit.
func (t *turn) continuations() int {
	n := 0
	for i := len(t.steps) - 1; i >= 0 && t.steps[i].Finish == core.FinishLength; i-- {
		n++
	}
	return n
}

// unfinished is the text of those steps: the answer's beginning.
func (t *turn) unfinished() string {
	var s strings.Builder
	for _, st := range t.steps[len(t.steps)-t.continuations():] {
		s.WriteString(st.Text())
	}
	return s.String()
}

// keep makes a step durable, new or again.
func (t *turn) keep(ctx context.Context, st core.Step) error {
	if st.Time.IsZero() {
		st.Time = time.Now().UTC().Truncate(time.Millisecond)
	}
	if st.N > len(t.steps) {
		t.steps = append(t.steps, st)
	} else {
		t.steps[st.N-1] = st
	}
	return t.store(ctx, func(ctx context.Context) error { return t.o.Store.Step(ctx, t.run, st) })
}

// store writes to the ledger, and again until it takes it: a full disk delays
// a run and loses nothing. It gives up when the run is over or ctx ends.
func (t *turn) store(ctx context.Context, write func(context.Context) error) error {
	for wait := 250 * time.Millisecond; ; wait = min(2*wait, 10*time.Second) {
		err := write(ctx)
		switch {
		case err == nil, errors.Is(err, core.ErrRunOver), errors.Is(err, core.ErrStale), errors.Is(err, core.ErrNotFound):
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		t.log.Error("the store refuses to write; the run waits", "err", err)
		t.o.Outbox.Trouble(ctx, "store", fmt.Sprintf("I cannot store what I have done: %v. I wait and go on when that is solved.", err))
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}
