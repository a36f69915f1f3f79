package slack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

func TestEventsAreAcknowledgedWhenDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := always(reply{})
		var in inbox
		var failures atomic.Int32
		stop := run(t, adapter(o, io.Discard), func(ctx context.Context, batch []core.Inbound) error {
			if failures.Add(1) < 3 {
				return errors.New("disk full")
			}
			return in.sink(ctx, batch)
		})
		p := o.next()
		p.send(envelope("1", said("1700000000.000100", "hello")))
		synctest.Wait()
		if acks := p.acked(); len(acks) != 0 {
			t.Fatalf("acknowledged before it was durable: %v", acks)
		}
		pass(time.Minute)
		if diff := cmp.Diff([]string{"1"}, p.acked()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"hello"}, in.texts()); diff != "" {
			t.Error(diff)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// TestWhatWaitsIsOneBatch, in Slack's order.
func TestWhatWaitsIsOneBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := always(reply{})
		var sizes []int
		var in inbox
		stop := run(t, adapter(o, io.Discard), func(ctx context.Context, batch []core.Inbound) error {
			sizes = append(sizes, len(batch))
			time.Sleep(time.Second)
			return in.sink(ctx, batch)
		})
		p := o.next()
		var want []string
		for i := range 20 {
			want = append(want, fmt.Sprint(i))
			p.send(envelope(fmt.Sprint("e", i), said(fmt.Sprintf("1700000000.0001%02d", i), fmt.Sprint(i))))
		}
		pass(time.Minute)
		if diff := cmp.Diff(want, in.texts()); diff != "" {
			t.Error(diff)
		}
		if len(sizes) > 3 || len(p.acked()) != 20 {
			t.Errorf("batches of %v, %d acknowledged", sizes, len(p.acked()))
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// TestEveryEnvelopeIsAcknowledged, whatever it is.
func TestEveryEnvelopeIsAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := always(reply{})
		var in inbox
		stop := run(t, adapter(o, io.Discard), in.sink)
		p := o.next()
		for _, frame := range []string{
			`{"type":"dreams","envelope_id":"a","payload":{}}`,
			`{"type":"events_api","envelope_id":"b","payload":{"event":{"type":"hologram"},"event_id":"E1"}}`,
			`{"type":"events_api","envelope_id":"c","payload":"?"}`,
			`{"type":17,"envelope_id":"d"}`,
			`{"type":"interactive","envelope_id":"e","accepts_response_payload":"yes","payload":{"type":"view_closed"}}`,
			`not even JSON`, `{}`, `[]`, `{"type":"hello","num_connections":2}`,
			envelope("f", said(ts, "after")),
		} {
			p.send(frame)
		}
		pass(time.Second)
		if diff := cmp.Diff([]string{"a", "b", "c", "d", "e", "f"}, p.acked()); diff != "" {
			t.Error(diff)
		}
		var kinds []core.InboundKind
		for _, e := range in.events {
			kinds = append(kinds, e.Kind)
		}
		want := []core.InboundKind{core.InIgnored, core.InIgnored, core.InUnreadable, core.InUnreadable, core.InIgnored, core.InMessage}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Error(diff)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

func TestSlashCommandIsAnsweredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := always(reply{})
		stop := run(t, adapter(o, io.Discard), nothing)
		p := o.next()
		for channel, want := range map[string]string{"C1": "invite me with /invite @bellhop", "D1": ""} {
			p.send(`{"type":"slash_commands","envelope_id":"s","accepts_response_payload":true,"payload":{"command":"/bellhop","text":"new","channel_id":"` + channel + `","user_id":"UANN"}}`)
			pass(time.Second)
			payload, _ := p.last["payload"].(map[string]any)
			text, _ := payload["text"].(string)
			if !strings.Contains(text, want) || (want == "") != (payload == nil) || want != "" && payload["response_type"] != "ephemeral" {
				t.Errorf("in %s: %v", channel, p.last)
			}
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// TestNextSocketOpensBeforeTheLastIsClosed, and both are heard meanwhile.
func TestNextSocketOpensBeforeTheLastIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := always(reply{})
		var in inbox
		stop := run(t, adapter(o, io.Discard), in.sink)
		first := o.next()
		pass(time.Hour)
		first.send(`{"type":"disconnect","reason":"warning"}`)
		second := o.next()
		if !first.send(envelope("1", said("1700000000.000100", "on the first"))) || !second.send(envelope("2", said("1700000000.000200", "on the second"))) {
			t.Fatal("a socket was closed too early")
		}
		synctest.Wait()
		if !slices.Equal(first.acked(), []string{"1"}) || !slices.Equal(second.acked(), []string{"2"}) {
			t.Errorf("acknowledged %v and %v", first.acked(), second.acked())
		}
		pass(linger + time.Second)
		if first.send(`{}`) {
			t.Error("the first socket is still open")
		}
		pass(time.Hour)
		if n := len(o.calls("apps.connections.open")); n != 2 {
			t.Errorf("%d sockets were asked for", n)
		}
		if n := len(o.calls("conversations.history")); n != 0 {
			t.Errorf("%d histories were read though nothing was missed", n)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// TestDeafSocketIsReplaced: a connection that nobody serves any more looks
// open for ever.
func TestDeafSocketIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := always(reply{})
		a := adapter(o, io.Discard)
		stop := run(t, a, nothing)
		start := time.Now()
		<-o.dials // and never read or written
		conn := o.next()
		if took := time.Since(start); took > deafAfter+lastPause {
			t.Errorf("noticed after %s", took)
		}
		pass(10 * time.Minute) // our pings are answered
		if h := a.state(); h.Trouble != "" || time.Since(h.LastInbound) > time.Minute {
			t.Errorf("health %+v", h)
		}
		_ = conn
		if n := len(o.calls("apps.connections.open")); n != 2 {
			t.Errorf("%d sockets", n)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}

// TestAlwaysDeaf is trouble, though each socket opens well.
func TestAlwaysDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := always(reply{})
		a := adapter(o, io.Discard)
		stop := run(t, a, nothing)
		for range 5 {
			<-o.dials
		}
		if h := a.state(); !strings.Contains(h.Trouble, "socket") {
			t.Errorf("health %+v", h)
		}
		if err := stop(); err != nil {
			t.Errorf("Run = %v", err)
		}
	})
}
