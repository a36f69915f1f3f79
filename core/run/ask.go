package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"bellhop/core"
)

const (
	// A question waits for a day, and people are told again after an hour.
	questionLife   = 24 * time.Hour
	questionRemind = time.Hour
	// maxOthers bounds how many people beside the requester a question waits for.
	maxOthers = 20
)

// askQuestion parks the run until a person has answered the call's question.
func (t *turn) askQuestion(ctx context.Context, st *core.Step, use *core.ToolUse, q core.Question) error {
	said := cmp.Or(strings.TrimSpace(st.Text()), t.said())
	text := joined(said, "❓ "+q.Text)
	p := core.Parking{Ask: core.Ask{Kind: core.QuestionAsk, Text: q.Text, Choices: q.Choices, Others: t.others()}, Said: text, Remind: questionRemind, Life: questionLife}
	var list strings.Builder
	nonce := newNonce()
	for i, c := range q.Choices {
		fmt.Fprintf(&list, "\n%d. %s", i+1, c)
		p.Buttons = append(p.Buttons, core.Button{Label: c, Value: fmt.Sprintf("answer %d %s", i+1, nonce)})
	}
	if t.o.Outbox.Features(t.run.Reply.Place.Adapter).Buttons {
		p.Plain = strings.TrimSpace(list.String())
	} else {
		text, p.Buttons = text+list.String(), nil
	}
	p.Pieces = t.pieces(text)
	return t.park(ctx, st, use, p)
}

// park stores that the run waits, and shows for what. It returns
// core.ErrWaiting if that has succeeded.
func (t *turn) park(ctx context.Context, st *core.Step, use *core.ToolUse, p core.Parking) error {
	use.State, use.Started = core.ToolPending, time.Time{}
	p.Externals = core.Listeners(t.o.Externals)
	p.Ask.CallID, p.Speaker, p.Worked = use.CallID, t.speaker(), time.Since(t.began)
	open := t.o.Outbox.Receipt(ctx, t.run)
	var parked core.Parked
	err := t.store(ctx, func(ctx context.Context) (err error) {
		parked, err = t.o.Store.Park(ctx, t.run, *st, open, p)
		return err
	})
	if err != nil {
		return err
	}
	t.o.Outbox.Parked(parked)
	if len(parked.Items) > 0 {
		t.o.Wake(parked.Items)
	}
	t.log.Debug("run waits for a person", "kind", p.Ask.Kind, "call", use.Name)
	return core.ErrWaiting
}

// outcome stands in for the line below what was asked that says what became of
// it, at its longest: a name of 80 characters, a reason of 200, and the words
// between.
var outcome = strings.Repeat("x", 320)

// pieces are a text that asks, in messages. Where its outcome would not fit below
// the last of them, the text's last paragraph gets a message of its own.
func (t *turn) pieces(text string) []core.Piece {
	split := func(text string) []core.Piece { return t.o.Outbox.Split(t.run.Reply.Place, text) }
	text = strings.TrimSpace(text)
	all := split(text)
	gap := strings.LastIndex(text, "\n\n")
	if gap < 0 || len(split(all[len(all)-1].Text+"\n\n"+outcome)) == 1 {
		return all
	}
	head, end := text[:gap], text[gap:]
	if last := split(end); len(last) == 1 && !strings.Contains(end, "```") && strings.Count(head, "```")%2 == 0 {
		return append(split(head), last...)
	}
	return all
}

// newNonce makes a press hard to guess: 128 bits.
func newNonce() string {
	var b [16]byte
	rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// others are the people beside the requester who have spoken in what the run
// reads, the last one first.
func (t *turn) others() []core.PersonID {
	var out []core.PersonID
	for i := range slices.Backward(t.view.Messages) {
		m := &t.view.Messages[i]
		id := core.PersonID(m.Sender.ID)
		if m.Sender.Kind == core.HumanActor && id != t.run.For.ID && !slices.Contains(out, id) && len(out) < maxOthers {
			out = append(out, id)
		}
	}
	return out
}

// joined are paragraphs, without those that are blank or there already.
func joined(paragraphs ...string) string {
	var all []string
	for _, p := range paragraphs {
		if p = strings.TrimSpace(p); p != "" && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return strings.Join(all, "\n\n")
}
