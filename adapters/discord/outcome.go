package discord

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"bellhop/core"
)

// reasons say in words why Discord will never take something.
var reasons = map[int]string{
	discordgo.ErrCodeUnknownChannel:                     "the channel or thread no longer exists",
	discordgo.ErrCodeMissingAccess:                      "the bot cannot see the channel: it lacks the permission View Channel",
	discordgo.ErrCodeMissingPermissions:                 "the bot is not allowed to do that in the channel: check its permissions there",
	discordgo.ErrCodeCannotSendMessagesToThisUser:       "the person takes no direct messages from the bot",
	discordgo.ErrCodeCannotSendEmptyMessage:             "the text has nothing to show",
	discordgo.ErrCodeInvalidFormBody:                    "the text is too long for one message, or malformed",
	discordgo.ErrCodeThreadIsLocked:                     "the thread is locked: a moderator must unlock it",
	discordgo.ErrCodePerformedOperationOnArchivedThread: "the thread is archived and cannot be reopened by the bot",
	discordgo.ErrCodeRequestEntityTooLarge:              tooLarge,
	discordgo.ErrCodeFileUploadedExceedsTheMaximumSize:  tooLarge,
	tooOld: "the message is too old to be edited again",
}

// tooOld comes as a 429, but no waiting helps: the message has been edited as
// often as one may be that is older than an hour.
const tooOld = discordgo.ErrCodeMaximumNumberOfEditsToMessagesOlderThanOneHourReached

// tooLarge names the limit of servers without boosts, and of direct messages.
const tooLarge = "the file is larger than the 10 MiB that Discord takes"

// outcome says what a failed call means to the caller of Send. It returns nil
// for nil.
func (a *Adapter) outcome(err error) error {
	e, ok := errors.AsType[*apiError](err)
	switch {
	case !ok:
		return err
	case e.retryAfter > 0 && e.code != tooOld:
		return &core.RetryAfter{After: e.retryAfter, Global: e.global, Err: e}
	case e.unsent:
		return fmt.Errorf("%w: %w", core.ErrNotSent, e)
	case e.status == http.StatusRequestEntityTooLarge:
		return fmt.Errorf("%w: %s (%w)", core.ErrRefused, tooLarge, e)
	case !e.answered:
		return fmt.Errorf("%w: %w", core.ErrUnknown, e)
	case e.status == http.StatusUnauthorized:
		return a.fatal(e.text, fatalCodes[4004])
	case refusedWith(e, discordgo.ErrCodeUnknownMessage, discordgo.ErrCodeCannotEditFromAnotherUser):
		return fmt.Errorf("%w: %w", core.ErrGone, e)
	}
	if why := reasons[e.code]; why != "" {
		return fmt.Errorf("%w: %s (%w)", core.ErrRefused, why, e)
	}
	return fmt.Errorf("%w: %w", core.ErrRefused, e)
}
