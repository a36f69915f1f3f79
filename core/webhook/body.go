package webhook

import (
	"encoding/json"
	"time"

	"bellhop/core"
)

// body is what is posted. README.md describes it for those who receive it.
type body struct {
	ItemID   core.ID       `json:"item_id"` // the same however often it is posted
	Kind     core.ItemKind `json:"kind"`
	Actor    string        `json:"actor"`
	ThreadID core.ID       `json:"thread_id"`
	Place    string        `json:"place"`
	Message  message       `json:"message"`
	Question core.ID       `json:"question,omitempty"` // that the message asks: of kind question
	Reply    []string      `json:"reply"`              // a command to run; what is to be said follows it
	Created  time.Time     `json:"created_at"`
	Sent     time.Time     `json:"sent_at"` // now: an old one is a replay
}

type message struct {
	ID       core.ID   `json:"id"`
	Time     time.Time `json:"time"`
	Sender   sender    `json:"sender"`
	Text     string    `json:"text"`
	Mentions []string  `json:"mentions"` // handles of bots and externals
	Files    []file    `json:"files,omitempty"`
	Hop      int       `json:"hop"`
	Corrects core.ID   `json:"corrects,omitempty"` // an earlier message, of which this is a later edit
}

type sender struct {
	Kind core.ActorKind `json:"kind"`
	ID   string         `json:"id"`
	Name string         `json:"name"` // as its platform shows it: anybody can take any
}

type file struct {
	Name string `json:"name"`
	MIME string `json:"mime,omitempty"`
	Size int64  `json:"size,omitempty"`
}

func encode(e core.Errand, now time.Time) ([]byte, error) {
	m := &e.Message
	b := body{ItemID: e.Item.ID, Kind: e.Item.Kind, Actor: e.Item.Bot, ThreadID: e.Item.Thread, Place: e.Thread.Place.String(),
		Message: message{ID: m.ID, Time: m.Time.UTC(), Sender: sender{m.Sender.Kind, m.Sender.ID, m.Name}, Text: m.Text(),
			Mentions: append([]string{}, m.Mentions...), Hop: m.Hop, Corrects: m.Corrects},
		Reply:    []string{"bellhop", "send", "--as", e.Item.Bot, "--to", string(e.Item.Thread), "--re", string(m.ID)},
		Question: e.Ask, Created: e.Item.Created.UTC(), Sent: now.UTC().Truncate(time.Millisecond)}
	if e.Ask != "" {
		b.Kind, b.Reply = core.QuestionItem, []string{"bellhop", "answer", "--as", e.Item.Bot, string(e.Ask)}
	}
	for _, p := range m.Parts {
		if p.File != nil {
			b.Message.Files = append(b.Message.Files, file{p.File.Name, p.File.MIME, p.File.Size})
		}
	}
	return json.Marshal(b)
}
