package slack

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"sync"
	"time"

	"bellhop/core"
)

const (
	// maxBatch is the most events of one batch. In a burst it is what they wait
	// for: ten thousand in batches of a hundred wait three times as long.
	maxBatch = 1000
	// nicety is how long a batch waits for names that only make it nicer; Slack
	// wants its acknowledgement within three seconds.
	nicety = 1500 * time.Millisecond
	// maxLookups is how many calls to Slack are made at once for an event.
	maxLookups = 8
)

// unreadableFrame is the type of a frame that could not be decoded.
const unreadableFrame = "unreadable"

// delivery is something to hand to the sink: an envelope of a socket, or a
// message out of a history.
type delivery struct {
	frame frame
	from  *socket // nil: a history, which wants no acknowledgement
	at    time.Time

	channel string
	message json.RawMessage
}

// intake decodes what comes, hands it to the sink and acknowledges it, until
// ctx ends or Slack refuses the credentials. While nothing comes it catches up.
func (r *receiver) intake(ctx context.Context) error {
	select {
	case <-r.known:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		waiting, err := r.collect(ctx)
		if err != nil {
			return err
		}
		if err := r.take(ctx, waiting); err != nil {
			return err
		}
	}
}

// collect waits for something and takes what waits with it, or reads on at a
// place that is behind.
func (r *receiver) collect(ctx context.Context) ([]delivery, error) {
	var due <-chan time.Time
	if len(r.behind) > 0 {
		t := time.NewTimer(time.Until(r.due()))
		defer t.Stop()
		due = t.C
	}
	var waiting []delivery
	select {
	case d := <-r.waiting:
		waiting = append(waiting, d)
	case <-r.gap:
		return nil, r.fallBehind(ctx)
	case <-due:
		return r.readBack(ctx, r.behind[0], time.Now().Add(quietly))
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for len(waiting) < maxBatch {
		select {
		case d := <-r.waiting:
			waiting = append(waiting, d)
			continue
		default:
		}
		break
	}
	// The gap was before any of these.
	select {
	case <-r.gap:
		return waiting, r.fallBehind(ctx)
	default:
	}
	return waiting, nil
}

// take decodes a batch, stores it and acknowledges it. What a place has said
// during a gap goes before what it says now, unless it cannot be read so soon. A
// copy that came while its twin was being stored is durable already.
func (r *receiver) take(ctx context.Context, waiting []delivery) error {
	r.foresee(ctx, waiting)
	var batch []core.Inbound
	var taken []delivery
	deadline := time.Now().Add(orderly)
	for len(waiting) > 0 {
		d := waiting[0]
		in, err := r.decode(ctx, d)
		if err != nil {
			return err
		}
		late := false
		if p := r.behindAt(in); p != nil && d.from != nil {
			missed, err := r.readSoon(ctx, *p, deadline)
			if err != nil {
				return err
			}
			if late = r.behindAt(in) != nil; !late {
				waiting = append(missed, waiting...)
				continue
			}
		}
		waiting = waiting[1:]
		if d.from == nil && in.Kind == core.InIgnored {
			continue // nobody will tell of it again
		}
		in.Heard = in.Kind == core.InAdded || in.Kind == core.InMessage && in.MessageID != "" && !late
		if at, ok := r.stored.get(in.Key); ok && d.at.Before(at) && d.from != nil {
			r.acknowledge(d, in)
			continue
		}
		if len(batch) == maxBatch { // a long catch-up
			if err := r.settle(ctx, batch, taken); err != nil {
				return err
			}
			batch, taken = nil, nil
		}
		batch, taken = append(batch, in), append(taken, d)
	}
	return r.settle(ctx, batch, taken)
}

// settle stores a batch and acknowledges it.
func (r *receiver) settle(ctx context.Context, batch []core.Inbound, taken []delivery) error {
	if len(batch) == 0 {
		return nil
	}
	r.rooms.heard(batch) // first, for an answer may begin before the sink returns
	if err := r.store(ctx, batch); err != nil {
		return err
	}
	for i, d := range taken {
		r.stored.put(batch[i].Key, time.Now())
		r.acknowledge(d, batch[i])
	}
	r.whisper(ctx, batch)
	return nil
}

// store offers a batch to the sink until it is durable.
func (r *receiver) store(ctx context.Context, batch []core.Inbound) error {
	var pause backoff
	for {
		err := r.sink(ctx, batch)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.log.Warn("a batch could not be stored and is offered again", "events", len(batch), "err", err)
		if err := sleep(ctx, pause.next()); err != nil {
			return err
		}
	}
}

// acknowledge tells Slack that an event is durable.
func (r *receiver) acknowledge(d delivery, in core.Inbound) {
	if d.from == nil {
		return
	}
	var payload any
	if d.frame.Type == "slash_commands" && d.frame.Accepts.v && in.Kind == core.InMessage {
		if text := notice(in, r.whoami().name); text != "" {
			payload = map[string]string{"response_type": "ephemeral", "text": text}
		}
	}
	if err := d.from.ack(d.frame.Envelope, payload); err != nil {
		r.log.Debug("an acknowledgement did not arrive, the event will come again", "err", err)
	}
}

// decode decodes one event. It asks Slack for what it must know until it has
// an answer, and once for what would only be nice.
func (r *receiver) decode(ctx context.Context, what delivery) (core.Inbound, error) {
	if what.frame.Type == "events_api" {
		r.suspect(what.frame.Payload)
	}
	var failing failing
	for tries := 0; ; tries++ {
		d := r.decoder(r.whoami())
		in := d.delivery(what)
		if d.saw != "" {
			r.rooms.setKind(in.Place.Channel, d.saw)
		}
		must := slices.ContainsFunc(d.missing, func(l lookup) bool { return l.must })
		if len(d.missing) == 0 || tries > 0 && !must {
			return in, nil
		}
		started := time.Now()
		if err := r.learn(ctx, d.missing); err != nil {
			if err := r.survive(ctx, &failing, started, err, false); err != nil {
				return in, err
			}
		}
	}
}

// foresee asks at once for what a batch will need to know: many people who are
// new to us must not keep Slack waiting one after the other. What cannot be had
// soon is asked for again when it is needed.
func (r *receiver) foresee(ctx context.Context, batch []delivery) {
	if len(batch) < 2 {
		return
	}
	var missing []lookup
	for _, what := range batch {
		d := r.decoder(r.whoami())
		d.delivery(what)
		missing = append(missing, d.missing...)
	}
	ctx, cancel := context.WithTimeout(ctx, nicety)
	defer cancel()
	if err := r.learn(ctx, missing); err != nil {
		r.log.Debug("what a batch needs is not known at once", "err", err)
	}
}

// suspect asks for a new look at our token after an event that speaks of it.
func (r *receiver) suspect(payload json.RawMessage) {
	var c struct {
		Event loose[struct {
			Type loose[string] `json:"type"`
		}] `json:"event"`
	}
	_ = json.Unmarshal(payload, &c)
	if t := c.Event.v.Type.v; t == "tokens_revoked" || t == "app_uninstalled" {
		signal(r.recheck)
	}
}

func (a *Adapter) decoder(me identity) *decoder {
	return &decoder{adapter: a.name, me: me, commands: a.commands, slash: a.slash, told: memory{a.people, a.rooms}}
}

// delivery decodes an envelope, or a message of a history.
func (d *decoder) delivery(what delivery) core.Inbound {
	if what.message == nil {
		return d.payload(what.frame)
	}
	var m message
	if err := json.Unmarshal(what.message, &m); err != nil {
		return unreadable(hashed(what.message), what.message)
	}
	m.Channel = what.channel
	return d.message(hashed(what.message), what.message, &m)
}

// memory is what the adapter remembers, for its decoders.
type memory struct {
	*people
	*rooms
}

func (m memory) person(id string) (user, bool) { return m.known(id) }

// learn asks Slack for what is missing. Its error says that something which
// must be known is not.
func (a *Adapter) learn(ctx context.Context, missing []lookup) error {
	quick, cancel := context.WithTimeout(ctx, nicety)
	defer cancel()
	wanted := map[lookup]bool{} // whether it must be known
	for _, l := range missing {
		must := l.must
		l.must = false
		wanted[l] = wanted[l] || must
	}
	free := make(chan struct{}, maxLookups)
	errs := make(chan error, len(wanted))
	var wg sync.WaitGroup
	for l, must := range wanted {
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			if must {
				errs <- a.lookup(ctx, l)
				return
			}
			_ = a.lookup(quick, l)
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// lookup makes one call and remembers what it says.
func (a *Adapter) lookup(ctx context.Context, l lookup) error {
	switch {
	case l.person != "":
		err := a.people.ask(ctx, a.whoami(), l.person)
		if is(err, "missing_scope") {
			a.log.Warn("slack does not say who people are: everybody counts as a guest", "err", err)
			return nil
		}
		return err
	case l.channel != "":
		return a.askKind(ctx, l.channel)
	}
	return a.askTopic(ctx, l.message)
}

// askKind asks what a channel is. One that Slack says nothing of is a channel.
func (a *Adapter) askKind(ctx context.Context, id string) error {
	var c struct {
		Channel struct {
			IM   loose[bool] `json:"is_im"`
			MPIM loose[bool] `json:"is_mpim"`
		} `json:"channel"`
	}
	err := a.asking.call(ctx, "conversations.info", url.Values{"channel": {id}}, &c)
	k := named
	switch e, _ := errors.AsType[*apiError](err); {
	case e != nil && (e.code == "" || e.retryAfter > 0 || slices.Contains(finished, e.code)):
		return err
	case c.Channel.IM.v:
		k = direct
	case c.Channel.MPIM.v:
		k = several
	}
	a.rooms.setKind(id, k)
	return nil
}

// askTopic asks in which thread a message stands.
func (a *Adapter) askTopic(ctx context.Context, s spot) error {
	page, err := a.replies(ctx, s.channel, url.Values{"ts": {s.ts}, "limit": {"1"}})
	if err != nil || len(page.messages) == 0 {
		return err
	}
	k, _ := a.rooms.kind(s.channel)
	if k == "" {
		k = named
	}
	a.rooms.setTopic(s, topicOf(k, s.ts, page.messages[0].Thread))
	return nil
}
