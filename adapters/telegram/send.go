package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"bellhop/adapters/markup"
	"bellhop/core"
)

const (
	// generalTopic is the id of a forum's first topic, which Telegram refuses
	// to be told: a message without a topic goes there.
	generalTopic = 1

	// probes is how many ids Resolve tries after each message that the lost one
	// may have followed, and maxProbes how many in all. A status line is sent as
	// soon as its trigger came, so only what others wrote in that moment lies
	// between, and every probe is an edit that counts against the chat's 20
	// messages a minute. One that lies beyond stays as a status line that nothing
	// follows.
	probes    = 12
	maxProbes = 36

	// reach is how many ids Resolve looks at after each of them, those that are
	// known included.
	reach = 1000

	// catchUp bounds how long Resolve waits for what people wrote while nothing
	// ran: their ids are known when it is taken in, and no probe is wasted on
	// them.
	catchUp = 5 * time.Second
)

// target is a Place in Telegram's numbers; topic 0 is none.
type target struct {
	chat  int64
	topic int
}

// parseTarget reads a Place, which is this adapter's own or was typed into the
// configuration.
func parseTarget(p core.Place) (target, error) {
	chat, err := strconv.ParseInt(p.Channel, 10, 64)
	if err != nil {
		return target{}, fmt.Errorf("%w: %q is no Telegram chat id", core.ErrRefused, p.Channel)
	}
	if p.Topic == "" {
		return target{chat: chat}, nil
	}
	topic, ok := parseID(p.Topic)
	switch {
	case !ok:
		return target{}, fmt.Errorf("%w: %q is no Telegram topic id", core.ErrRefused, p.Topic)
	case topic == generalTopic:
		topic = 0
	}
	return target{chat, topic}, nil
}

// parseID reads a message's or topic's id.
func parseID(s string) (int, bool) {
	id, err := strconv.Atoi(s)
	return id, err == nil && id > 0
}

// noPreview keeps Telegram from fetching the links that a text contains.
var noPreview = &models.LinkPreviewOptions{IsDisabled: bot.True()}

// Send shows one piece, or edits one.
func (a *Adapter) Send(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	to, err := parseTarget(o.Place)
	if err != nil {
		return core.Receipt{}, err
	}
	if o.Begin != "" {
		return a.begin(ctx, o, to)
	}
	o.Text = markup.WithStatus(o.Text, o.Status)
	if o.Edit != "" {
		id, ok := parseID(o.Edit)
		if !ok {
			return core.Receipt{}, fmt.Errorf("%w: %q is no Telegram message", core.ErrGone, o.Edit)
		}
		return a.edit(ctx, o, to, id)
	}
	params := bot.SendMessageParams{ChatID: to.chat, MessageThreadID: to.topic, LinkPreviewOptions: noPreview, ReplyMarkup: keyboard(o.Buttons)}
	if id, ok := parseID(o.ReplyTo); ok {
		params.ReplyParameters = &models.ReplyParameters{MessageID: id, AllowSendingWithoutReply: true}
	}
	var sent struct {
		ID   int   `json:"message_id"`
		Date int64 `json:"date"`
	}
	err = formatted(o.Text, o.Thinking, func(text string, mode models.ParseMode) error {
		params.Text, params.ParseMode = text, mode
		return a.api.raw(ctx, callTimeout, "sendMessage", params, &sent)
	})
	if err != nil {
		return core.Receipt{}, a.outcome(o.Place, err)
	}
	if sent.ID == 0 {
		return core.Receipt{}, fmt.Errorf("%w: Telegram took the message and did not say its id", core.ErrUnknown)
	}
	a.recent.add(to, sent.ID)
	return core.Receipt{ID: strconv.Itoa(sent.ID), Time: time.Unix(sent.Date, 0).UTC()}, nil
}

// edit makes message id what o says.
func (a *Adapter) edit(ctx context.Context, o core.Outbound, to target, id int) (core.Receipt, error) {
	var err error
	if o.File != nil {
		err = a.attach(ctx, to, id, o.Text, o.File)
	} else {
		_, err = a.rewrite(ctx, to, id, o)
	}
	if err != nil && !refused(err, "message is not modified") {
		return core.Receipt{}, a.outcome(o.Place, err)
	}
	return core.Receipt{ID: strconv.Itoa(id), Time: time.Now().UTC()}, nil
}

// standing is where a message stands, as an edit of it tells.
type standing struct {
	topic   int
	replyTo int // 0: nothing, or Telegram did not say
}

// rewrite changes a message's text and buttons, and returns where it stands.
func (a *Adapter) rewrite(ctx context.Context, to target, id int, o core.Outbound) (standing, error) {
	var answer json.RawMessage
	done, err := a.enrich(ctx, to, id, o, &answer)
	if !done {
		params := bot.EditMessageTextParams{ChatID: to.chat, MessageID: id, LinkPreviewOptions: noPreview, ReplyMarkup: keyboard(o.Buttons)}
		err = formatted(o.Text, o.Thinking, func(text string, mode models.ParseMode) error {
			params.Text, params.ParseMode = text, mode
			return a.api.raw(ctx, callTimeout, "editMessageText", params, &answer)
		})
	}
	if err != nil {
		return standing{}, err
	}
	var is struct {
		Thread  int  `json:"message_thread_id"`
		InTopic bool `json:"is_topic_message"`
		Reply   struct {
			ID int `json:"message_id"`
		} `json:"reply_to_message"`
	}
	_ = json.Unmarshal(answer, &is) // Telegram may answer with true instead of the message
	at := standing{replyTo: is.Reply.ID}
	if is.InTopic {
		at.topic = is.Thread
	}
	if at.replyTo == at.topic { // the root of its topic, which all in it refer to
		at.replyTo = 0
	}
	return at, nil
}

// formatted calls with the text as HTML and, if Telegram refuses the markup,
// once more with the same piece as plain text.
func formatted(markdown, thinking string, call func(text string, mode models.ParseMode) error) error {
	err := call(markup.TelegramThinking(thinking)+markup.TelegramHTML(markdown), models.ParseModeHTML)
	if refused(err, "entit", "parse", "text is empty", "text must be non-empty") {
		return call(markup.Plain(markdown), "")
	}
	return err
}

// refused reports whether err is a bad request that Telegram describes with
// one of the words, which are lower case.
func refused(err error, words ...string) bool {
	e, ok := errors.AsType[*apiError](err)
	if !ok || !e.answered || e.code != http.StatusBadRequest {
		return false
	}
	text := strings.ToLower(e.text)
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// resolve finds out whether o is shown. An edit may be done again. A lost send
// is looked for by editing what follows o.After: Telegram lets us edit only what
// is ours, and what is ours, not known, in the topic and a reply to the right
// message is it.
func (a *Adapter) resolve(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	if o.Edit != "" {
		return a.Send(ctx, o)
	}
	to, err := parseTarget(o.Place)
	if err != nil {
		return core.Receipt{}, err
	}
	after, ok := parseID(o.After)
	if !ok {
		return core.Receipt{}, fmt.Errorf("%w: nothing tells where to look for it", core.ErrNotSent)
	}
	a.awaitBacklog(ctx)
	if o.Begin != "" {
		return a.findTopic(ctx, o, to, after)
	}
	for id := range candidates(after, o.Near, func(id int) bool {
		return o.Known != nil && o.Known(strconv.Itoa(id)) || a.recent.elsewhere(to, id)
	}) {
		if ctx.Err() != nil {
			break
		}
		at, err := a.probe(ctx, to, id)
		err = a.outcome(o.Place, err)
		switch {
		case err == nil && at.topic == to.topic && answers(at, o):
			a.recent.add(to, id)
			return a.edit(ctx, o, to, id)
		case err == nil:
		case errors.Is(err, core.ErrGone):
		case errors.Is(err, core.ErrNotSent):
			// The probe was not; of the message it says nothing.
			return core.Receipt{}, fmt.Errorf("%w: %s", core.ErrUnknown, err.Error())
		default:
			return core.Receipt{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return core.Receipt{}, fmt.Errorf("%w: %w", core.ErrUnknown, err)
	}
	return core.Receipt{}, fmt.Errorf("%w: it is not among the messages after %d", core.ErrNotSent, after)
}

// awaitBacklog waits until what came in before Run is taken in, but not for a
// platform that cannot be polled.
func (a *Adapter) awaitBacklog(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, catchUp)
	defer cancel()
	select {
	case <-a.caughtUp:
	case <-ctx.Done():
	}
}

// candidates are the ids that a lost message may have: some after each message
// that it may have followed, without those that are others. It was sent when all
// of these were there, so the newest of them comes first; unless some have come
// since, so the ids that follow them all are tried once, and leave the rest for
// those between.
func candidates(after int, near []string, other func(id int) bool) iter.Seq[int] {
	starts := []int{after}
	for _, s := range near {
		if id, ok := parseID(s); ok && id > after {
			starts = append(starts, id)
		}
	}
	slices.Sort(starts)
	return func(yield func(int) bool) {
		tried := map[int]bool{}
		for _, start := range slices.Backward(slices.Compact(starts)) {
			for id, left := start+1, probes; left > 0 && len(tried) < maxProbes && id <= start+reach; id++ {
				if other(id) {
					continue
				}
				left--
				if tried[id] {
					continue
				}
				if tried[id] = true; !yield(id) {
					return
				}
			}
		}
	}
}

// answers reports whether a message may be the lost o: it replies to one of the
// messages that o answers, of which there were fewer perhaps when it was sent.
// What it replied to may be deleted.
func answers(at standing, o core.Outbound) bool {
	to := strconv.Itoa(at.replyTo)
	return at.replyTo == 0 || to == o.ReplyTo || to == o.After || slices.Contains(o.Near, to)
}

// probe finds out whether a message is ours, and where it stands, which only an
// edit that changes something tells: it makes the message a status line that
// looks like any other. A lost one that is another's thus stays what it is until
// its own search comes to it.
func (a *Adapter) probe(ctx context.Context, to target, id int) (standing, error) {
	var err error
	for _, text := range []string{"…\u2060", "…"} {
		var at standing
		at, err = a.rewrite(ctx, to, id, core.Outbound{Text: text})
		if !refused(err, "message is not modified") {
			return at, err
		}
	}
	return standing{topic: to.topic}, nil // no change shows: there is no telling
}
