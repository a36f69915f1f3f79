package telegram

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-telegram/bot"

	"bellhop/core"
)

// unnamed reports whether we may name the topic of a message: one that we have
// made, or whose name is Telegram's own. What replies to nothing in a topic
// formally replies to what made it.
func (d *decoder) unnamed(m *rawMessage) bool {
	r := m.ReplyToMessage
	if topic(m) == "" || r == nil || r.ID != m.MessageThreadID || r.TopicCreated == nil {
		return false
	}
	return r.TopicCreated.Implicit || d.wrote(r.From)
}

// title names a topic. Other chats have the names that people gave them, and
// people's groups need an admin for that: where we are none, it stays.
func (a *Adapter) title(ctx context.Context, p core.Place, title string) error {
	to, err := parseTarget(p)
	if err != nil {
		return err
	}
	if to.topic == 0 {
		return fmt.Errorf("%w: there is no topic to name", core.ErrRefused)
	}
	err = a.api.raw(ctx, callTimeout, "editForumTopic", bot.EditForumTopicParams{ChatID: to.chat, MessageThreadID: to.topic, Name: title}, nil)
	if refused(err, "topic_not_modified") {
		return nil
	}
	if e, ok := errors.AsType[*apiError](err); ok && e.code == http.StatusNotFound { // an old server, which knows no topics
		return fmt.Errorf("%w: %w", core.ErrRefused, e)
	}
	return a.outcome(p, err)
}
