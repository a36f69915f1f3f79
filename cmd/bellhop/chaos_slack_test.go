package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"bellhop/adapters/adaptertest"
)

// slackTown is Slack.
type slackTown struct{ *adaptertest.Slack }

func newSlackTown() town { return slackTown{adaptertest.NewSlack(adaptertest.SlackOptions{})} }

func (slackTown) name() string { return "slack" }
func (slackTown) config(url string) string {
	return fmt.Sprintf("bot_token = \"${BOT}\"\napp_token = \"${APP}\"\napi_url = %q", url+"/api/")
}
func (s slackTown) secrets() map[string]string {
	return map[string]string{"BOT": s.BotToken(), "APP": s.AppToken()}
}
func (slackTown) pace() time.Duration { return 1500 * time.Millisecond }
func (slackTown) part() int           { return 900 }
func (s slackTown) online() bool      { return s.Sockets() > 0 }
func (slackTown) acquainted() bool    { return true }
func (s slackTown) calm()             { s.Heal() }
func (s slackTown) told() bool        { return s.Unacked() == 0 }

func (slackTown) sees(r *http.Request) sight {
	if websocket.IsWebSocketUpgrade(r) {
		return sight{receives: true, lasts: true}
	}
	switch path.Base(r.URL.Path) {
	case "chat.postMessage", "chat.startStream":
		return sight{moments: [3]moment{sending, sent, sentTold}}
	case "chat.update", "chat.appendStream", "chat.stopStream":
		return sight{moments: [3]moment{editing, edited, editTold}}
	case "conversations.history", "conversations.replies":
		return sight{moments: [3]moment{2: polled}}
	}
	return sight{}
}

func (s slackTown) storm(r *rand.Rand) {
	switch r.IntN(6) {
	case 0:
		s.Drop()
	case 1:
		s.Disconnect([]string{"warning", "refresh_requested"}[r.IntN(2)])
	default:
		methods := []string{"chat.postMessage", "chat.startStream", "chat.update", "chat.appendStream", "chat.stopStream",
			"conversations.history", "conversations.replies", "apps.connections.open"}
		s.Fail(methods[r.IntN(len(methods))], 1, faults(r))
	}
}

// populate makes a direct conversation, threads in a channel, and a channel in
// which each mention opens one. In a crowd there are more of them.
func (s slackTown) populate(crowd bool) (places []*place) {
	people := [2]*adaptertest.SlackUser{s.User("Ann"), s.User("Bob")}
	add := func(name string, chat *adaptertest.SlackChat, p place, who [2]*adaptertest.SlackUser) {
		p.name, p.id, p.commands = name, strings.TrimSuffix("slack:"+chat.ID()+"/"+chat.ThreadTS(), "/"), map[string]int{}
		p.room = slackRoom{chat, s.Me(), p.scattered, who}
		places = append(places, &p)
	}
	direct := func(u *adaptertest.SlackUser) {
		add("the conversation with "+u.Name, s.Direct(u), place{}, [2]*adaptertest.SlackUser{u, u})
	}
	talk := s.Channel("talk", people[0], people[1])
	thread := func(name string, p place) {
		add(name, talk.Thread(talk.Post(people[0], adaptertest.SlackPost{Text: "Let us talk of " + name + ".", Silent: true})), p, people)
	}
	direct(people[0])
	thread("the thread", place{})
	thread("the restless thread", place{restless: true})
	add("the channel", s.Channel("questions", people[0], people[1]), place{shared: true, scattered: true}, people)
	if crowd {
		direct(people[1])
		thread("another thread", place{})
		add("another channel", s.Private("more", people[0], people[1]), place{shared: true, scattered: true}, people)
		add("the group", s.Group(people[0], people[1]), place{}, people)
	}
	return places
}

// slackRoom is a conversation, or a thread. The first of several who speaks
// calls the bot into it.
type slackRoom struct {
	talk      *adaptertest.SlackChat
	bot       *adaptertest.SlackUser
	scattered bool
	people    [2]*adaptertest.SlackUser
}

func (r slackRoom) shown() (all []adaptertest.Shown) {
	if !r.scattered {
		return r.talk.Shown()
	}
	for _, root := range r.talk.Shown() {
		all = append(all, root)
		all = append(all, r.talk.Thread(root.ID).Shown()...)
	}
	return all
}

func (r slackRoom) say(who int, text string, called bool) string {
	post := adaptertest.SlackPost{Text: text}
	if called || r.people[0] != r.people[1] && len(r.talk.Shown()) == 0 {
		post.Mention = []*adaptertest.SlackUser{r.bot}
	}
	return r.talk.Post(r.people[who], post)
}

func (r slackRoom) edit(id, text string) { r.talk.Edit(id, text) }

func (r slackRoom) command(who int, name string) {
	post := adaptertest.SlackPost{Text: "!" + name}
	if r.people[0] != r.people[1] {
		post.Mention = []*adaptertest.SlackUser{r.bot}
	}
	r.talk.Post(r.people[who], post)
}

func (r slackRoom) chat(who int) { r.talk.Say(r.people[who], "Nothing for the bot.") }
