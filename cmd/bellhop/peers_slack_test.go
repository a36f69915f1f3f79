//go:build peers

package main

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
)

// slackPeer is local-slack, with the workspace of .ci/peers/slack.yaml, seen
// by Olga.
type slackPeer struct{ server }

func newSlack(t *testing.T) peer {
	return slackPeer{serverBy(t, "3300", "/_control/state", installedFile("local-slack-linux-x64/bin/local-slack"),
		"--config", startFile(t, "slack.yaml"), "--port", "3300", "--base-host", "127.0.0.1")}
}

func (p slackPeer) config() string {
	return `
[adapters.slack]
bot_token = "${BOT_TOKEN}"
app_token = "${APP_TOKEN}"
api_url = "` + p.url + `/api/"
[access]
members = ["slack:U01OLGA"]
`
}

func (slackPeer) secrets() []string { return []string{"BOT_TOKEN=xoxb-peer", "APP_TOKEN=xapp-peer"} }

func (slackPeer) lacks(string) string { return "" }

func (p slackPeer) listens(t *testing.T) bool {
	t.Helper()
	var answer struct {
		Log []struct{ Summary string }
	}
	p.get(t, "/_control/log", &answer)
	for _, line := range answer.Log {
		if strings.Contains(line.Summary, "socket connected") {
			return true
		}
	}
	return false
}

func (slackPeer) shared() spot { return spot{channel: "C01GENERAL"} }

func (slackPeer) direct() spot { return spot{channel: "D01OLGA"} }

func (slackPeer) thread(s spot, id string) spot { return spot{s.channel, id} }

func (p slackPeer) say(t *testing.T, s spot, at bool, text string) string {
	t.Helper()
	if at {
		text = "<@U01BELLHOP> " + text
	}
	var said struct {
		Message struct {
			TS string `json:"ts"`
		} `json:"message"`
	}
	p.post(t, "/_control/message", map[string]string{"channel": s.channel, "thread_ts": s.thread, "user": "U01OLGA", "text": text}, &said)
	return said.Message.TS
}

func (p slackPeer) follow(t *testing.T, s spot, text string) spot {
	t.Helper()
	p.say(t, s, false, text)
	return s
}

func (p slackPeer) attach(t *testing.T, s spot, text string, f shownFile) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range map[string]string{"channel": s.channel, "thread_ts": s.thread, "user": "U01OLGA", "text": text} {
		if err := form.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="` + f.name + `"`},
		"Content-Type":        {f.kind},
	})
	if err != nil {
		t.Fatal(err)
	}
	part.Write(f.content)
	form.Close()
	p.call(t, http.MethodPost, "/_control/upload", http.Header{"Content-Type": {form.FormDataContentType()}}, body.Bytes())
}

func (p slackPeer) edit(t *testing.T, s spot, id, text string) {
	t.Helper()
	p.post(t, "/_control/edit-message", map[string]string{"channel": s.channel, "ts": id, "user": "U01OLGA", "text": text}, nil)
}

func (p slackPeer) command(t *testing.T, s spot, name string) {
	t.Helper()
	p.post(t, "/_control/command", map[string]string{"channel": s.channel, "user": "U01OLGA", "command": "/bellhop", "text": name}, nil)
}

func (p slackPeer) press(t *testing.T, s spot, m shownMessage, b shownButton) {
	t.Helper()
	p.post(t, "/_control/interact", map[string]any{
		"channel": s.channel, "messageTs": m.id, "user": "U01OLGA",
		"action": map[string]string{"type": "button", "action_id": b.id, "value": b.id},
	}, nil)
}

func (p slackPeer) shown(t *testing.T, s spot) (list []shownMessage) {
	t.Helper()
	var answer struct {
		Messages []struct {
			TS     string `json:"ts"`
			Thread string `json:"thread_ts"`
			User   string `json:"user"`
			Text   string `json:"text"`
			Blocks []struct {
				Type     string `json:"type"`
				Text     any    `json:"text"`
				Elements []struct {
					Type string `json:"type"`
					ID   string `json:"action_id"`
					Text struct {
						Text string `json:"text"`
					} `json:"text"`
				} `json:"elements"`
			} `json:"blocks"`
			Files []struct {
				Name string `json:"name"`
				Kind string `json:"mimetype"`
				URL  string `json:"url_private"`
			} `json:"files"`
		} `json:"messages"`
	}
	p.get(t, "/_control/messages/"+s.channel, &answer)
	for _, m := range answer.Messages {
		if m.User != "U01BELLHOP" || m.Thread != s.thread {
			continue
		}
		shown := shownMessage{id: m.TS}
		for _, b := range m.Blocks { // where there are any, the text is for notifications only
			if text, ok := b.Text.(string); ok {
				shown.text += text
			}
			for _, e := range b.Elements {
				if e.Type == "button" {
					shown.buttons = append(shown.buttons, shownButton{e.ID, e.Text.Text})
				}
			}
		}
		if len(m.Blocks) == 0 {
			shown.text = m.Text
		}
		for _, f := range m.Files {
			shown.files = append(shown.files, shownFile{f.Name, f.Kind, p.call(t, http.MethodGet, strings.TrimPrefix(f.URL, p.url), http.Header{"Authorization": {"Bearer xoxb-peer"}}, nil)})
		}
		shown.text = strings.TrimSpace(shown.text)
		list = append(list, shown)
	}
	return list
}
