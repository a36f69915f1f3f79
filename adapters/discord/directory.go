package discord

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
)

// maxChannels bounds what is remembered of channels and threads; one that is
// forgotten is asked for.
const maxChannels = 1 << 16

// channel is a channel, a thread or a direct conversation.
type channel struct {
	id     string
	kind   discordgo.ChannelType
	guild  string
	parent string // of a thread: the channel it is in
	name   string
	tagged bool // every post of the forum needs a tag
}

func (c channel) thread() bool {
	switch c.kind {
	case discordgo.ChannelTypeGuildNewsThread, discordgo.ChannelTypeGuildPublicThread, discordgo.ChannelTypeGuildPrivateThread:
		return true
	}
	return false
}

func (c channel) direct() bool {
	return c.kind == discordgo.ChannelTypeDM || c.kind == discordgo.ChannelTypeGroupDM
}

// wireChannel is a channel as Discord tells of it.
type wireChannel struct {
	ID     string                `json:"id"`
	Kind   discordgo.ChannelType `json:"type"`
	Guild  string                `json:"guild_id"`
	Parent string                `json:"parent_id"`
	Name   string                `json:"name"`
	Last   string                `json:"last_message_id"`
	Owner  string                `json:"owner_id"`
	Flags  int                   `json:"flags"`
}

func (w wireChannel) channel() channel {
	c := channel{id: w.ID, kind: w.Kind, guild: w.Guild, parent: w.Parent, name: w.Name, tagged: w.Flags&tagRequired != 0}
	if !c.thread() {
		c.parent = "" // a category
	} else {
		c.tagged = false // the flag means something else there
	}
	return c
}

// role is a role of a server.
type role struct {
	name string
	ours bool // the one that came with the bot, which clients offer to mention
}

// wireRole is a role as Discord tells of it.
type wireRole struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Tags struct {
		Bot string `json:"bot_id"`
	} `json:"tags"`
}

func (w wireRole) role(me identity) role {
	return role{name: w.Name, ours: w.Tags.Bot != "" && w.Tags.Bot == me.user}
}

// directory knows channels, threads and roles. The zero value is ready; it is
// safe for concurrent use.
type directory struct {
	mu       sync.Mutex
	channels map[string]channel // guarded by mu
	roles    map[string]role    // guarded by mu
}

// learn remembers a channel.
func (d *directory) learn(c channel) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.channels == nil || len(d.channels) >= maxChannels {
		d.channels = map[string]channel{}
	}
	d.channels[c.id] = c
}

// forget removes a channel and, with it, the threads in it.
func (d *directory) forget(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.channels, id)
}

func (d *directory) find(id string) (channel, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c, ok := d.channels[id]
	return c, ok
}

func (d *directory) isThread(id string) bool {
	c, _ := d.find(id)
	return c.thread()
}

// speaksAloud reports whether a channel is one for voices, whose messages have
// no threads.
func (d *directory) speaksAloud(id string) bool {
	c, _ := d.find(id)
	return c.kind == discordgo.ChannelTypeGuildVoice || c.kind == discordgo.ChannelTypeGuildStageVoice
}

// isForum reports whether a channel holds nothing but threads.
func (d *directory) isForum(id string) bool {
	c, _ := d.find(id)
	return c.kind == discordgo.ChannelTypeGuildForum || c.kind == discordgo.ChannelTypeGuildMedia
}

// setRole remembers a role.
func (d *directory) setRole(id string, r role) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.roles == nil || len(d.roles) >= maxChannels {
		d.roles = map[string]role{}
	}
	d.roles[id] = r
}

func (d *directory) role(id string) (role, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.roles[id]
	return r, ok
}

// isID reports whether s is one of Discord's ids: a number without sign.
func isID(s string) bool {
	return s != "" && len(s) <= 20 && strings.Trim(s, "0123456789") == ""
}

// compareIDs orders ids by age.
func compareIDs(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

// epoch is the beginning of Discord's time, in Unix milliseconds.
const epoch = 1420070400000

// born is the time in an id; zero if it is none.
func born(id string) time.Time {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(int64(n>>22) + epoch).UTC()
}

func trimSlash(s string) string { return strings.TrimSuffix(s, "/") }
