package store_test

import (
	"testing"
	"time"

	"bellhop/core"
	"bellhop/store"
	"bellhop/store/memkv"
)

// Where several chats number their messages together, an id that one of them
// has used is known in all, so that no probe wastes itself on it.
func TestSeries(t *testing.T) {
	for _, together := range []bool{false, true} {
		o := store.Options{}
		if together {
			o.Series = func(core.Place) string { return "private" }
		}
		s, err := store.Open(t.Context(), memkv.New(memkv.Options{}), o)
		if err != nil {
			t.Fatal(err)
		}
		one, two := core.Place{Adapter: "chat", Channel: "1"}, core.Place{Adapter: "chat", Channel: "2"}
		in := core.Inbound{Key: "a", Kind: core.InMessage, Place: one, Direct: true, From: core.Person{ID: "chat:ann"}, MessageID: "31", Text: "hi", Time: time.Now()}
		if _, err := s.Accept(t.Context(), core.Batch{Entries: []core.Entry{{In: in, Role: core.Member, Agent: "chief"}}, Bots: []string{"chief"}}); err != nil {
			t.Fatal(err)
		}
		if !s.Known(t.Context(), one, "31") || s.Known(t.Context(), two, "31") != together || s.Known(t.Context(), two, "32") {
			t.Errorf("together: %v, and the ids are not known accordingly", together)
		}
		in.Key, in.Kind, in.Text = "b", core.InEdit, "hello"
		done, err := s.Accept(t.Context(), core.Batch{Entries: []core.Entry{{In: in, Role: core.Member}}, Bots: []string{"chief"}})
		if err != nil || done.Fates[0] != core.FateEdited {
			t.Errorf("an edit becomes %v, %v", done.Fates, err)
		}
	}
}
