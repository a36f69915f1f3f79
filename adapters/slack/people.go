package slack

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"sync"
	"time"

	"bellhop/core"
)

const (
	// maxPeople bounds what is remembered of people.
	maxPeople = 4096
	// personLife is when a name, or that somebody is a guest, is asked again.
	personLife = time.Hour
)

// slackbot is Slack's own program, which Slack calls no bot.
const slackbot = "USLACKBOT"

// user is what Slack says of a person.
type user struct {
	name  string
	zone  string
	bot   bool
	guest bool // a guest, or of another organisation, or nobody knows
}

// people asks who people are, and remembers it for a while.
type people struct {
	api *client

	mu    sync.Mutex
	cache *recent[string, remembered] // guarded by mu
}

type remembered struct {
	user
	at time.Time
}

func newPeople(api *client) *people {
	return &people{api: api, cache: newRecent[string, remembered](maxPeople)}
}

// known is what is remembered of a person.
func (p *people) known(id string) (user, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.cache.get(id)
	return r.user, ok && time.Since(r.at) < personLife
}

// ask asks Slack and remembers its answer. One that says nothing of the person
// makes them a guest. The error says that there was no answer, or that there
// will be none without the scope users:read.
func (p *people) ask(ctx context.Context, me identity, id string) error {
	var a struct {
		User struct {
			TeamID     loose[string] `json:"team_id"`
			Name       loose[string] `json:"name"`
			RealName   loose[string] `json:"real_name"`
			Zone       loose[string] `json:"tz"`
			Bot        loose[bool]   `json:"is_bot"`
			Restricted loose[bool]   `json:"is_restricted"`
			Ultra      loose[bool]   `json:"is_ultra_restricted"`
			Stranger   loose[bool]   `json:"is_stranger"`
			Profile    loose[struct {
				Display loose[string] `json:"display_name"`
				Real    loose[string] `json:"real_name"`
			}] `json:"profile"`
			Enterprise loose[struct {
				ID loose[string] `json:"enterprise_id"`
			}] `json:"enterprise_user"`
		} `json:"user"`
	}
	u := user{guest: true}
	err := p.api.call(ctx, "users.info", url.Values{"user": {id}}, &a)
	switch {
	case err == nil:
		w := a.User
		u.name = clean(strings.TrimSpace(cmp.Or(w.Profile.v.Display.v, w.Profile.v.Real.v, w.RealName.v, w.Name.v)))
		u.zone, u.bot = clean(w.Zone.v), w.Bot.v || id == slackbot
		u.guest = w.Restricted.v || w.Ultra.v || w.Stranger.v || !me.home(w.TeamID.v, w.Enterprise.v.ID.v)
	case is(err, "user_not_found", "user_not_visible", "users_not_visible"):
		err = nil
	case !is(err, "missing_scope"):
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cache.put(id, remembered{u, time.Now()})
	return err
}

// home reports whether a team, or an organisation, is ours.
func (me identity) home(team, enterprise string) bool {
	return team == "" || team == me.team || me.enterprise != "" && (enterprise == me.enterprise || team == me.enterprise)
}

// personID is the id of a user, or of a bot that is none.
func personID(adapter, id string) core.PersonID { return core.PersonID(adapter + ":" + id) }

// userOf is the platform's id of a person.
func userOf(id core.PersonID) string {
	_, user, _ := strings.Cut(string(id), ":")
	return user
}
