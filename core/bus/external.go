package bus

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"bellhop/core"
)

// Say takes what an external actor says at a place or in a thread, shows it
// there, and tells mail whom it wakes. It may be called once Load has been. A
// *core.UserError says what is wrong with it.
func (b *Bus) Say(ctx context.Context, mail Mail, say core.Saying) (core.Said, error) {
	if say.Thread == "" {
		if _, known := b.accounts[say.Place.Adapter]; !known {
			return core.Said{}, &core.UserError{Text: fmt.Sprintf("there is no adapter %q: there is %s", say.Place.Adapter, strings.Join(slices.Sorted(maps.Keys(b.accounts)), ", "))}
		}
	}
	say.Text = strings.ToValidUTF8(say.Text, "�")
	say.Bots, say.Externals, say.MaxHops, say.Split = b.handles, b.o.Externals, b.o.MaxHops, b.Split
	if say.Key == "" {
		say.Key = "once " + rand.Text()
	}
	said, err := b.o.Store.Say(ctx, say)
	_, told := errors.AsType[*core.UserError](err)
	if err != nil && !told && !errors.Is(err, core.ErrNotFound) {
		said, err = b.o.Store.Say(ctx, say) // once more: it may have been stored
		said.Known = false
		_, told = errors.AsType[*core.UserError](err)
	}
	switch {
	case errors.Is(err, core.ErrNotFound):
		return said, &core.UserError{Text: b.nowhere(say.Place)}
	case told:
		return said, err
	case err != nil:
		b.troubled(ctx, err)
		return said, err
	}
	b.Deliver(said.Rows)
	mail.Apply(core.Accepted{Items: said.Items})
	return said, nil
}

// AnswerAs takes what an external actor answers to a question, and tells mail
// who goes on. A *core.UserError says what is wrong with it.
func (b *Bus) AnswerAs(ctx context.Context, mail Mail, in core.ExternalAnswer) error {
	in.Text = strings.ToValidUTF8(in.Text, "�")
	in.Externals, in.Split = b.o.Externals, b.Split
	said, err := b.o.Store.AnswerAs(ctx, in)
	if _, told := errors.AsType[*core.UserError](err); err != nil && !told {
		said, err = b.o.Store.AnswerAs(ctx, in) // once more: it may have been stored
	}
	if err != nil {
		if _, told := errors.AsType[*core.UserError](err); !told {
			b.troubled(ctx, err)
		}
		return err
	}
	b.Deliver(said.Rows)
	mail.Apply(core.Accepted{Items: said.Items})
	return nil
}

// nowhere says why nothing can be said at a place that has no conversation.
func (b *Bus) nowhere(p core.Place) string {
	if b.accounts[p.Adapter].features.Threads && p.Topic == "" {
		return fmt.Sprintf("%s is a channel, where each conversation is a thread that a person has begun by mentioning a bot: name one of its threads, as %[1]s/THREAD or by the ID that `bellhop threads` shows", p)
	}
	return fmt.Sprintf("nobody has talked with a bot at %s yet, so I cannot tell whether it exists: write to a bot there once, or pick a place from `bellhop threads`", p)
}
