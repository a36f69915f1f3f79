package coretest

import (
	"strings"
	"testing"

	"bellhop/core"
	"bellhop/store"
)

// The checker sees it when a message wakes others than it should.
func TestCheckRoutes(t *testing.T) {
	bots := []core.Bot{{Handle: "chief"}, {Handle: "engineer"}, {Handle: "qa", Delegate: true}}
	person := core.Actor{Kind: core.HumanActor, ID: "chat:alice"}
	chief := core.Actor{Kind: core.BotActor, ID: "chief"}
	ci := core.Actor{Kind: core.ExternalActor, ID: "ci"}
	for _, tt := range []struct {
		name  string
		m     core.Message
		woken []string
		want  string // empty: all is well
	}{
		{"all who are named", core.Message{Sender: person, Mentions: []string{"engineer", "chief"}}, []string{"chief", "engineer"}, ""},
		{"one of two", core.Message{Sender: person, Mentions: []string{"engineer", "chief"}}, []string{"chief"}, "has woken"},
		{"another one", core.Message{Sender: person, Mentions: []string{"engineer"}}, []string{"chief"}, "has woken"},
		{"a delegate, by way of the default bot", core.Message{Sender: person, Mentions: []string{"qa"}}, []string{"chief"}, ""},
		{"two by default", core.Message{Sender: person}, []string{"chief", "engineer"}, "has woken"},
		{"an answer", core.Message{Sender: person, Answers: "r1"}, []string{"chief"}, "answer"},
		{"what was edited", core.Message{Sender: person, Version: 1, Mentions: []string{"engineer"}}, []string{"chief"}, ""},
		{"a hand-off", core.Message{Sender: chief, Hop: 1, Mentions: []string{"chief", "qa", "engineer"}}, []string{"qa"}, ""},
		{"a hand-off to the second", core.Message{Sender: chief, Hop: 1, Mentions: []string{"qa", "engineer"}}, []string{"engineer"}, "has woken"},
		{"to itself", core.Message{Sender: chief, Hop: 1, Mentions: []string{"chief"}}, []string{"chief"}, "has woken"},
		{"beyond the last hop", core.Message{Sender: chief, Hop: 3}, nil, "hop"},
		{"at the last hop", core.Message{Sender: chief, Hop: 2, Mentions: []string{"qa"}}, []string{"qa"}, "hop"},
		{"an external, by default", core.Message{Sender: ci}, []string{"chief"}, ""},
		{"an external, two by default", core.Message{Sender: ci}, []string{"chief", "engineer"}, "has woken"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.m.ID = "m1"
			c := checker{Books: store.Books{Messages: []core.Message{tt.m}}}
			for _, bot := range tt.woken {
				c.Items = append(c.Items, core.Item{Kind: core.MessageItem, Bot: bot, Message: "m1"})
			}
			c.checkRoutes(bots, 2)
			if found := strings.Join(c.problems, "; "); (found == "") != (tt.want == "") || !strings.Contains(found, tt.want) {
				t.Errorf("found %q, want %q", found, tt.want)
			}
		})
	}
}
