package llm

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"bellhop/core"
)

func picture(at int, data string) core.Image {
	return core.Image{MIME: "image/png", Data: []byte(data), At: at}
}

// Images stand where they belong in the text; an image at the beginning, at the
// end, two at one place, and one alone.
func TestImages(t *testing.T) {
	for name, c := range map[string]struct {
		message core.ChatMessage
		want    string
	}{
		"none":   {core.ChatMessage{Content: "a"}, `"a"`},
		"end":    {core.ChatMessage{Content: "cat", Images: []core.Image{picture(3, "1")}}, `[{"type":"text","text":"cat"},` + part("MQ==") + `]`},
		"start":  {core.ChatMessage{Content: "cat", Images: []core.Image{picture(0, "1")}}, `[` + part("MQ==") + `,{"type":"text","text":"cat"}]`},
		"middle": {core.ChatMessage{Content: "äb", Images: []core.Image{picture(2, "1"), picture(2, "22")}}, `[{"type":"text","text":"ä"},` + part("MQ==") + `,` + part("MjI=") + `,{"type":"text","text":"b"}]`},
		"alone":  {core.ChatMessage{Images: []core.Image{picture(0, "\xff\x00")}}, `[` + part("/wA=") + `]`},
	} {
		t.Run(name, func(t *testing.T) {
			c.message.Role = core.UserRole
			if diff := gocmp.Diff(`{"role":"user","content":`+c.want+`}`, string(appendMessage(nil, c.message))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func part(data string) string {
	return `{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}}`
}

// A message with an image that goes on begins with the same bytes, and all that
// is not about the image is as it was.
func TestImagesKeepThePrefix(t *testing.T) {
	call := conversation
	look := core.ChatMessage{Role: core.UserRole, Content: "[Ann]: look", Images: []core.Image{picture(11, "cat")}}
	more := look
	more.Content += "\n\n[Bob]: and this"
	more.Images = append(more.Images[:1:1], picture(len(more.Content), "dog"))
	var before string
	for _, m := range []core.ChatMessage{look, more} {
		call.Messages = append(conversation.Messages[:len(conversation.Messages):len(conversation.Messages)], m)
		body := sent(t, OpenAIOptions{}, call)
		if !json.Valid([]byte(body)) {
			t.Fatalf("not JSON: %s", body)
		}
		body = strings.TrimSuffix(body, "]}]}")
		if !strings.HasPrefix(body, before) {
			t.Fatalf("%s\nis no prefix of\n%s", before, body)
		}
		before = body
	}
	if plain := strings.TrimSuffix(sent(t, OpenAIOptions{}, conversation), "]}"); !strings.HasPrefix(before, plain) {
		t.Error("an image changes the messages before it")
	}
}

// An image is encoded into the body, and nowhere else.
func TestImagesAreNotCopied(t *testing.T) {
	call := long()
	call.Messages[0].Images = []core.Image{{MIME: "image/jpeg", Data: bytes.Repeat([]byte{1, 2, 3}, 1<<20), At: 5}}
	var body []byte
	allocs := testing.AllocsPerRun(3, func() { body, _ = encode(call, nil, true) })
	if allocs > 30 || len(body) < 4<<20 || cap(body) > len(body)+len(body)/8 {
		t.Errorf("%v allocations, %d of %d bytes", allocs, len(body), cap(body))
	}
}
