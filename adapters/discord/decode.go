package discord

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"bellhop/core"
)

// message reads a new or an edited message. Those that are read back do not say
// their server.
func (f *feed) message(ctx context.Context, fr frame, guild string) (found, error) {
	var m message
	if !parse(fr.data, &m) || !isID(m.ID) || !isID(m.Channel) {
		return f.unreadable(fr), nil
	}
	guild = cmp.Or(guild, m.Guild.v)
	edited := fr.kind == "MESSAGE_UPDATE"
	if !edited && compareIDs(m.ID, f.newest) > 0 {
		f.newest = m.ID
	}
	if m.Author.ID == f.me.user {
		if guild == "" {
			_, err := f.channel(ctx, m.Channel, guild) // a direct conversation to remember
			return found{}, err
		}
		return found{}, nil
	}
	in := core.Inbound{Key: "m/" + m.Channel + "/" + m.ID, Kind: core.InMessage, Place: core.Place{Adapter: f.name}}
	if edited {
		// Without a time of the edit it is only a link's preview that came.
		in.Key, in.Kind = "e/"+m.Channel+"/"+m.ID+"/"+clean(m.Edited), core.InEdit
		if m.Edited == "" {
			in.Key, in.Kind = fr.key(), core.InIgnored
		}
	}
	if in.Kind == core.InIgnored || !m.spoken() || m.Author.ID == "" {
		in.Kind = core.InIgnored
		return found{events: []core.Inbound{in}}, nil
	}
	c, err := f.channel(ctx, m.Channel, guild)
	if err != nil {
		return found{}, err
	}
	in.Place, in.Direct, in.MessageID = f.place(c, m.ID), c.direct(), m.ID
	in.From, in.Time, in.Files = f.author(&m), m.when(), m.files()
	if snapshots := m.Snapshots.v; len(snapshots) > 0 {
		// None of it is the sender's own words, and it addresses nobody here.
		for _, s := range snapshots {
			inner := &s.Message.v
			inner.Channel, inner.ID = m.Channel, m.ID // where its files are found again
			in.Quotes = append(in.Quotes, f.quote(inner)...)
			in.Files = append(in.Files, inner.files()...)
		}
		return found{events: []core.Inbound{in}}, nil
	}
	s := f.speech(&m)
	in.Text, in.Mentioned, in.Others = s.text, s.mentioned, s.others
	if r := m.Referenced.v; r != nil {
		in.Mentioned = in.Mentioned || r.Author.ID == f.me.user
		in.ReplyTo, in.Quotes = clean(cmp.Or(m.Reference.v.Message, r.ID)), f.quote(r)
		in.Files = append(in.Files, r.files()...)
	}
	in.Others = in.Others && !in.Mentioned
	if in.Place.Topic == m.ID && !c.thread() && !edited {
		f.asked.put(m.ID, title(in.Text))
		in.Unnamed = true // its thread gets that name from us
	}
	return found{events: []core.Inbound{in}}, nil
}

// key is a name for an event that has none of its own, the same when it is
// replayed.
func (fr frame) key() string {
	id := ""
	if fr.session != nil {
		id = fr.session.id
	}
	sum := sha256.Sum256([]byte(id))
	return fmt.Sprintf("s/%s/%d", hex.EncodeToString(sum[:8]), fr.seq)
}

// unreadable is an event that could not be decoded. It is kept as it is, but
// for the token of an interaction.
func (f *feed) unreadable(fr frame) found {
	raw := fr.data
	if fr.kind == "INTERACTION_CREATE" {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			fields = nil
		}
		delete(fields, "token")
		raw, _ = json.Marshal(fields) // of what was JSON
	}
	var m struct {
		ID      lenient[string] `json:"id"`
		Channel lenient[string] `json:"channel_id"`
	}
	_ = json.Unmarshal(raw, &m) // without ids the content names it
	key := "m/" + m.Channel.v + "/" + m.ID.v
	if fr.kind != "MESSAGE_CREATE" || !isID(m.ID.v) || !isID(m.Channel.v) {
		sum := sha256.Sum256(raw)
		key = "x/" + hex.EncodeToString(sum[:8])
	}
	return found{events: []core.Inbound{{Key: key, Kind: core.InUnreadable, Place: core.Place{Adapter: f.name}, Raw: raw}}}
}

// parse decodes JSON and reports whether all of it could be.
func parse(data []byte, v any) bool { return json.Unmarshal(data, v) == nil }

// lenient is a value that is worth less than what it is a part of: whatever
// cannot be read of it is left out.
type lenient[T any] struct{ v T }

func (l *lenient[T]) UnmarshalJSON(data []byte) error {
	_ = json.Unmarshal(data, &l.v) // see the type
	return nil
}

// clean takes out what no store or terminal likes. That text is valid UTF-8 is
// the JSON decoder's doing.
func clean(s string) string { return strings.ReplaceAll(s, "\x00", "") }
