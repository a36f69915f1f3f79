package coretest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"bellhop/core"
	"bellhop/core/webhook"
)

// hooks are the webhooks of the external actors. They outlive the appliance.
type hooks struct {
	mu     sync.Mutex // guards the fields below
	told   []telling
	faults []*fault
	failed int
}

// telling is one post to a webhook that has come there.
type telling struct {
	at time.Time
	core.Errand
}

func (h *hooks) failures() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failed
}

// setFault reads "[N|every] HOW" of a post to a webhook.
func (h *hooks) setFault(s *scanner) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := &fault{op: "hook", n: s.number(1), how: s.word()}
	switch f.how {
	case "off":
		h.faults = nil
		return nil
	case "notsent", "refused", "lost", "hang":
	default:
		return fmt.Errorf("%q is no way for a webhook to fail", f.how)
	}
	h.faults = append(h.faults, f)
	return nil
}

// strike finds the fault of a post that begins.
func (h *hooks) strike() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, f := range h.faults {
		if f.n > 1 {
			f.n--
			continue
		}
		if f.n != every {
			h.faults = slices.Delete(h.faults, i, i+1)
		}
		h.failed++
		return f.how
	}
	return ""
}

// got notes a post, and reports one that comes before what was said before it,
// or is not for whoever it comes to.
func (h *hooks) got(w *world, e core.Errand) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, old := range h.told {
		if old.Item.Bot == e.Item.Bot && old.Item.Thread == e.Item.Thread && old.Item.ID.Seq() > e.Item.ID.Seq() {
			w.problem("@%s was told %s after %s", e.Item.Bot, e.Item.ID, old.Item.ID)
		}
	}
	if e.Message.Sender == (core.Actor{Kind: core.ExternalActor, ID: e.Item.Bot}) || !slices.Contains(e.Thread.Externals, e.Item.Bot) {
		w.problem("@%s was told %s, which is not for it", e.Item.Bot, e.Message.ID)
	}
	h.told = append(h.told, telling{time.Now(), e})
}

// render is what an actor was told.
func (h *hooks) render(w *world, handle string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for _, t := range h.told {
		if t.Item.Bot != handle {
			continue
		}
		m := &t.Message
		fmt.Fprintf(&b, "%s %s: %s in %s at %s, [%s %s] %s", t.at.Sub(w.platforms[0].began), t.Item.ID, m.ID, m.Thread, t.Thread.Place, m.Sender.Kind, m.Name, visible(m.Text()))
		if m.Hop > 0 {
			fmt.Fprintf(&b, " (hop %d)", m.Hop)
		}
		if m.Corrects != "" {
			fmt.Fprintf(&b, " (corrects %s)", m.Corrects)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// post is a process's post to a webhook, as cmd/bellhop makes it.
func (l *life) post(ctx context.Context, e core.Errand) error {
	defer l.calling()()
	if l.reach("before", "hook") {
		return errKilled
	}
	var err error
	switch h := &l.w.hooks; h.strike() {
	case "notsent":
		err = &webhook.Failure{Why: "it answered 500 Internal Server Error"}
	case "refused":
		err = &webhook.Failure{Why: "it answered 404 Not Found", Final: true}
	case "hang":
		pause(ctx, 10*time.Second)
		err = &webhook.Failure{Why: "no answer within 10s"}
	case "lost":
		h.got(l.w, e)
		err = fmt.Errorf("the connection broke off")
	default:
		h.got(l.w, e)
	}
	if l.reach("after", "hook") {
		return errKilled
	}
	return err
}

// send reads "HANDLE PLACE|THREAD [key=…] [re=ID] TEXT", which an external actor
// says through the control socket.
func (w *world) send(s *scanner) error {
	if w.life == nil {
		return fmt.Errorf("it does not run")
	}
	say := core.Saying{From: s.word()}
	to := s.word()
	if id, err := core.ParseID(to); err == nil {
		say.Thread = id
	} else if name, rest, ok := strings.Cut(to, ":"); ok && !slices.ContainsFunc(w.platforms, func(p *platform) bool { return p.name == name }) {
		say.Place = core.Place{Adapter: name, Channel: rest}
	} else {
		_, say.Place = w.place(to, "")
	}
	for name, v, ok := s.option("key", "re"); ok; name, v, ok = s.option("key", "re") {
		if name == "key" {
			say.Key = v
		} else {
			say.Re = core.ID(v)
		}
	}
	var err error
	if say.Text, err = s.text(); err != nil {
		return err
	}
	l := w.life
	go func() {
		said, err := l.bus.Say(w.t.Context(), l.mail, say)
		switch {
		case l.over():
			w.effect(say.From + " was not answered")
		case err != nil:
			w.effect(say.From + " was told: " + err.Error())
		case said.Known:
			w.effect(fmt.Sprintf("%s has said %s before", say.From, said.Message))
		default:
			w.effect(fmt.Sprintf("%s has said %s", say.From, said.Message))
		}
	}()
	return nil
}

// reply reads "HANDLE ASK TEXT", which an external actor answers to a question
// through the control socket.
func (w *world) reply(s *scanner) error {
	if w.life == nil {
		return fmt.Errorf("it does not run")
	}
	in := core.ExternalAnswer{From: s.word(), Ask: core.ID(s.word())}
	var err error
	if in.Text, err = s.text(); err != nil {
		return err
	}
	l := w.life
	go func() {
		err := l.bus.AnswerAs(w.t.Context(), l.mail, in)
		switch {
		case l.over():
			w.effect(in.From + " was not answered")
		case err != nil:
			w.effect(in.From + " was told: " + err.Error())
		default:
			w.effect(fmt.Sprintf("%s has answered %s", in.From, in.Ask))
		}
	}()
	return nil
}
