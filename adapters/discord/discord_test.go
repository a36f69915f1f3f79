package discord

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"bellhop/core"
)

func TestFeatures(t *testing.T) {
	a := New(Options{Name: "dc"})
	f := a.Features()
	if a.Name() != "dc" || f.Once != core.OnceKey || !f.Threads || !f.Edits || f.Replies || f.Reply != core.ReplyThread {
		t.Errorf("%s: %+v", a.Name(), f)
	}
	if d := f.Preview(fresh); d != 1200*time.Millisecond || f.Previews != 40*time.Millisecond {
		t.Errorf("previews every %s, in all every %s", d, f.Previews)
	}
	for text, want := range map[string]int{"": 0, " \n": 0, "```": 1, "a": 1, strings.Repeat("x", 2000): 1, strings.Repeat("x", 2001): 2} {
		pieces := f.Split(text)
		if len(pieces) != want {
			t.Errorf("%.20q is %d pieces", text, len(pieces))
		}
		for _, p := range pieces {
			if n := utf8.RuneCountInString(compose(core.Outbound{Text: p}).Content); n == 0 || n > f.MaxText {
				t.Errorf("a piece of %.20q has %d characters", text, n)
			}
		}
	}
}

// TestSelf: who we are is asked for when the gateway has not told.
func TestSelf(t *testing.T) {
	s := newServer(t)
	s.answers(map[string][]answer{"GET /users/@me": {{status: 500}}})
	a := s.adapter()
	if _, err := a.self(t.Context()); err == nil {
		t.Error("it knows without an answer")
	}
	if me, err := a.self(t.Context()); err != nil || me.user != meID {
		t.Errorf("self = %+v, %v", me, err)
	}
}
