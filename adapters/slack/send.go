package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"bellhop/adapters/markup"
	"bellhop/core"
)

// metadataType marks our messages; the payload holds the Outbound's key.
const metadataType = "bellhop_out"

// fallbackText is the longest text beside blocks, in bytes: notifications show
// no more. It is also what a section takes.
const fallbackText = 3000

// latches are abilities that this app turned out not to have.
type latches struct {
	noSpeaker atomic.Bool // chat:write.customize
	noStream  atomic.Bool // chat.startStream
	noTasks   atomic.Bool // task_update in chat.appendStream
	noSession atomic.Bool // agents.sessions.setStatus
	noStatus  atomic.Bool // assistant.threads.setStatus
}

// lacking are Slack's words for an ability that the app or the server does not
// have, wherever it is tried.
var lacking = []string{
	"unknown_method", "missing_scope", "not_allowed_token_type", "no_permission", "access_denied", "feature_not_enabled",
	"method_deprecated", "deprecated_endpoint", "not_enabled", "app_not_agent", "invalid_app_type",
}

var (
	channelID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z0-9]{2,32}$`) })
	timestamp = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{1,12}\.[0-9]{1,9}$`) })
)

// check reads a Place, which is this adapter's own or was typed into the
// configuration.
func check(p core.Place) error {
	switch {
	case !channelID().MatchString(p.Channel):
		return fmt.Errorf("%w: %q is no Slack channel id", core.ErrRefused, p.Channel)
	case p.Topic != "" && !timestamp().MatchString(p.Topic):
		return fmt.Errorf("%w: %q is no Slack thread", core.ErrRefused, p.Topic)
	}
	return nil
}

// Send shows one piece, or edits one. A file is shown before its piece, so
// that a piece which is found later has its file.
func (a *Adapter) Send(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	if err := check(o.Place); err != nil {
		return core.Receipt{}, err
	}
	if o.Edit != "" && !timestamp().MatchString(o.Edit) {
		return core.Receipt{}, fmt.Errorf("%w: %q is no Slack message", core.ErrGone, o.Edit)
	}
	if o.File != nil {
		if err := a.attach(ctx, o); err != nil {
			return core.Receipt{}, err
		}
	}
	var receipt core.Receipt
	var err error
	switch {
	case o.Kind == core.OutUpdate && o.Edit != "":
		receipt, err = a.preview(ctx, o)
	case o.Edit != "":
		receipt, err = a.finish(ctx, o)
	default:
		if receipt, err = a.begin(ctx, o); err == nil && receipt.ID == "" {
			receipt, err = a.post(ctx, o)
		}
	}
	if err != nil {
		return core.Receipt{}, err
	}
	if o.Kind == core.OutFinal && o.Last {
		a.rest(ctx, o.Place)
	}
	return receipt, nil
}

// shown is Slack's answer to a message.
type shown struct {
	Channel string   `json:"channel"`
	TS      string   `json:"ts"`
	Message *message `json:"message"`
}

// post shows a new message.
func (a *Adapter) post(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	params := url.Values{"channel": {o.Place.Channel}}
	if o.Place.Topic != "" {
		params.Set("thread_ts", o.Place.Topic)
	}
	var sent shown
	err := a.asSpeaker(params, o.Speaker, func() error { return a.write(ctx, "chat.postMessage", params, o, &sent) })
	if err != nil {
		return core.Receipt{}, a.outcome(err)
	}
	if sent.TS == "" {
		return core.Receipt{}, fmt.Errorf("%w: Slack took the message and did not say its id", core.ErrUnknown)
	}
	if m := sent.Message; m != nil && o.Place.Topic != "" && m.Thread == "" && m.TS != "" && m.TS != o.Place.Topic {
		return core.Receipt{}, a.unthreaded(ctx, o.Place, sent.TS)
	}
	a.rooms.sent(o.Place, sent.TS)
	return core.Receipt{ID: sent.TS, Time: when(sent.TS)}, nil
}

// unthreaded takes back a message that stands in the channel because the
// thread that it was meant for has lost its root.
func (a *Adapter) unthreaded(ctx context.Context, p core.Place, ts string) error {
	if err := a.api.call(context.WithoutCancel(ctx), "chat.delete", url.Values{"channel": {p.Channel}, "ts": {ts}}, nil); err != nil {
		a.log.Warn("a message that fell out of its thread stays in the channel", "place", p, "err", err)
	}
	return fmt.Errorf("%w: %s", core.ErrRefused, reasons["thread_not_found"])
}

// edit makes a message what o says.
func (a *Adapter) edit(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	params := url.Values{"channel": {o.Place.Channel}, "ts": {o.Edit}}
	err := a.write(ctx, "chat.update", params, o, nil)
	if is(err, "cant_update_message", "streaming_state_conflict", "message_in_streaming_state") {
		// A stream of an earlier process, perhaps, which must be ended first.
		stop := a.api.call(ctx, "chat.stopStream", url.Values{"channel": {o.Place.Channel}, "ts": {o.Edit}}, nil)
		switch e, _ := errors.AsType[*apiError](stop); {
		case stop == nil, is(stop, "message_not_in_streaming_state"):
			err = a.write(ctx, "chat.update", params, o, nil)
		case e.code == "", e.retryAfter > 0, slices.Contains(unclear, e.code), slices.Contains(notNow, e.code), slices.Contains(finished, e.code):
			err = stop // it may work later, and the edit then
		}
	}
	if err != nil {
		return core.Receipt{}, a.outcome(err)
	}
	return core.Receipt{ID: o.Edit, Time: when(o.Edit)}, nil
}

// write calls a method with o's text as a markdown block, and if Slack does
// not take that, once more with the same piece as plain mrkdwn.
func (a *Adapter) write(ctx context.Context, method string, params url.Values, o core.Outbound, result any) error {
	text := markup.SlackText(o.Text)
	var blocks []slack.Block
	if o.Thinking != "" { // small and grey; Slack folds nothing. In plain text nobody is mentioned
		blocks = append(blocks, slack.NewContextBlock("", slack.NewTextBlockObject(slack.PlainTextType, o.Thinking, false, false)))
	}
	blocks = append(blocks, slack.NewMarkdownBlock("", markup.SlackMarkdown(o.Text)))
	buttons := actions(o.Buttons)
	if buttons != nil {
		blocks = append(blocks, buttons)
	}
	set(params, "metadata", slack.SlackMetadata{EventType: metadataType, EventPayload: map[string]any{"key": keyOf(o)}})
	params.Set("unfurl_links", "false")
	params.Set("unfurl_media", "false")
	params.Set("text", shorten(text))
	set(params, "blocks", blocks)
	err := a.api.call(ctx, method, params, result)
	if !is(err, "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "msg_too_long") {
		return err
	}
	a.log.Warn("slack does not take a markdown block: sending plain text", "err", err)
	params.Set("text", text)
	if method == "chat.update" {
		params.Set("blocks", "[]") // what is not named stays
	} else {
		params.Del("blocks")
	}
	if buttons != nil {
		set(params, "blocks", append(sections(text), buttons))
	}
	return a.api.call(ctx, method, params, result)
}

// keyOf is an Outbound's key as metadata, which hold little.
func keyOf(o core.Outbound) string {
	const most = 200
	if len(o.Key) > most {
		return hashed([]byte(o.Key))
	}
	return o.Key
}

// set puts a value into a parameter as JSON.
func set(params url.Values, name string, value any) {
	data, err := json.Marshal(value)
	if err != nil { // of our own types: none can fail
		panic(err)
	}
	params.Set(name, string(data))
}

// shorten cuts mrkdwn to what notifications show.
func shorten(text string) string {
	if cut := cutBefore(text, fallbackText); cut < len(text) {
		return text[:cut] + "…"
	}
	return text
}

// sections are mrkdwn as blocks, which hold less than a message.
func sections(text string) []slack.Block {
	var blocks []slack.Block
	for text = strings.TrimSpace(text); text != ""; {
		cut := cutBefore(text, fallbackText)
		part := slack.NewTextBlockObject(slack.MarkdownType, text[:cut], false, false)
		blocks = append(blocks, slack.NewSectionBlock(part, nil, nil))
		text = strings.TrimSpace(text[cut:])
	}
	return blocks
}

// cutBefore is where to cut mrkdwn to at most that many bytes: after a line or
// a word, and not within a link, an entity or a character.
func cutBefore(text string, most int) int {
	if len(text) <= most {
		return len(text)
	}
	cut := most
	for _, space := range []byte{'\n', ' '} {
		if at := strings.LastIndexByte(text[:most], space); at > most/2 {
			return outside(text, at, most)
		}
	}
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return outside(text, cut, most)
}

// outside moves a cut before the link or the entity that it would divide.
func outside(text string, cut, most int) int {
	for _, pair := range []string{"<>", "&;"} {
		if open := strings.LastIndexByte(text[:cut], pair[0]); open > most/2 && open > strings.LastIndexByte(text[:cut], pair[1]) {
			cut = open
		}
	}
	return cut
}

// actions are buttons as Slack shows them; nil for none.
func actions(buttons []core.Button) *slack.ActionBlock {
	if len(buttons) == 0 {
		return nil
	}
	const maxLabel = 75
	var elements []slack.BlockElement
	for _, b := range buttons {
		label := []rune(b.Label)
		text := slack.NewTextBlockObject(slack.PlainTextType, string(label[:min(len(label), maxLabel)]), true, false)
		elements = append(elements, slack.NewButtonBlockElement(buttonPrefix+b.Value, b.Value, text))
	}
	return slack.NewActionBlock("", elements...)
}

// asSpeaker calls with the speaker's name and picture, and once more without
// if the app may not show them.
func (a *Adapter) asSpeaker(params url.Values, s core.Speaker, call func() error) error {
	if s.Name == "" || a.latches.noSpeaker.Load() {
		return call()
	}
	params.Set("username", s.Name)
	if icon, ok := nameOf(s.Icon); ok {
		params.Set("icon_emoji", ":"+icon+":")
	} else if strings.HasPrefix(s.Icon, "https://") {
		params.Set("icon_url", s.Icon)
	}
	err := call()
	e, _ := errors.AsType[*apiError](err)
	if !is(err, "missing_scope", "invalid_arguments", "invalid_arg_name", "invalid_icon") || e.needed != "" && e.needed != "chat:write.customize" {
		return err
	}
	for _, name := range []string{"username", "icon_emoji", "icon_url"} {
		params.Del(name)
	}
	if err = call(); err == nil {
		a.latches.noSpeaker.Store(true)
		a.log.Warn("slack does not let us speak under other names", "scope", cmp.Or(e.needed, "chat:write.customize"))
	}
	return err
}
