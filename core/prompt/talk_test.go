package prompt

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"bellhop/core"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var noon = time.Date(2026, 11, 30, 13, 2, 33, 0, time.UTC)

// talk is a thread that a test writes, as the bot chief reads it.
type talk struct {
	View
	seq uint64
}

func newTalk() *talk {
	return &talk{View: View{
		Bot:  core.Bot{Handle: "chief", Name: "Chief", Description: "runs the team"},
		Team: []core.Bot{{Handle: "engineer", Name: "Ed", Description: "writes code"}, {Handle: "qa"}},
	}, seq: 1000}
}

func (t *talk) id() core.ID {
	t.seq += 3
	return core.NewID(core.KindMessage, t.seq)
}

func (t *talk) add(m core.Message) *core.Message {
	m.ID = t.id()
	m.Time = noon
	t.Messages = append(t.Messages, m)
	return &t.Messages[len(t.Messages)-1]
}

// say is a person's message; the parts may be strings, quotes or files.
func (t *talk) say(name string, parts ...any) *core.Message {
	return t.add(core.Message{
		Sender: core.Actor{Kind: core.HumanActor, ID: "slack:U0" + strings.ToUpper(key(name))},
		Name:   name, Parts: compose(parts),
	})
}

// reply is a bot's; after is the newest message that its run had read.
func (t *talk) reply(bot string, after core.ID, text string) *core.Message {
	return t.add(core.Message{Sender: core.Actor{Kind: core.BotActor, ID: bot}, After: after, Parts: compose([]any{text})})
}

func (t *talk) newest() core.ID {
	return t.Messages[len(t.Messages)-1].ID
}

func compose(parts []any) []core.Part {
	var out []core.Part
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			out = append(out, core.Text(p))
		case core.Quote:
			out = append(out, core.Part{Kind: core.QuotePart, Quote: &p})
		case core.File:
			out = append(out, core.Part{Kind: core.FilePart, File: &p})
		}
	}
	return out
}

// show writes chat messages for a person to read.
func show(messages []core.ChatMessage) string {
	var b strings.Builder
	for _, m := range inline(messages) {
		fmt.Fprintf(&b, "======== %s %s\n", m.Role, m.CallID)
		if m.Content != "" {
			b.WriteString(m.Content + "\n")
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, "-> %s %s %s\n", c.ID, c.Name, c.Args)
		}
	}
	return b.String()
}

// inline is messages with a line in the text for each image.
func inline(messages []core.ChatMessage) []core.ChatMessage {
	out := slices.Clone(messages)
	for i := range out {
		m := &out[i]
		for _, image := range slices.Backward(m.Images) {
			m.Content = fmt.Sprintf("%s\n((%s %s))%s", m.Content[:image.At], image.MIME, image.Data, m.Content[image.At:])
		}
		m.Images = nil
	}
	return out
}

// prefix is the encoded form of messages as far as it must not change: up to
// the end of the last one's content, to which more may be appended.
func prefix(t interface{ Fatal(...any) }, messages []core.ChatMessage) []byte {
	messages = inline(messages)
	b := encode(t, messages)
	if n := len(messages); n > 0 {
		last := encode(t, messages[n-1:])
		content := encode(t, messages[n-1].Content)
		end := bytes.Index(last, content) + len(content) - 1
		return b[:len(b)-len(last)+end]
	}
	return b[:len(b)-1]
}

func encode(t interface{ Fatal(...any) }, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
