package telegram

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"bellhop/core"
)

// act is what people do besides writing, with no more of it than is needed:
// what is new in the rest does no harm.
type act struct {
	Press *press `json:"callback_query"`
	Mark  *mark  `json:"message_reaction"`
	Seat  *seat  `json:"my_chat_member"`
}

// press is a press of a button below a message.
type press struct {
	ID      string      `json:"id"`
	From    models.User `json:"from"`
	Data    string      `json:"data"`
	Message *struct {
		ID      int  `json:"message_id"`
		Chat    chat `json:"chat"`
		Thread  int  `json:"message_thread_id"`
		InTopic bool `json:"is_topic_message"`
	} `json:"message"`
}

// mark is a change of a person's reactions to a message. It does not tell the
// topic, nor who it was if they act in the name of a chat.
type mark struct {
	Chat    chat         `json:"chat"`
	Message int          `json:"message_id"`
	User    *models.User `json:"user"`
	Date    int64        `json:"date"`
	Old     []emoji      `json:"old_reaction"`
	New     []emoji      `json:"new_reaction"`
}

// seat is a change of what we are in a chat.
type seat struct {
	Chat chat        `json:"chat"`
	From models.User `json:"from"`
	Date int64       `json:"date"`
	Old  membership  `json:"old_chat_member"`
	New  membership  `json:"new_chat_member"`
}

// membership is what somebody is in a chat.
type membership struct {
	Status models.ChatMemberType `json:"status"`
	Member bool                  `json:"is_member"` // of who is restricted
}

func (m membership) in() bool {
	switch m.Status {
	case models.ChatMemberTypeOwner, models.ChatMemberTypeAdministrator, models.ChatMemberTypeMember:
		return true
	case models.ChatMemberTypeRestricted:
		return m.Member
	}
	return false
}

type chat struct {
	ID   int64           `json:"id"`
	Type models.ChatType `json:"type"`
}

type emoji struct {
	Type   string `json:"type"`
	Emoji  string `json:"emoji"`
	Custom string `json:"custom_emoji_id"`
}

// String is an emoji, or the name of one that is no Unicode.
func (e emoji) String() string {
	switch {
	case e.Emoji != "":
		return clean(e.Emoji)
	case e.Custom != "":
		return ":" + clean(e.Custom) + ":"
	}
	return ":" + clean(e.Type) + ":"
}

// act decodes an update without a message. It finds nothing in one that nobody
// asked for.
func (d *decoder) act(key string, raw []byte) (found, error) {
	var a act
	if err := json.Unmarshal(raw, &a); err != nil {
		return found{}, err
	}
	switch {
	case a.Press != nil:
		return d.press(key, a.Press), nil
	case a.Mark != nil:
		return d.mark(key, a.Mark), nil
	case a.Seat != nil:
		return d.seat(key, a.Seat), nil
	}
	return found{}, nil
}

func (d *decoder) press(key string, p *press) found {
	out := found{query: p.ID}
	m := p.Message
	if m == nil || m.ID == 0 || m.Chat.ID == 0 || p.From.ID == 0 {
		return out
	}
	in := d.did(key, core.InButton, m.Chat, &p.From)
	in.MessageID, in.Button, in.Time = strconv.Itoa(m.ID), clean(p.Data), time.Now().UTC()
	in.Place.Topic = topic(&rawMessage{MessageThreadID: m.Thread, IsTopicMessage: m.InTopic})
	out.events = append(out.events, in)
	return out
}

// mark is an event for each reaction that is new, or has gone.
func (d *decoder) mark(key string, m *mark) found {
	var out found
	if m.Chat.ID == 0 || m.Message == 0 {
		return out
	}
	add := func(of, without []emoji, removed bool) {
		for _, e := range of {
			if slices.Contains(without, e) {
				continue
			}
			in := d.did(key, core.InReaction, m.Chat, m.User)
			if n := len(out.events); n > 0 {
				in.Key += fmt.Sprint("/", n)
			}
			in.MessageID, in.Emoji, in.Removed, in.Time = strconv.Itoa(m.Message), e.String(), removed, time.Unix(m.Date, 0).UTC()
			out.events = append(out.events, in)
		}
	}
	add(m.Old, m.New, true)
	add(m.New, m.Old, false)
	return out
}

// seat is an event if we come to a group that we were not in.
func (d *decoder) seat(key string, s *seat) found {
	shared := s.Chat.Type == models.ChatTypeGroup || s.Chat.Type == models.ChatTypeSupergroup
	if s.Old.in() || !s.New.in() || !shared || s.Chat.ID == 0 || s.From.ID == 0 {
		return found{}
	}
	in := d.did(key, core.InAdded, s.Chat, &s.From)
	in.Text, in.Time = "@"+d.me.Username, time.Unix(s.Date, 0).UTC()
	return found{events: []core.Inbound{in}}
}

// did is what all events about a person's act have.
func (d *decoder) did(key string, kind core.InboundKind, c chat, by *models.User) core.Inbound {
	return core.Inbound{
		Key: key, Kind: kind, Place: core.Place{Adapter: d.adapter, Channel: strconv.FormatInt(c.ID, 10)},
		Direct: c.Type == models.ChatTypePrivate, From: d.person(&rawMessage{From: by}),
	}
}

const (
	// answerTimeout bounds the answers to presses, for which the next poll waits.
	answerTimeout = 5 * time.Second
	// maxAlert is the longest word to who pressed, in characters.
	maxAlert = 200
)

// query is a press that waits for its answer: its client shows that it does.
type query struct{ id, note string }

// answerAll ends the waiting of who pressed buttons. A query that comes again,
// or late, cannot be answered, which is no loss.
func (a *Adapter) answerAll(ctx context.Context, queries []query) {
	var wg sync.WaitGroup
	for _, q := range queries {
		wg.Go(func() {
			note := []rune(q.note)
			err := a.api.raw(ctx, answerTimeout, "answerCallbackQuery", bot.AnswerCallbackQueryParams{
				CallbackQueryID: q.id, Text: string(note[:min(len(note), maxAlert)]), ShowAlert: len(note) > 0,
			}, nil)
			if err != nil {
				a.log.Debug("a press was not answered", "err", err)
			}
		})
	}
	wg.Wait()
}

// rowButtons is how many buttons stand beside each other: more are hard to read
// on a telephone.
const rowButtons = 3

// keyboard is buttons as Telegram shows them; nil for none.
func keyboard(buttons []core.Button) models.ReplyMarkup {
	if len(buttons) == 0 {
		return nil
	}
	var k models.InlineKeyboardMarkup
	for row := range slices.Chunk(buttons, rowButtons) {
		var keys []models.InlineKeyboardButton
		for _, b := range row {
			keys = append(keys, models.InlineKeyboardButton{Text: b.Label, CallbackData: b.Value})
		}
		k.InlineKeyboard = append(k.InlineKeyboard, keys)
	}
	return k
}
