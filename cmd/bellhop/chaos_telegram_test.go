package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"strconv"
	"time"

	"bellhop/adapters/adaptertest"
)

// telegramTown is Telegram.
type telegramTown struct{ *adaptertest.Telegram }

func newTelegramTown() town {
	return telegramTown{adaptertest.NewTelegram(adaptertest.TelegramOptions{Token: token})}
}

func (telegramTown) name() string { return "telegram" }
func (telegramTown) config(url string) string {
	return fmt.Sprintf("token = \"${TOKEN}\"\napi_url = %q", url)
}
func (telegramTown) secrets() map[string]string { return map[string]string{"TOKEN": token} }
func (telegramTown) pace() time.Duration        { return 1200 * time.Millisecond }
func (telegramTown) part() int                  { return 350 }
func (telegramTown) online() bool               { return true } // or later
func (telegramTown) acquainted() bool           { return false }
func (s telegramTown) calm()                    { s.Heal() }
func (s telegramTown) told() bool               { return s.Unconfirmed() == 0 }

func (telegramTown) sees(r *http.Request) sight {
	switch path.Base(r.URL.Path) {
	case "getUpdates":
		return sight{receives: true, moments: [3]moment{2: polled}}
	case "sendMessage":
		return sight{moments: [3]moment{sending, sent, sentTold}}
	case "editMessageText":
		return sight{moments: [3]moment{editing, edited, editTold}}
	}
	return sight{}
}

func (s telegramTown) storm(r *rand.Rand) {
	s.Fail([]string{"sendMessage", "editMessageText", "getUpdates"}[r.IntN(3)], 1, faults(r))
}

// populate makes a private chat, two supergroups and a topic, each with message
// ids of its own. In a crowd there are others whose ids come from the same
// counters, so that what a crash leaves behind is harder to find.
func (s telegramTown) populate(crowd bool) (places []*place) {
	user := func(id int64) *adaptertest.TelegramUser { return s.User(id, fmt.Sprint("Person ", id)) }
	add := func(name string, chat *adaptertest.TelegramChat, shared bool, one, other *adaptertest.TelegramUser) {
		id := "telegram:" + strconv.FormatInt(chat.ID(), 10)
		if chat.TopicID() != 0 {
			id += "/" + strconv.Itoa(chat.TopicID())
		}
		room := telegramRoom{chat, "@" + s.Me().Username, shared, [2]*adaptertest.TelegramUser{one, other}}
		places = append(places, &place{name: name, id: id, room: room, shared: shared, commands: map[string]int{}})
	}
	private := func(id int64) {
		u := user(id)
		add("the chat of "+u.Name, s.Private(u), false, u, u)
	}
	forum := s.Forum("Forum")
	private(1001)
	add("the supergroup", s.Supergroup("Supergroup"), true, user(2001), user(2003))
	add("the first topic", forum.Topic(user(2001), "One"), true, user(2001), user(2004))
	add("the restless supergroup", s.Supergroup("Restless"), true, user(2005), user(2006))
	places[len(places)-1].restless = true
	if crowd {
		private(1002)
		private(1003)
		add("the group", s.Group("Group"), true, user(2001), user(2002))
		add("the second topic", forum.Topic(user(2001), "Two"), true, user(2001), user(2002))
	}
	return places
}

// telegramRoom is a chat, or a topic of one.
type telegramRoom struct {
	talk   *adaptertest.TelegramChat
	bot    string // as people call it
	shared bool
	people [2]*adaptertest.TelegramUser
}

func (r telegramRoom) shown() []adaptertest.Shown { return r.talk.Shown() }

func (r telegramRoom) say(who int, text string, called bool) string {
	if called {
		text = r.bot + " " + text
	}
	return strconv.Itoa(r.talk.Say(r.people[who], text))
}

func (r telegramRoom) edit(id, text string) {
	n, err := strconv.Atoi(id)
	if err != nil {
		panic(err)
	}
	r.talk.Edit(n, r.bot+" "+text)
}

func (r telegramRoom) command(who int, name string) {
	if r.shared {
		name += r.bot
	}
	r.talk.Command(r.people[who], name, "")
}

func (r telegramRoom) chat(who int) {
	r.talk.Say(r.people[who], "Nothing for the bot, which does not see this.")
}
