package storetest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bellhop/core"
	"bellhop/store"
	"bellhop/store/boltkv"
)

// childEnv makes the test binary work with the ledger in the folder that it
// names, until it is killed.
const childEnv = "STORETEST_LEDGER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		fmt.Println("error:", work(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func openLedger(dir string) (*store.Store, error) {
	e, err := boltkv.Open(dir, boltkv.Options{})
	if err != nil {
		return nil, err
	}
	return store.Open(context.Background(), e, store.Options{})
}

func whole(_ core.Place, text string) []core.Piece { return []core.Piece{{Text: text}} }

// work first ends what an earlier life has left, then has several people talk
// at once. It prints each thing that the ledger has acknowledged: one write,
// which the pipe keeps whole and for longer than we live.
func work(dir string) error {
	ctx := context.Background()
	s, err := openLedger(dir)
	if err != nil {
		return err
	}
	b, err := s.Recover(ctx, func(string) bool { return true })
	if err != nil {
		return err
	}
	for _, it := range b.Items {
		if err := answer(ctx, s, it); err != nil {
			return err
		}
	}
	for _, row := range b.Rows {
		if err := show(ctx, s, row); err != nil {
			return err
		}
	}
	for i, p := range b.Parked {
		if err := decide(ctx, s, p, fmt.Sprintf("%d/late/%d", os.Getpid(), i)); err != nil {
			return err
		}
	}
	fmt.Println("open")
	failed := make(chan error)
	for person := range 4 {
		go func() {
			for n := 0; ; n++ {
				if err := talk(ctx, s, fmt.Sprintf("%d/%d/%d", os.Getpid(), person, n), person); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return <-failed
}

// talk says one thing, and sees to the answer.
func talk(ctx context.Context, s *store.Store, text string, person int) error {
	a, err := s.Accept(ctx, said(text, text, core.Place{Adapter: "chat", Channel: fmt.Sprint(person)}))
	if err != nil {
		return err
	}
	fmt.Println("accepted", text)
	return answer(ctx, s, a.Items[0])
}

func said(key, text string, at core.Place) core.Batch {
	in := core.Inbound{Key: key, Kind: core.InMessage, Direct: true, MessageID: key, Text: text, Time: time.Now(),
		From: core.Person{ID: core.PersonID("chat:" + at.Channel)}, Place: at}
	return core.Batch{Entries: []core.Entry{{In: in, Role: core.Member, Agent: "chief"}}, Bots: []string{"chief"}, Split: whole}
}

// answer is a run, with its open and a step. Of what ends in 3 the bot first asks
// a question that is answered, of what ends in 7 one that is not.
func answer(ctx context.Context, s *store.Store, it core.Item) error {
	run, scene, err := s.Pick(ctx, []core.Item{it}, 10, 10)
	if errors.Is(err, core.ErrRunOver) {
		return nil // another joined it
	}
	if err != nil {
		return err
	}
	if err := s.Opened(ctx, run, core.Receipt{ID: "open " + string(run.Post)}); err != nil {
		return err
	}
	if text := scene.Messages[len(scene.Messages)-1].Text(); run.Steps == 0 && (strings.HasSuffix(text, "3") || strings.HasSuffix(text, "7")) {
		return ask(ctx, s, run, text)
	}
	if err := s.Step(ctx, run, core.Step{Run: run.ID, N: run.Steps + 1}); err != nil {
		return err
	}
	done, err := s.Settle(ctx, run, nil, core.Settlement{State: core.Done, Kind: core.AnswerPost, Text: "done", Answer: "done",
		Steps: run.Steps + 1, MaxHops: 9, Split: whole})
	if err != nil {
		return err
	}
	fmt.Println("settled", run.ID)
	return show(ctx, s, done.Rows...)
}

// ask has the run wait, until it is told, or for a moment.
func ask(ctx context.Context, s *store.Store, run core.Run, text string) error {
	use := core.ToolUse{CallID: "c", Name: "ask", State: core.ToolPending}
	p := core.Parking{Ask: core.Ask{Kind: core.QuestionAsk, CallID: use.CallID, Text: "?"}, Said: "?", Pieces: whole(run.Reply.Place, "?")}
	if strings.HasSuffix(text, "3") {
		p.Life = time.Hour
	}
	parked, err := s.Park(ctx, run, core.Step{Run: run.ID, N: 1, Parts: []core.Part{{Kind: core.ToolPart, Tool: &use}}}, nil, p)
	if err != nil {
		return err
	}
	fmt.Println("asked", run.ID)
	if err := show(ctx, s, parked.Rows...); err != nil {
		return err
	}
	return decide(ctx, s, parked, text+"!")
}

// lapsing is held by who looks at what has expired: what a run waits for is
// looked at by others, too.
var lapsing sync.Mutex

// decide has the waiting run go on.
func decide(ctx context.Context, s *store.Store, p core.Parked, key string) error {
	lapsing.Lock()
	defer lapsing.Unlock()
	a, _, err := s.Lapse(ctx, whole)
	if err != nil {
		return err
	}
	threads, err := s.Threads(ctx)
	if err != nil {
		return err
	}
	_, waits, err := s.Waiting(ctx, p.Bot, p.Thread)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(threads, func(th core.Thread) bool { return th.ID == p.Thread }); waits == p.Run {
		b, err := s.Accept(ctx, said(key, "an answer", threads[i].Place))
		if err != nil {
			return err
		}
		if b.Fates[0] != core.FateAnswer {
			return fmt.Errorf("%s waits, and what is said there is %s", p.Run, b.Fates[0])
		}
		a.Items, a.Rows = append(a.Items, b.Items...), append(a.Rows, b.Rows...)
	}
	for _, it := range a.Items {
		fmt.Println("decided", it.Run)
		if err := answer(ctx, s, it); err != nil {
			return err
		}
	}
	return show(ctx, s, a.Rows...)
}

func show(ctx context.Context, s *store.Store, rows ...core.Row) error {
	for _, row := range rows {
		again, err := s.Delivered(ctx, row, core.Receipt{ID: "open " + string(row.Post)})
		if err != nil {
			return err
		}
		if again != nil {
			if err := show(ctx, s, *again); err != nil {
				return err
			}
		}
		fmt.Println("shown", row.Post)
	}
	return nil
}

// A process that is killed at any instant loses nothing that it acknowledged,
// does nothing twice, and leaves a ledger in order.
func TestLedgerKill(t *testing.T) {
	const kills = 20
	dir := t.TempDir()
	acked := map[string]bool{}
	for round := range kills {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childEnv+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		kill := func() { _ = cmd.Process.Kill() } // it may be gone, by its own fault
		if round%4 == 3 {
			time.AfterFunc(rand.N(100*time.Millisecond), kill) // while it recovers, too
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			switch line := lines.Text(); {
			case line == "open":
				time.AfterFunc(rand.N(200*time.Millisecond), kill)
			case strings.HasPrefix(line, "error"):
				t.Error(line)
			default:
				acked[line] = true
			}
		}
		_ = cmd.Wait() // it was killed
		checkLedger(t, dir, acked)
	}
	t.Logf("%d things were acknowledged", len(acked))
}

func checkLedger(t *testing.T, dir string, acked map[string]bool) {
	t.Helper()
	s, err := openLedger(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	wrong, err := s.Check(t.Context())
	if err != nil || len(wrong) > 0 {
		t.Fatalf("%v\n%s", err, strings.Join(wrong, "\n"))
	}
	books, err := s.Audit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stored := map[string]int{}
	for _, m := range books.Messages {
		if m.Run == "" && m.Answers == "" {
			stored["accepted "+m.Text()]++
		}
	}
	for _, r := range books.Runs {
		if r.State.Terminal() {
			stored["settled "+string(r.ID)]++
		}
	}
	for _, a := range books.Asks {
		stored["asked "+string(a.Run)]++
		if a.State != core.AskOpen {
			stored["decided "+string(a.Run)]++
		}
	}
	for _, p := range books.Posts {
		if !p.Ended.IsZero() || p.Again != nil {
			stored["shown "+string(p.ID)]++
		}
	}
	for what := range acked {
		if stored[what] == 0 {
			t.Errorf("%q was acknowledged and is not stored", what)
		}
	}
	for what, n := range stored {
		if n > 1 {
			t.Errorf("%q is stored %d times", what, n)
		}
	}
}
