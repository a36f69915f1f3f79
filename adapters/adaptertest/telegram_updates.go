package adaptertest

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
)

// update is one event in the account's queue.
type update struct {
	id    int64
	raw   json.RawMessage
	again bool // to be handed out once more, whatever the offset says
}

// Polling reports whether a poll waits for updates.
func (t *Telegram) Polling() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.poll != nil
}

// getUpdates is the long poll. An offset confirms what is below it; what is
// not confirmed is handed out again. Called with mu held, which it lets go of
// while it waits.
func (t *Telegram) getUpdates(ctx context.Context, p params) answer {
	if t.webhook != "" {
		return conflict("can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first").answer()
	}
	if e := t.allow(p); e != nil {
		return e.answer()
	}
	if t.poll != nil {
		close(t.poll)
	}
	mine := make(chan struct{})
	t.poll = mine
	defer func() {
		if t.poll == mine {
			t.poll = nil
		}
	}()
	limit := int(p.int("limit"))
	if limit <= 0 || limit > 100 {
		limit = 100
	}
	end := time.NewTimer(time.Duration(min(max(p.int("timeout"), 0), 50)) * time.Second)
	defer end.Stop()

	t.confirm(p.int("offset"))
	for {
		if n := min(limit, len(t.queue)); n > 0 || p.int("timeout") <= 0 {
			batch := make([]json.RawMessage, n)
			for i, u := range t.queue[:n] {
				batch[i] = u.raw
				u.again = false
			}
			return ok(batch)
		}
		changed := t.changed
		t.mu.Unlock()
		var lost, taken, over bool
		select {
		case <-changed:
		case <-mine:
			taken = true
		case <-end.C:
			over = true
		case <-ctx.Done():
			lost = true
		}
		t.mu.Lock()
		switch {
		case lost:
			return answer{net: NetStall}
		case t.revoked:
			return (&apiError{code: 401, text: "Unauthorized"}).answer()
		case taken && t.dropped == mine:
			return answer{net: NetLost}
		case taken:
			return conflict("terminated by other getUpdates request; make sure that only one bot instance is running").answer()
		case over && len(t.queue) == 0:
			return ok([]json.RawMessage{})
		}
	}
}

// confirm forgets the updates below the offset; a negative one keeps as many
// at the end. Called with mu held.
func (t *Telegram) confirm(offset int64) {
	if offset < 0 && len(t.queue) > 0 {
		offset = t.queue[max(0, len(t.queue)+int(offset))].id
	}
	keep := t.queue[:0:0]
	for _, u := range t.queue {
		if u.id >= offset || u.again {
			keep = append(keep, u)
		} else {
			t.confirmed = append(t.confirmed, u)
		}
	}
	t.queue = keep
}

// optional are the kinds of update that only an explicit list asks for.
const optional = " chat_member message_reaction message_reaction_count "

// allow remembers the kinds of update that the account wants. Called with mu
// held.
func (t *Telegram) allow(p params) *apiError {
	if _, given := p["allowed_updates"]; !given {
		return nil
	}
	var kinds []string
	if e := p.object("allowed_updates", &kinds); e != nil {
		return e
	}
	t.allowed = nil
	for _, k := range kinds {
		if t.allowed == nil {
			t.allowed = map[string]bool{}
		}
		t.allowed[k] = true
	}
	return nil
}

// enqueue queues an update, if the account wants its kind. Called with mu held.
func (t *Telegram) enqueue(kind string, payload any) {
	wanted := !strings.Contains(optional, " "+kind+" ")
	if t.allowed != nil {
		wanted = t.allowed[kind]
	}
	if wanted {
		t.push(encode(map[string]any{kind: payload}))
	}
}

// push queues an update's object and gives it its id. Called with mu held.
func (t *Telegram) push(object []byte) {
	t.lastUpdate++
	head := `{"update_id":` + strconv.FormatInt(t.lastUpdate, 10)
	if rest := strings.TrimSpace(string(object[1:])); rest != "}" {
		head += ","
	}
	t.queue = append(t.queue, &update{id: t.lastUpdate, raw: json.RawMessage(head + string(object[1:]))})
	t.notify()
}

// Raw queues an update of any shape, such as a later version of the Bot API
// would send: a JSON object, to which only update_id is added.
func (t *Telegram) Raw(object string) {
	if !json.Valid([]byte(object)) || object[0] != '{' {
		panic("adaptertest: an update is a JSON object: " + object)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.push([]byte(object))
}

// Redeliver hands out everything again that was confirmed, even to a poll
// whose offset is higher.
func (t *Telegram) Redeliver() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, u := range t.confirmed {
		u.again = true
	}
	t.queue = append(t.confirmed, t.queue...)
	slices.SortStableFunc(t.queue, func(a, b *update) int { return int(a.id - b.id) })
	t.confirmed = nil
	t.notify()
}

// Unconfirmed is how many updates were not confirmed yet.
func (t *Telegram) Unconfirmed() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.queue)
}

func (t *Telegram) setWebhook(p params) (any, *apiError) {
	if !strings.HasPrefix(p["url"], "https://") && p["url"] != "" {
		return nil, bad("bad webhook: An HTTPS URL must be provided for webhook")
	}
	t.webhook = p["url"]
	return true, t.allow(p)
}

func (t *Telegram) deleteWebhook(p params) (any, *apiError) {
	t.webhook = ""
	if p.bool("drop_pending_updates") {
		t.queue = nil
	}
	return true, nil
}

func (t *Telegram) getWebhookInfo(params) (any, *apiError) {
	return map[string]any{"url": t.webhook, "has_custom_certificate": false, "pending_update_count": len(t.queue)}, nil
}
