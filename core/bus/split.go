package bus

import (
	"fmt"
	"strings"

	"bellhop/core"
)

// answerFile is the name of the file that holds an outcome which is too long
// for messages.
const answerFile = "answer.md"

// Split cuts a text for a place. A text of more pieces than the platform's
// people should get (Features.MaxPieces) ends after some of them in a file that
// has all of it. Pure: what is stored is what is shown, also after a crash.
func (b *Bus) Split(p core.Place, markdown string) []core.Piece {
	f := b.Features(p.Adapter)
	if f.Split == nil {
		return nil
	}
	return cut(&f, f.Split(markdown), markdown)
}

// cut makes pieces of a text's texts.
func cut(f *core.Features, texts []string, markdown string) []core.Piece {
	long := f.MaxPieces > 0 && len(texts) > f.MaxPieces
	if long {
		texts = append(texts[:f.MaxPieces-1:f.MaxPieces-1], "📄 The answer goes on in the file, which has all of it.")
	}
	pieces := make([]core.Piece, 0, len(texts))
	for _, text := range texts {
		pieces = append(pieces, core.Piece{Text: text})
	}
	if long {
		pieces[len(pieces)-1].File = &core.Attachment{Name: answerFile, MIME: "text/markdown; charset=utf-8", Content: []byte(strings.TrimSpace(markdown) + "\n")}
	}
	return pieces
}

// withoutFile makes of a row whose file is refused one that says so.
func withoutFile(row *core.Row, refusal error) {
	why := strings.TrimPrefix(refusal.Error(), core.ErrRefused.Error()+": ")
	row.Text = fmt.Sprintf("⚠ I could not attach the file %s, so what it holds is not shown: %s.", row.File.Name, strings.TrimSuffix(why, "."))
	row.File = nil
}

// withoutButtons makes of a row whose buttons are refused one that says what to
// write instead.
func withoutButtons(row *core.Row, split func(string) []string) {
	row.Bare, row.Buttons = row.Text, nil
	if text := row.Text + "\n\n" + row.Plain; row.Plain != "" && len(split(text)) == 1 {
		row.Text = text
	}
}
