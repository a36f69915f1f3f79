//go:build peers

package main

import (
	"encoding/json"
	"html"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// telegramPeer is telegram-test-api, seen by Olga. What people say it takes as
// it comes: the message is made here, as Telegram makes it.
type telegramPeer struct{ server }

const (
	telegramToken = "666:peer"
	telegramBot   = "@TestNameBot" // the peer's own name for it
	telegramOlga  = 1111
	telegramGroup = -1000000000042
)

func newTelegram(t *testing.T) peer {
	return telegramPeer{serverBy(t, "9100", "/bot"+telegramToken+"/getMe", "node", startFile(t, "telegram.cjs"), "9100")}
}

func (p telegramPeer) config() string {
	return `
[adapters.telegram]
token = "${TOKEN}"
api_url = "` + p.url + `"
[access]
members = ["telegram:` + strconv.Itoa(telegramOlga) + `"]
`
}

func (telegramPeer) secrets() []string { return []string{"TOKEN=" + telegramToken} }

func (telegramPeer) lacks(journey string) string {
	switch journey {
	case "edit":
		return "the peer tells the bot of new messages only: it has no update for an edit"
	case "file in", "file out":
		return "the peer has no files: neither getFile nor sendDocument"
	}
	return ""
}

// listens: the peer keeps what it has to tell.
func (telegramPeer) listens(*testing.T) bool { return true }

func (telegramPeer) shared() spot { return spot{channel: strconv.Itoa(telegramGroup)} }

func (telegramPeer) direct() spot { return spot{channel: strconv.Itoa(telegramOlga)} }

// thread of a message are the replies to it: the peer has no topics.
func (telegramPeer) thread(s spot, id string) spot { return spot{s.channel, id} }

type telegramMessage map[string]any

// message is a new one of Olga's.
func (telegramPeer) message(s spot, text string) telegramMessage {
	chat, kind := telegramGroup, "supergroup"
	if s.channel == strconv.Itoa(telegramOlga) {
		chat, kind = telegramOlga, "private"
	}
	return telegramMessage{
		"botToken": telegramToken, // whom the peer delivers it to
		"date":     time.Now().Unix(), "text": text,
		"from": map[string]any{"id": telegramOlga, "is_bot": false, "first_name": "Olga", "username": "olga"},
		"chat": map[string]any{"id": chat, "type": kind, "title": "Harbour"},
	}
}

// entity marks a part of the text.
func entity(kind, text, part string) []map[string]any {
	before, _, _ := strings.Cut(text, part)
	return []map[string]any{{"type": kind, "offset": len(utf16.Encode([]rune(before))), "length": len(utf16.Encode([]rune(part)))}}
}

func (p telegramPeer) say(t *testing.T, s spot, at bool, text string) string {
	t.Helper()
	if at {
		text = telegramBot + " " + text
	}
	m := p.message(s, text)
	if at {
		m["entities"] = entity("mention", text, telegramBot)
	}
	return p.send(t, m)
}

// send sends a message and returns its id.
func (p telegramPeer) send(t *testing.T, m telegramMessage) string {
	t.Helper()
	p.post(t, "/sendMessage", m, nil)
	newest := 0
	for _, u := range p.history(t) {
		if u.Message.ChatID == "" && u.Message.Text == m["text"] {
			newest = max(newest, u.ID)
		}
	}
	if newest == 0 {
		t.Fatalf("the peer does not tell of %v", m)
	}
	return strconv.Itoa(newest)
}

func (p telegramPeer) follow(t *testing.T, s spot, text string) spot {
	t.Helper()
	list := p.shown(t, s)
	answer := list[len(list)-1]
	id, _ := strconv.Atoi(answer.id) // of a number
	m := p.message(s, text)
	m["reply_to_message"] = map[string]any{
		"message_id": id, "date": time.Now().Unix(), "text": answer.text, "chat": m["chat"],
		"from": map[string]any{"id": 666, "is_bot": true, "first_name": "Test First name", "username": telegramBot[1:]},
	}
	return p.thread(s, p.send(t, m))
}

func (telegramPeer) attach(t *testing.T, _ spot, _ string, _ shownFile) {
	t.Fatal("the peer has no files")
}

func (telegramPeer) edit(t *testing.T, _ spot, _, _ string) { t.Fatal("the peer has no edits") }

func (p telegramPeer) command(t *testing.T, s spot, name string) {
	t.Helper()
	text := "/" + name + telegramBot
	m := p.message(s, text)
	m["entities"] = entity("bot_command", text, text)
	p.post(t, "/sendCommand", m, nil)
}

func (p telegramPeer) press(t *testing.T, s spot, m shownMessage, b shownButton) {
	t.Helper()
	id, _ := strconv.Atoi(m.id) // of a number
	press := p.message(s, "")
	press["data"] = b.id
	press["message"] = map[string]any{"message_id": id, "date": time.Now().Unix(), "chat": press["chat"], "text": m.text}
	p.post(t, "/sendCallback", press, nil)
}

// telegramUpdate is something said, as the peer keeps it.
type telegramUpdate struct {
	ID      int `json:"messageId"`
	Message struct {
		ChatID  json.Number `json:"chat_id"` // of what the bot says
		Text    string      `json:"text"`
		Mode    string      `json:"parse_mode"`
		ReplyTo struct {
			ID int `json:"message_id"`
		} `json:"reply_parameters"`
		Markup struct {
			Rows [][]struct {
				Label string `json:"text"`
				Data  string `json:"callback_data"`
			} `json:"inline_keyboard"`
		} `json:"reply_markup"`
	} `json:"message"`
}

func (p telegramPeer) history(t *testing.T) []telegramUpdate {
	t.Helper()
	var answer struct{ Result []telegramUpdate }
	p.post(t, "/getUpdatesHistory", map[string]string{"token": telegramToken}, &answer)
	return answer.Result
}

var tag = regexp.MustCompile(`<[^>]*>`)

func (p telegramPeer) shown(t *testing.T, s spot) (list []shownMessage) {
	t.Helper()
	for _, u := range p.history(t) {
		if u.Message.ChatID.String() != s.channel || s.thread != "" && strconv.Itoa(u.Message.ReplyTo.ID) != s.thread {
			continue
		}
		m := shownMessage{id: strconv.Itoa(u.ID), text: u.Message.Text}
		if u.Message.Mode == "HTML" {
			m.text = html.UnescapeString(tag.ReplaceAllString(m.text, ""))
		}
		for _, row := range u.Message.Markup.Rows {
			for _, b := range row {
				m.buttons = append(m.buttons, shownButton{b.Data, b.Label})
			}
		}
		list = append(list, m)
	}
	return list
}
