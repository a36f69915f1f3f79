package telegram

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"bellhop/core"
)

const (
	// rightLife is how long it is remembered whether we may make topics in a chat:
	// of a change of what everybody may do there, nobody tells us.
	rightLife = time.Minute
	// rightWait is the most that a command waits until that is known.
	rightWait = 3 * time.Second
	// maxRights bounds what is remembered of chats.
	maxRights = 1000
)

// rights remembers in which chats we may make topics. The zero value is ready; it
// is safe for concurrent use.
type rights struct {
	mu    sync.Mutex
	chats map[int64]right // guarded by mu
}

type right struct {
	topics bool
	at     time.Time
}

func (r *rights) set(chat int64, topics bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.chats == nil || len(r.chats) >= maxRights {
		r.chats = map[int64]right{}
	}
	r.chats[chat] = right{topics, time.Now()}
}

func (r *rights) of(chat int64) (topics, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	is, ok := r.chats[chat]
	return is.topics, ok && time.Since(is.at) < rightLife
}

// branches reports whether a place's chat has topics of which we may make more:
// as far as is known since somebody has given a command there.
func (a *Adapter) branches(p core.Place) bool {
	to, err := parseTarget(p)
	if err != nil {
		return false
	}
	topics, known := a.rights.of(to.chat)
	return topics && known
}

// learnRight finds out whether we may make topics in a chat that has some. Where
// it cannot be found out, we do not.
func (a *Adapter) learnRight(ctx context.Context, me, chat int64) {
	if _, known := a.rights.of(chat); known {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, rightWait)
	defer cancel()
	topics, err := a.mayMakeTopics(ctx, me, chat)
	if err != nil {
		a.log.Debug("it is not known whether topics can be made", "chat", chat, "err", err)
	}
	a.rights.set(chat, topics)
}

// mayMakeTopics asks whether we may: as an admin with the right, or because
// everybody may.
func (a *Adapter) mayMakeTopics(ctx context.Context, me, chat int64) (bool, error) {
	var is struct {
		Status models.ChatMemberType `json:"status"`
		Topics bool                  `json:"can_manage_topics"`
	}
	if err := a.api.raw(ctx, callTimeout, "getChatMember", bot.GetChatMemberParams{ChatID: chat, UserID: me}, &is); err != nil {
		return false, err
	}
	if is.Status != models.ChatMemberTypeMember {
		return is.Topics || is.Status == models.ChatMemberTypeOwner, nil
	}
	var all struct {
		Permissions struct {
			Topics bool `json:"can_manage_topics"`
		} `json:"permissions"`
	}
	err := a.api.raw(ctx, callTimeout, "getChat", bot.GetChatParams{ChatID: chat}, &all)
	return all.Permissions.Topics, err
}

// begin makes the topic that o begins. Its name is all that is shown of o.
func (a *Adapter) begin(ctx context.Context, o core.Outbound, to target) (core.Receipt, error) {
	if o.Edit != "" { // there is nothing to change
		return core.Receipt{ID: o.Edit, Time: time.Now().UTC()}, nil
	}
	var made struct {
		Thread int `json:"message_thread_id"`
	}
	err := a.api.raw(ctx, callTimeout, "createForumTopic", bot.CreateForumTopicParams{ChatID: to.chat, Name: o.Begin}, &made)
	if e, ok := errors.AsType[*apiError](err); ok && e.answered && e.code == http.StatusNotFound { // an old server, which knows no topics
		err = fmt.Errorf("%w: %w", core.ErrRefused, e)
	} else {
		err = a.outcome(o.Place, err)
	}
	switch {
	case errors.Is(err, core.ErrRefused):
		a.rights.set(to.chat, false)
		return core.Receipt{}, err
	case err != nil:
		return core.Receipt{}, err
	case made.Thread == 0:
		return core.Receipt{}, fmt.Errorf("%w: Telegram made the topic and did not say its id", core.ErrUnknown)
	}
	return a.begun(to, made.Thread), nil
}

// begun is the receipt of a topic: the message that has made it is no lost one of
// another topic.
func (a *Adapter) begun(to target, thread int) core.Receipt {
	a.recent.add(to, thread)
	return core.Receipt{ID: strconv.Itoa(thread), Time: time.Now().UTC()}
}

// findTopic looks for the topic that a lost begin has made: what follows o.After,
// is a topic, and was not told as somebody else's, is it. To ask, it says that we
// are typing there.
func (a *Adapter) findTopic(ctx context.Context, o core.Outbound, to target, after int) (core.Receipt, error) {
	for id := range candidates(after, nil, func(id int) bool {
		return o.Known != nil && o.Known(strconv.Itoa(id)) || a.recent.elsewhere(to, id)
	}) {
		if ctx.Err() != nil {
			break
		}
		err := a.typing(ctx, core.Place{Adapter: o.Place.Adapter, Channel: o.Place.Channel, Topic: strconv.Itoa(id)})
		switch {
		case err == nil:
			return a.begun(to, id), nil
		case errors.Is(err, core.ErrRefused):
		case errors.Is(err, core.ErrNotSent):
			return core.Receipt{}, fmt.Errorf("%w: %s", core.ErrUnknown, err.Error())
		default:
			return core.Receipt{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return core.Receipt{}, fmt.Errorf("%w: %w", core.ErrUnknown, err)
	}
	return core.Receipt{}, fmt.Errorf("%w: none of the messages after %d has made a topic of ours", core.ErrNotSent, after)
}
