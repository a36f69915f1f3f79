package console

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"
)

const (
	prompt = "you> "
	// farewell is how long a person who leaves waits for what they said to be
	// accepted.
	farewell = 5 * time.Second
	// usualWidth is for a terminal that does not tell how wide it is.
	usualWidth, usualHeight = 80, 24
)

// chat is a chat at a terminal. One goroutine owns it: x/term never waits for
// a key, as its keyboard is fed between two writes.
type chat struct {
	*link
	screen     *bufio.Writer // so that what happens at once is seen at once; keeps the first error
	term       *term.Terminal
	keyboard   keyboard
	view       view
	history    *history
	unaccepted map[string]bool  // messages without an ack
	leaving    bool             // the person has asked to
	patience   <-chan time.Time // when leaving, ends it
}

// chatRaw puts the terminal into raw mode and, whatever happens, back.
func chatRaw(ctx context.Context, l *link, in, out *os.File, o ClientOptions) (err error) {
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("terminal: %w", err)
	}
	defer func() { err = errors.Join(err, term.Restore(int(in.Fd()), before)) }()
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	defer signal.Stop(resized)

	size := func() (int, int) {
		width, height, err := term.GetSize(int(out.Fd()))
		if err != nil || width <= 0 {
			return usualWidth, usualHeight
		}
		return width, height
	}
	return chatTerminal(ctx, l, out, size, resized, o)
}

// chatTerminal chats at a terminal in raw mode; size is asked at the start and
// for each value of resized.
func chatTerminal(ctx context.Context, l *link, out io.Writer, size func() (width, height int), resized <-chan os.Signal, o ClientOptions) error {
	c := &chat{link: l, screen: bufio.NewWriter(out), unaccepted: make(map[string]bool)}
	c.term = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{&c.keyboard, c.screen}, prompt)
	c.term.AutoCompleteCallback = c.unknownKey
	c.term.SetBracketedPasteMode(true)
	defer func() {
		c.term.SetBracketedPasteMode(false)
		_, _ = c.screen.WriteString("\r\n")
		_ = c.screen.Flush() // the chat is over, whatever becomes of it
	}()

	var err error
	if c.history, err = openHistory(o.HistoryFile); err != nil {
		c.history.path = ""
		c.write(c.view.note("the history is not kept: " + err.Error()))
	}
	c.term.History = c.history
	c.resize(size())
	c.edit()
	input := c.input
	for !c.leaving || len(c.unaccepted) > 0 {
		if err := c.screen.Flush(); err != nil {
			return fmt.Errorf("terminal: %w", err)
		}
		select {
		case f, ok := <-c.frames:
			if !ok {
				return c.broken(c.gone())
			}
			c.take(f)
		case keys, ok := <-input:
			switch {
			case !ok:
				input = nil
				c.leave()
			case !c.leaving:
				c.keyboard.feed(keys)
				c.edit()
			case bytes.ContainsAny(keys, "\x03\x04"):
				return c.broken(errors.New("left at once"))
			}
		case <-resized:
			c.resize(size())
		case <-c.patience:
			return c.broken(errors.New("the appliance does not answer"))
		case <-ctx.Done():
			return c.broken(ctx.Err())
		}
	}
	return nil
}

// edit lets x/term work on the keys that have come.
func (c *chat) edit() {
	for {
		line, err := c.term.ReadLine()
		switch {
		case errors.Is(err, io.EOF): // Ctrl-D in an empty line
			c.leave()
			return
		case err != nil: // errIdle
			return
		}
		c.entered(line)
	}
}

// unknownKey is called by x/term, within ReadLine, for a key that it does not
// know. Ctrl-C clears the line and, if there is none, leaves.
func (c *chat) unknownKey(line string, _ int, key rune) (string, int, bool) {
	if key != keyInterrupt {
		return "", 0, false
	}
	if line == "" {
		c.leave()
	}
	return "", 0, true
}

func (c *chat) leave() {
	if !c.leaving {
		c.leaving = true
		c.patience = time.After(farewell)
	}
}

// entered sends a line.
func (c *chat) entered(line string) {
	c.view.entered()
	if c.history.err != nil {
		c.write(c.view.note("the history is not kept: " + c.history.err.Error()))
		c.history.path, c.history.err = "", nil
	}
	text := typed(line)
	if strings.TrimSpace(text) == "" {
		return
	}
	id, err := c.say(text)
	if err != nil {
		c.write(c.view.note(err.Error()))
		return
	}
	c.unaccepted[id] = true
}

// take shows what the appliance says.
func (c *chat) take(f serverFrame) {
	switch {
	case f.Ack != nil:
		delete(c.unaccepted, f.Ack.ID)
	case f.Show != nil:
		c.write(c.view.show(*f.Show))
	case f.Trouble != nil:
		c.write(c.view.note("not accepted yet: " + f.Trouble.Text))
	case f.Error != nil:
		delete(c.unaccepted, f.Error.ID)
		c.write(c.view.note("refused: " + f.Error.Text))
	}
}

// write puts text above the line being typed.
func (c *chat) write(text string) {
	if text != "" {
		_, _ = io.WriteString(c.term, text) // the screen keeps the error
	}
}

func (c *chat) resize(width, height int) {
	c.view.resize(width)
	_ = c.term.SetSize(width, height) // the screen keeps the error
}

// broken adds to the end of a chat what it leaves open.
func (c *chat) broken(err error) error {
	if n := len(c.unaccepted); n > 0 {
		return fmt.Errorf("%w; messages that may not have been accepted: %d", err, n)
	}
	return err
}
