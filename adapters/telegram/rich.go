package telegram

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-telegram/bot/models"

	"bellhop/adapters/markup"
	"bellhop/core"
)

// richParams edit a message into a rich one. They have no text: the library's
// type always sends one.
type richParams struct {
	ChatID      int64                   `json:"chat_id"`
	MessageID   int                     `json:"message_id"`
	Rich        models.InputRichMessage `json:"rich_message"`
	ReplyMarkup models.ReplyMarkup      `json:"reply_markup,omitempty"`
}

// enrich makes a message a rich one, where that shows an outcome better than
// HTML does. It reports false where the message is to be written as HTML: no
// client is better off, or Telegram refuses. A server that knows no rich
// messages is not asked again.
func (a *Adapter) enrich(ctx context.Context, to target, id int, o core.Outbound, answer any) (done bool, err error) {
	if a.plain.Load() || o.Kind != core.OutFinal || o.Thinking != "" {
		return false, nil
	}
	text, ok := markup.TelegramRich(o.Text)
	if !ok {
		return false, nil
	}
	params := richParams{ChatID: to.chat, MessageID: id, ReplyMarkup: keyboard(o.Buttons),
		Rich: models.InputRichMessage{Markdown: text, SkipEntityDetection: true}}
	err = a.api.raw(ctx, callTimeout, "editMessageText", params, answer)
	no, refusal := errors.AsType[*apiError](err)
	switch {
	case !refusal || !no.answered || no.code != http.StatusBadRequest && no.code != http.StatusNotFound || refused(err, "message is not modified"):
		return true, err
	case no.code == http.StatusNotFound || refused(err, "text is empty", "text must be non-empty"):
		a.log.Warn("telegram's server knows no rich messages; answers are written without them", "err", err)
		a.plain.Store(true)
	default:
		a.log.Info("telegram refuses a rich message, which is written without", "place", o.Place, "err", err)
	}
	return false, nil
}
