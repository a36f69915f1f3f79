package store

import (
	"context"
	"fmt"
	"slices"

	"bellhop/core"
)

// AnswerAs has an external actor answer an open question, in one transaction
// with what follows. That the actor is who it says is the caller's to know. A
// *core.UserError says what is wrong. Any other error leaves open whether it was
// done: the same answer again finds out.
func (s *Store) AnswerAs(ctx context.Context, in core.ExternalAnswer) (core.Said, error) {
	var out core.Said
	var ended bool
	key := "answer " + string(in.Ask) + " " + in.From + " " + in.Text
	err := s.update(ctx, func(t *tx) error {
		out, ended = core.Said{}, false
		ask, ok, err := get[core.Ask](t, idKey(famAsk, in.Ask))
		if err != nil {
			return err
		}
		th, _, err := get[core.Thread](t, idKey(famThread, ask.Thread))
		if err != nil {
			return err
		}
		text := in.Text
		if choice, ok := ask.Choice(text); ok {
			text = choice
		}
		by := core.Requester{Name: in.From}
		before, unsure := s.said.get(key)
		switch {
		case !ok:
			return &core.UserError{Text: fmt.Sprintf("there is no question %s", in.Ask)}
		case ask.State != core.AskOpen && unsure && ask.By == by && ask.Answer == text:
			out = before
			return nil
		case ask.Kind != core.QuestionAsk:
			return &core.UserError{Text: fmt.Sprintf("%s is about a call: people alone decide whether it may be made", in.Ask)}
		case ask.State != core.AskOpen || !t.Now().Before(ask.Expires):
			return &core.UserError{Text: fmt.Sprintf("%s does not wait for an answer any more: it is %s", in.Ask, ask.State)}
		case !slices.Contains(th.Externals, in.From):
			return &core.UserError{Text: fmt.Sprintf("%s takes no part in the conversation of %s: somebody there must mention @%[1]s first", in.From, in.Ask)}
		}
		msg := core.Message{Sender: core.Actor{Kind: core.ExternalActor, ID: in.From}, Name: in.From, Parts: []core.Part{core.Text(text)}}
		d := verdict(ask, core.Answer{By: by, Text: text}, &msg)
		d.tell = in.Externals
		out.Rows, out.Items, err = t.conclude(ask, d, in.Split)
		ended = err == nil
		return err
	})
	s.said.note(key, out, ended, err)
	if err != nil {
		return core.Said{}, err
	}
	return out, nil
}
