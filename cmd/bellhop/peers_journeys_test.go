//go:build peers

package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// journeys are what people do, on every platform.
var journeys = []struct {
	name string
	walk func(*scene, *testing.T)
}{
	{"mention", (*scene).mention},
	{"direct", (*scene).direct},
	{"command", (*scene).command},
	{"button", (*scene).button},
	{"edit", (*scene).edit},
	{"file in", (*scene).fileIn},
	{"file out", (*scene).fileOut},
}

// story is a text that takes its time, in sentences that differ.
func story(hero string) string {
	var b strings.Builder
	for _, place := range []string{"at the pier", "in the fog", "under the crane", "by the lock", "past the buoy", "behind the dyke", "on the ferry"} {
		fmt.Fprintf(&b, "The %s was seen %s, where nobody had expected it at this hour. ", hero, place)
	}
	return b.String() + "Then the " + hero + " went home."
}

// A mention is answered in a thread, where the answer grows, and what follows
// there needs no mention.
func (s *scene) mention(t *testing.T) {
	answer := story("heron")
	s.model.will(t, streams("the gull", "The gull stayed.", 0), streams("Where is", answer, 6*time.Second))
	home := s.peer.shared()
	id := s.peer.say(t, home, true, "Where is the heron?")
	thread := s.peer.thread(home, id)
	var grown []string // what it was before it was whole
	eventually(t, "the whole answer", func() bool {
		list := s.peer.shown(t, thread)
		if len(list) != 1 {
			return false
		}
		text := list[0].text
		if partial := strings.HasPrefix(text, answer[:20]) && len(text) < len(answer); partial && !slices.Contains(grown, text) {
			grown = append(grown, text)
		}
		return text == answer
	})
	if len(grown) == 0 {
		t.Error("nobody saw the answer grow")
	}
	if asked := s.model.asked(t, "Where is"); len(asked) != 1 || !asked[0].Stream || strings.Contains(asked[0].last().text(), "@") {
		t.Errorf("the model was asked %+v, want one request for a stream, about the heron alone", asked)
	}
	for _, m := range s.peer.shown(t, home) {
		if !slices.ContainsFunc(s.peer.shown(t, thread), func(in shownMessage) bool { return in.id == m.id }) {
			t.Errorf("beside the thread, the bot shows %+v", m)
		}
	}
	s.shows(t, s.peer.follow(t, thread, "And the gull?"), "The gull stayed.")
}

// In direct messages nothing needs a mention, or a thread.
func (s *scene) direct(t *testing.T) {
	s.model.will(t, streams("tern", "The tern dives.", 0))
	s.peer.say(t, s.peer.direct(), false, "What does the tern do?")
	s.shows(t, s.peer.direct(), "The tern dives.")
}

// A command is answered without the model.
func (s *scene) command(t *testing.T) {
	s.peer.command(t, s.peer.shared(), "help")
	help := s.shows(t, s.peer.shared(), "what is going on")
	for _, want := range []string{"new –", "stop –", "retry –"} {
		if !strings.Contains(help.text, want) {
			t.Errorf("the help %q does not tell of %s", help.text, want)
		}
	}
	if asked := s.model.asked(t, "help"); len(asked) > 0 {
		t.Errorf("the model was asked %+v", asked)
	}
}

// What has failed has a button to try it again, which goes once it has done so.
func (s *scene) button(t *testing.T) {
	s.model.will(t, refuses("the anchor", http.StatusUnauthorized).nth(0), streams("the anchor", "Two tons.", 0).nth(1))
	home := s.peer.shared()
	thread := s.peer.thread(home, s.peer.say(t, home, true, "How heavy is the anchor?"))
	offers := func() (list []shownMessage) {
		for _, m := range s.peer.shown(t, thread) {
			if len(m.buttons) > 0 {
				list = append(list, m)
			}
		}
		return list
	}
	eventually(t, "a button", func() bool { return len(offers()) > 0 })
	notice := offers()[0]
	if len(notice.buttons) != 1 || notice.buttons[0].label != "Retry" || !strings.Contains(notice.text, "API key") {
		t.Fatalf("the bot shows %+v, want a notice that the key is refused, with a button", notice)
	}
	s.peer.press(t, thread, notice, notice.buttons[0])
	s.shows(t, thread, "Two tons.")
	eventually(t, "the button to go", func() bool { return len(offers()) == 0 })
}

// An edit of what has its answer is answered as a correction.
func (s *scene) edit(t *testing.T) {
	s.model.will(t, streams("to five", "Four, five.", 0), streams("to three", "One, two, three.", 0))
	home := s.peer.direct()
	id := s.peer.say(t, home, false, "Count to three.")
	s.shows(t, home, "One, two, three.")
	s.peer.edit(t, home, id, "Count to five.")
	s.shows(t, home, "Four, five.")
	if asked := s.model.asked(t, "to five"); len(asked) != 1 || !strings.Contains(asked[0].last().text(), "corrects") {
		t.Errorf("the model was asked %+v, want one request with a correction", asked)
	}
}

// A picture that a person sends is what the model sees.
func (s *scene) fileIn(t *testing.T) {
	s.model.will(t, streams("buoy", "It is red.", 0))
	red := image.NewNRGBA(image.Rect(0, 0, 60, 40))
	for i := range red.Pix {
		red.Pix[i] = []uint8{200, 0, 0, 255}[i%4]
	}
	var file bytes.Buffer
	if err := png.Encode(&file, red); err != nil {
		t.Fatal(err)
	}
	s.peer.attach(t, s.peer.direct(), "What colour is the buoy?", shownFile{name: "buoy.png", kind: "image/png", content: file.Bytes()})
	s.shows(t, s.peer.direct(), "It is red.")
	asked := s.model.asked(t, "buoy")
	if len(asked) != 1 {
		t.Fatalf("the model was asked %d times", len(asked))
	}
	pictures := asked[0].last().pictures(t)
	if len(pictures) != 1 {
		t.Fatalf("the model is shown %d pictures: %+v", len(pictures), asked[0].last())
	}
	seen, _, err := image.Decode(bytes.NewReader(pictures[0]))
	if err != nil || seen.Bounds().Dx() != 60 || seen.Bounds().Dy() != 40 {
		t.Fatalf("the model is shown a picture of %v (%v)", seen, err)
	}
	if at := color.NRGBAModel.Convert(seen.At(30, 20)).(color.NRGBA); at.R < 180 || at.G > 30 || at.B > 30 {
		t.Errorf("the model sees %v", at)
	}
}

// An answer that nobody would scroll through ends in a file that has all of it.
func (s *scene) fileOut(t *testing.T) {
	var tide strings.Builder
	for day := range 1500 {
		fmt.Fprintf(&tide, "On day %d the water was high at noon and low at night.\n\n", day+1)
	}
	answer := strings.TrimSpace(tide.String())
	s.model.will(t, streams("all the tides", answer, 0))
	home := s.peer.shared()
	thread := s.peer.thread(home, s.peer.say(t, home, true, "Tell me all the tides."))
	var files []shownFile
	eventually(t, "the file", func() bool {
		files = nil
		for _, m := range s.peer.shown(t, thread) {
			files = append(files, m.files...)
		}
		return len(files) > 0
	})
	if f := files[0]; len(files) != 1 || f.name != "answer.md" || strings.TrimSpace(string(f.content)) != answer {
		t.Errorf("%d files are shown, of them %s with %d bytes that begin %.40q", len(files), f.name, len(f.content), f.content)
	}
	s.shows(t, thread, "The answer goes on in the file")
	first := s.peer.shown(t, thread)[0].text
	if !strings.HasPrefix(first, "On day 1 ") {
		t.Errorf("the answer begins %.40q", first)
	}
	if n := len(s.peer.shown(t, thread)); n > 6 {
		t.Errorf("the answer takes %d messages", n)
	}
}
