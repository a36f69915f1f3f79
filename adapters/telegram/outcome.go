package telegram

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"bellhop/core"
)

// gone are Telegram's words for a message that cannot be edited.
var gone = []string{"message to edit not found", "message_id_invalid", "message can't be edited", "there is no text in the message to edit", "message to react not found"}

// reasons say in words why Telegram will never take something; the first that
// is found in its own text holds.
var reasons = []struct{ theirs, ours string }{
	{"blocked by the user", "the person has blocked the bot"},
	{"user is deactivated", "the person's account no longer exists"},
	{"can't initiate conversation", "the person has not written to the bot yet"},
	{"kicked", "the bot was removed from the chat"},
	{"not a member", "the bot is not in the chat"},
	{"group chat was deleted", "the chat no longer exists"},
	{"chat not found", "the chat does not exist, or the bot was never in it"},
	{"thread not found", "the topic does not exist"},
	{"topic_deleted", "the topic does not exist"},
	{"topic_closed", "the topic is closed"},
	{"rights", "the bot is not allowed to do that in the chat"},
	{"write_forbidden", "the bot is not allowed to do that in the chat"},
	{"too long", "the text is too long for one message"},
	{"too_long", "the text is too long for one message"},
	{"text is empty", "the text has nothing to show"},
	{"text must be non-empty", "the text has nothing to show"},
}

// outcome says what a failed call at place p means to the caller of Send. It
// returns nil for nil.
func (a *Adapter) outcome(p core.Place, err error) error {
	e, ok := errors.AsType[*apiError](err)
	switch {
	case !ok:
		return err
	case e.migrateTo != 0:
		return &core.Moved{From: p.Channel, To: strconv.FormatInt(e.migrateTo, 10)}
	case e.retryAfter > 0:
		return &core.RetryAfter{After: e.retryAfter, Err: e}
	case e.unsent, e.answered && e.code >= http.StatusInternalServerError:
		return fmt.Errorf("%w: %w", core.ErrNotSent, e)
	case !e.answered:
		return fmt.Errorf("%w: %w", core.ErrUnknown, e)
	case e.code == http.StatusUnauthorized, e.code == http.StatusNotFound:
		return a.fatal(e)
	case refused(e, gone...):
		return fmt.Errorf("%w: %w", core.ErrGone, e)
	}
	text := strings.ToLower(e.text)
	for _, r := range reasons {
		if strings.Contains(text, r.theirs) {
			return fmt.Errorf("%w: %s (%w)", core.ErrRefused, r.ours, e)
		}
	}
	return fmt.Errorf("%w: %w", core.ErrRefused, e)
}
