package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"bellhop/core"
)

// buttonPrefix begins the action ids of our buttons; the value follows, which
// makes the ids of a message's buttons differ as Slack wants.
const buttonPrefix = "b:"

// The callback ids of the message shortcuts in the app's manifest.
const (
	askShortcut  = "ask_about_message"
	stopShortcut = "stop_thread"
	forkShortcut = "fork_message"
)

// command decodes a slash command. Slack does not show it to anybody, and
// never says in which thread it was typed: its place is the channel.
func (d *decoder) command(key string, raw json.RawMessage) core.Inbound {
	var c struct {
		Command     string        `json:"command"`
		Text        string        `json:"text"`
		Channel     string        `json:"channel_id"`
		User        string        `json:"user_id"`
		ChannelName loose[string] `json:"channel_name"`
		UserName    loose[string] `json:"user_name"`
	}
	if err := json.Unmarshal(raw, &c); err != nil || c.Channel == "" || c.User == "" || c.Command == "" {
		return unreadable(key, raw)
	}
	text := strings.TrimSpace(d.read(c.Text).text)
	if !strings.EqualFold(c.Command, d.slash) {
		text = strings.TrimSpace(c.Command + " " + text) // the short form: /new
	} else if d.knows(firstWord(strings.TrimPrefix(text, "/"))) || len(d.commands) == 0 && text != "" {
		text = "/" + strings.TrimPrefix(text, "/")
	} else {
		text = "/help"
	}
	k := d.kind(c.Channel, kindOfName(c.ChannelName.v))
	return core.Inbound{
		Key: key, Kind: core.InMessage, Place: d.place(c.Channel, ""), Direct: k == direct, From: d.person(c.User, c.UserName.v),
		Text: clean(text), Mentioned: true, Command: true, Time: time.Now().UTC(),
	}
}

// kindOfName tells what a channel is by the name that payloads give it.
func kindOfName(name string) string {
	switch {
	case name == "directmessage":
		return "im"
	case strings.HasPrefix(name, "mpdm-"):
		return "mpim"
	case name != "":
		return "channel"
	}
	return ""
}

// interaction is a press of a button, or the use of a shortcut.
type interaction struct {
	Type     string `json:"type"`
	Callback string `json:"callback_id"`
	User     struct {
		ID       string        `json:"id"`
		Name     loose[string] `json:"name"`
		Username loose[string] `json:"username"`
	} `json:"user"`
	Channel struct {
		ID   string        `json:"id"`
		Name loose[string] `json:"name"`
	} `json:"channel"`
	Message   *message `json:"message"`
	Container loose[struct {
		TS      loose[string] `json:"message_ts"`
		Thread  loose[string] `json:"thread_ts"`
		Channel loose[string] `json:"channel_id"`
	}] `json:"container"`
	Actions []loose[struct {
		ID   loose[string] `json:"action_id"`
		Time loose[string] `json:"action_ts"`
	}] `json:"actions"`
	Time loose[string] `json:"action_ts"`
}

// interaction decodes what a person did with a message.
func (d *decoder) interaction(key string, raw json.RawMessage) core.Inbound {
	var kindOf struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &kindOf); err != nil {
		return unreadable(key, raw)
	}
	if kindOf.Type != "block_actions" && kindOf.Type != "message_action" {
		return ignored(key)
	}
	var i interaction
	if err := json.Unmarshal(raw, &i); err != nil {
		return unreadable(key, raw)
	}
	m := i.Message
	if m == nil {
		m = &message{TS: i.Container.v.TS.v, Thread: i.Container.v.Thread.v}
	}
	m.Channel = cmp.Or(i.Channel.ID, i.Container.v.Channel.v)
	if i.User.ID == "" || m.Channel == "" || m.TS == "" {
		return ignored(key)
	}
	k := d.kind(m.Channel, kindOfName(i.Channel.Name.v))
	in := core.Inbound{
		Key:    key,
		Kind:   core.InMessage,
		Place:  d.place(m.Channel, topicOf(k, m.TS, cmp.Or(m.Thread, i.Container.v.Thread.v))),
		Direct: k == direct,
		Time:   when(i.Time.v),
	}
	if kindOf.Type == "block_actions" {
		return d.pressed(in, &i, m)
	}
	if in.Time.IsZero() {
		in.Time = time.Now().UTC()
	}
	in.Mentioned = true
	switch i.Callback {
	case stopShortcut:
		in.Text, in.Command = "/stop", true
	case forkShortcut:
		in.Text, in.Command, in.ReplyTo = "/fork", true, clean(m.TS)
	case askShortcut:
		in.Text = "Please look at this message."
		in.Files = files(m.Files.v)
		in.Quotes = d.quotes(m)
	default:
		return ignored(key)
	}
	in.From = d.person(i.User.ID, cmp.Or(i.User.Name.v, i.User.Username.v))
	return in
}

// pressed completes in for a press of one of our buttons.
func (d *decoder) pressed(in core.Inbound, i *interaction, m *message) core.Inbound {
	for _, a := range i.Actions {
		value, ours := strings.CutPrefix(a.v.ID.v, buttonPrefix)
		if !ours {
			continue
		}
		in.Kind, in.MessageID, in.Button = core.InButton, clean(m.TS), clean(value)
		in.From = d.person(i.User.ID, cmp.Or(i.User.Name.v, i.User.Username.v))
		if in.Time.IsZero() {
			in.Time = when(a.v.Time.v)
		}
		return in
	}
	return ignored(in.Key)
}

// maxWhispers bounds the words to those who press buttons for which the events
// behind them wait.
const maxWhispers = 3

// whisper tells those who pressed buttons what the sink has to say to them
// alone.
func (a *Adapter) whisper(ctx context.Context, batch []core.Inbound) {
	ctx, cancel := context.WithTimeout(ctx, nicety)
	defer cancel()
	left := maxWhispers
	for _, in := range batch {
		if in.Kind != core.InButton || in.Note == "" || left == 0 {
			continue
		}
		left--
		params := url.Values{"channel": {in.Place.Channel}, "user": {userOf(in.From.ID)}, "text": {escaped.Replace(in.Note)}}
		if in.Place.Topic != "" {
			params.Set("thread_ts", in.Place.Topic)
		}
		if err := a.api.call(ctx, "chat.postEphemeral", params, nil); err != nil {
			a.log.Debug("who pressed a button was not told why nothing follows", "err", err)
		}
	}
}

// escaped makes mrkdwn of plain text.
var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// quotes is a message as one that is quoted, with those that it quotes itself.
func (d *decoder) quotes(m *message) []core.Quote {
	var in core.Inbound
	q := core.Quote{Author: d.authorName(m), Own: d.ours(m), Text: cmp.Or(d.read(m.Text).text, fileNames(files(m.Files.v)))}
	if q.Text != "" {
		in.Quotes = append(in.Quotes, q)
	}
	for _, a := range m.Attachments.v {
		d.quote(&in, &a.v)
	}
	return in.Quotes
}

// authorName is how the writer of a message is shown.
func (d *decoder) authorName(m *message) string {
	name := clean(cmp.Or(m.Username.v, m.BotProfile.v.Name.v))
	if name == "" && m.User != "" {
		name = d.name(m.User)
	}
	return cmp.Or(name, clean(m.Bot))
}

// notice is what the person who typed a command sees at once, and nobody else:
// where we are not in the channel it is all they see.
func notice(in core.Inbound, name string) string {
	if in.Direct {
		return ""
	}
	return "I answer below. If nothing follows, invite me with /invite @" + cmp.Or(name, "bellhop") + "."
}
