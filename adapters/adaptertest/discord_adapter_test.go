package adaptertest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters/adaptertest"
	"bellhop/core"
)

// online is a Discord with our adapter on it.
type online struct {
	*adaptertest.Discord
	t *testing.T
	a core.Adapter

	mu     sync.Mutex
	events []core.Inbound
}

// onDiscord runs f in a bubble with an adapter that is online.
func onDiscord(t *testing.T, f func(t *testing.T, o *online)) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
		o := &online{Discord: adaptertest.NewDiscord(adaptertest.DiscordOptions{}), t: t}
		o.a = newDiscord(o.Access())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- o.a.Run(ctx, o.sink) }()
		o.pass()
		f(t, o)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func (o *online) sink(_ context.Context, batch []core.Inbound) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, batch...)
	return nil
}

// pass lets what is under way arrive.
func (o *online) pass() {
	time.Sleep(time.Second)
	synctest.Wait()
}

// heard is the event about a message.
func (o *online) heard(id string) core.Inbound {
	o.t.Helper()
	o.pass()
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.events, func(e core.Inbound) bool { return e.MessageID == id })
	if i < 0 {
		o.t.Fatalf("nothing was heard of %s", id)
	}
	return o.events[i]
}

// answers sends an answer.
func (o *online) answers(to core.Inbound, text string) (core.Receipt, error) {
	return o.a.Send(o.t.Context(), core.Outbound{Key: text, Kind: core.OutFinal, Place: to.Place, Text: text,
		Answers: []string{to.MessageID}, After: to.MessageID, Last: true})
}

// texts are the messages in a chat as people see them.
func texts(c *adaptertest.DiscordChat) (list []string) {
	for _, m := range c.Shown() {
		list = append(list, m.From+": "+m.Text)
	}
	return list
}

func (o *online) wants(c *adaptertest.DiscordChat, want ...string) {
	o.t.Helper()
	if got := texts(c); !slices.Equal(got, want) {
		o.t.Errorf("%s shows %q, want %q", c.ID(), got, want)
	}
}

// TestDiscordWhisper: the answer to a command of ours takes the place of its
// acknowledgement, and only who asked sees it.
func TestDiscordWhisper(t *testing.T) {
	onDiscord(t, func(t *testing.T, o *online) {
		c, ann := o.Channel("talk"), o.User("Ann")
		e := o.heard(c.Slash(ann, "help", ""))
		if _, err := o.answers(e, "this helps"); err != nil {
			t.Fatal(err)
		}
		if got := c.Whispers(ann); len(got) != 1 || got[0].Text != "this helps" {
			t.Errorf("Ann sees %+v", got)
		}
		o.wants(c)
	})
}

// TestDiscordArchived: an archived thread is reopened for an edit, a locked one
// is left alone.
func TestDiscordArchived(t *testing.T) {
	onDiscord(t, func(t *testing.T, o *online) {
		ann := o.User("Ann")
		thread := o.Channel("talk").Open(ann, "thread", "")
		e := o.heard(thread.Post(ann, adaptertest.DiscordPost{Text: "hello"}))
		shown, err := o.answers(e, "one")
		if err != nil {
			t.Fatal(err)
		}
		thread.Archive(false)
		edit := core.Outbound{Key: "one", Kind: core.OutFinal, Place: e.Place, Text: "two", Edit: shown.ID}
		if _, err := o.a.Send(t.Context(), edit); err != nil {
			t.Error(err)
		}
		o.wants(thread, "Ann: hello", "Bellhop: two")
		thread.Archive(true)
		if _, err := o.answers(e, "three"); !errors.Is(err, core.ErrRefused) || !strings.Contains(err.Error(), "locked") {
			t.Errorf("an answer in a locked thread: %v", err)
		}
		edit.Text = "four"
		if _, err := o.a.Send(t.Context(), edit); !errors.Is(err, core.ErrRefused) {
			t.Errorf("an edit in a locked thread: %v", err)
		}
	})
}

// TestDiscordForum: a post of a forum is a thread whose first message stands
// in it.
func TestDiscordForum(t *testing.T) {
	onDiscord(t, func(t *testing.T, o *online) {
		ann := o.User("Ann")
		forum := o.Forum("forum")
		post := forum.Open(ann, "post", "first")
		e := o.heard(post.ID())
		if e.Place.Channel != forum.ID() || e.Place.Topic != post.ID() {
			t.Errorf("the first message is at %s", e.Place)
		}
		if err := o.a.Features().React(t.Context(), e.Place, e.MessageID, "👀"); err != nil {
			t.Error(err)
		}
		if _, err := o.answers(e, "answer"); err != nil {
			t.Error(err)
		}
		o.wants(post, "Ann: first", "Bellhop: answer")
	})
}

// TestDiscordForumFork: a fork of a post is a post of its own, which is made once,
// also when nobody learns of it; where none may be made, that is known.
func TestDiscordForumFork(t *testing.T) {
	for name, fault := range map[string]adaptertest.Fault{
		"fine":      {},
		"lost":      {Net: adaptertest.NetLost},
		"not done":  {Net: adaptertest.NetHang},
		"an outage": {Status: 502},
	} {
		t.Run(name, func(t *testing.T) {
			onDiscord(t, func(t *testing.T, o *online) {
				ann := o.User("Ann")
				forum := o.Forum("forum")
				post := forum.Open(ann, "post", "first")
				e := o.heard(post.ID())
				if !o.a.Features().Branch(e.Place) {
					t.Fatal("no post can be made")
				}
				forum.Open(ann, "Blue paint", "somebody else's, which has the same name")
				begin := core.Outbound{Key: "p1/0", Kind: core.OutFinal, Place: core.Place{Adapter: e.Place.Adapter, Channel: forum.ID()}, Text: "It goes on here.", Begin: "Blue paint", After: e.MessageID, Last: true}
				if fault != (adaptertest.Fault{}) {
					o.Fail("post.create", 1, fault)
					if _, err := o.a.Send(t.Context(), begin); err == nil {
						t.Fatal("the fault did no harm")
					}
				}
				r, err := o.a.Send(t.Context(), begin)
				if err != nil {
					t.Fatal(err)
				}
				for range 2 { // after a restart it may be done again, first as a status line
					begin.Text = "…"
					if again, err := o.a.Send(t.Context(), begin); err != nil || again.ID != r.ID {
						t.Errorf("again it is %s, %v, not %s", again.ID, err, r.ID)
					}
				}
				begin.Text, begin.Edit = "It goes on here.", r.ID
				if last, err := o.a.Send(t.Context(), begin); err != nil || last.ID != r.ID {
					t.Errorf("its text is %s, %v", last.ID, err)
				}
				fork := core.Place{Adapter: e.Place.Adapter, Channel: forum.ID(), Topic: r.ID}
				if _, err := o.a.Send(t.Context(), core.Outbound{Key: "p2/0", Kind: core.OutFinal, Place: fork, Text: "Reply here.", After: r.ID, Last: true}); err != nil {
					t.Fatal(err)
				}
				posts := forum.Posts()
				if len(posts) != 3 || posts[2].ID() != r.ID || posts[2].Called() != "Blue paint" {
					t.Fatalf("there are %d posts, the last is %q", len(posts), posts[len(posts)-1].Called())
				}
				o.wants(posts[2], "Bellhop: It goes on here.", "Bellhop: Reply here.")
				reply := o.heard(posts[2].Post(ann, adaptertest.DiscordPost{Text: "blue"}))
				if reply.Place != fork {
					t.Errorf("what is said there is at %s, not %s", reply.Place, fork)
				}
				if err := o.a.Features().Title(t.Context(), fork, "Painting"); err != nil || posts[2].Called() != "Painting" {
					t.Errorf("its title is %q, %v", posts[2].Called(), err)
				}
			})
		})
	}
	onDiscord(t, func(t *testing.T, o *online) {
		ann := o.User("Ann")
		tagged, shut := o.Forum("tagged"), o.Forum("shut")
		tagged.WantTags()
		in := o.heard(tagged.Open(ann, "post", "first").ID()).Place
		if o.a.Features().Branch(in) {
			t.Error("a post can be made that wants a tag")
		}
		shut.ForbidThreads()
		in = o.heard(shut.Open(ann, "post", "first").ID()).Place
		if !o.a.Features().Branch(in) {
			t.Error("it is not known yet that none can be made")
		}
		_, err := o.a.Send(t.Context(), core.Outbound{Key: "p1/0", Kind: core.OutFinal, Place: core.Place{Adapter: in.Adapter, Channel: in.Channel}, Text: "…", Begin: "Blue paint", After: in.Topic})
		if !errors.Is(err, core.ErrRefused) || o.a.Features().Branch(in) {
			t.Errorf("a post that is refused: %v, and another can be made: %t", err, o.a.Features().Branch(in))
		}
	})
}

// TestDiscordForbidden: where we may open no threads we answer in the channel,
// and where we may see nothing, not at all.
func TestDiscordForbidden(t *testing.T) {
	onDiscord(t, func(t *testing.T, o *online) {
		c, ann := o.Channel("talk"), o.User("Ann")
		c.ForbidThreads()
		e := o.heard(c.Post(ann, adaptertest.DiscordPost{Text: "hello", Mention: []*adaptertest.DiscordUser{o.Me()}}))
		if _, err := o.answers(e, "answer"); err != nil {
			t.Fatal(err)
		}
		shown := c.Shown()
		if len(shown) != 3 || !strings.Contains(shown[1].Text, "Create Public Threads") || shown[2].Text != "answer" || shown[2].ReplyTo != e.MessageID {
			t.Errorf("the channel shows %+v", shown)
		}
		c.Hide()
		if _, err := o.answers(e, "again"); !errors.Is(err, core.ErrRefused) {
			t.Errorf("an answer to a channel that is hidden: %v", err)
		}
	})
}

// TestDiscordPreviewOfLink: that a link got a preview is no edit.
func TestDiscordPreviewOfLink(t *testing.T) {
	onDiscord(t, func(t *testing.T, o *online) {
		c, ann := o.Channel("talk"), o.User("Ann")
		id := c.Post(ann, adaptertest.DiscordPost{Text: "https://example.org/"})
		c.Unfurl(id)
		o.heard(id)
		o.mu.Lock()
		defer o.mu.Unlock()
		for _, e := range o.events {
			if e.Kind == core.InEdit {
				t.Errorf("an edit was heard: %+v", e)
			}
		}
	})
}

// TestDiscordForward: what is forwarded is a quote, and nobody's word.
func TestDiscordForward(t *testing.T) {
	onDiscord(t, func(t *testing.T, o *online) {
		ann := o.User("Ann")
		e := o.heard(o.Direct(ann).Post(ann, adaptertest.DiscordPost{Forward: "/new delete everything"}))
		if e.Text != "" || e.Command || len(e.Quotes) != 1 || e.Quotes[0].Text != "/new delete everything" {
			t.Errorf("what was forwarded is %+v", e)
		}
	})
}

// TestDiscordSilent: a gateway that does not answer heartbeats is left for
// another, and nothing is lost.
func TestDiscordSilent(t *testing.T) {
	onDiscord(t, func(t *testing.T, o *online) {
		ann := o.User("Ann")
		c := o.Direct(ann)
		o.Silence()
		time.Sleep(3 * time.Minute)
		o.heard(c.Post(ann, adaptertest.DiscordPost{Text: "hello"}))
		time.Sleep(time.Minute)
		if n := o.Unacked(); n != 0 {
			t.Errorf("%d events are not confirmed", n)
		}
	})
}

// TestDiscordIntent: a bot whose intent is not enabled says what to enable.
func TestDiscordIntent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := adaptertest.NewDiscord(adaptertest.DiscordOptions{NoContent: true})
		err := newDiscord(d.Access()).Run(t.Context(), func(context.Context, []core.Inbound) error { return nil })
		if !errors.Is(err, core.ErrFatal) || !strings.Contains(err.Error(), "Message Content Intent") {
			t.Errorf("Run: %v", err)
		}
	})
}

// TestDiscordOverLoopback: the fake is the same behind a listener, and eager
// sessions may follow each other.
func TestDiscordOverLoopback(t *testing.T) {
	d := adaptertest.NewDiscord(adaptertest.DiscordOptions{Eager: true})
	url, ann := d.Serve(t), d.User("Ann")
	chat := d.Direct(ann)
	for i := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		heard, done := make(chan core.Inbound, 10), make(chan error, 1)
		a := newDiscord(adaptertest.DiscordAccess{URL: url, Token: d.Token()})
		go func() {
			done <- a.Run(ctx, func(_ context.Context, batch []core.Inbound) error {
				for _, e := range batch {
					heard <- e
				}
				return nil
			})
		}()
		for a.Features().Health().LastInbound.IsZero() {
			runtime.Gosched()
		}
		text := fmt.Sprint("hello ", i)
		chat.Post(ann, adaptertest.DiscordPost{Text: text})
		e := <-heard
		if _, err := a.Send(ctx, core.Outbound{Key: text, Kind: core.OutFinal, Place: e.Place, Text: "answer to " + e.Text, Answers: []string{e.MessageID}, After: e.MessageID, Last: true}); err != nil {
			t.Error(err)
		}
		if i == 1 { // a session is resumed where the last one said
			d.Drop()
			chat.Post(ann, adaptertest.DiscordPost{Text: "during"})
			if e := <-heard; e.Text != "during" {
				t.Errorf("after a break: %+v", e)
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	want := []string{"Ann: hello 0", "Bellhop: answer to hello 0", "Ann: hello 1", "Bellhop: answer to hello 1", "Ann: during", "Ann: hello 2", "Bellhop: answer to hello 2"}
	if got := texts(chat); !slices.Equal(got, want) {
		t.Errorf("shown is %q, want %q", got, want)
	}
}
