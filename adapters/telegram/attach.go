package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"mime/multipart"
	"strconv"

	"github.com/go-telegram/bot/models"

	"bellhop/core"
)

// attach makes message id a file with a text below it. Telegram lets an edit add
// a file to a message of text, and replace it, so that a file is sent as
// everything else is: the piece is opened as a status line, which can be found
// again when it is lost, and then edited.
func (a *Adapter) attach(ctx context.Context, to target, id int, text string, file *core.Attachment) error {
	return formatted(text, "", func(text string, mode models.ParseMode) error {
		body, kind, err := upload(to, id, text, mode, file)
		if err != nil {
			return &apiError{method: "editMessageMedia", text: err.Error(), unsent: true}
		}
		return a.api.post(ctx, uploadTimeout, "editMessageMedia", kind, body, nil)
	})
}

// upload is the form that carries a file.
func upload(to target, id int, text string, mode models.ParseMode, file *core.Attachment) (*bytes.Buffer, string, error) {
	media, err := json.Marshal(models.InputMediaDocument{Media: "attach://file", Caption: text, ParseMode: mode, DisableContentTypeDetection: true})
	if err != nil {
		return nil, "", err
	}
	body := &bytes.Buffer{}
	form := multipart.NewWriter(body)
	for _, field := range [][2]string{{"chat_id", strconv.FormatInt(to.chat, 10)}, {"message_id", strconv.Itoa(id)}, {"media", string(media)}} {
		if err := form.WriteField(field[0], field[1]); err != nil {
			return nil, "", err
		}
	}
	part, err := form.CreateFormFile("file", file.Name)
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write(file.Content); err != nil {
		return nil, "", err
	}
	return body, form.FormDataContentType(), form.Close()
}
