package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"bellhop/core"
)

const (
	// maxBatch is the most events that the sink gets at once. In a burst it is
	// what they wait for, but between two batches runs begin, and take the
	// processor from whoever still waits: of 10,000 messages at once, the last are
	// stored sooner in few batches than in many.
	maxBatch = 4000
	// maxWaiting is how many events may wait for the sink before the gateway
	// is no longer read.
	maxWaiting = maxBatch
)

// feed is the line from the gateway to the sink, in one goroutine: events are
// decoded and handed over in their order.
type feed struct {
	*Adapter
	in   <-chan frame
	sink core.Sink

	me   identity
	acks sync.WaitGroup // acknowledgements of the newest batch
	catchUp
}

// run hands over what comes until ctx ends. While nothing comes it catches up.
func (f *feed) run(ctx context.Context) {
	defer f.acks.Wait()
	f.guilds = map[string]bool{}
	for {
		var batch []frame
		select {
		case fr := <-f.in:
			batch = append(batch, fr)
		case <-f.due():
			if f.readOn(ctx) != nil {
				return
			}
			continue
		case <-ctx.Done():
			return
		}
		for more := true; more && len(batch) < maxBatch; {
			select {
			case fr := <-f.in:
				batch = append(batch, fr)
			default:
				more = false
			}
		}
		if f.deliver(ctx, batch) != nil {
			return
		}
	}
}

// deliver hands a batch over, notes that it may be acknowledged, and begins to
// acknowledge its interactions, once those of the batch before have been: the
// next batch need not wait for Discord. It returns an error only when ctx has
// ended.
func (f *feed) deliver(ctx context.Context, batch []frame) error {
	var events []core.Inbound
	calls := map[int]*interaction{} // by the place of their events
	deadline := time.Now().Add(orderly)
	for _, fr := range batch {
		missed, late, err := f.precede(ctx, fr, deadline)
		if err != nil {
			return err
		}
		events = append(events, missed...)
		got, err := f.event(ctx, fr)
		if err != nil {
			return err
		}
		if got.call != nil {
			calls[len(events)] = got.call
		}
		for _, in := range got.events {
			in.Heard = in.Kind == core.InMessage && !late
			events = append(events, in)
		}
	}
	if err := f.give(ctx, events); err != nil {
		return err
	}
	for _, fr := range batch {
		fr.session.taken.Store(fr.seq)
	}
	if len(calls) > 0 {
		f.acks.Wait()
	}
	for i, c := range calls {
		c.note = events[i].Note
		f.acks.Go(func() { f.acknowledge(ctx, c) })
	}
	return nil
}

// give offers events to the sink until they are durable, not all of a long
// catch-up at once.
func (f *feed) give(ctx context.Context, events []core.Inbound) error {
	for batch := range slices.Chunk(events, maxBatch) {
		var pause backoff
		for {
			err := f.sink(ctx, batch)
			if err == nil {
				break
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			f.log.Warn("a batch could not be stored and is offered again", "events", len(batch), "err", err)
			if err := sleep(ctx, pause.next()); err != nil {
				return err
			}
		}
	}
	return nil
}

// found is what came of a frame.
type found struct {
	events []core.Inbound
	call   *interaction // to acknowledge when the events are durable; nil: none
}

// event decodes a frame. Its error is ctx's: what cannot be decoded is an
// event, too.
func (f *feed) event(ctx context.Context, fr frame) (found, error) {
	switch fr.kind {
	case "READY":
		return found{}, f.begun(ctx, fr)
	case "GUILD_CREATE":
		return found{}, f.guild(ctx, fr)
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		var c wireChannel
		if parse(fr.data, &c) && c.ID != "" {
			f.known.learn(c.channel())
		}
	case "CHANNEL_DELETE", "THREAD_DELETE":
		var c wireChannel
		if parse(fr.data, &c) {
			f.known.forget(c.ID)
		}
	case "THREAD_LIST_SYNC":
		var list struct {
			Guild   string                 `json:"guild_id"`
			Threads lenient[[]wireChannel] `json:"threads"`
		}
		_ = json.Unmarshal(fr.data, &list) // what can be read of it
		for _, c := range list.Threads.v {
			c.Guild = list.Guild
			f.known.learn(c.channel())
		}
	case "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE":
		var r struct {
			Role wireRole `json:"role"`
		}
		if parse(fr.data, &r) {
			f.known.setRole(r.Role.ID, r.Role.role(f.me))
		}
	case "MESSAGE_CREATE", "MESSAGE_UPDATE":
		return f.message(ctx, fr, "")
	case "MESSAGE_DELETE", "MESSAGE_DELETE_BULK":
		return f.deletion(ctx, fr)
	case "MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE":
		return f.reaction(ctx, fr)
	case "INTERACTION_CREATE":
		return f.interaction(ctx, fr)
	}
	return found{}, nil
}

// channel is what we know of a channel. One without a server is a direct
// conversation; any other that is new to us is asked for.
func (f *feed) channel(ctx context.Context, id, guild string) (channel, error) {
	if c, ok := f.known.find(id); ok {
		return c, nil
	}
	if guild == "" {
		c := channel{id: id, kind: discordgo.ChannelTypeDM}
		f.known.learn(c)
		return c, nil
	}
	var w wireChannel
	err := retry(ctx, func() error { return f.api.call(ctx, http.MethodGet, "channels/"+id, nil, &w) })
	if ctx.Err() != nil {
		return channel{}, ctx.Err()
	}
	c := channel{id: id, guild: guild} // if it cannot be seen; what is answered there will be refused
	if err == nil && w.ID == id {
		w.Guild = guild
		c = w.channel()
		f.known.learn(c)
	}
	return c, nil
}

// place is the address of a message: a thread, or the one that it would open.
// Where there are no threads, as beside a voice channel, it is a conversation
// of its own all the same: else one mention would make us answer everything.
func (f *feed) place(c channel, message string) core.Place {
	p := core.Place{Adapter: f.name, Channel: c.id}
	switch {
	case c.thread() && c.parent != "":
		p.Channel, p.Topic = c.parent, c.id
	case !c.direct():
		p.Topic = message
	}
	return p
}

// deletion is what a message's end, or that of several, says.
func (f *feed) deletion(ctx context.Context, fr frame) (found, error) {
	var d struct {
		ID      string   `json:"id"`
		IDs     []string `json:"ids"`
		Channel string   `json:"channel_id"`
		Guild   string   `json:"guild_id"`
	}
	if !parse(fr.data, &d) || !isID(d.Channel) {
		return f.unreadable(fr), nil
	}
	c, err := f.channel(ctx, d.Channel, d.Guild)
	if err != nil {
		return found{}, err
	}
	var out found
	for _, id := range append(d.IDs, d.ID) {
		if id == "" {
			continue
		}
		out.events = append(out.events, core.Inbound{
			Key: "d/" + d.Channel + "/" + clean(id), Kind: core.InDelete,
			Place: f.place(c, clean(id)), Direct: c.direct(), MessageID: clean(id), Time: whenever(id),
		})
	}
	return out, nil
}

// reaction is a mark that somebody puts on a message, or takes away. It has no
// id; its number in the session stands for it.
func (f *feed) reaction(ctx context.Context, fr frame) (found, error) {
	var r struct {
		User    string `json:"user_id"`
		Channel string `json:"channel_id"`
		Message string `json:"message_id"`
		Guild   string `json:"guild_id"`
		Emoji   struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"emoji"`
		Member lenient[member] `json:"member"`
	}
	if !parse(fr.data, &r) || !isID(r.Channel) {
		return f.unreadable(fr), nil
	}
	if r.User == f.me.user {
		return found{}, nil
	}
	c, err := f.channel(ctx, r.Channel, r.Guild)
	if err != nil {
		return found{}, err
	}
	emoji := r.Emoji.Name
	if r.Emoji.ID != "" {
		emoji = ":" + emoji + ":"
	}
	u := r.Member.v.User.v
	u.ID = r.User
	return found{events: []core.Inbound{{
		Key: fr.key(), Kind: core.InReaction,
		Place: f.place(c, clean(r.Message)), Direct: c.direct(), MessageID: clean(r.Message),
		From: f.person(u, r.Member.v.Nick), Emoji: clean(emoji), Removed: fr.kind == "MESSAGE_REACTION_REMOVE",
		Time: whenever(r.Message),
	}}}, nil
}

// whenever is the time of what tells none but an id.
func whenever(id string) time.Time {
	if t := born(id); !t.IsZero() {
		return t
	}
	return time.UnixMilli(epoch).UTC()
}
