package coretest

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"bellhop/core"
	"bellhop/store"
)

// TestCheckFinds breaks a sound world in one way each and shows that the
// checker sees it.
func TestCheckFinds(t *testing.T) {
	const script = `
adapter chat max=10
llm chief tool look {"what":"it"}
llm chief say first.....second
say dm alice One.
llm chief say third
say dm alice Two.
`
	alice := core.Place{Adapter: "chat", Channel: "alice"}
	room := func(w *world) []*message { return w.platforms[0].rooms[alice] }
	finds(t, script, []damage{
		{"a piece twice", "both show", func(w *world) {
			w.platforms[0].rooms[alice] = append(room(w), room(w)[1])
		}},
		{"a piece lost", "is not to be seen", func(w *world) {
			w.platforms[0].rooms[alice] = slices.Delete(room(w), 2, 3)
		}},
		{"a status line left", "still shows", func(w *world) { room(w)[1].kind = core.OutOpen }},
		{"another text", "instead of", func(w *world) { room(w)[1].text = "…" }},
		{"a mark left", "still marked", func(w *world) { room(w)[0].marks = []string{"👀"} }},
		{"pieces out of order", "was shown before", func(w *world) {
			f := w.platforms[0].finals
			f[0], f[1] = f[1], f[0]
		}},
		{"a later outcome first", "was shown before", func(w *world) {
			f := w.platforms[0].finals
			f[1], f[2] = f[2], f[1]
		}},
		{"an event not acknowledged", "not acknowledged", func(w *world) {
			w.platforms[0].pending = w.platforms[0].history[:1]
		}},
		{"a request that forgets", "no longer the beginning", func(w *world) {
			w.minds.calls[1].call.Messages[0].Content += "!"
		}},
		{"a history that changes", "not the beginning", func(w *world) {
			w.minds.calls[2].call.Messages[0].Content = "other"
		}},
		{"a system prompt that changes", "system prompt", func(w *world) { w.minds.calls[2].call.System += "!" }},
		{"a tool call without its result", "misses the results", func(w *world) {
			m := &w.minds.calls[1].call.Messages
			*m = (*m)[:2]
		}},
		{"a result without its call", "not open", func(w *world) { w.minds.calls[1].call.Messages[1].Calls = nil }},
	})
}

// TestCheckFindsSecrets lets a code and what a button proves out in one way each.
func TestCheckFindsSecrets(t *testing.T) {
	const script = `
adapter chat buttons=true
pairing
rule all ask fire
say dm mallory Hello.
llm chief tool fire {}
say dm alice One.
`
	nonce := func(w *world) string { return w.platforms[0].nonces[0] }
	row := func(w *world, text string) {
		if err := w.engine.Update(t.Context(), func(tx store.Tx) error { return tx.Put([]byte("!"), []byte(text)) }); err != nil {
			t.Error(err)
		}
	}
	finds(t, script, []damage{
		{"a model reads a code", "reads the secret 0000-0001", func(w *world) {
			w.clean = clean{}
			w.minds.calls[0].call.Messages[0].Content += "0000-0001"
		}},
		{"a model reads a nonce", "reads the secret", func(w *world) {
			w.clean = clean{}
			w.minds.calls[0].call.System += nonce(w)
		}},
		{"the log has a nonce", "the log has", func(w *world) { w.log.Info("pressed", "button", "allow 1 "+nonce(w)) }},
		{"a message shows a nonce", "shows the secret", func(w *world) {
			room := w.platforms[0].rooms[core.Place{Adapter: "chat", Channel: "alice"}]
			room[len(room)-1].text += nonce(w)
		}},
		{"the store has a code", `the store has the secret 00000001 in "!"`, func(w *world) { row(w, "00000001") }},
	})
}

// damage is done to a sound world, of which the checker must then say what is wanted.
type damage struct {
	name, want string
	do         func(w *world)
}

// finds holds the talk, does each damage after it, and looks at what is found.
func finds(t *testing.T, script string, tests []damage) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, lines := newWorld(t, script)
				defer w.end()
				w.hold(lines)
				tt.do(w)
				w.check()
				if found := strings.Join(w.found(), "\n"); !strings.Contains(found, tt.want) {
					t.Errorf("found %q, want %q", found, tt.want)
				}
			})
		})
	}
}

// TestArchive shows that a talk survives being rewritten.
func TestArchive(t *testing.T) {
	const text = "# a comment\nsay dm alice -- hi --\n\n-- chat/dm/alice --\n1 Alice: hi\n\n-- empty --\n-- ledger --\nitem\n"
	a := ParseArchive([]byte(text))
	if got := string(a.Format()); got != text {
		t.Errorf("got %q", got)
	}
	if len(a.Sections) != 3 || a.Sections[2].Name != "ledger" {
		t.Errorf("sections %q", a.Sections)
	}
}

// TestVariants shows that each lines multiply.
func TestVariants(t *testing.T) {
	var got []string
	for _, v := range variants("each A 1 \"2 3\"\neach B x y\nsay dm alice $A") {
		got = append(got, v.name+": "+v.values.Replace("$A$B"))
	}
	want := []string{"1/x: 1x", "1/y: 1y", "2_3/x: 2 3x", "2_3/y: 2 3y"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
