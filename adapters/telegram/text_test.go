package telegram

import (
	"math"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	type entities = []models.MessageEntity
	ent := func(kind models.MessageEntityType, offset, length int) models.MessageEntity {
		return models.MessageEntity{Type: kind, Offset: offset, Length: length}
	}
	person := func(offset, length int, id int64) models.MessageEntity {
		e := ent("text_mention", offset, length)
		e.User = &models.User{ID: id}
		return e
	}
	tests := map[string]struct {
		text     string
		entities entities
		want     speech
	}{
		"plain":                 {"hello", nil, speech{text: "hello"}},
		"named":                 {"@bellhop_bot hello", entities{ent("mention", 0, 12)}, speech{text: "hello", mentioned: true}},
		"in any case":           {"@BELLHOP_bot hello", entities{ent("mention", 0, 12)}, speech{text: "hello", mentioned: true}},
		"nothing but named":     {"@bellhop_bot", entities{ent("mention", 0, 12)}, speech{mentioned: true}},
		"named at the end":      {"hello @bellhop_bot", entities{ent("mention", 6, 12)}, speech{text: "hello", mentioned: true}},
		"named in the middle":   {"well @bellhop_bot do it", entities{ent("mention", 5, 12)}, speech{text: "well do it", mentioned: true}},
		"before a comma":        {"@bellhop_bot, go", entities{ent("mention", 0, 12)}, speech{text: ", go", mentioned: true}},
		"on a line of its own":  {"a\n@bellhop_bot\nb", entities{ent("mention", 2, 12)}, speech{text: "a\nb", mentioned: true}},
		"after Cyrillic":        {"Привет @bellhop_bot, как дела", entities{ent("mention", 7, 12)}, speech{text: "Привет , как дела", mentioned: true}},
		"after emoji":           {"👩‍🚀🎉 @bellhop_bot go", entities{ent("mention", 8, 12)}, speech{text: "👩‍🚀🎉 go", mentioned: true}},
		"twice":                 {"@bellhop_bot a @bellhop_bot b", entities{ent("mention", 0, 12), ent("mention", 15, 12)}, speech{text: "a b", mentioned: true}},
		"out of order":          {"@bellhop_bot a @bellhop_bot b", entities{ent("mention", 15, 12), ent("mention", 0, 12)}, speech{text: "a b", mentioned: true}},
		"bold around it":        {"@bellhop_bot a", entities{ent("bold", 0, 14), ent("mention", 0, 12)}, speech{text: "a", mentioned: true}},
		"by text mention":       {"Bell, go", entities{person(0, 4, 123456)}, speech{text: ", go", mentioned: true}},
		"another":               {"@bob go", entities{ent("mention", 0, 4)}, speech{text: "@bob go", others: true}},
		"another without name":  {"Bob go", entities{person(0, 3, 8)}, speech{text: "Bob go", others: true}},
		"another and us":        {"@bob @bellhop_bot", entities{ent("mention", 0, 4), ent("mention", 5, 12)}, speech{text: "@bob", mentioned: true, others: true}},
		"our name and more":     {"@bellhop_bot2 go", entities{ent("mention", 0, 13)}, speech{text: "@bellhop_bot2 go", others: true}},
		"not an entity":         {"mail@bellhop_bot", nil, speech{text: "mail@bellhop_bot"}},
		"command":               {"/new topic", entities{ent("bot_command", 0, 4)}, speech{text: "/new topic", command: true}},
		"command for us":        {"/new@bellhop_BOT topic", entities{ent("bot_command", 0, 16)}, speech{text: "/new topic", command: true, mentioned: true}},
		"command for another":   {"/new@other_bot topic", entities{ent("bot_command", 0, 14)}, speech{text: "/new@other_bot topic", foreign: true}},
		"command after us":      {"@bellhop_bot /new", entities{ent("mention", 0, 12), ent("bot_command", 13, 4)}, speech{text: "/new", command: true, mentioned: true}},
		"command after emoji":   {"🎉 /new", entities{ent("bot_command", 3, 4)}, speech{text: "🎉 /new"}},
		"second command":        {"/new /stop@other_bot", entities{ent("bot_command", 0, 4), ent("bot_command", 5, 15)}, speech{text: "/new /stop@other_bot", command: true}},
		"too long":              {"@bellhop_bot", entities{ent("mention", 0, 500)}, speech{mentioned: true}},
		"much too long":         {"a @bellhop_bot", entities{ent("mention", 2, math.MaxInt)}, speech{text: "a", mentioned: true}},
		"past the end":          {"hi", entities{ent("mention", 2, 3), ent("bot_command", 40, 3)}, speech{text: "hi"}},
		"negative":              {"hi", entities{ent("mention", -3, 5), ent("bot_command", 0, -1)}, speech{text: "hi"}},
		"within what was cut":   {"@bellhop_bot go", entities{ent("mention", 0, 12), ent("mention", 3, 4)}, speech{text: "go", mentioned: true}},
		"in the middle of 🎉":    {"🎉", entities{ent("mention", 1, 1)}, speech{text: "🎉", others: true}},
		"text mention, no user": {"Bob", entities{ent("text_mention", 0, 3)}, speech{text: "Bob", others: true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := read(testDecoder.me, &rawMessage{Text: tt.text, Entities: tt.entities})
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(speech{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}
