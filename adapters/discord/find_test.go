package discord

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

// wrote is a message in a listing.
func wrote(id, author, content, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"id":%q,"channel_id":"50","type":0,"content":%q,"author":{"id":%q,"username":"u%s"}%s}`, id, content, author, author, more)
}

func list(ms ...string) answer { return ok("[" + strings.Join(ms, ",") + "]") }

func TestResolve(t *testing.T) {
	const read = "GET /channels/50/messages?limit=100&after=400"
	lost := core.Outbound{Key: "k", Kind: core.OutFinal, Place: dm, Text: "**answer**", After: "400", Known: func(id string) bool { return id == "410" }}
	own := func(id, content, more string) string { return wrote(id, meID, content, more) }
	tests := map[string]struct {
		answers map[string][]answer
		want    string
		patched bool
		err     error
	}{
		"by nonce":                  {map[string][]answer{read: {list(own("412", "**answer**", ""), own("411", "anything", `"nonce":"`+nonce("k")+`"`))}}, "411", true, nil},
		"by its text":               {map[string][]answer{read: {list(own("410", "**answer**", ""), own("411", "…", ""), own("412", " **answer**", ""))}}, "412", false, nil},
		"a status line":             {map[string][]answer{read: {list(own("410", "…", ""), own("411", "Waiting for a free slot…", ""))}}, "411", true, nil},
		"another's":                 {map[string][]answer{read: {list(wrote("411", annID, "**answer**", ""))}}, "", false, core.ErrNotSent},
		"not our words":             {map[string][]answer{read: {list(own("411", "something else", ""))}}, "", false, core.ErrNotSent},
		"of no message":             {map[string][]answer{read: {list(strings.Replace(own("411", "…", ""), `"type":0`, `"type":20`, 1))}}, "", false, core.ErrNotSent},
		"nothing":                   {nil, "", false, core.ErrNotSent},
		"no answer":                 {map[string][]answer{read: {{status: -1}}}, "", false, core.ErrUnknown},
		"an outage":                 {map[string][]answer{read: {{status: 503}}}, "", false, core.ErrUnknown},
		"may not read":              {map[string][]answer{read: {no(403, 50001, "Missing Access")}}, "", false, core.ErrUnknown},
		"found, and gone meanwhile": {map[string][]answer{read: {list(own("411", "…", ""))}, "PATCH /channels/50/messages/411": {no(404, 10008, "Unknown Message")}}, "", false, core.ErrGone},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.answers(tt.answers)
			r, err := inThread(s).resolve(t.Context(), lost)
			if r.ID != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("resolve = %v, %v, want %s, %v", r, err, tt.want, tt.err)
			}
			if n := len(s.made("PATCH")); tt.err == nil && (n == 1) != tt.patched {
				t.Errorf("%d edits", n)
			}
		})
	}
	t.Run("limited", func(t *testing.T) {
		s := newServer(t)
		s.answers(map[string][]answer{read: {{status: 429, body: `{"message":"slow down","retry_after":7.0}`}}})
		_, err := inThread(s).resolve(t.Context(), lost)
		if wait, ok := errors.AsType[*core.RetryAfter](err); !ok || wait.After != 7*time.Second || errors.Is(err, core.ErrNotSent) {
			t.Errorf("resolve = %v", err)
		}
	})
}

// TestResolvePlaces: without a thread, only what refers to the place's trigger
// can be the place's.
func TestResolvePlaces(t *testing.T) {
	s := newServer(t)
	s.answers(map[string][]answer{
		"GET /channels/100/messages?limit=100&after=100": {no(404, 10003, "Unknown Channel")},
		"GET /channels/10/messages?limit=100&after=100": {list(wrote("111", meID, "x", `"message_reference":{"message_id":"101"}`),
			wrote("112", meID, "x", `"message_reference":{"message_id":"100"}`))},
	})
	o := core.Outbound{Key: "k", Place: fresh, Text: "x", After: "100", Known: func(string) bool { return false }}
	if r, err := inThread(s).resolve(t.Context(), o); err != nil || r.ID != "112" {
		t.Errorf("resolve = %v, %v", r, err)
	}
}

// TestReadback: a send that may have been tried before Discord forgot its
// nonce looks for its message first.
func TestReadback(t *testing.T) {
	old := idAt(time.Now().Add(-3 * time.Minute))
	known := func(string) bool { return false }
	read := "GET /channels/50/messages?limit=100&after=" + old
	tests := map[string]struct {
		after string
		reply answer
		want  []string
		err   error
	}{
		"young":             {idAt(time.Now().Add(-time.Minute)), answer{}, []string{"POST /channels/50/messages"}, nil},
		"shown":             {old, list(wrote("9"+old[1:], meID, "x", "")), []string{read}, nil},
		"not shown":         {old, list(), []string{read, "POST /channels/50/messages"}, nil},
		"may not read":      {old, no(403, 50001, "Missing Access"), []string{read, "POST /channels/50/messages"}, nil},
		"cannot be told":    {old, answer{status: 502}, []string{read}, core.ErrUnknown},
		"after we know not": {"", list(wrote("7", meID, "x", "")), []string{"GET /channels/50/messages?limit=100", "POST /channels/50/messages"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.answer = func(c call) answer {
				if strings.HasPrefix(c.what, "GET") {
					return tt.reply
				}
				return answer{}
			}
			_, err := inThread(s).Send(t.Context(), core.Outbound{Key: "k", Place: dm, Text: "x", After: tt.after, Known: known})
			if !errors.Is(err, tt.err) {
				t.Errorf("Send = %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, s.whats()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBefore(t *testing.T) {
	pdf := `"attachments":[{"id":"3","filename":"a.pdf","url":"u"}]`
	tests := map[string]struct {
		need    core.Need
		answers map[string][]answer
		want    string // authors and texts
		files   int
		calls   int
	}{
		"at top level": {core.Need{Place: fresh, MessageID: "100", Context: 2}, map[string][]answer{
			"GET /channels/10/messages?limit=14&before=100": {list(wrote("98", "5", "second", pdf), wrote("97", "6", "first", ""), wrote("96", "6", "too old", ""))},
		}, "u6: first|u5: second", 1, 1},
		"in a thread, with what it began with": {core.Need{Place: thread, MessageID: "30", Context: 10}, map[string][]answer{
			"GET /channels/11/messages?limit=30&before=30": {list(wrote("29", "5", "third", ""), wrote("28", meID, "ours", ""),
				strings.Replace(wrote("11", "6", "", `"referenced_message":`+wrote("11", "6", "first", "")), `"type":0`, `"type":21`, 1))},
		}, "u6: first|u1000: ours|u5: third", 0, 1},
		"since": {core.Need{Place: thread, MessageID: "30", Since: "28", Context: 10}, map[string][]answer{
			"GET /channels/11/messages?limit=30&before=30": {list(wrote("29", "5", "new", ""), wrote("29", meID, "ours", ""), wrote("28", "5", "read", ""))},
		}, "u5: new", 0, 1},
		"several pages": {core.Need{Place: thread, MessageID: "30", Since: "1", Context: 150}, map[string][]answer{
			"GET /channels/11/messages?limit=100&before=30": {list(slices.Repeat([]string{wrote("20", "5", "x", "")}, 100)...)},
			"GET /channels/11/messages?limit=100&before=20": {list(wrote("19", "5", "old", ""))},
		}, "u5: old" + strings.Repeat("|u5: x", 100), 0, 2},
		"more than is wanted": {core.Need{Place: thread, MessageID: "30", Context: 1}, map[string][]answer{
			"GET /channels/11/messages?limit=12&before=30": {list(wrote("29", "5", "new", ""), wrote("28", "5", "old", ""))},
		}, "u5: new|and more", 0, 1},
		"what the thread began with is read": {core.Need{Place: thread, MessageID: "30", Since: "11", Context: 10}, map[string][]answer{
			"GET /channels/11/messages?limit=30&before=30": {list(wrote("29", "5", "third", ""),
				strings.Replace(wrote("12", "6", "", `"referenced_message":`+wrote("11", "6", "first", "")), `"type":0`, `"type":21`, 1))},
		}, "u5: third", 0, 1},
		"forwarded": {core.Need{Place: thread, MessageID: "30", Context: 10}, map[string][]answer{
			"GET /channels/11/messages?limit=30&before=30": {list(wrote("29", "5", "", `"message_snapshots":[{"message":`+wrote("1", "6", "news", pdf)+`}]`))},
		}, "u5: news", 1, 1},
		"not wanted": {core.Need{Place: thread, MessageID: "30"}, nil, "", 0, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.answers(tt.answers)
			got, err := inThread(s).before(t.Context(), tt.need)
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			files := 0
			for _, q := range got.Quotes {
				said = append(said, q.Author+": "+q.Text)
				files += len(q.Files)
				if q.ID == "" || q.Time.IsZero() {
					t.Errorf("%+v", q)
				}
			}
			if got.More {
				said = append(said, "and more")
			}
			if diff := cmp.Diff(tt.want, strings.Join(said, "|")); diff != "" {
				t.Error(diff)
			}
			if files != tt.files || len(s.made("")) != tt.calls {
				t.Errorf("%d files, calls %q", files, s.whats())
			}
		})
	}
	s := newServer(t)
	s.answer = func(call) answer { return answer{status: 500} }
	if _, err := inThread(s).before(t.Context(), core.Need{Place: thread, MessageID: "30", Context: 1}); !errors.Is(err, core.ErrUnknown) {
		t.Errorf("an outage: %v", err)
	}
	s.answer = func(call) answer { return no(403, 50001, "Missing Access") }
	if _, err := inThread(s).before(t.Context(), core.Need{Place: thread, MessageID: "30", Context: 1}); !errors.Is(err, core.ErrRefused) {
		t.Errorf("not permitted: %v", err)
	}
}

func TestFetch(t *testing.T) {
	const message = "GET /channels/10/messages/12"
	at := func(path string) string { return `{"c":"10","m":"12","a":"3","u":"` + path + `"}` }
	holds := func(url string) answer {
		return ok(`{"id":"12","attachments":[{"id":"2","url":"x"},{"id":"3","url":"` + url + `"}]}`)
	}
	tests := map[string]struct {
		ref     string
		answers map[string][]answer
		want    []string
		err     error
	}{
		"at once": {at("http://discord.test/a?ex=ffffffff"), map[string][]answer{"GET /a?ex=ffffffff": {ok("content")}}, []string{"GET /a?ex=ffffffff"}, nil},
		"expired": {at("http://discord.test/a?ex=1"), map[string][]answer{message: {holds("http://discord.test/b")}, "GET /b": {ok("content")}}, []string{message, "GET /b"}, nil},
		"refused": {at("http://discord.test/a"), map[string][]answer{"GET /a": {{status: 404}}, message: {holds("http://discord.test/b")}, "GET /b": {ok("content")}}, []string{"GET /a", message, "GET /b"}, nil},
		"refused twice": {at("http://discord.test/a"), map[string][]answer{"GET /a": {{status: 404}, {status: 404}}, message: {holds("http://discord.test/a")}},
			[]string{"GET /a", message, "GET /a"}, core.ErrRefused},
		"an outage":       {at("http://discord.test/a"), map[string][]answer{"GET /a": {{status: 503}}}, []string{"GET /a"}, core.ErrNotSent},
		"a redirect":      {at("http://discord.test/a"), map[string][]answer{"GET /a": {{status: 302, header: map[string]string{"Location": "http://evil.test/"}}}, message: {holds("x")}}, []string{"GET /a", message}, core.ErrRefused},
		"gone":            {at("http://discord.test/a?ex=1"), map[string][]answer{message: {no(404, 10008, "Unknown Message")}}, []string{message}, core.ErrGone},
		"taken out":       {at("http://discord.test/a?ex=1"), map[string][]answer{message: {ok(`{"id":"12"}`)}}, []string{message}, core.ErrGone},
		"elsewhere":       {at("https://evil.test/a"), nil, nil, core.ErrRefused},
		"CDN in clear":    {at("http://cdn.discordapp.com/a"), nil, nil, core.ErrRefused},
		"no file of ours": {"file_id", nil, nil, core.ErrRefused},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.answers(tt.answers)
			body, err := inThread(s).fetch(t.Context(), core.File{Ref: tt.ref})
			if !errors.Is(err, tt.err) {
				t.Fatalf("fetch = %v, want %v", err, tt.err)
			}
			if err == nil {
				data, err := io.ReadAll(body)
				if cerr := body.Close(); err != nil || cerr != nil || string(data) != "content" {
					t.Errorf("content %q, %v, %v", data, err, cerr)
				}
			}
			if diff := cmp.Diff(tt.want, s.whats()); diff != "" {
				t.Error(diff)
			}
			for _, c := range s.made("GET /a") {
				if c.header.Get("Authorization") != "" {
					t.Error("the token is sent along")
				}
			}
		})
	}
}

// TestOtherTransport: a client without a transport of the usual kind is used
// for the API, and the gateway is dialled as if there were none.
func TestOtherTransport(t *testing.T) {
	d := dialer(&http.Client{Transport: http.NewFileTransport(http.Dir("."))})
	if d.NetDialContext != nil || d.Proxy == nil {
		t.Errorf("dialer %+v", d)
	}
}
