package store_test

import (
	"testing"
	"time"

	"bellhop/core"
	"bellhop/store"
	"bellhop/store/memkv"
)

// Where several chats number their messages together, an id that one of them
// has used is known in all, so that no probe wastes itself on it. So is what
// nothing is kept of but its dedupe key.
func TestSeries(t *testing.T) {
	for _, together := range []bool{false, true} {
		o := store.Options{}
		if together {
			o.Series = func(core.Place) string { return "private" }
			o.MessageKeys = func(p core.Place, id string) string { return "m/" + p.Channel + "/" + id + "/" }
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
		in.MessageID, in.Key = "33", "m/1/33/1"
		if _, err := s.Accept(t.Context(), core.Batch{Entries: []core.Entry{{In: in}}}); err != nil { // a stranger's
			t.Fatal(err)
		}
		if s.Known(t.Context(), one, "33") != together || s.Known(t.Context(), one, "3") || s.Known(t.Context(), two, "33") {
			t.Errorf("together: %v, and the ids that came in are not known accordingly", together)
		}
		in.MessageID, in.Key, in.Place.Channel = "34", "m/4/34/4", "4"
		if _, err := s.Accept(t.Context(), core.Batch{Entries: []core.Entry{{In: in}}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Moved(t.Context(), core.Moving{Adapter: "chat", Old: "3", New: "4"}); err != nil {
			t.Fatal(err)
		}
		if s.Known(t.Context(), core.Place{Adapter: "chat", Channel: "3"}, "34") != together {
			t.Errorf("together: %v, and the ids of a channel that has moved are not known accordingly", together)
		}
		in.MessageID, in.Key, in.Place, in.Kind, in.Text = "31", "b", one, core.InEdit, "hello"
		done, err := s.Accept(t.Context(), core.Batch{Entries: []core.Entry{{In: in, Role: core.Member}}, Bots: []string{"chief"}})
		if err != nil || done.Fates[0] != core.FateEdited {
			t.Errorf("an edit becomes %v, %v", done.Fates, err)
		}
	}
}
