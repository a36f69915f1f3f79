//go:build peers

package main

import (
	"strings"
	"testing"
)

// discordPeer is discord-digital-twin behind .ci/peers/discord.mjs, seen by
// Olga.
type discordPeer struct {
	server
	info struct{ Olga, General, Direct, Bot string }
}

func newDiscord(t *testing.T) peer {
	p := &discordPeer{server: serverBy(t, "9200", "/users/info", "node", startFile(t, "discord.mjs"), "9200")}
	p.act(t, "info", nil, &p.info)
	return p
}

// act does what a person does.
func (p *discordPeer) act(t *testing.T, what string, with map[string]any, result any) {
	t.Helper()
	p.post(t, "/users/"+what, with, result)
}

func (p *discordPeer) config() string {
	return `
[adapters.discord]
token = "${TOKEN}"
api_url = "` + p.url + `/api/v10"
[access]
members = ["discord:` + p.info.Olga + `"]
`
}

func (*discordPeer) secrets() []string { return []string{"TOKEN=peer"} }

func (*discordPeer) lacks(journey string) string {
	if journey == "file out" {
		return "the peer does not take a bot's files: it reads every body as JSON"
	}
	return ""
}

// listens: a bot publishes its commands when Discord has greeted it.
func (p *discordPeer) listens(t *testing.T) bool {
	t.Helper()
	var published int
	p.act(t, "commands", nil, &published)
	return published > 0
}

func (p *discordPeer) shared() spot { return spot{channel: p.info.General} }

func (p *discordPeer) direct() spot { return spot{channel: p.info.Direct} }

func (*discordPeer) thread(s spot, id string) spot { return spot{s.channel, id} }

// room is the channel that the spot is to Discord.
func (s spot) room() string {
	if s.thread != "" {
		return s.thread
	}
	return s.channel
}

func (p *discordPeer) say(t *testing.T, s spot, at bool, text string) string {
	t.Helper()
	if at {
		text = "<@" + p.info.Bot + "> " + text
	}
	var said struct{ ID string }
	p.act(t, "say", map[string]any{"channel": s.room(), "text": text}, &said)
	return said.ID
}

func (p *discordPeer) follow(t *testing.T, s spot, text string) spot {
	t.Helper()
	p.say(t, s, false, text)
	return s
}

func (p *discordPeer) attach(t *testing.T, s spot, text string, f shownFile) {
	t.Helper()
	p.act(t, "say", map[string]any{"channel": s.room(), "text": text, "file": map[string]any{"name": f.name, "type": f.kind, "data": f.content}}, nil)
}

func (p *discordPeer) edit(t *testing.T, s spot, id, text string) {
	t.Helper()
	p.act(t, "edit", map[string]any{"channel": s.room(), "message": id, "text": text}, nil)
}

func (p *discordPeer) command(t *testing.T, s spot, name string) {
	t.Helper()
	p.act(t, "command", map[string]any{"channel": s.room(), "name": name}, nil)
}

func (p *discordPeer) press(t *testing.T, s spot, m shownMessage, b shownButton) {
	t.Helper()
	p.act(t, "press", map[string]any{"channel": s.room(), "message": m.id, "button": b.id}, nil)
}

func (p *discordPeer) shown(t *testing.T, s spot) (list []shownMessage) {
	t.Helper()
	var messages []struct {
		ID         string
		Author     struct{ ID string }
		Content    string
		Components []struct {
			Components []struct {
				ID    string `json:"custom_id"`
				Label string
			}
		}
	}
	p.act(t, "read", map[string]any{"channel": s.room()}, &messages)
	for _, m := range messages {
		if m.Author.ID != p.info.Bot {
			continue
		}
		shown := shownMessage{id: m.ID, text: strings.TrimSpace(m.Content)}
		for _, row := range m.Components {
			for _, b := range row.Components {
				shown.buttons = append(shown.buttons, shownButton{b.ID, b.Label})
			}
		}
		list = append(list, shown)
	}
	return list
}
