package adaptertest_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bellhop/adapters/adaptertest"
	"bellhop/adapters/telegram"
	"bellhop/core"
	"bellhop/core/coretest"
	"bellhop/core/llm/script"
)

// forum is a Telegram chat with topics, and our adapter in it.
type forum struct {
	*adaptertest.TelegramChat
	t     *testing.T
	tg    *adaptertest.Telegram
	ann   *adaptertest.TelegramUser
	a     core.Adapter
	f     core.Features
	place core.Place

	mu     sync.Mutex
	events []core.Inbound // guarded by mu
}

// inForum runs f in a bubble with an adapter that polls.
func inForum(t *testing.T, f func(t *testing.T, w *forum)) {
	synctest.Test(t, func(t *testing.T) {
		tg := adaptertest.NewTelegram(adaptertest.TelegramOptions{})
		w := &forum{TelegramChat: tg.Forum("forum"), t: t, tg: tg, ann: tg.User(1111, "Ann")}
		w.place = core.Place{Adapter: "tg", Channel: strconv.FormatInt(w.ID(), 10)}
		w.a = telegram.New(telegram.Options{Name: "tg", Token: tg.Token(), HTTP: tg.Client()})
		w.f = w.a.Features()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- w.a.Run(ctx, func(_ context.Context, batch []core.Inbound) error {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.events = append(w.events, batch...)
				return nil
			})
		}()
		f(t, w)
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// pass lets what is under way arrive.
func (w *forum) pass() {
	time.Sleep(2 * time.Second)
	synctest.Wait()
}

// known is whether an event has come about a message, as the ledger's keys tell.
func (w *forum) known(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.events, func(in core.Inbound) bool {
		return in.Key == telegram.MessageKeys(w.place, id)+w.place.Channel
	})
}

// fork is a command that asks for a topic, and what begins it.
func (w *forum) fork() core.Outbound {
	w.t.Helper()
	id := w.Say(w.ann, "/fork")
	w.pass()
	return core.Outbound{Key: "p1/0", Kind: core.OutOpen, Place: w.place, Text: "…", Begin: "Blue paint", After: strconv.Itoa(id), Known: w.known}
}

// A topic whose making was lost is found, however often one looks; what others
// make meanwhile is not taken for it.
func TestTelegramTopicLost(t *testing.T) {
	for name, fault := range map[string]adaptertest.Fault{
		"done":     {Net: adaptertest.NetLost},
		"not done": {Net: adaptertest.NetHang},
	} {
		t.Run(name, func(t *testing.T) {
			inForum(t, func(t *testing.T, w *forum) {
				o := w.fork()
				w.tg.Fail("createForumTopic", 1, fault)
				if _, err := w.a.Send(t.Context(), o); !errors.Is(err, core.ErrUnknown) {
					t.Fatalf("a lost answer is %v", err)
				}
				theirs := w.Topic(w.ann, "Red paint")
				w.Say(w.ann, "so")
				w.pass()
				r, err := w.f.Resolve(t.Context(), o)
				if errors.Is(err, core.ErrNotSent) {
					r, err = w.a.Send(t.Context(), o)
				}
				if err != nil {
					t.Fatal(err)
				}
				if again, err := w.f.Resolve(t.Context(), o); err != nil || again.ID != r.ID {
					t.Errorf("looked for again it is %s, %v, not %s", again.ID, err, r.ID)
				}
				want := []string{"Blue paint", "Red paint"}
				if fault.Net == adaptertest.NetHang {
					slices.Reverse(want)
				}
				if got := w.Topics(); !slices.Equal(got, want) || r.ID == strconv.Itoa(theirs.TopicID()) {
					t.Errorf("there are the topics %q, ours is %s", got, r.ID)
				}
				o.Kind, o.Edit, o.Text = core.OutFinal, r.ID, "It goes on here."
				if last, err := w.a.Send(t.Context(), o); err != nil || last.ID != r.ID {
					t.Errorf("its text is %s, %v", last.ID, err)
				}
			})
		})
	}
}

// We make topics where we may, and it is soon known where we may not any more.
func TestTelegramTopicRights(t *testing.T) {
	inForum(t, func(t *testing.T, w *forum) {
		check := func(what string, want bool) {
			t.Helper()
			w.Say(w.ann, "/fork")
			w.pass()
			if got := w.f.Branch(w.place); got != want {
				t.Errorf("%s: a topic may be made: %t", what, got)
			}
		}
		w.Say(w.ann, "hello")
		w.pass()
		if w.f.Branch(w.place) {
			t.Error("nobody has asked whether a topic may be made")
		}
		check("an admin with the right", true)
		asked := len(w.tg.Calls("getChatMember"))
		check("it is remembered", true)
		if got := len(w.tg.Calls("getChatMember")); got != asked {
			t.Errorf("it was asked %d times more", got-asked)
		}
		for _, c := range []struct {
			rank    string
			topical bool
			want    bool
		}{{"administrator", true, false}, {"member", true, true}, {"member", false, false}, {"restricted", true, false}, {"", false, true}} {
			time.Sleep(2 * time.Minute)
			w.Seat(c.rank, c.topical)
			check(c.rank, c.want)
		}
		// It changes in the last moment: that is refused, and known from then on.
		w.Seat("member", false)
		if _, err := w.a.Send(t.Context(), w.fork()); !errors.Is(err, core.ErrRefused) || w.f.Branch(w.place) {
			t.Errorf("without the right: %v, and a topic may be made: %t", err, w.f.Branch(w.place))
		}
		time.Sleep(2 * time.Minute)
		w.tg.Fail("getChatMember", 1, adaptertest.Fault{Net: adaptertest.NetHang})
		check("nobody answers", false)
		// Elsewhere there are no topics to make.
		group := w.tg.Supergroup("group")
		group.Say(w.ann, "/fork")
		w.pass()
		for _, p := range []core.Place{{Adapter: "tg", Channel: strconv.FormatInt(group.ID(), 10)}, {Adapter: "tg", Channel: "1111"}, {Adapter: "tg", Channel: "x"}} {
			if w.f.Branch(p) {
				t.Errorf("a topic may be made in %s", p)
			}
		}
	})
}

// TestTelegramForkInTopics: what a person sees of a fork in a chat with topics, from
// the command to the answer in the new one, with the whole appliance.
func TestTelegramForkInTopics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, "telegram", faces[0].harness, &coretest.Archive{})
		defer s.end()
		ann := s.p.Person("Ann")
		chat, err := s.p.Room(adaptertest.General, ann)
		if err != nil {
			t.Fatal(err)
		}
		say := func(r adaptertest.Room, what adaptertest.Saying) string {
			t.Helper()
			what.From = ann
			id, err := s.p.Say(r, what)
			if err != nil {
				t.Fatal(err)
			}
			s.pass(10 * time.Second)
			return id
		}
		s.model.Queue("chief", script.Say("What colour?"))
		say(chat, adaptertest.Saying{Text: "Paint a house.", Mention: []adaptertest.Account{s.p.Me()}})
		command := say(chat, adaptertest.Saying{Command: "fork"})
		n, err := strconv.Atoi(command)
		if err != nil {
			t.Fatal(err)
		}
		topic, err := s.p.Thread(chat, strconv.Itoa(n+1))
		if err != nil {
			t.Fatalf("there is no topic after the command: %v", err)
		}
		shown := s.p.Shown(topic)
		if title, err := s.p.Title(topic); err != nil || title != "What colour?" || len(shown) != 1 || !strings.Contains(shown[0].Text, "up to What colour? (m") {
			t.Fatalf("the topic %q, %v, shows %+v", title, err, shown)
		}
		s.model.Queue("chief", script.Say("Blue, then."))
		say(topic, adaptertest.Saying{ReplyTo: shown[0].ID, Text: "Blue."})
		if shown = s.p.Shown(topic); len(shown) != 3 || shown[2].Text != "Blue, then." {
			t.Errorf("the topic shows %+v", shown)
		}
		said := s.model.Calls("chief")[1].Messages
		if len(said) != 3 || !strings.Contains(said[0].Content, "Paint a house.") || said[1].Content != "What colour?" {
			t.Errorf("the model is asked %+v", said)
		}
		if shown = s.p.Shown(chat); len(shown) != 4 || !strings.Contains(shown[3].Text, "I begin a thread of its own") {
			t.Errorf("the chat shows %+v", shown)
		}
	})
}
