package discord

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"

	"bellhop/adapters/markup"
	"bellhop/core"
)

const (
	nonceLen   = 25       // the longest that Discord takes
	maxFile    = 10 << 20 // bytes of a file, without boosts
	rowButtons = 5        // of one row; there are five rows
	maxLabel   = 80       // code points
)

// outgoing is the body of a message that is sent or edited. Whatever is in
// its text, it mentions nobody, and shows no preview of a link, which would
// tell the link's owner.
type outgoing struct {
	Content    string                           `json:"content"`
	Mentions   discordgo.MessageAllowedMentions `json:"allowed_mentions"`
	Flags      discordgo.MessageFlags           `json:"flags"`
	Components *[]discordgo.MessageComponent    `json:"components,omitempty"`
	Files      []outgoingFile                   `json:"attachments,omitempty"`
	Reference  *discordgo.MessageReference      `json:"message_reference,omitempty"`
	Nonce      string                           `json:"nonce,omitempty"`
	Enforce    bool                             `json:"enforce_nonce,omitempty"`

	file *core.Attachment
}

type outgoingFile struct {
	ID   int    `json:"id"`
	Name string `json:"filename"`
}

// compose is what a piece looks like.
func compose(o core.Outbound) outgoing {
	o.Text = markup.WithStatus(o.Text, o.Status)
	m := outgoing{
		Content:    markup.DiscordMarkdown(o.Text),
		Mentions:   discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}},
		Flags:      discordgo.MessageFlagsSuppressEmbeds,
		Components: buttons(o.Buttons),
		file:       o.File,
	}
	if strings.TrimSpace(m.Content) == "" {
		m.Content = o.Text
	}
	m.Content = markup.DiscordThinking(o.Thinking) + m.Content
	if o.File != nil {
		m.Files = []outgoingFile{{0, o.File.Name}}
	}
	return m
}

// edit is m as the body of an edit: what m does not have is taken away.
func (m outgoing) edit() any {
	if m.Components == nil {
		m.Components = &[]discordgo.MessageComponent{}
	}
	return m.body()
}

// post is m as the body of a new message, which Discord shows once however
// often it is sent within some minutes.
func (m outgoing) post(key, replyTo string) any {
	m.Nonce, m.Enforce = nonce(key), true
	if isID(replyTo) {
		m.Reference = &discordgo.MessageReference{MessageID: replyTo, FailIfNotExists: new(false)}
	}
	return m.body()
}

func (m outgoing) body() any {
	if m.file != nil {
		return &form{m, m.file}
	}
	return m
}

// shows reports whether a message has the text of m, but for white space and
// what nobody sees, which Discord may take away.
func (m outgoing) shows(content string) bool {
	visible := func(r rune) rune {
		if unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}
	return strings.Map(visible, m.Content) == strings.Map(visible, content)
}

// nonce names a piece to Discord.
func nonce(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])[:nonceLen]
}

// buttons are rows of buttons; nil for none.
func buttons(bs []core.Button) *[]discordgo.MessageComponent {
	if len(bs) == 0 {
		return nil
	}
	var rows []discordgo.MessageComponent
	for len(bs) > 0 {
		n := min(len(bs), rowButtons)
		var row discordgo.ActionsRow
		for _, b := range bs[:n] {
			label := []rune(b.Label)
			row.Components = append(row.Components, discordgo.Button{
				Label: string(label[:min(len(label), maxLabel)]), Style: discordgo.SecondaryButton, CustomID: b.Value,
			})
		}
		rows, bs = append(rows, row), bs[n:]
	}
	return &rows
}

// form is a message with a file.
type form struct {
	message outgoing
	file    *core.Attachment
}

func (f *form) encode() ([]byte, string, error) {
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	payload, err := json.Marshal(f.message)
	if err != nil {
		return nil, "", err
	}
	parts := []struct {
		disposition, kind string
		content           []byte
	}{
		{`form-data; name="payload_json"`, "application/json", payload},
		{fmt.Sprintf(`form-data; name="files[0]"; filename="%s"`, quoted.Replace(f.file.Name)), f.file.MIME, f.file.Content},
	}
	for _, p := range parts {
		h := textproto.MIMEHeader{"Content-Disposition": {p.disposition}}
		if p.kind != "" {
			h.Set("Content-Type", line.Replace(p.kind))
		}
		part, err := w.CreatePart(h)
		if err != nil {
			return nil, "", err
		}
		if _, err := part.Write(p.content); err != nil {
			return nil, "", err
		}
	}
	err = w.Close()
	return out.Bytes(), w.FormDataContentType(), err
}

var (
	quoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", " ", "\n", " ")
	line   = strings.NewReplacer("\r", " ", "\n", " ")
)

// check is why a piece can never be sent, nil if it may be tried.
func check(o core.Outbound) error {
	switch {
	case !isID(o.Place.Channel) || o.Place.Topic != "" && !isID(o.Place.Topic):
		return fmt.Errorf("%w: %q is no Discord channel", core.ErrRefused, o.Place.String())
	case o.Edit != "" && !isID(o.Edit):
		return fmt.Errorf("%w: %q is no Discord message", core.ErrGone, o.Edit)
	case o.File != nil && len(o.File.Content) > maxFile:
		return fmt.Errorf("%w: %s", core.ErrRefused, tooLarge)
	case utf8.RuneCountInString(compose(o).Content) > maxText:
		return fmt.Errorf("%w: the text is longer than the 2,000 characters of a message", core.ErrRefused)
	}
	return nil
}

// receipt is what is kept of a message that is shown.
func receipt(m message) core.Receipt {
	t := m.Time.v
	if t.IsZero() {
		t = time.Now()
	}
	return core.Receipt{ID: m.ID, Time: t.UTC()}
}
