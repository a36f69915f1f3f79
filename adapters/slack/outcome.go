package slack

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"bellhop/core"
)

// finished are Slack's words for credentials that will never work again.
var finished = []string{
	"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type",
}

// gone are those for a message that cannot be edited.
var gone = []string{"message_not_found", "cant_update_message", "edit_window_closed", "update_not_allowed"}

// unclear are those after which something may have been done all the same.
var unclear = []string{"internal_error", "fatal_error", "request_timeout"}

// notNow are those after which nothing was done and a later try may work.
var notNow = []string{"service_unavailable", "team_added_to_org", "accesslimited"}

// reasons say in words why Slack will never take something. @bellhop stands for
// our name.
var reasons = map[string]string{
	"channel_not_found":                        "the channel does not exist, or I am not in it: invite me with /invite @bellhop",
	"not_in_channel":                           "I am not in the channel: invite me with /invite @bellhop",
	"is_archived":                              "the channel is archived",
	"restricted_action":                        "the workspace does not let me write there",
	"restricted_action_read_only_channel":      "only some people may write in the channel",
	"restricted_action_thread_only_channel":    "the channel takes replies in threads only",
	"restricted_action_non_threadable_channel": "the channel takes no replies in threads",
	"restricted_action_thread_locked":          "the thread is locked",
	"thread_not_found":                         "the first message of the thread was deleted",
	"user_not_found":                           "there is no such person",
	"user_is_bot":                              "Slack lets no app write to another app",
	"cannot_dm_bot":                            "Slack lets no app write to another app",
	"messages_tab_disabled":                    "the app's Messages tab is switched off: switch it on under App Home",
	"ekm_access_denied":                        "the organisation's keys forbid it",
	"team_access_not_granted":                  "the app is not installed in that workspace",
	"msg_too_long":                             "the text is too long for one message",
	"msg_blocks_too_long":                      "the text is too long for one message",
	"no_text":                                  "the text has nothing to show",
	"invalid_name":                             "the workspace has no such emoji",
	"too_many_emoji":                           "the message has too many emoji",
	"too_many_reactions":                       "the message has too many emoji",
	"missing_scope":                            "the app lacks a permission (scope): add it under OAuth & Permissions and install the app again",
}

// outcome says what a failed call means to the caller of Send. It returns nil
// for nil.
func (a *Adapter) outcome(err error) error {
	e, ok := errors.AsType[*apiError](err)
	switch {
	case !ok:
		return err
	case e.retryAfter > 0:
		return &core.RetryAfter{After: e.retryAfter, Err: e}
	case e.unsent, slices.Contains(notNow, e.code):
		return fmt.Errorf("%w: %w", core.ErrNotSent, e)
	case e.code == "", slices.Contains(unclear, e.code):
		return fmt.Errorf("%w: %w", core.ErrUnknown, e)
	case slices.Contains(finished, e.code):
		return a.fatal(e, false)
	case slices.Contains(gone, e.code):
		return fmt.Errorf("%w: %w", core.ErrGone, e)
	}
	if why, ok := reasons[e.code]; ok {
		return fmt.Errorf("%w: %s (%w)", core.ErrRefused, a.inWords(why), e)
	}
	return fmt.Errorf("%w: %w", core.ErrRefused, e)
}

// inWords is a reason with our name in it.
func (a *Adapter) inWords(why string) string {
	if name := a.whoami().name; name != "" {
		return strings.ReplaceAll(why, "@bellhop", "@"+name)
	}
	return why
}

// fatal is what refused credentials come to: which of the two tokens it is,
// and where a person finds a good one.
func (a *Adapter) fatal(e *apiError, app bool) error {
	check := "check the bot token (xoxb-…) under OAuth & Permissions of the app, and that the app is installed"
	if app {
		check = "check the app-level token (xapp-…, scope connections:write) under Basic Information of the app, and that Socket Mode is on"
	}
	return fmt.Errorf("adapter %q: Slack refuses it (%s %s), %s: %w", a.name, e.method, e.text, check, core.ErrFatal)
}
