package console

import (
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"bellhop/core"
)

// The protocol: JSON objects, one a line. Each side sets one field of its
// frame. A client says hello once, then says what the person wrote; the server
// acknowledges each message when it is durable.

// clientFrame is a line from the terminal.
type clientFrame struct {
	Hello *hello `json:"hello,omitempty"`
	Say   *say   `json:"say,omitempty"`
}

// hello opens a session.
type hello struct {
	Session string `json:"session"`
}

// say is one message. Its ID is unique for ever and sorts by time: see newID.
// Time is when it was written; without one, it is when the line comes.
type say struct {
	ID   string    `json:"id"`
	Text string    `json:"text"`
	Time time.Time `json:"time,omitzero"`
}

// serverFrame is a line from the appliance.
type serverFrame struct {
	Ack     *ack   `json:"ack,omitempty"`
	Show    *show  `json:"show,omitempty"`
	Trouble *fault `json:"trouble,omitempty"` // not taken yet, and tried again
	Error   *fault `json:"error,omitempty"`   // will never be taken
}

// ack says that the message is durable.
type ack struct {
	ID string `json:"id"`
}

// show is one piece of a post, whole. A post that was shown before is changed.
type show struct {
	Post    string       `json:"post"` // the receipt's id
	Kind    core.OutKind `json:"kind"`
	Text    string       `json:"text"`
	Status  string       `json:"status,omitempty"` // what is being done now, until the next show
	Speaker string       `json:"speaker,omitempty"`
	// Thinking is what the model has thought, to be shown above the text.
	Thinking string   `json:"thinking,omitempty"`
	Answers  []string `json:"answers,omitempty"` // ids of the messages whose outcome it is
	Last     bool     `json:"last,omitempty"`    // the outcome is complete
}

// fault is what went wrong with a message or, without an ID, with a line.
type fault struct {
	ID   string `json:"id,omitempty"`
	Text string `json:"text"`
}

func newSay(text string) say {
	now := time.Now()
	return say{ID: newID(now), Text: text, Time: now}
}

// newID is a name that sorts by time and that nobody else makes.
func newID(now time.Time) string {
	return fmt.Sprintf("%014x-%s", now.UnixMicro(), rand.Text())
}

var (
	sessionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`) })
	messageID   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[!-~]{1,128}$`) })
)

// check reports why the frame cannot be used.
func (f clientFrame) check() error {
	switch {
	case (f.Hello == nil) == (f.Say == nil):
		return errors.New("a line has either hello or say")
	case f.Hello != nil:
		return checkSession(f.Hello.Session)
	case !messageID().MatchString(f.Say.ID):
		return errors.New("a message's id is 1 to 128 printable ASCII characters without spaces")
	case len(f.Say.Text) > maxText:
		return fmt.Errorf("the message has %d bytes; %d is the most", len(f.Say.Text), maxText)
	}
	return nil
}

func checkSession(name string) error {
	if !sessionName().MatchString(name) {
		return fmt.Errorf("%q is not a session name: use 1 to 64 letters, digits, dots, dashes and underscores", name)
	}
	return nil
}
