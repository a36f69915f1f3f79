package slack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// heardOf are cursors of so many channels, the newest first.
func heardOf(n int) core.Cursors {
	return func(context.Context) (list []core.Cursor, err error) {
		for i := range n {
			list = append(list, core.Cursor{Place: core.Place{Adapter: "slack", Channel: fmt.Sprint("C", i)}, ID: stampAt(time.Now().Add(-time.Minute))})
		}
		return list, nil
	}
}

// TestCatchUpIsPaced: some places are read at once, the others as fast as Slack
// lets us, the ones where something happened last before the others, and not
// without bounds.
func TestCatchUpIsPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := always(reply{})
		a := adapter(o, io.Discard)
		a.cursors = heardOf(maxReads + 100)
		stop := run(t, a, nothing)
		_ = o.next()
		pass(time.Second)
		if n := len(o.calls("conversations.history")); n < historyBurst || n > historyBurst+2 {
			t.Errorf("%d histories are read at once", n)
		}
		pass(time.Minute)
		if n := len(o.calls("conversations.history")); n < historyBurst+35 || n > historyBurst+45 {
			t.Errorf("%d histories are read in a minute", n)
		}
		pass(time.Hour)
		calls := o.calls("conversations.history")
		if len(calls) != maxReads || calls[0].params.Get("channel") != "C0" || calls[maxReads-1].params.Get("channel") != fmt.Sprint("C", maxReads-1) {
			t.Errorf("%d histories are read, the last of %s", len(calls), calls[len(calls)-1].params.Get("channel"))
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// TestCatchUpGoesBackADay, however old a cursor is.
func TestCatchUpGoesBackADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := always(reply{})
		a := adapter(o, io.Discard)
		old := []core.Cursor{{Place: core.Place{Adapter: "slack", Channel: "C1", Topic: "900000000.000100"}, ID: "0900000000.000100"}}
		a.cursors = func(context.Context) ([]core.Cursor, error) { return old, nil }
		want := stampAt(time.Now().Add(-readBackFor))
		stop := run(t, a, nothing)
		_ = o.next()
		pass(time.Second)
		if got := o.calls("conversations.replies")[0].params.Get("oldest"); got != want {
			t.Errorf("read from %s on, want %s", got, want)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// TestCatchUpWaitsForTheLedger: nothing is taken before it is known how far each
// place was heard, for that would move the cursors.
func TestCatchUpWaitsForTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := always(reply{})
		var in inbox
		a := adapter(o, io.Discard)
		tries := 0
		a.cursors = func(context.Context) ([]core.Cursor, error) {
			if tries++; tries < 4 {
				return nil, errors.New("the disk fails")
			}
			return nil, nil
		}
		stop := run(t, a, in.sink)
		o.next().send(envelope("1", said(ts, "now")))
		synctest.Wait()
		if len(in.texts()) > 0 {
			t.Errorf("taken: %q", in.texts())
		}
		pass(time.Minute)
		if diff := cmp.Diff([]string{"now"}, in.texts()); diff != "" {
			t.Error(diff)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// TestHangingHistoryHoldsNothingUp: while Slack does not answer, what is said is
// taken and acknowledged all the same, and moves no cursor.
func TestHangingHistoryHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hangs atomic.Bool
		hangs.Store(true)
		o := newOffice(func(ctx context.Context, c call) reply {
			if c.method == "conversations.history" && hangs.Load() {
				<-ctx.Done()
				return reply{err: ctx.Err()}
			}
			return reply{}
		})
		var in inbox
		a := adapter(o, io.Discard)
		a.cursors = heardOf(2)
		stop := run(t, a, in.sink)
		p := o.next()
		pass(30 * time.Second)
		for i := range 10 {
			text := fmt.Sprint("now ", i)
			start := time.Now()
			p.send(envelope(fmt.Sprint(i), event("message", stampAt(start), text, `"user":"UANN","channel":"C1","channel_type":"channel"`)))
			for len(in.texts()) <= i {
				pass(100 * time.Millisecond)
			}
			if took := time.Since(start); took > quietly+orderly {
				t.Errorf("%s took %s", text, took)
			}
			pass(10 * time.Second)
		}
		for _, e := range in.events {
			if e.Heard {
				t.Errorf("%q moves the cursor", e.Text)
			}
		}
		hangs.Store(false)
		pass(time.Minute)
		p.send(envelope("last", event("message", stampAt(time.Now()), "last", `"user":"UANN","channel":"C1","channel_type":"channel"`)))
		pass(time.Second)
		if last := in.events[len(in.events)-1]; last.Text != "last" || !last.Heard {
			t.Errorf("afterwards: %+v", last)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// TestThreadsBegunMeanwhile: replies to what was missed, and in a direct
// conversation to older messages, stand in threads that no cursor tells of.
func TestThreadsBegunMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(ago time.Duration) string { return stampAt(time.Now().Add(-ago)) }
		since, old, root, answer := at(time.Hour), at(2*time.Hour), at(30*time.Minute), at(20*time.Minute)
		o := newOffice(func(_ context.Context, c call) reply {
			list := map[string][]string{
				"C1": {`{"user":"UANN","text":"<@UBOT> root","ts":"` + root + `","thread_ts":"` + root + `","latest_reply":"` + answer + `"}`,
					`{"user":"UANN","text":"chatter","ts":"` + at(29*time.Minute) + `","latest_reply":"` + answer + `"}`},
				"C1 " + root: {`{"user":"UBOB","text":"in the thread","ts":"` + answer + `","thread_ts":"` + root + `"}`},
				"D1":         {`{"user":"UBOT","bot_id":"BBOT","text":"said by us","ts":"` + old + `","thread_ts":"` + old + `","latest_reply":"` + answer + `"}`},
				"D1 " + old:  {`{"user":"UBOB","text":"below it","ts":"` + answer + `","thread_ts":"` + old + `"}`},
			}
			if c.method == "conversations.history" || c.method == "conversations.replies" {
				where := strings.TrimSpace(c.params.Get("channel") + " " + c.params.Get("ts"))
				if from := c.params.Get("oldest"); where == "D1" && from != "" {
					t.Errorf("the conversation is read from %s on", from)
				}
				return ok(`"messages":[` + strings.Join(list[where], ",") + `]`)
			}
			return reply{}
		})
		var in inbox
		a := adapter(o, io.Discard)
		a.rooms.setKind("C1", named)
		a.cursors = func(context.Context) ([]core.Cursor, error) {
			return []core.Cursor{{Place: core.Place{Adapter: "slack", Channel: "C1"}, ID: since}, {Place: core.Place{Adapter: "slack", Channel: "D1"}, Direct: true, ID: since}}, nil
		}
		stop := run(t, a, in.sink)
		_ = o.next()
		pass(time.Minute)
		where := map[string]string{}
		for _, e := range in.events {
			where[e.Text] = e.Place.String()
		}
		want := map[string]string{"root": "slack:C1/" + root, "chatter": where["chatter"], "in the thread": "slack:C1/" + root, "below it": "slack:D1/" + old}
		if diff := cmp.Diff(want, where); diff != "" || len(in.events) != 4 {
			t.Errorf("%d events:\n%s", len(in.events), diff)
		}
		if n := len(o.calls("conversations.replies")); n != 2 {
			t.Errorf("%d threads are read, want 2", n)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// TestLongThreadIsReadOn, page by page, oldest first.
func TestLongThreadIsReadOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := time.Now().Add(-time.Hour)
		root := stampAt(base)
		const all = 1000
		o := newOffice(func(_ context.Context, c call) reply {
			if c.method != "conversations.replies" {
				return reply{}
			}
			var list []string
			next := ""
			from := 0
			if _, err := fmt.Sscanf(c.params.Get("cursor"), "at%d", &from); err != nil {
				for stampAt(base.Add(time.Duration(from+1)*time.Second)) <= c.params.Get("oldest") {
					from++
				}
			}
			for i := from; i < all; i++ {
				if len(list) == pageSize {
					next = fmt.Sprint("at", i)
					break
				}
				list = append(list, fmt.Sprintf(`{"user":"UANN","text":"%d","ts":%q,"thread_ts":%q}`, i, stampAt(base.Add(time.Duration(i+1)*time.Second)), root))
			}
			return ok(`"messages":[` + strings.Join(list, ",") + `],"response_metadata":{"next_cursor":"` + next + `"}`)
		})
		var in inbox
		a := adapter(o, io.Discard)
		a.rooms.setKind("C1", named)
		a.cursors = func(context.Context) ([]core.Cursor, error) {
			return []core.Cursor{{Place: core.Place{Adapter: "slack", Channel: "C1", Topic: root}, ID: root}}, nil
		}
		stop := run(t, a, func(ctx context.Context, batch []core.Inbound) error {
			if len(batch) > maxBatch {
				t.Errorf("a batch of %d", len(batch))
			}
			return in.sink(ctx, batch)
		})
		_ = o.next()
		pass(time.Minute)
		var want []string
		for i := range all {
			want = append(want, fmt.Sprint(i))
		}
		if diff := cmp.Diff(want, in.texts()); diff != "" {
			t.Error(diff)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}
