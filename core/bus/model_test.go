package bus

import (
	"context"
	"flag"
	"fmt"
	"hash/maphash"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
	"bellhop/core/mailbox"
	"bellhop/store/memkv"
)

var replay = flag.String("schedule", "", "replay one schedule of TestModel, as a failure prints it")

// scenario is what people do, how the model answers, and how much may go wrong.
type scenario struct {
	name     string
	script   []string // what people do, each as soon as all is quiet or, by a switch, earlier
	answer   string   // in pieces, apart by "|"
	slow     bool     // the model takes so long that the open is stored and a preview shown
	never    bool     // the platform may refuse a text for good
	faults   int      // at most
	switches int      // at most: an actor goes first though it would not by default
	commands []core.Command
	asks     core.AskKind // the run asks people first
}

var scenarios = []scenario{
	{name: "quick", script: []string{"say"}, answer: "yes", faults: 2},
	{name: "slow", script: []string{"say"}, answer: "yes|and no", slow: true, faults: 3},
	{name: "any order", script: []string{"say", "again"}, answer: "yes|and no", faults: 1, switches: 1},
	{name: "stop", script: []string{"say", "/stop"}, answer: "yes|and no", faults: 1, switches: 1},
	{name: "slow stop", script: []string{"say", "/stop"}, answer: "yes|and no", slow: true, faults: 1, switches: 1},
	{name: "two messages", script: []string{"say", "say"}, answer: "yes", faults: 1, switches: 1},
	{name: "command", script: []string{"/help"}, faults: 3},
	{name: "edit", script: []string{"say", "edit"}, answer: "yes", faults: 1, switches: 1},
	{name: "delete", script: []string{"say", "delete"}, answer: "yes", faults: 1, switches: 1},
	{name: "delete one", script: []string{"say", "say", "delete"}, answer: "yes", faults: 1, switches: 1},
	{name: "our message is deleted", script: []string{"say", "wipe"}, answer: "yes|and no", slow: true, faults: 1, switches: 1},
	{name: "question", script: []string{"say", "red"}, answer: "yes", asks: core.QuestionAsk, faults: 2},
	{name: "approval", script: []string{"say", "yes"}, answer: "yes", asks: core.ApprovalAsk, faults: 2},
	{name: "stop what asks", script: []string{"say", "/stop"}, answer: "yes", asks: core.QuestionAsk, faults: 1, switches: 1},
	{name: "refused for good", script: []string{"say", "say"}, answer: "yes|and no", never: true, faults: 2},
}

var strategies = []strategy{
	{name: "edit", once: core.OnceEdit},
	{name: "edit far", once: core.OnceEdit, far: true},
	{name: "key", once: core.OnceKey},
	{name: "readback", once: core.OnceReadback},
}

// mistaken is what the search must find out about adapters that do not keep
// their word.
var mistaken = []struct {
	strategy
	want string
}{
	{strategy{name: "key without a window", once: core.OnceKey, blind: true}, "doubled"},
	{strategy{name: "unknown sends are sent again", once: core.OnceReadback, blind: true}, "doubled"},
	{strategy{name: "unknown sends are taken for shown", once: core.OnceEdit, naive: true}, "lost"},
}

// TestModelFinds makes sure that the search can fail.
func TestModelFinds(t *testing.T) {
	for _, s := range mistaken {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sc := scenario{script: []string{"say"}, answer: "yes|and no", faults: 1}
				x := newExplorer(t, s.strategy, &sc)
				x.explore(&world{engine: memkv.New(memkv.Options{}), chat: chat{script: sc.script}}, sc.faults, sc.switches)
				for _, f := range x.failed {
					plan, err := parseSchedule(f.schedule.String())
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(f.schedule, plan, cmp.AllowUnexported(choice{})); diff != "" {
						t.Errorf("a schedule read back (-want +got):\n%s", diff)
					}
					if strings.Contains(strings.Join(f.wrong, "\n"), s.want) {
						return
					}
				}
				t.Errorf("nothing is %s", s.want)
			})
		})
	}
}

// TestModel goes through every schedule of a few faults at the points of a
// message's life, over the real ledger, run loop and outbox: whatever happens,
// each answer is shown once, whole and in order, and nothing else stays. With
// -short and under the race detector, which makes it ten times slower, there is
// one fault less.
func TestModel(t *testing.T) {
	percent := debug.SetGCPercent(400) // much garbage, and little that stays
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	commands := append(Commands(func() []AdapterHealth { return nil }), mailbox.Commands()...)
	for _, s := range strategies {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for _, sc := range scenarios {
				if sc.switches > 0 && (s.far || s.once == core.OnceReadback) {
					continue // as to order, the worker goes one way for edit and another for all else
				}
				sc.commands = commands
				if testing.Short() || raced {
					sc.faults--
				}
				t.Run(sc.name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { check(t, s, &sc) }) })
			}
		})
	}
}

func newExplorer(t *testing.T, s strategy, sc *scenario) *explorer {
	return &explorer{ctx: t.Context(), strategy: s, scenario: sc, known: map[state]uint64{}, judged: map[uint64][]string{}, seed: maphash.MakeSeed()}
}

func check(t *testing.T, s strategy, sc *scenario) {
	x := newExplorer(t, s, sc)
	w := &world{engine: memkv.New(memkv.Options{}), chat: chat{script: sc.script}}
	if *replay != "" {
		plan, err := parseSchedule(*replay)
		if err != nil {
			t.Fatal(err)
		}
		x.report(t, w, plan)
		return
	}
	n := x.explore(w, sc.faults, sc.switches)
	t.Logf("%d schedules of at most %d faults and %d switches, in %d processes", n, sc.faults, sc.switches, x.lives)
	for _, f := range x.failed {
		t.Errorf("-schedule '%s'", f.schedule)
		x.report(t, w, f.schedule)
	}
}

// report replays a schedule and tells of every step.
func (x *explorer) report(t *testing.T, w *world, plan schedule) {
	t.Helper()
	for i, path := range plan {
		p := newProcess(x.ctx, x.strategy, x.scenario, w.clone())
		steps, left := p.replay(path)
		wrong := p.wrong
		if left == nil {
			wrong = append(wrong, p.verdict(x.ctx)...)
		}
		p.end()
		var b strings.Builder
		fmt.Fprintf(&b, "process %d\n", i+1)
		for n, s := range steps {
			if s.op.kind != turn && s.op.kind != past || s.choice != "" {
				fmt.Fprintf(&b, "%4d %s\n", n, s)
			}
		}
		t.Log(b.String())
		for _, what := range wrong {
			t.Error(what)
		}
		if w = left; w == nil {
			return
		}
	}
}

// verdict is what is wrong with a world in which nothing is left to do.
func (p *process) verdict(ctx context.Context) (wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	ledger, err := p.store.Audit(ctx)
	if err != nil {
		bad("audit: %v", err)
	}
	contradictions, err := p.store.Check(ctx)
	if err != nil {
		bad("check: %v", err)
	}
	wrong = append(wrong, contradictions...)
	if n := len(ledger.Rows) + len(ledger.Open) + len(ledger.Queue); n > 0 {
		bad("left over: %d rows, %d open runs, %d queued items", len(ledger.Rows), len(ledger.Open), len(ledger.Queue))
	}
	accepted := 0
	for _, m := range ledger.Messages {
		if m.Sender.Kind == core.HumanActor && m.Corrects == "" {
			accepted++
		}
	}
	if c := &p.world.chat; accepted != c.said {
		bad("%d messages said, %d accepted", c.said, accepted)
	}
	wrong = append(wrong, p.asked(ledger)...)
	outcomes := map[core.ID]bool{}
	for _, it := range ledger.Items {
		outcomes[it.Outcome] = true
		if !it.State.Terminal() || it.Outcome == "" && it.State != core.Withdrawn {
			bad("item %s is %s with outcome %q", it.ID, it.State, it.Outcome)
		}
	}
	dead := map[core.ID]bool{}
	for _, post := range ledger.Posts {
		delete(outcomes, post.ID)
		switch {
		case post.Dead != "":
			dead[post.ID] = true
			if post.Place != ownerPlace && !p.told(post.ID, ledger.Posts) {
				bad("post %s is dead and the owner does not know", post.ID)
			}
		case len(post.Shown) != post.Chunks:
			bad("post %s has %d of %d pieces", post.ID, len(post.Shown), post.Chunks)
		}
	}
	delete(outcomes, "")
	for id := range outcomes {
		bad("outcome %s is no post", id)
	}
	return append(wrong, p.seen(dead)...)
}

// told reports whether the owner has been told of the post, or cannot be told
// of anything.
func (p *process) told(post core.ID, all []core.Post) bool {
	return slices.ContainsFunc(all, func(q core.Post) bool { return q.Place == ownerPlace && q.Dead != "" }) || slices.ContainsFunc(p.world.chat.messages, func(m chatMessage) bool {
		return m.place == ownerPlace && strings.Contains(m.text, string(post))
	})
}

// seen compares what people see with what the ledger has promised.
func (p *process) seen(dead map[core.ID]bool) (wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	shown := map[string]int{} // position by key
	gone := map[string]bool{} // deleted by people, once it was shown
	for i, m := range p.world.chat.messages {
		switch {
		case m.gone:
			gone[m.shows] = gone[m.shows] || m.kind == core.OutFinal
		case !m.ours:
		case m.kind == core.OutOpen && (p.far || p.once == core.OnceEdit && m.place == ownerPlace): // nothing tells where to look
		case m.kind != core.OutFinal:
			bad("stray: message %d %q of %s", i+1, m.text, m.shows)
		case shown[m.shows] > 0:
			bad("doubled: %s is shown by messages %d and %d", m.shows, shown[m.shows], i+1)
		default:
			shown[m.shows] = i + 1
		}
	}
	promises := slices.SortedFunc(slices.Values(p.world.promises), func(a, b promise) int { return int(a.seq) - int(b.seq) })
	last := map[core.Place]int{}
	for _, want := range promises {
		at := shown[want.key]
		delete(shown, want.key)
		switch {
		case dead[want.post], at == 0 && gone[want.key]:
		case at == 0:
			bad("lost: %s %q", want.key, want.text)
		case p.world.chat.messages[at-1].text != want.text:
			bad("lost: message %d shows %q instead of %q", at, p.world.chat.messages[at-1].text, want.text)
		case at < last[want.place]:
			bad("out of order: %s is shown by message %d, what came before it by %d", want.key, at, last[want.place])
		default:
			last[want.place] = at
		}
	}
	for key, at := range shown {
		bad("nobody promised %s, shown by message %d", key, at)
	}
	return wrong
}
