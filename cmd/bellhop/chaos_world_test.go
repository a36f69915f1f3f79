package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"strings"
	"time"

	"bellhop/adapters/adaptertest"
)

// place is a chat, or a topic of one, and the people who write there.
type place struct {
	name   string
	id     string // as the store names it
	chat   *adaptertest.TelegramChat
	shared bool // the bot must be mentioned
	people []*adaptertest.TelegramUser
	// restless: its people also stop, retry, correct themselves and start
	// afresh, so that there is no telling what they get; only that it is one
	// whole outcome each.
	restless bool

	asked    []asked // only the place's own goroutine appends
	commands map[string]int
}

// asked is one question.
type asked struct {
	number  int
	message int // platform id
}

// populate makes the places: a private chat, two supergroups and a topic, each
// with message ids of its own. In a crowd there are others whose ids come from
// the same counters, so that what a crash leaves behind is harder to find.
func (c *chaos) populate(crowd bool) {
	user := func(id int64) *adaptertest.TelegramUser { return c.tg.User(id, fmt.Sprint("Person ", id)) }
	add := func(name string, chat *adaptertest.TelegramChat, shared bool, people ...*adaptertest.TelegramUser) {
		id := "telegram:" + strconv.FormatInt(chat.ID(), 10)
		if chat.TopicID() != 0 {
			id += "/" + strconv.Itoa(chat.TopicID())
		}
		c.places = append(c.places, &place{name: name, id: id, chat: chat, shared: shared, people: people, commands: map[string]int{}})
	}
	private := func(id int64) { add("the chat of "+user(id).Name, c.tg.Private(user(id)), false, user(id)) }
	forum := c.tg.Forum("Forum")
	private(1001)
	add("the supergroup", c.tg.Supergroup("Supergroup"), true, user(2001), user(2003))
	add("the first topic", forum.Topic(user(2001), "One"), true, user(2001), user(2004))
	add("the restless supergroup", c.tg.Supergroup("Restless"), true, user(2005), user(2006))
	c.places[len(c.places)-1].restless = true
	if crowd {
		private(1002)
		private(1003)
		add("the group", c.tg.Group("Group"), true, user(2001), user(2002))
		add("the second topic", forum.Topic(user(2001), "Two"), true, user(2001), user(2002))
	}
}

// live is what happens in the place until ctx ends.
func (p *place) live(ctx context.Context, r *rand.Rand, c *chaos) {
	for rest(ctx, upTo(r, 1200*time.Millisecond)) {
		who := p.people[r.IntN(len(p.people))]
		switch roll := r.IntN(100); {
		case roll < 10:
			p.command(who, c, []string{"help", "status", "start"}[r.IntN(3)])
		case roll < 30 && p.restless:
			p.command(who, c, []string{"stop", "retry", "new"}[r.IntN(3)])
		case roll < 40 && p.restless && len(p.asked) > 0:
			_, text := c.question(p)
			p.chat.Edit(p.asked[r.IntN(len(p.asked))].message, text)
		case roll < 25: // too fast to be answered one by one
			for range 2 + r.IntN(3) {
				p.ask(who, c)
			}
		case roll < 40 && p.shared:
			p.chat.Say(who, "Nothing for the bot, which does not see this.")
		default:
			p.ask(who, c)
		}
	}
}

// command gives the bot a command.
func (p *place) command(who *adaptertest.TelegramUser, c *chaos, name string) {
	p.commands[name]++
	if p.shared {
		name += "@" + c.tg.Me().Username
	}
	p.chat.Command(who, name, "")
}

// question is the text of a new one.
func (c *chaos) question(p *place) (n int, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.numbers++
	text = fmt.Sprintf("Please tell me q%d", c.numbers)
	if p.shared {
		text = "@" + c.tg.Me().Username + " " + text
	}
	return c.numbers, text
}

// ask writes a new question.
func (p *place) ask(who *adaptertest.TelegramUser, c *chaos) {
	n, text := c.question(p)
	p.asked = append(p.asked, asked{n, p.chat.Say(who, text)})
}

// answered reports whether an answer to the question is shown.
func (p *place) answered(q asked) bool {
	for _, s := range p.chat.Shown() {
		if s.Own && strings.Contains(" "+s.Text, fmt.Sprintf(" a%d", q.number)) && strings.HasSuffix(s.Text, ".") {
			return true
		}
	}
	return false
}

// rest waits and reports whether ctx has not ended.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// weather is what goes wrong between the process and the platform.
func (c *chaos) weather(ctx context.Context, r *rand.Rand) {
	faults := []adaptertest.Fault{
		{Net: adaptertest.NetLost},
		{Status: http.StatusBadGateway},
		{Status: http.StatusGatewayTimeout, Net: adaptertest.NetLost},
		{RetryAfter: time.Second},
	}
	for rest(ctx, upTo(r, 2*time.Second)) {
		method := []string{"sendMessage", "editMessageText", "getUpdates"}[r.IntN(3)]
		c.tg.Fail(method, 1, faults[r.IntN(len(faults))])
	}
}

// lucky is a decision of the platform or the model.
func lucky[T any](c *chaos, decide func(*rand.Rand) T) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return decide(c.luck)
}

// lag is the time that a call is on its way.
func (c *chaos) lag() time.Duration {
	return lucky(c, func(r *rand.Rand) time.Duration { return upTo(r, 8*time.Millisecond) })
}

// platform is the fake Telegram some milliseconds away, with an eye on what is
// called. What has left the process takes effect even if that is dead by then.
func (c *chaos) platform() http.Handler {
	eyes := map[string][3]moment{
		"sendMessage":     {sending, sent, sentTold},
		"editMessageText": {editing, edited, editTold},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		method := path.Base(r.URL.Path)
		eye := eyes[method]
		if method == "getUpdates" {
			c.mu.Lock()
			c.polls++
			c.mu.Unlock()
		} else {
			c.at(eye[0])
			<-time.After(c.lag())
		}
		answer := httptest.NewRecorder()
		c.tg.ServeHTTP(answer, r)
		c.at(eye[1])
		<-time.After(c.lag())
		w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // the process may be gone
		_ = http.NewResponseController(w).Flush()
		if method == "getUpdates" && bytes.Contains(answer.Body.Bytes(), []byte(`"update_id"`)) {
			c.at(polled)
		}
		c.at(eye[2])
	})
}

// thinker is the model with an eye on it.
func (c *chaos) thinker() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.at(asking)
		c.model.ServeHTTP(w, r)
		c.at(modelDone)
	})
}

// think decides what the model does.
func (c *chaos) think(a inquiry) act {
	return lucky(c, func(r *rand.Rand) act {
		do := act{pause: upTo(r, 40*time.Millisecond)}
		switch roll := r.IntN(100); {
		case roll < 5:
			return act{status: http.StatusTooManyRequests}
		case roll < 10:
			return act{status: http.StatusInternalServerError}
		case roll < 22 && !a.afterTool():
			do.tool, do.pieces = "read_history", []string{"Let me look it up."}
			return do
		case roll < 32:
			do.pieces = shreds(r, a.lecture())
		default:
			do.pieces = shreds(r, a.answer())
		}
		if do.cut = r.IntN(100) < 5; do.cut {
			do.pieces = do.pieces[:r.IntN(len(do.pieces))]
		}
		return do
	})
}

// parts is how many a long answer has; each has the size of one message.
const parts = 3

// lecture is an answer that is too long for one message.
func (a inquiry) lecture() string {
	numbers := a.open()
	if len(numbers) == 0 {
		return a.answer()
	}
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(a.answer(), ".") + ", at length.")
	for i := range parts {
		fmt.Fprintf(&b, "\n\nPart a%s.%d says: %s.", numbers[0], i+1, strings.Repeat("on and on ", 350))
	}
	return b.String()
}

// shreds cuts a text into pieces to stream.
func shreds(r *rand.Rand, text string) (pieces []string) {
	for n := 1 + r.IntN(8); n > 1 && len(text) > 1; n-- {
		i := 1 + r.IntN(len(text)-1)
		pieces, text = append(pieces, text[:i]), text[i:]
	}
	return append(pieces, text)
}
