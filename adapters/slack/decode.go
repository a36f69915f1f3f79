package slack

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"bellhop/core"
)

// loose is a field that is worth having and not worth losing an event for: of
// a value that does not decode it keeps what there is.
type loose[T any] struct{ v T }

func (l *loose[T]) UnmarshalJSON(data []byte) error {
	_ = json.Unmarshal(data, &l.v)
	return nil
}

// frame is what comes over a socket.
type frame struct {
	Type     string          `json:"type"`
	Envelope string          `json:"envelope_id"`
	Payload  json.RawMessage `json:"payload"`
	Reason   loose[string]   `json:"reason"`
	Accepts  loose[bool]     `json:"accepts_response_payload"`
}

// callback is the payload of an event.
type callback struct {
	Type  loose[string]   `json:"type"`
	App   loose[string]   `json:"api_app_id"`
	ID    loose[string]   `json:"event_id"`
	Event json.RawMessage `json:"event"`
}

// decoder turns payloads into events. What it must know of people and channels
// it is told or, failing that, notes as missing; told then, it decodes the
// same payload anew.
type decoder struct {
	adapter  string
	me       identity
	commands []core.Command
	slash    string
	told     told
	missing  []lookup
	saw      kind // what the payload says that its channel is; empty: nothing
}

// told is what a decoder may ask.
type told interface {
	person(id string) (user, bool)
	kind(channel string) (kind, bool)
	topic(s spot) (string, bool)
	session(s spot) (core.Place, bool)
}

// lookup is something that decoding a payload lacked.
type lookup struct {
	person  string
	channel string
	message spot // whose topic is wanted
	must    bool // without it the event would say something else
}

// payload decodes one envelope. It never fails: what cannot be read becomes
// InUnreadable, and what nobody asked for InIgnored.
func (d *decoder) payload(f frame) core.Inbound {
	key := "v/" + f.Envelope
	if f.Envelope == "" {
		key = hashed(f.Payload)
	}
	switch f.Type {
	case "events_api":
		var c callback
		err := json.Unmarshal(f.Payload, &c)
		switch {
		case err == nil && len(c.Event) == 0 && c.Type.v != "" && c.Type.v != "event_callback":
			return ignored(key) // a word about the subscription: app_rate_limited
		case err != nil || len(c.Event) == 0:
			return unreadable(key, f.Payload)
		}
		if c.ID.v != "" {
			key = "e/" + clean(c.App.v) + "/" + clean(c.ID.v)
		}
		return d.event(key, c.Event)
	case "slash_commands":
		return d.command(key, f.Payload)
	case "interactive":
		return d.interaction(key, f.Payload)
	case unreadableFrame:
		return unreadable(key, f.Payload)
	}
	return ignored(key)
}

// event decodes what an event is about; key is the event's own.
func (d *decoder) event(key string, raw json.RawMessage) core.Inbound {
	var e struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return unreadable(key, raw)
	}
	switch e.Type {
	case "message", "app_mention":
		var m message
		if err := json.Unmarshal(raw, &m); err != nil {
			return unreadable(key, raw)
		}
		return d.message(key, raw, &m)
	case "reaction_added", "reaction_removed":
		return d.reaction(key, raw, e.Type == "reaction_removed")
	case "member_joined_channel":
		return d.added(key, raw)
	case "agent_session_stopped":
		return d.stopped(key, raw)
	case "agent_session_title_changed":
		return d.named(key, raw)
	}
	return ignored(key)
}

// reaction decodes a mark on a message, or its end.
func (d *decoder) reaction(key string, raw json.RawMessage, removed bool) core.Inbound {
	var r struct {
		User string `json:"user"`
		Name string `json:"reaction"`
		Item struct {
			Type    loose[string] `json:"type"`
			Channel string        `json:"channel"`
			TS      string        `json:"ts"`
		} `json:"item"`
		Time loose[string] `json:"event_ts"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return unreadable(key, raw)
	}
	at := spot{r.Item.Channel, r.Item.TS}
	if r.Item.Type.v != "message" || at.channel == "" || at.ts == "" || r.User == "" || r.User == d.me.user || r.Name == "" {
		return ignored(key)
	}
	k := d.kind(at.channel, "")
	topic, ok := d.told.topic(at)
	if !ok {
		d.missing = append(d.missing, lookup{message: at})
		topic = topicOf(k, at.ts, "")
	}
	return core.Inbound{
		Key: key, Kind: core.InReaction, Place: d.place(at.channel, topic), Direct: k == direct, From: d.person(r.User, ""),
		MessageID: clean(at.ts), Emoji: unicodeOf(clean(r.Name)), Removed: removed, Time: when(r.Time.v),
	}
}

// added decodes that somebody has let us into a channel. Nobody has if we came
// by ourselves.
func (d *decoder) added(key string, raw json.RawMessage) core.Inbound {
	var j struct {
		User    string        `json:"user"`
		Channel string        `json:"channel"`
		Inviter loose[string] `json:"inviter"`
		Time    loose[string] `json:"event_ts"`
	}
	if err := json.Unmarshal(raw, &j); err != nil {
		return unreadable(key, raw)
	}
	if j.User != d.me.user || j.User == "" || j.Channel == "" || j.Inviter.v == "" || d.kind(j.Channel, "") != named {
		return ignored(key)
	}
	return core.Inbound{
		Key: key, Kind: core.InAdded, Place: d.place(j.Channel, ""), From: d.person(j.Inviter.v, ""),
		Text: "@" + d.me.name, Time: when(j.Time.v),
	}
}

// stopped decodes a press of Slack's own Stop button.
func (d *decoder) stopped(key string, raw json.RawMessage) core.Inbound {
	var s struct {
		User    string        `json:"user"`
		Channel string        `json:"channel"`
		Thread  string        `json:"thread_ts"`
		Time    loose[string] `json:"event_ts"`
	}
	if err := json.Unmarshal(raw, &s); err != nil || s.Channel == "" || s.User == "" {
		return unreadable(key, raw)
	}
	k := d.kind(s.Channel, "")
	at, ok := d.told.session(spot{s.Channel, s.Thread})
	if !ok {
		topic := s.Thread
		if k != named {
			topic = ""
		}
		at = d.place(s.Channel, topic)
	}
	return core.Inbound{
		Key: key, Kind: core.InMessage, Place: at, Direct: k == direct, From: d.person(s.User, ""),
		Text: "/stop", Mentioned: true, Command: true, Time: when(s.Time.v),
	}
}

// place is an address in Slack.
func (d *decoder) place(channel, topic string) core.Place {
	return core.Place{Adapter: d.adapter, Channel: clean(channel), Topic: clean(topic)}
}

// topicOf is the Topic of a message's place. In a channel every message is the
// root of a thread or stands in one; a direct conversation is one by itself,
// with threads beside it.
func topicOf(k kind, ts, thread string) string {
	switch {
	case k == named:
		return cmp.Or(thread, ts)
	case thread == ts:
		return ""
	}
	return thread
}

// kind is what a channel is, if given by Slack's own word for it.
func (d *decoder) kind(id, given string) kind {
	switch given {
	case "im":
		d.saw = direct
		return direct
	case "mpim":
		d.saw = several
		return several
	case "channel", "group":
		d.saw = named
		return named
	}
	k, ok := d.told.kind(id)
	if !ok {
		d.missing = append(d.missing, lookup{channel: id, must: true})
		return named
	}
	return k
}

// person is a person by id; name is how the event calls them.
func (d *decoder) person(id, name string) core.Person {
	u, ok := d.told.person(id)
	if !ok {
		d.missing = append(d.missing, lookup{person: id, must: true})
		u = user{guest: true}
	}
	return core.Person{
		ID: personID(d.adapter, clean(id)), Name: cmp.Or(u.name, clean(name)), Bot: u.bot, Zone: u.zone, Guest: u.guest,
	}
}

// name is how a person is shown; their id if nobody says.
func (d *decoder) name(id string) string {
	u, ok := d.told.person(id)
	if !ok {
		d.missing = append(d.missing, lookup{person: id})
	}
	return cmp.Or(u.name, clean(id))
}

func ignored(key string) core.Inbound { return core.Inbound{Key: key, Kind: core.InIgnored} }

func unreadable(key string, raw json.RawMessage) core.Inbound {
	return core.Inbound{Key: key, Kind: core.InUnreadable, Raw: withoutSecrets(raw)}
}

// withoutSecrets takes out what would let others speak for Slack or for us.
func withoutSecrets(raw json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		if !json.Valid(raw) {
			raw, _ = json.Marshal(string(raw))
		}
		return raw
	}
	for _, secret := range []string{"token", "response_url", "trigger_id"} {
		delete(fields, secret)
	}
	safe, err := json.Marshal(fields)
	if err != nil {
		return raw
	}
	return safe
}

// hashed is a key for bytes that have none.
func hashed(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "x/" + hex.EncodeToString(sum[:8])
}

// when is the time that a time stamp says; zero if it says none. Its fraction
// only tells messages of one second apart.
func when(ts string) time.Time {
	s, fraction, _ := strings.Cut(ts, ".")
	seconds, err := strconv.ParseInt(s, 10, 64)
	if err != nil || seconds <= 0 || seconds > 1<<37 {
		return time.Time{}
	}
	micros, _ := strconv.ParseInt((fraction + "000000")[:6], 10, 64)
	return time.Unix(seconds, max(micros, 0)*1000).UTC()
}

// clean takes out what no store or terminal likes. That text is valid UTF-8 is
// the JSON decoder's doing.
func clean(s string) string { return strings.ReplaceAll(s, "\x00", "") }
