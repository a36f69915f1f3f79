package telegram

import (
	"context"
	"io"
	"testing"

	"bellhop/core"
)

const ofTables = "| a | b |\n| - | - |\n| 1 | 2 |"

// TestRich: an outcome that gains by it becomes a rich message; nothing else
// does, and never where the owner does not want it.
func TestRich(t *testing.T) {
	for name, tt := range map[string]struct {
		out  core.Outbound
		off  bool
		rich bool
	}{
		"a table":            {out: core.Outbound{Kind: core.OutFinal, Text: ofTables, Buttons: []core.Button{{Label: "Retry", Value: "retry"}}}, rich: true},
		"switched off":       {out: core.Outbound{Kind: core.OutFinal, Text: ofTables}, off: true},
		"a preview":          {out: core.Outbound{Kind: core.OutUpdate, Text: ofTables}},
		"words":              {out: core.Outbound{Kind: core.OutFinal, Text: "words"}},
		"below its thoughts": {out: core.Outbound{Kind: core.OutFinal, Text: ofTables, Thinking: "hm"}},
	} {
		w := always(ok(`{"message_id":77}`))
		a := adapter(w, io.Discard)
		a.plain.Store(tt.off)
		tt.out.Place, tt.out.Edit = group, "77"
		if _, err := a.Send(t.Context(), tt.out); err != nil {
			t.Fatal(err)
		}
		p := w.seen[0].params
		rich, _ := p["rich_message"].(map[string]any)
		if len(w.seen) != 1 || (rich != nil) != tt.rich || (p["text"] == nil) != tt.rich {
			t.Errorf("%s: sent %v", name, w.seen)
		}
		if tt.rich && (rich["markdown"] == "" || rich["skip_entity_detection"] != true || p["reply_markup"] == nil || p["message_id"] != 77.0) {
			t.Errorf("%s: sent %v", name, p)
		}
	}
}

// TestRichRefused: what Telegram does not take as a rich message is written
// without, and a server that knows none is not asked again.
func TestRichRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		no     reply
		want   error
		asked  int // rich messages, in two outcomes
		called int
	}{
		"refused":     {no(400, "Bad Request: RICH_MESSAGE_TABLE_INVALID"), nil, 2, 4},
		"old server":  {no(400, "Bad Request: message text is empty"), nil, 1, 3},
		"no method":   {no(404, "Not Found"), nil, 1, 3},
		"same":        {no(400, "Bad Request: message is not modified"), nil, 2, 2},
		"overloaded":  {tooMany(3), &core.RetryAfter{}, 2, 2},
		"broken":      {page(502), core.ErrUnknown, 2, 2},
		"wrong token": {no(401, "Unauthorized"), core.ErrFatal, 2, 2},
	} {
		w := &wire{answer: func(_ context.Context, c call) reply {
			if c.params["rich_message"] != nil {
				return tt.no
			}
			return ok(`{"message_id":77}`)
		}}
		a := adapter(w, io.Discard)
		for range 2 {
			_, err := a.Send(t.Context(), core.Outbound{Kind: core.OutFinal, Place: group, Edit: "77", Text: ofTables})
			if (err == nil) != (tt.want == nil) {
				t.Errorf("%s: %v, want %v", name, err, tt.want)
			}
		}
		asked := 0
		for _, c := range w.seen {
			if c.params["rich_message"] != nil {
				asked++
			}
		}
		if asked != tt.asked || len(w.seen) != tt.called {
			t.Errorf("%s: asked for %d rich messages in %d calls, want %d in %d", name, asked, len(w.seen), tt.asked, tt.called)
		}
	}
}
