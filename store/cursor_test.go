package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// spoken is a message that was said ago, with all before it at its place heard.
func (w *world) spoken(channel, topic, id string, ago time.Duration) core.Entry {
	w.Helper()
	e := w.event(core.InMessage, id, "hello")
	e.In.Place, e.In.Direct, e.In.Heard = core.Place{Adapter: "chat", Channel: channel, Topic: topic}, false, true
	e.In.Time, e.Mode = time.Now().Add(-ago).UTC(), core.ReplyThread
	return e
}

// cursors are the adapter's, as "place id".
func (w *world) cursors(adapter string) (list []string) {
	w.Helper()
	all, err := w.store.Cursors(w.Context(), adapter)
	w.must(err)
	for _, c := range all {
		list = append(list, c.Place.String()+" "+c.ID)
	}
	return list
}

func (w *world) wantCursors(want ...string) {
	w.Helper()
	if diff := cmp.Diff(want, w.cursors("chat")); diff != "" {
		w.Errorf("cursors (-want +got):\n%s", diff)
	}
}

// A channel is heard whoever says what there, a conversation once somebody
// speaks to us in it, and nothing that was not said to have been heard.
func TestCursors(t *testing.T) {
	w := newWorld(t)
	mention := w.spoken("c", "m2", "m2", 50*time.Second)
	mention.In.Mentioned = true
	inside := w.spoken("c", "m2", "m3", 40*time.Second)
	late := w.spoken("c", "m2", "m4", 30*time.Second)
	late.In.Heard = false
	direct := w.spoken("dm", "", "d1", 20*time.Second)
	direct.In.Direct = true
	order := w.spoken("dm2", "", "d2", 10*time.Second)
	order.In.Direct, order.Command = true, w.command("stop").Command
	stranger := w.spoken("dm3", "", "d3", 10*time.Second)
	stranger.In.Direct, stranger.Role = true, core.Stranger
	before := w.memory().Commits()
	w.accept(w.spoken("c", "m1", "m1", time.Minute), w.spoken("c", "t1", "t2", time.Minute), mention, inside, late, direct, order, stranger)
	if n := w.memory().Commits() - before; n != 1 {
		t.Errorf("%d commits, want 1", n)
	}
	w.wantCursors("chat:dm2 d2", "chat:dm d1", "chat:c/m2 m3", "chat:c m2")

	// Where we are let in, all that follows will be heard.
	added := w.spoken("new", "", "", 5*time.Second)
	added.In.Kind, added.In.MessageID, added.Hello = core.InAdded, "", "Hello."
	w.accept(added)
	w.wantCursors("chat:new ", "chat:dm2 d2", "chat:dm d1", "chat:c/m2 m3", "chat:c m2")

	// What comes again, or late, moves nothing back; another adapter has its own.
	other := w.spoken("c", "m9", "m9", 0)
	other.In.Place.Adapter = "other"
	w.accept(inside, w.spoken("c", "m0", "m0", 2*time.Minute), other)
	w.restart()
	w.wantCursors("chat:new ", "chat:dm2 d2", "chat:dm d1", "chat:c/m2 m3", "chat:c m2")
	if diff := cmp.Diff([]string{"other:c m9"}, w.cursors("other")); diff != "" {
		t.Error(diff)
	}
	all, err := w.store.Cursors(t.Context(), "chat")
	w.must(err)
	if !all[1].Direct || all[3].Direct || !all[3].Time.Equal(inside.In.Time) {
		t.Errorf("cursors: %+v", all)
	}
}

// A place has one cursor, that of the newest day, and none once it has rested
// for a month.
func TestCursorsByDay(t *testing.T) {
	w := newWorld(t)
	const day = 24 * time.Hour
	w.accept(w.spoken("c", "m5", "m5", day), w.spoken("c", "m3", "m3", 3*day), w.spoken("c", "m6", "m6", time.Minute),
		w.spoken("old", "o1", "o1", 32*day), w.spoken("rests", "r1", "r1", 28*day))
	w.wantCursors("chat:c m6", "chat:rests r1", "chat:old o1")
	_, err := w.store.Prune(t.Context(), time.Now().Add(-7*day))
	w.must(err)
	w.wantCursors("chat:c m6", "chat:rests r1")

	// A platform's clock that is ahead does not keep it for ever.
	w.accept(w.spoken("ahead", "a1", "a1", -1000*day))
	all, err := w.store.Cursors(t.Context(), "chat")
	w.must(err)
	if ahead := time.Until(all[0].Time); all[0].ID != "a1" || ahead > time.Minute {
		t.Errorf("%+v is %s ahead", all[0], ahead)
	}
}

// However many places there are, a start reads only so many cursors.
func TestCursorsAreBounded(t *testing.T) {
	w := newWorld(t)
	for n := range 12 {
		var batch []core.Entry
		for i := range 100 {
			id := fmt.Sprintf("m%04d", n*100+i)
			batch = append(batch, w.spoken(id, id, id, time.Duration(n*100+i+1)*time.Second))
		}
		w.accept(batch...)
	}
	got := w.cursors("chat")
	if len(got) != 1000 || got[0] != "chat:m0000 m0000" || got[999] != "chat:m0999 m0999" {
		t.Errorf("%d cursors from %v to %v", len(got), got[0], got[len(got)-1])
	}
}
