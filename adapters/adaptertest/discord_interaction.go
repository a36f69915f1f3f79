package adaptertest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// How long an interaction may wait to be acknowledged, and then be answered.
const (
	discordAckTime    = 3 * time.Second
	discordAnswerTime = 15 * time.Minute
)

// discordResponse is the use of a command or of a button, and what became of
// it.
type discordResponse struct {
	id      string
	chat    *DiscordChat
	by      *DiscordUser
	command bool
	born    time.Time
	acked   bool
	message *discordMessage // the answer, or what has the button
}

// discordCommandName is what a command may be called.
var discordCommandName = regexp.MustCompile(`^[-_\p{L}\p{N}]{1,32}$`)

func (d *Discord) listCommands(c *discordCall) (any, *discordError) {
	if c.ids["app"] != d.me.ID {
		return nil, discordNo(50001)
	}
	return append([]map[string]any{}, d.commands...), nil
}

func (d *Discord) setCommands(c *discordCall) (any, *discordError) {
	var list []map[string]any
	if e := c.decode(&list); e != nil {
		return nil, e
	}
	if c.ids["app"] != d.me.ID {
		return nil, discordNo(50001)
	}
	seen := map[string]bool{}
	for i, command := range list {
		name, _ := command["name"].(string)
		help, _ := command["description"].(string)
		field := fmt.Sprint(i)
		switch n := utf8.RuneCountInString(help); {
		case !discordCommandName.MatchString(name) || name != strings.ToLower(name):
			return nil, discordForm(field+".name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
		case n < 1 || n > 100:
			return nil, discordForm(field+".description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
		case seen[name]:
			return nil, discordForm(field, "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
		}
		seen[name] = true
		command["id"], command["application_id"], command["version"] = d.id(), d.me.ID, d.id()
	}
	d.commands = append([]map[string]any{}, list...)
	return d.commands, nil
}

// command reports whether a command was published. Called with mu held.
func (d *Discord) command(name string) bool {
	return slices.ContainsFunc(d.commands, func(c map[string]any) bool { return c["name"] == name })
}

// Slash uses a command, which must have been published, and returns the id of
// the interaction.
func (c *DiscordChat) Slash(u *DiscordUser, name, text string) string {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	if !c.d.command(name) {
		panic("adaptertest: nobody has published the command " + name)
	}
	data := map[string]any{"id": c.d.id(), "name": name, "type": 1}
	if text != "" {
		data["options"] = []any{map[string]any{"name": "text", "type": 3, "value": text}}
	}
	r := &discordResponse{chat: c, by: u, command: true}
	c.d.interact(r, 2, data)
	return r.id
}

// Press presses the button of a message that has the id, or the label.
func (c *DiscordChat) Press(u *DiscordUser, message, button string) error {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	m := c.must(message)
	for _, row := range m.rows {
		for _, b := range row.Buttons {
			if (b.CustomID == button || b.Label == button) && !b.Disabled {
				c.pressed(u, m, b.CustomID)
				return nil
			}
		}
	}
	return fmt.Errorf("below %s there is no button %q", message, button)
}

// interact tells of an interaction. Called with mu held.
func (d *Discord) interact(r *discordResponse, kind int, data map[string]any) {
	r.id, r.born = d.id(), time.Now()
	token := "aW50ZXJhY3Rpb24" + r.id
	d.tokens[token] = r
	event := map[string]any{"id": r.id, "application_id": d.me.ID, "type": kind, "token": token, "version": 1, "data": data,
		"channel_id": r.chat.id, "channel": r.chat.json(d), "locale": "en-GB", "attachment_size_limit": discordMaxFile}
	if r.message != nil {
		event["message"] = r.message.json(d)
	}
	if r.chat.with != nil {
		event["user"], event["context"] = r.by.json(), 1
	} else {
		event["member"], event["context"] = map[string]any{"user": r.by.json(), "nick": nil, "roles": []any{}}, 0
		event["guild_id"] = d.guild
	}
	d.tell("INTERACTION_CREATE", r.chat, event)
}

// answerInteraction acknowledges an interaction: the answer to a command, or
// the change of the message that has the button, comes later.
func (d *Discord) answerInteraction(c *discordCall) (any, *discordError) {
	r := d.tokens[c.ids["token"]]
	var b struct {
		Kind int         `json:"type"`
		Data discordBody `json:"data"`
	}
	if e := c.decode(&b); e != nil {
		return nil, e
	}
	if r != nil {
		d.delays = append(d.delays, time.Since(r.born))
	}
	switch {
	case r == nil || r.id != c.ids["interaction"]:
		return nil, discordNo(10062)
	case r.acked:
		return nil, discordNo(40060)
	case time.Since(r.born) > discordAckTime:
		return nil, discordNo(10062)
	case b.Kind == 6 && !r.command:
	case b.Kind == 4, b.Kind == 5:
		m := &discordMessage{chat: r.chat, kind: discordAnswer, from: d.me}
		if e := b.Data.check(d, c); e != nil {
			return nil, e
		}
		if b.Data.Flags != nil {
			m.flags = *b.Data.Flags
		}
		if m.flags&(1<<6) != 0 {
			m.whisper = r.by
		}
		if b.Kind == 5 {
			m.flags |= 1 << 7
		} else if e := b.Data.apply(d, m, c); e != nil {
			return nil, e
		}
		r.message = m
		d.add(m)
	default:
		return nil, discordForm("type", "BASE_TYPE_CHOICES", "This type of answer is not known here.")
	}
	r.acked = true
	return nil, nil
}

// Delays are the times from each interaction to its acknowledgement, one that
// came too late included.
func (d *Discord) Delays() []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.delays)
}

// editOriginal gives a command its answer.
func (d *Discord) editOriginal(c *discordCall) (any, *discordError) {
	r := d.tokens[c.ids["token"]]
	switch {
	case r == nil || c.ids["app"] != d.me.ID || !r.acked:
		return nil, discordNo(10015)
	case time.Since(r.born) > discordAnswerTime:
		return nil, discordNo(50027)
	case r.message.deleted:
		return nil, discordNo(10008)
	}
	var b discordBody
	if e := c.decode(&b); e != nil {
		return nil, e
	}
	r.message.flags &^= 1 << 7 // it thinks no longer
	return d.revise(r.message, &b, c)
}
