package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

func TestBefore(t *testing.T) {
	line := func(n int, who, text string, more ...string) string {
		data, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"type":"message",%s,"text":%s,"ts":"17000000%02d.000100"%s}`, who, data, n, strings.Join(more, ""))
	}
	const ann, bob, us = `"user":"UANN"`, `"user":"UBOB"`, `"user":"UBOT","bot_id":"BBOT"`
	messages := []string{
		line(10, ann, "root &amp; all"), line(20, us, "ours"), line(30, bob, "<@UANN> look", `,"files":[{"id":"F1","name":"a.txt","url_private":"https://files.slack.com/a"}]`),
		line(40, ann, "", `,"subtype":"channel_join"`), line(50, `"bot_id":"B2","username":"CI"`, "red", `,"subtype":"bot_message"`),
		line(60, ann, "<@UBOT> help"), line(70, bob, "after"), `{"text":5}`,
	}
	at := func(n int) string { return fmt.Sprintf("17000000%02d.000100", n) }
	quote := func(n int, author, text string, files ...core.File) core.Quote {
		return core.Quote{Author: author, Text: text, ID: at(n), Time: time.Unix(1_700_000_000+int64(n), 100_000).UTC(), Files: files}
	}
	root := quote(10, "Ann", "root & all")
	ours := quote(20, "ubot", "ours")
	ours.Own = true
	look := quote(30, "Bob", "@Ann look", core.File{Name: "a.txt", Ref: "F1 https://files.slack.com/a"})
	red := quote(50, "CI", "red")
	tests := map[string]struct {
		need   core.Need
		method string
		params map[string]string
		want   core.Before
	}{
		"a thread so far": {
			core.Need{Place: core.Place{Channel: "C1", Topic: at(10)}, MessageID: at(60), Context: 100}, "conversations.replies",
			map[string]string{"channel": "C1", "ts": at(10), "latest": at(60), "limit": "200"}, core.Before{Quotes: []core.Quote{root, ours, look, red}},
		},
		"what others have said since": {
			core.Need{Place: core.Place{Channel: "C1", Topic: at(10)}, MessageID: at(60), Since: at(10), Context: 100}, "conversations.replies",
			map[string]string{"channel": "C1", "ts": at(10), "latest": at(60), "oldest": at(10), "limit": "200"}, core.Before{Quotes: []core.Quote{look, red}},
		},
		"what is new in it": {
			core.Need{Place: core.Place{Channel: "C1", Topic: at(10)}, MessageID: at(60), Since: at(30), Context: 100}, "conversations.replies",
			map[string]string{"channel": "C1", "ts": at(10), "latest": at(60), "oldest": at(30), "limit": "200"}, core.Before{Quotes: []core.Quote{red}},
		},
		"the last of a thread": {
			core.Need{Place: core.Place{Channel: "C1", Topic: at(10)}, MessageID: at(60), Context: 2}, "conversations.replies",
			map[string]string{"channel": "C1", "ts": at(10), "latest": at(60), "limit": "200"}, core.Before{Quotes: []core.Quote{look, red}, More: true},
		},
		"the last of a channel": {
			core.Need{Place: core.Place{Channel: "C1", Topic: at(60)}, MessageID: at(60), Context: 2}, "conversations.history",
			map[string]string{"channel": "C1", "latest": at(60), "limit": "14"}, core.Before{Quotes: []core.Quote{look, red}},
		},
		"of a direct conversation": {
			core.Need{Place: dm, MessageID: at(60), Since: at(30), Context: 10}, "conversations.history",
			map[string]string{"channel": "D1", "latest": at(60), "oldest": at(30), "limit": "30"}, core.Before{Quotes: []core.Quote{red}},
		},
		"nothing is wanted": {core.Need{Place: dm, MessageID: at(60)}, "", nil, core.Before{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := newOffice(func(_ context.Context, c call) reply {
				if c.method == tt.method {
					return ok(`"messages":[` + strings.Join(messages, ",") + `]`)
				}
				return reply{}
			})
			a := adapter(o, io.Discard)
			a.me = identity{user: "UBOT", bot: "BBOT", team: "T1"}
			got, err := a.Features().Before(t.Context(), tt.need)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if tt.method == "" {
				return
			}
			if diff := cmp.Diff(tt.params, values(o.calls(tt.method)[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
	endless := newOffice(func(_ context.Context, c call) reply {
		if c.method == "conversations.replies" {
			return ok(`"messages":[` + messages[0] + `],"response_metadata":{"next_cursor":"on"}`)
		}
		return reply{}
	})
	if got, err := adapter(endless, io.Discard).Features().Before(t.Context(), tests["a thread so far"].need); err == nil || len(endless.calls("conversations.replies")) != maxPages {
		t.Errorf("an endless thread: %+v, %v", got, err)
	}
	_, err := adapter(always(no("not_in_channel")), io.Discard).Features().Before(t.Context(), tests["a thread so far"].need)
	only(t, err, core.ErrRefused)
}
