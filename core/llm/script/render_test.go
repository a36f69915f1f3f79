package script

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bellhop/core"
)

func TestRenderImages(t *testing.T) {
	got := Render(core.Call{Model: "m", Messages: []core.ChatMessage{
		{Role: core.UserRole, Content: "[Ann]: look\n\n[Bob]: yes", Images: []core.Image{
			{MIME: "image/jpeg", Data: make([]byte, 12345), At: len("[Ann]: look")},
			{MIME: "image/png", Data: make([]byte, 7), At: len("[Ann]: look\n\n[Bob]: yes")},
		}},
		{Role: core.UserRole, Images: []core.Image{{MIME: "image/png"}}},
	}})
	want := `model m
user: [Ann]: look
    [image image/jpeg 12345 bytes]

    [Bob]: yes
    [image image/png 7 bytes]
user: [image image/png 0 bytes]
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
