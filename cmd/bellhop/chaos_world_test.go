package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"bellhop/adapters/adaptertest"
	"bellhop/core"
)

// town is a platform, with those who use it.
type town interface {
	http.Handler
	// name is the adapter's, and config its settings there for the URL at which
	// the platform is served. secrets are set in the environment by name.
	name() string
	config(url string) string
	secrets() map[string]string
	// populate makes the places, more of them for a crowd.
	populate(crowd bool) []*place
	// pace is the longest time in which nobody at a place does anything.
	pace() time.Duration
	// part is how often a part of a long answer goes on and on, so that each is
	// about a message.
	part() int
	// sees tells what a request is.
	sees(r *http.Request) sight
	// storm makes something go wrong between the process and the platform.
	storm(r *rand.Rand)
	calm()
	// told reports whether the process has been told of all that has happened.
	told() bool
	// online reports whether the process would be told of what happens now.
	online() bool
	// acquainted: a place can be caught up with only once it has been heard.
	acquainted() bool
}

// sight is what a request to the platform is, as far as it matters when.
type sight struct {
	receives bool      // it is how the process is told of what happens
	lasts    bool      // it is a connection that stays
	moments  [3]moment // when it comes in, takes effect and is answered
}

// room is where people of a platform talk. Who of them does something is a
// number, of which each has a place.
type room interface {
	// say writes a text, with a mention of the bot if it is called, and returns
	// the message's platform id.
	say(who int, text string, called bool) string
	edit(id, text string)
	// command gives the bot a command that it must obey once.
	command(who int, name string)
	// chat writes what is not for the bot.
	chat(who int)
	shown() []adaptertest.Shown
}

// place is a room, and what was said there.
type place struct {
	name string
	id   string // as the store names it
	room
	shared bool // the bot must be mentioned
	// scattered: each message opens a thread, which is a place of its own to the
	// store, and in which its answer stands.
	scattered bool
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
	message string // platform id
}

// covers reports whether an address in the store is of the place.
func (p *place) covers(at core.Place) bool {
	return at.String() == p.id || p.scattered && strings.HasPrefix(at.String(), p.id+"/")
}

// live is what happens in the place until ctx ends.
func (p *place) live(ctx context.Context, r *rand.Rand, c *chaos) {
	for rest(ctx, upTo(r, c.town.pace())) {
		who := r.IntN(2)
		switch roll := r.IntN(100); {
		case roll < 10 && !p.scattered:
			p.order(who, []string{"help", "status", "start"}[r.IntN(3)])
		case roll < 30 && p.restless:
			p.order(who, []string{"stop", "retry", "new"}[r.IntN(3)])
		case roll < 40 && p.restless && len(p.asked) > 0:
			_, text := c.question()
			p.edit(p.asked[r.IntN(len(p.asked))].message, text)
		case roll < 25: // too fast to be answered one by one
			for range 2 + r.IntN(3) {
				p.ask(who, c)
			}
		case roll < 40 && p.shared:
			p.chat(who)
		default:
			p.ask(who, c)
		}
	}
}

// order gives the bot a command.
func (p *place) order(who int, name string) {
	p.commands[name]++
	p.command(who, name)
}

// question is the text of a new one.
func (c *chaos) question() (n int, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.numbers++
	return c.numbers, fmt.Sprintf("Please tell me q%d", c.numbers)
}

// ask writes a new question.
func (p *place) ask(who int, c *chaos) {
	n, text := c.question()
	p.asked = append(p.asked, asked{n, p.say(who, text, p.shared)})
}

// answered reports whether the last questions are: the last, or where each
// stands by itself, all of them.
func (p *place) answered() bool {
	shown := p.shown()
	open := p.asked[len(p.asked)-1:]
	if p.scattered {
		open = p.asked
	}
	for _, q := range open {
		if !slices.ContainsFunc(shown, func(s adaptertest.Shown) bool {
			return s.Own && (strings.Contains(" "+s.Text, fmt.Sprintf(" a%d", q.number)) && strings.HasSuffix(s.Text, ".") ||
				p.scattered && s.Topic == q.message && noticeText.MatchString(s.Text))
		}) {
			return false
		}
	}
	return true
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
	for rest(ctx, upTo(r, 2*time.Second)) {
		c.town.storm(r)
	}
}

// faults are those of a call.
func faults(r *rand.Rand) adaptertest.Fault {
	all := []adaptertest.Fault{
		{Net: adaptertest.NetLost},
		{Status: http.StatusBadGateway},
		{Status: http.StatusGatewayTimeout, Net: adaptertest.NetLost},
		{RetryAfter: time.Second},
	}
	return all[r.IntN(len(all))]
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

// platform is the fake some milliseconds away, with an eye on what is called.
// What has left the process takes effect even if that is dead by then.
func (c *chaos) platform() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		eye := c.town.sees(r)
		if eye.receives {
			c.mu.Lock()
			c.polls++
			c.mu.Unlock()
		}
		if eye.lasts {
			c.town.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !eye.receives {
			c.at(eye.moments[0])
			<-time.After(c.lag())
		}
		answer := httptest.NewRecorder()
		c.town.ServeHTTP(answer, r)
		c.at(eye.moments[1])
		<-time.After(c.lag())
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes()) // the process may be gone
		_ = http.NewResponseController(w).Flush()
		if !eye.receives || bytes.Contains(answer.Body.Bytes(), []byte(`"update_id"`)) {
			c.at(eye.moments[2])
		}
	})
}

// thinker is the model with an eye on it.
func (c *chaos) thinker() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.at(asking)
		prompt, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		c.keepsSecret("a prompt", prompt)
		r.Body = io.NopCloser(bytes.NewReader(prompt))
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
			return act{status: http.StatusTooManyRequests, says: "too much for " + a.key}
		case roll < 10:
			return act{status: http.StatusInternalServerError, says: "not well with " + a.key}
		case roll < 22 && !a.afterTool():
			do.tool, do.pieces = "read_history", []string{"Let me look it up."}
			return do
		case roll < 32:
			do.pieces = shreds(r, a.lecture(c.town.part()))
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
func (a inquiry) lecture(part int) string {
	numbers := a.open()
	if len(numbers) == 0 {
		return a.answer()
	}
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(a.answer(), ".") + ", at length.")
	for i := range parts {
		fmt.Fprintf(&b, "\n\nPart a%s.%d says: %s.", numbers[0], i+1, strings.Repeat("on and on ", part))
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
