package adaptertest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Presses that no client of the platform makes: of a button that is not there.

// Forge implements Platform.
func (l Lacking) Forge(Room, Account, string, string) error { return l.err("buttons") }

// Forge implements Platform.
func (p *TelegramPlatform) Forge(r Room, by Account, message, value string) error {
	id, err := strconv.Atoi(message)
	if err != nil {
		return err
	}
	return p.rooms[r].Forge(p.user(by), id, value)
}

// Forge tells of a press of a button with the data, which the message need not
// have.
func (c *TelegramChat) Forge(u *TelegramUser, id int, data string) error {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	m := c.r.find(id)
	if m == nil {
		return fmt.Errorf("there is no message %d", id)
	}
	c.t.pressed(u, m, data)
	return nil
}

// pressed tells of a press and returns its id. The caller holds mu.
func (t *Telegram) pressed(u *TelegramUser, m *message, data string) (query string) {
	query = fmt.Sprintf("9000%d", t.lastUpdate+1)
	t.presses[query] = u
	t.enqueue("callback_query", map[string]any{"id": query, "from": u.json(), "message": t.messageJSON(m, true),
		"chat_instance": "-42", "data": data})
	return query
}

// Forge implements Platform.
func (p *SlackPlatform) Forge(r Room, by Account, message, value string) error {
	return p.rooms[r].Forge(p.user(by), message, value)
}

// Forge tells of a press of a button with the value, which the message need not
// have: it looks like those that the app has shown elsewhere.
func (c *SlackChat) Forge(u *SlackUser, ts, value string) error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	el := c.s.button
	if el.ActionID == "" {
		return errors.New("nobody knows what a button of the app is like")
	}
	el.ActionID, el.Value = strings.TrimSuffix(el.ActionID, el.Value)+value, value
	c.pressed(u, c.must(ts), slackBlock{ID: "forged"}, el)
	return nil
}

// readBlocks reads the blocks of a message, and what its buttons are like.
func (s *Slack) readBlocks(raw string) ([]slackBlock, *slackError) {
	blocks, e := readBlocks(raw)
	m := slackMessage{blocks: blocks}
	if _, el, ok := m.button(func(slackElement) bool { return true }); ok {
		s.button = el
	}
	return blocks, e
}

// pressed tells of a press. The caller holds mu.
func (c *SlackChat) pressed(u *SlackUser, m *slackMessage, block slackBlock, el slackElement) {
	c.s.interact(c.r, u, map[string]any{"type": "block_actions", "message": m.json(c.s, true),
		"container": map[string]any{"type": "message", "message_ts": m.ts, "channel_id": c.r.id, "is_ephemeral": false, "thread_ts": m.thread},
		"actions": []any{map[string]any{"type": "button", "action_id": el.ActionID, "block_id": block.ID, "value": el.Value,
			"text": el.Text, "action_ts": c.s.stamp()}}})
}

// Forge implements Platform.
func (p *DiscordPlatform) Forge(r Room, by Account, message, value string) error {
	p.chat(r).Forge(p.user(by), message, value)
	return nil
}

// Forge tells of a press of a button with the id, which the message need not
// have.
func (c *DiscordChat) Forge(u *DiscordUser, message, button string) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.pressed(u, c.must(message), button)
}

// pressed tells of a press. The caller holds mu.
func (c *DiscordChat) pressed(u *DiscordUser, m *discordMessage, button string) {
	c.d.interact(&discordResponse{chat: c, by: u, message: m}, 3, map[string]any{"custom_id": button, "component_type": 2})
}
