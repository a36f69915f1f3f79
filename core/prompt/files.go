package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"bellhop/core"
)

const (
	// maxPictures is the most images of a message that are shown. Which ones that
	// are, the message alone decides: one that was shown stays while the window
	// does, and the window is bounded by what its images cost.
	maxPictures = 4
	// imageTokens is what an image costs. Source: Anthropic, for one of the size to
	// which package media reduces.
	imageTokens = 1600
	// noteLength is the most characters of a note on a file.
	noteLength = 200
)

// Pictures lists the hashes of the images that the view shows, for its
// Pictures.
func Pictures(v View) []string {
	if !v.Bot.Vision {
		return nil
	}
	var hashes []string
	for i := range v.Messages {
		if v.own(&v.Messages[i]) {
			continue
		}
		for _, f := range pictures(&v.Messages[i]) {
			if !slices.Contains(hashes, f.Hash) {
				hashes = append(hashes, f.Hash)
			}
		}
	}
	return hashes
}

// pictures are the files of the message that a bot with eyes is shown.
func pictures(m *core.Message) []*core.File {
	var out []*core.File
	for _, p := range m.Parts {
		if p.Kind == core.FilePart && p.File != nil && p.File.IsImage() && len(out) < maxPictures {
			out = append(out, p.File)
		}
	}
	return out
}

// show puts the message's images where the text ends now.
func (w *writer) show(m *core.Message) {
	v := w.names.view
	if !v.Bot.Vision {
		return
	}
	for _, f := range pictures(m) {
		if image, ok := v.Pictures[f.Hash]; ok {
			image.At = w.text.Len()
			w.images = append(w.images, image)
		}
	}
}

// files are the message's files, a line each.
func (w *writer) files(m *core.Message) []string {
	v, shown := w.names.view, pictures(m)
	var lines []string
	for _, p := range m.Parts {
		if p.Kind != core.FilePart || p.File == nil {
			continue
		}
		f := p.File
		_, seen := v.Pictures[f.Hash]
		switch {
		case f.Note != "":
			lines = append(lines, file(f, f.Note))
		case !f.IsImage():
			lines = append(lines, file(f, ""))
		case !v.Bot.Vision:
			lines = append(lines, file(f, "you cannot see images"))
		case !slices.Contains(shown, f):
			lines = append(lines, file(f, fmt.Sprintf("only the first %d images of a message are shown", maxPictures)))
		case !seen:
			lines = append(lines, file(f, "it cannot be shown"))
		default:
			lines = append(lines, file(f, ""))
		}
	}
	return lines
}

// file is a file as a line of its own.
func file(f *core.File, note string) string {
	mime := label(f.MIME, 100)
	s := "[file: "
	if f.Hash+f.Note != "" && strings.HasPrefix(mime, "image/") {
		s = "[image: "
	}
	s += cmp.Or(label(f.Name, 100), "without a name")
	if mime != "" {
		s += ", " + mime
	}
	if f.Size > 0 {
		s += ", " + size(f.Size)
	}
	if note = label(note, noteLength); note != "" {
		s += "; " + note
	}
	return s + "]"
}

// size is a number of bytes as people write it.
func size(n int64) string {
	const kB, MB = 1000, 1000 * 1000
	switch {
	case n < kB:
		return fmt.Sprintf("%d bytes", n)
	case n < MB:
		return fmt.Sprintf("%d kB", (n+kB/2)/kB)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/MB)
}

// imageCost is how many tokens the message's images take, those included that
// have not been fetched yet and may turn out to be some.
func imageCost(v *View, m *core.Message) int {
	if !v.Bot.Vision {
		return 0
	}
	n := 0
	for _, p := range m.Parts {
		if f := p.File; p.Kind == core.FilePart && f != nil && (f.IsImage() || f.Ref != "" && f.Hash+f.Note == "") {
			n++
		}
	}
	return min(n, maxPictures) * imageTokens
}
