package adaptertest

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// tgButton is a button that sends its data.
type tgButton struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// maxRow is how many buttons a row may have.
const maxRow = 8

// keyboard reads the buttons of a call; nil: none.
func (p params) keyboard() ([][]tgButton, *apiError) {
	var markup struct {
		Rows [][]map[string]any `json:"inline_keyboard"`
	}
	if e := p.object("reply_markup", &markup); e != nil {
		return nil, e
	}
	if p["reply_markup"] != "" && markup.Rows == nil {
		return nil, bad("object expected as reply markup")
	}
	var rows [][]tgButton
	for _, row := range markup.Rows {
		var keys []tgButton
		for _, b := range row {
			text, _ := b["text"].(string)
			data, _ := b["callback_data"].(string)
			switch {
			case text == "":
				return nil, bad("can't parse inline keyboard button: Field \"text\" must be of type String")
			case len(b) != 2:
				return nil, bad("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
			case data == "" || len(data) > 64:
				return nil, bad("BUTTON_DATA_INVALID")
			}
			keys = append(keys, tgButton{text, data})
		}
		if len(keys) > maxRow {
			return nil, bad("BUTTON_ROW_TOO_LONG")
		}
		if len(keys) > 0 {
			rows = append(rows, keys)
		}
	}
	return rows, nil
}

// Press presses the button of a message that has the data, or the text, and
// returns the query's id.
func (c *TelegramChat) Press(u *TelegramUser, id int, button string) (query string, err error) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	m := c.r.find(id)
	if m == nil {
		return "", fmt.Errorf("there is no message %d", id)
	}
	for _, b := range slices.Concat(m.keyboard...) {
		if b.Data != button && b.Text != button {
			continue
		}
		return c.t.pressed(u, m, b.Data), nil
	}
	return "", fmt.Errorf("below %d there is no button %q", id, button)
}

func (t *Telegram) answerCallbackQuery(p params) (any, *apiError) {
	u := t.presses[p["callback_query_id"]]
	switch {
	case u == nil:
		return nil, bad("query is too old and response timeout expired or query ID is invalid")
	case utf16Len(p["text"]) > 200:
		return nil, bad("MESSAGE_TOO_LONG")
	}
	delete(t.presses, p["callback_query_id"])
	if p["text"] != "" {
		t.alerts[u.ID] = append(t.alerts[u.ID], p["text"])
	}
	return true, nil
}

// Alerts lists what a person was told for their presses.
func (t *Telegram) Alerts(u *TelegramUser) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.alerts[u.ID])
}

// Unanswered is how many presses were not answered yet.
func (t *Telegram) Unanswered() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.presses)
}

// React gives a person's one reaction to a message; empty: none. The bot is an
// admin of its groups, so that it is told.
func (c *TelegramChat) React(u *TelegramUser, id int, emoji string) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	m := c.r.find(id)
	if m == nil {
		panic(fmt.Sprint("adaptertest: there is no message ", id))
	}
	list := func(emoji string) []any {
		if emoji == "" {
			return []any{}
		}
		return []any{map[string]any{"type": "emoji", "emoji": emoji}}
	}
	before := m.tags[u.ID]
	m.tags = maps.Clone(m.tags)
	if m.tags == nil {
		m.tags = map[int64]string{}
	}
	m.tags[u.ID] = emoji
	c.t.enqueue("message_reaction", map[string]any{"chat": c.r.json(), "message_id": id, "user": u.json(), "date": time.Now().Unix(),
		"old_reaction": list(before), "new_reaction": list(emoji)})
}
