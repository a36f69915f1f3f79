package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bellhop/adapters/adaptertest"
	"bellhop/adapters/telegram"
	"bellhop/core"
	"bellhop/store"
)

// verdict counts what the people got.
type verdict struct {
	messages, answered, noticed, restless   int
	commands                                int
	lost, doubled, strays, disorder, astray int
	crossed, beyond                         int
}

// judge compares what is shown in every place with what was asked there, and
// with what the ledger says about it.
func (c *chaos) judge() {
	var v verdict
	withStore(c.t, c.store, func(s *store.Store, books store.Books) {
		wrong, err := s.Check(c.t.Context())
		if err != nil {
			c.t.Fatal(err)
		}
		for _, w := range wrong {
			c.t.Errorf("the ledger contradicts itself: %s", w)
		}
		if len(books.Queue)+len(books.Open)+len(books.Rows)+books.Damaged > 0 {
			c.t.Errorf("open work is left: %d items queued, %d open runs, %d undelivered rows, %d damaged rows",
				len(books.Queue), len(books.Open), len(books.Rows), books.Damaged)
		}
		for _, p := range c.places {
			j := jury{chaos: c, place: p, store: s, books: &books, verdict: &v}
			j.try()
		}
	})
	c.examineLogs()
	c.examineFiles()
	c.t.Logf("seed %d: %d kills (%d at a chosen moment), %d orderly stops, %.1f s of mayhem; %d messages, %d answered, %d ended with a notice, %d among stops and retries, %d commands",
		c.seed, c.killed, c.sprung, c.stops, c.mayhem.Seconds(), v.messages, v.answered, v.noticed, v.restless, v.commands)
	c.t.Logf("lost %d, doubled %d, strays %d, out of order %d, in the wrong place %d; %d answers in the status line of another, %d status lines out of reach",
		v.lost, v.doubled, v.strays, v.disorder, v.astray, v.crossed, v.beyond)
}

// examineLogs looks for what no process may have written.
func (c *chaos) examineLogs() {
	for i, p := range c.logs {
		log := p.out.String() + p.log.String()
		for _, bad := range append(c.secrets(), "panic", "goroutine ", "DATA RACE", `"level":"ERROR"`) {
			if at := strings.Index(log, bad); at >= 0 {
				c.t.Errorf("process %d wrote %q:\n%s", i+1, bad, log[max(0, at-500):min(len(log), at+2000)])
			}
		}
	}
}

// examineFiles looks for secrets in all that the processes have stored.
func (c *chaos) examineFiles() {
	err := filepath.WalkDir(c.store, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		c.keepsSecret(path, content)
		return err
	})
	if err != nil {
		c.t.Error(err)
	}
}

// secrets are what the processes are given and nobody may read.
func (c *chaos) secrets() []string {
	return append(slices.Collect(maps.Values(c.town.secrets())), apiKey)
}

// keepsSecret looks for secrets in what somebody can read.
func (c *chaos) keepsSecret(what string, text []byte) {
	for _, secret := range c.secrets() {
		if at := bytes.Index(text, []byte(secret)); at >= 0 {
			c.t.Errorf("a secret is in %s: %q", what, text[max(0, at-200):min(len(text), at+200)])
		}
	}
}

// jury judges one place.
type jury struct {
	*chaos
	place   *place
	store   *store.Store
	books   *store.Books
	verdict *verdict
}

// What the program may show. A status line or half an answer is none of it.
var (
	answerText = regexp.MustCompile(`^The answer is a\d+( a\d+)*(\.|, at length\.)$`)
	partText   = regexp.MustCompile(`^Part a\d+\.\d+ says: [on and]+\.$`)
	noticeText = regexp.MustCompile(`^⚠ .* [/!]retry tries again\.$`)

	commandText = map[string]*regexp.Regexp{
		"help":   regexp.MustCompile(`^(Write to me|Mention me)`),
		"status": regexp.MustCompile(`^(This conversation|No conversation here)`),
		"start":  regexp.MustCompile(`^Hello, `),
	}
)

// sheet is what is shown in a place.
type sheet struct {
	answers  map[int][]adaptertest.Shown // by question
	order    []int                       // of the answers
	lectures map[int][]string            // the parts of long answers, by the first question
	commands map[string]int
	notices  int
}

func (j *jury) try() {
	shown := j.read()
	if j.place.restless {
		j.restless()
		return
	}
	failed := j.failed()
	j.questions(shown, failed)
	for n, got := range shown.lectures {
		if !slices.Equal(got, []string{"1", "2", "3"}) {
			j.blame(&j.verdict.doubled, "the long answer a%d shows its parts as %v", n, got)
		}
	}
	for name, want := range j.place.commands {
		j.verdict.commands += want
		if got := shown.commands[name]; got != want {
			j.blame(&j.verdict.doubled, "/%s was sent %d times and answered %d times", name, want, got)
		}
	}
	runs := map[core.ID]bool{}
	for _, run := range failed {
		runs[run] = true
	}
	if shown.notices != len(runs) {
		j.blame(&j.verdict.doubled, "%d runs failed and %d notices are shown", len(runs), shown.notices)
	}
}

// read takes down what is shown, and blames what should not be.
func (j *jury) read() sheet {
	sh := sheet{answers: map[int][]adaptertest.Shown{}, lectures: map[int][]string{}, commands: map[string]int{}}
	ids := j.receipts()
	for _, s := range j.place.shown() {
		if !s.Own {
			continue
		}
		j.keepsSecret("a message", []byte(s.Text))
		known := sh.take(j, s) || j.place.restless && s.Text != "…"
		switch {
		case known && ids[s.ID] == 1:
		case s.Text == "…" && j.beyond(s):
			j.verdict.beyond++
			j.t.Logf("in %s a status line was out of reach:\n%s", j.place.name, j.around(s.ID))
		default:
			j.blame(&j.verdict.strays, "the ledger shows this message %d times:\n%s", ids[s.ID], j.around(s.ID))
		}
	}
	return sh
}

// take reports whether the message is a whole outcome, or a chunk of one.
func (sh *sheet) take(j *jury, s adaptertest.Shown) (known bool) {
	known = noticeText.MatchString(s.Text) && slices.Equal(s.Buttons, []string{"Retry"})
	if known {
		sh.notices++
	}
	for name, text := range commandText {
		if text.MatchString(s.Text) {
			known = true
			sh.commands[name]++
		}
	}
	for line := range strings.SplitSeq(s.Text, "\n") {
		long, part := strings.HasSuffix(line, "at length."), partText.MatchString(line)
		if !part && !answerText.MatchString(line) {
			continue
		}
		known = true
		for i, found := range answered.FindAllStringSubmatch(line, -1) {
			n := atoi(j.t, found[1])
			if part {
				sh.lectures[n] = append(sh.lectures[n], found[2])
				continue
			}
			if long && i == 0 {
				sh.lectures[n] = nil // its parts follow
			}
			sh.answers[n] = append(sh.answers[n], s)
			sh.order = append(sh.order, n)
		}
	}
	return known
}

// restless checks that every message and every command has an outcome, which
// read has found to be shown once.
func (j *jury) restless() {
	threads := j.threads()
	outcomes := map[core.ID]core.Post{}
	replies := 0
	for _, p := range j.books.Posts {
		outcomes[p.ID] = p
		if p.Kind == core.CommandPost && j.place.covers(p.Place) {
			replies++
		}
	}
	items := map[core.ID]int{}
	for _, it := range j.books.Items {
		if it.Message == "" || !slices.Contains(threads, it.Thread) {
			continue
		}
		items[it.Message]++
		if post := outcomes[it.Outcome]; !it.State.Terminal() || !j.place.covers(post.Place) {
			j.blame(&j.verdict.lost, "item %s is %s with outcome %q at %s", it.ID, it.State, it.Outcome, post.Place)
		}
	}
	for _, q := range j.place.asked {
		j.verdict.messages++
		j.verdict.restless++
		if items[j.message(q.message)] == 0 {
			j.blame(&j.verdict.lost, "q%d woke nobody\n%s", q.number, j.life(q.message))
		}
	}
	for _, n := range j.place.commands {
		j.verdict.commands += n
		replies -= n
	}
	if replies != 0 {
		j.blame(&j.verdict.doubled, "there are %d replies too many to %v", replies, j.place.commands)
	}
}

// questions checks that each has its one outcome.
func (j *jury) questions(sh sheet, failed map[string]core.ID) {
	order := sh.order
	for _, q := range j.place.asked {
		j.verdict.messages++
		if failed[q.message] != "" {
			// The notice is its outcome; the model may still have read it later.
			j.verdict.noticed++
			order = slices.DeleteFunc(order, func(n int) bool { return n == q.number })
			continue
		}
		switch got := sh.answers[q.number]; len(got) {
		case 0:
			j.blame(&j.verdict.lost, "q%d has no answer\n%s", q.number, j.life(q.message))
		case 1:
			j.verdict.answered++
			j.refers(got[0])
		default:
			j.blame(&j.verdict.doubled, "q%d has %d answers\n%s", q.number, len(got), j.life(q.message))
		}
	}
	if !j.place.scattered && !slices.IsSorted(order) {
		j.blame(&j.verdict.disorder, "the answers came in the order %v", order)
	}
	for n := range sh.answers {
		if !slices.ContainsFunc(j.place.asked, func(q asked) bool { return q.number == n }) {
			j.blame(&j.verdict.astray, "a%d is not of this place", n)
		}
	}
}

// refers counts the answers that stand in the status line of another outcome:
// after a crash, nothing tells two that were lost apart. Only the message that
// such an answer refers to is wrong.
func (j *jury) refers(s adaptertest.Shown) {
	var want []string
	if j.place.shared && j.town.name() == "telegram" && telegram.New(telegram.Options{}).Features().Replies {
		want = j.replied(s.Text)
	}
	if want == nil && s.ReplyTo != "" || want != nil && !slices.Contains(want, s.ReplyTo) {
		j.verdict.crossed++
		j.t.Logf("in %s an answer replies to %q instead of one of %v:\n%s", j.place.name, s.ReplyTo, want, j.around(s.ID))
	}
}

// replied lists the platform ids of the questions that an answer speaks of.
func (j *jury) replied(text string) (ids []string) {
	for _, found := range answered.FindAllStringSubmatch(text, -1) {
		for _, q := range j.place.asked {
			if found[1] == strconv.Itoa(q.number) {
				ids = append(ids, q.message)
			}
		}
	}
	return ids
}

func (j *jury) blame(count *int, format string, args ...any) {
	*count++
	j.t.Errorf("in "+j.place.name+" "+format, args...)
}

// threads are the ids of the place's threads.
func (j *jury) threads() (ids []core.ID) {
	for _, th := range j.books.Threads {
		if j.place.covers(th.Place) {
			ids = append(ids, th.ID)
		}
	}
	return ids
}

// message is the ledger's id of a person's message.
func (j *jury) message(platform string) core.ID {
	threads := j.threads()
	for _, m := range j.books.Messages {
		if m.PlatformID == platform && slices.Contains(threads, m.Thread) {
			return m.ID
		}
	}
	return ""
}

// failed are the messages whose run failed, with the run.
func (j *jury) failed() map[string]core.ID {
	out := map[string]core.ID{}
	byMessage := map[core.ID]core.Item{}
	for _, it := range j.books.Items {
		if !it.State.Terminal() {
			j.t.Errorf("in %s item %s is %s", j.place.name, it.ID, it.State)
		}
		if it.State == core.Failed && it.Message != "" {
			byMessage[it.Message] = it
		}
	}
	for _, q := range j.place.asked {
		if it, ok := byMessage[j.message(q.message)]; ok {
			out[q.message] = it.Run
		}
	}
	return out
}

// probes is how many ids that may be anybody's a lost status line is looked
// for at. Source: package telegram.
const probes = 12

// beyond reports whether a status line lies out of that reach: more messages
// that the bot was not shown lie between it and the one that it answers, which
// is what it replies to or what some run of the place answers.
func (j *jury) beyond(s adaptertest.Shown) bool {
	if j.town.name() != "telegram" {
		return false // elsewhere nothing need be guessed
	}
	at := atoi(j.t, s.ID)
	where, err := core.ParsePlace(j.place.id)
	if err != nil {
		j.t.Fatal(err)
	}
	where.Topic = ""
	far := func(after string) bool {
		unknown := 0
		for n := atoi(j.t, after) + 1; n < at; n++ {
			if !j.store.Known(j.t.Context(), where, strconv.Itoa(n)) {
				unknown++
			}
		}
		return unknown >= probes
	}
	if s.ReplyTo != "" {
		return far(s.ReplyTo)
	}
	shown := map[core.ID]string{} // where each run's outcome begins
	for _, p := range j.books.Posts {
		if len(p.Shown) > 0 {
			shown[p.Run] = p.Shown[0].ID
		}
	}
	return slices.ContainsFunc(j.books.Runs, func(r core.Run) bool {
		return j.place.covers(r.Reply.Place) && atoi(j.t, shown[r.ID]) >= at && far(r.Reply.After)
	})
}

// receipts counts the platform messages that the ledger says are shown here.
func (j *jury) receipts() map[string]int {
	out := map[string]int{}
	for _, p := range j.books.Posts {
		if !j.place.covers(p.Place) {
			continue
		}
		if len(p.Shown) != p.Chunks || p.Dead != "" {
			j.t.Errorf("in %s post %s is not delivered: %d of %d chunks, %s", j.place.name, p.ID, len(p.Shown), p.Chunks, p.Dead)
		}
		for _, r := range p.Shown {
			out[r.ID]++
		}
	}
	return out
}

// life is everything the ledger knows of a message.
func (j *jury) life(platform string) string {
	id := j.message(platform)
	if id == "" {
		return fmt.Sprintf("The ledger has no message for platform message %s.", platform)
	}
	a := respond(j.t.Context(), j.store, request{Do: "trace", Arg: string(id)})
	return a.Text + a.Error
}

// atoi reads what must be a number.
func atoi(t *testing.T, s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// around is a message with those before and after it.
func (j *jury) around(id string) string {
	all := j.place.shown()
	at := slices.IndexFunc(all, func(s adaptertest.Shown) bool { return s.ID == id })
	var b strings.Builder
	for _, s := range all[max(0, at-12):min(len(all), at+4)] {
		fmt.Fprintf(&b, "%4s to %4s %s: %s\n", s.ID, s.ReplyTo, s.From, oneLine(s.Text, 100))
	}
	return b.String()
}
