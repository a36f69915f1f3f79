package discord

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"bellhop/core"
)

const (
	// ackTimeout is within the three seconds that Discord waits.
	ackTimeout = 2500 * time.Millisecond
	// replyLife is how long an answer may still take the place of the
	// acknowledgement, whose token lives for 15 minutes.
	replyLife = 14 * time.Minute
)

// private are the commands whose answer only the person who asked sees.
var private = []string{"help", "status"}

// interaction is the use of a command, or of a button.
type interaction struct {
	id, token string
	command   bool
	private   bool
	note      string // what only who pressed the button, or gave the command, sees; a command has no other answer then
	reply     *reply // of a command: what takes its answer
}

// reply is the acknowledgement of a command, which its answer replaces.
type reply struct {
	token string
	born  time.Time
	done  chan struct{} // closed when ok is known
	ok    bool          // Discord took the acknowledgement
}

// replies are the commands that wait for an answer. The zero value is ready.
type replies struct {
	byID   bounded[string, *reply]
	claims bounded[string, string] // by interaction: the key of the piece that is its answer
}

// find is the reply that a piece is the answer to, nil if there is none: one
// that has not been answered otherwise and can still be.
func (r *replies) find(o core.Outbound) (id string, _ *reply) {
	for _, id := range o.Answers {
		p, ok := r.byID.get(id)
		if !ok || time.Since(p.born) > replyLife {
			continue
		}
		key, claimed := r.claims.get(id)
		if claimed && key == o.Key || !claimed && o.Edit == "" {
			return id, p
		}
	}
	return "", nil
}

// wireInteraction is an interaction as Discord tells of it.
type wireInteraction struct {
	ID      string                    `json:"id"`
	Kind    discordgo.InteractionType `json:"type"`
	Token   string                    `json:"token"`
	Guild   string                    `json:"guild_id"`
	Channel string                    `json:"channel_id"`
	Where   lenient[wireChannel]      `json:"channel"`
	Member  lenient[member]           `json:"member"`
	User    lenient[user]             `json:"user"`
	Message lenient[message]          `json:"message"`
	Data    struct {
		Name     string                  `json:"name"`
		CustomID string                  `json:"custom_id"`
		Options  lenient[[]commandValue] `json:"options"`
	} `json:"data"`
}

type commandValue struct {
	Value any `json:"value"`
}

// interaction reads the use of a command or of a button.
func (f *feed) interaction(ctx context.Context, fr frame) (found, error) {
	var w wireInteraction
	if !parse(fr.data, &w) || !isID(w.ID) || !isID(w.Channel) {
		return f.unreadable(fr), nil
	}
	if where := w.Where.v; where.ID == w.Channel {
		where.Guild = w.Guild
		f.known.learn(where.channel())
	}
	c, err := f.channel(ctx, w.Channel, w.Guild)
	if err != nil {
		return found{}, err
	}
	u := w.User.v
	if w.Member.v.User.v.ID != "" {
		u = w.Member.v.User.v
	}
	in := core.Inbound{
		Key: "i/" + w.ID, Direct: c.direct(), From: f.person(u, w.Member.v.Nick), Time: whenever(w.ID),
	}
	call := &interaction{id: w.ID, token: w.Token}
	switch w.Kind {
	case discordgo.InteractionApplicationCommand:
		in.Kind, in.MessageID, in.Command, in.Mentioned = core.InMessage, w.ID, true, true
		in.Place = f.place(c, "") // it is no message, so it opens no thread
		in.Text = "/" + clean(w.Data.Name)
		for _, o := range w.Data.Options.v {
			in.Text = strings.TrimSpace(in.Text + " " + clean(fmt.Sprint(o.Value)))
		}
		call.command, call.private = true, slices.Contains(private, w.Data.Name)
		call.reply = &reply{token: w.Token, born: time.Now(), done: make(chan struct{})}
		f.replies.byID.put(w.ID, call.reply)
	case discordgo.InteractionMessageComponent:
		m := &w.Message.v
		in.Kind, in.MessageID, in.Button = core.InButton, clean(m.ID), clean(w.Data.CustomID)
		in.Place = f.place(c, clean(cmp.Or(m.Reference.v.Message, m.ID)))
	default:
		in = core.Inbound{Key: in.Key, Kind: core.InIgnored, Place: core.Place{Adapter: f.name}}
		call = nil
	}
	return found{[]core.Inbound{in}, call}, nil
}

// acknowledge tells Discord that an interaction has arrived. If that comes too
// late, the answer comes as an ordinary message.
func (f *feed) acknowledge(ctx context.Context, i *interaction) {
	ctx, cancel := context.WithTimeout(ctx, ackTimeout)
	defer cancel()
	answer := discordgo.InteractionResponse{Type: discordgo.InteractionResponseDeferredMessageUpdate}
	if i.command {
		answer.Type = discordgo.InteractionResponseDeferredChannelMessageWithSource
	}
	switch {
	case i.note != "":
		answer.Type = discordgo.InteractionResponseChannelMessageWithSource
		answer.Data = &discordgo.InteractionResponseData{
			Content: i.note, Flags: discordgo.MessageFlagsEphemeral,
			AllowedMentions: &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}},
		}
	case i.private:
		answer.Data = &discordgo.InteractionResponseData{Flags: discordgo.MessageFlagsEphemeral}
	}
	err := f.api.call(ctx, http.MethodPost, "interactions/"+i.id+"/"+i.token+"/callback", answer, nil)
	// One that comes again after a resume has been acknowledged before.
	ok := err == nil || refusedWith(err, discordgo.ErrCodeInteractionHasAlreadyBeenAcknowledged)
	if !ok {
		f.log.Warn("discord did not take the acknowledgement of an interaction", "err", err)
	}
	if i.reply != nil {
		i.reply.ok = ok
		close(i.reply.done)
	}
}

// respond shows a piece in place of a command's acknowledgement. taken is
// false if there is none, or it no longer can be.
func (a *Adapter) respond(ctx context.Context, o core.Outbound) (r core.Receipt, taken bool, err error) {
	id, p := a.replies.find(o)
	if p == nil {
		return core.Receipt{}, false, nil
	}
	late := time.NewTimer(2 * ackTimeout) // the adapter may have ended before it acknowledged
	defer late.Stop()
	select {
	case <-p.done:
	case <-late.C:
		return core.Receipt{}, false, nil
	case <-ctx.Done():
		return core.Receipt{}, true, fmt.Errorf("%w: %w", core.ErrNotSent, ctx.Err())
	}
	if !p.ok {
		return core.Receipt{}, false, nil
	}
	me, err := a.self(ctx)
	if err != nil {
		return core.Receipt{}, true, a.outcome(err)
	}
	a.replies.claims.put(id, o.Key)
	var shown message
	path := "webhooks/" + me.app + "/" + p.token + "/messages/@original"
	err = a.api.call(ctx, http.MethodPatch, path, compose(o).edit(), &shown)
	if e := a.outcome(err); e != nil {
		// Refused, the token is over or the person has dismissed it: an
		// ordinary message is left.
		return core.Receipt{}, !refusedWith(err, discordgo.ErrCodeUnknownWebhook, discordgo.ErrCodeUnknownMessage,
			discordgo.ErrCodeUnknownInteraction, discordgo.ErrCodeInvalidWebhookTokenProvided), e
	}
	return receipt(shown), true, nil
}
