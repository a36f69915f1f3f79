package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"bellhop/adapters/adaptertest"
)

// discordTown is Discord.
type discordTown struct{ *adaptertest.Discord }

func newDiscordTown() town {
	return discordTown{adaptertest.NewDiscord(adaptertest.DiscordOptions{Eager: true})}
}

func (discordTown) name() string { return "discord" }
func (discordTown) config(url string) string {
	return fmt.Sprintf("token = \"${TOKEN}\"\napi_url = %q", url+"/api/v10")
}
func (s discordTown) secrets() map[string]string { return map[string]string{"TOKEN": s.Token()} }

// pace leaves time for answers: Discord takes a message a second in a channel.
func (discordTown) pace() time.Duration { return 4 * time.Second }
func (discordTown) part() int           { return 150 }
func (s discordTown) online() bool      { return s.Online() }
func (discordTown) acquainted() bool    { return true }
func (s discordTown) calm()             { s.Heal() }
func (discordTown) told() bool          { return true } // it tells nobody twice

func (discordTown) sees(r *http.Request) sight {
	at := strings.Split(r.URL.Path, "/")
	switch messages := len(at) > 5 && at[5] == "messages"; {
	case websocket.IsWebSocketUpgrade(r):
		return sight{receives: true, lasts: true}
	case messages && r.Method == http.MethodPost && len(at) == 6:
		return sight{moments: [3]moment{sending, sent, sentTold}}
	case messages && r.Method == http.MethodPatch:
		return sight{moments: [3]moment{editing, edited, editTold}}
	case messages && r.Method == http.MethodGet:
		return sight{moments: [3]moment{2: polled}}
	}
	return sight{}
}

func (s discordTown) storm(r *rand.Rand) {
	switch r.IntN(6) {
	case 0:
		s.Drop()
	case 1:
		[]func(){s.Reconnect, func() { s.Invalidate(true) }, func() { s.Invalidate(false) }}[r.IntN(3)]()
	default:
		methods := []string{"message.create", "message.edit", "message.list", "thread.create", "gateway.bot", "connect"}
		s.Fail(methods[r.IntN(len(methods))], 1, faults(r))
	}
}

// populate makes a direct conversation, threads in a channel, and a channel in
// which each mention opens one. In a crowd there are more of them.
func (s discordTown) populate(crowd bool) (places []*place) {
	people := [2]*adaptertest.DiscordUser{s.User("Ann"), s.User("Bob")}
	add := func(name, id string, chat *adaptertest.DiscordChat, p place, who [2]*adaptertest.DiscordUser) {
		p.name, p.id, p.commands = name, "discord:"+id, map[string]int{}
		p.room = discordRoom{chat, s.Me(), p.scattered, who}
		places = append(places, &p)
	}
	direct := func(u *adaptertest.DiscordUser) {
		chat := s.Direct(u)
		add("the conversation with "+u.Name, chat.ID(), chat, place{}, [2]*adaptertest.DiscordUser{u, u})
	}
	talk := s.Channel("talk")
	thread := func(name string, p place) {
		chat := talk.Open(people[0], name, "")
		add(name, talk.ID()+"/"+chat.ID(), chat, p, people)
	}
	scattered := func(name string) {
		chat := s.Channel(name)
		add(name, chat.ID(), chat, place{shared: true, scattered: true}, people)
	}
	direct(people[0])
	thread("the thread", place{})
	thread("the restless thread", place{restless: true})
	scattered("the channel")
	if crowd {
		direct(people[1])
		thread("another thread", place{})
		scattered("another channel")
	}
	return places
}

// discordRoom is a channel, a thread, or a direct conversation. The first who
// speaks in a thread calls the bot into it.
type discordRoom struct {
	talk      *adaptertest.DiscordChat
	bot       *adaptertest.DiscordUser
	scattered bool
	people    [2]*adaptertest.DiscordUser
}

func (r discordRoom) shown() (all []adaptertest.Shown) {
	if !r.scattered {
		return r.talk.Shown()
	}
	for _, root := range r.talk.Shown() {
		all = append(all, root)
		if thread := r.talk.Branch(root.ID); thread != nil {
			all = append(all, thread.Shown()...)
		}
	}
	return all
}

func (r discordRoom) say(who int, text string, called bool) string {
	post := adaptertest.DiscordPost{Text: text}
	if called || r.people[0] != r.people[1] && len(r.talk.Shown()) == 0 {
		post.Mention = []*adaptertest.DiscordUser{r.bot}
	}
	return r.talk.Post(r.people[who], post)
}

func (r discordRoom) edit(id, text string) { r.talk.Edit(id, text) }

func (r discordRoom) command(who int, name string) {
	post := adaptertest.DiscordPost{Text: "!" + name}
	if r.people[0] != r.people[1] {
		post.Mention = []*adaptertest.DiscordUser{r.bot}
	}
	r.talk.Post(r.people[who], post)
}

func (r discordRoom) chat(who int) {
	r.talk.Post(r.people[who], adaptertest.DiscordPost{Text: "Nothing for the bot."})
}
