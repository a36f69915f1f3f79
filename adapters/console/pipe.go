package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"bellhop/core"
)

// errUnanswered qualifies the end of a chat that still owes an answer.
var errUnanswered = errors.New("1 message has no answer, and what follows it was not sent")

// pipe is a chat whose input is not a terminal.
type pipe struct {
	*link
	out     io.Writer
	buf     []byte // input that is not sent yet
	line    int    // of the input, the last one taken
	ended   bool   // no more input
	pending string // the message that has no outcome yet
}

func chatPipe(ctx context.Context, l *link, out io.Writer) error {
	p := &pipe{link: l, out: out}
	for {
		if err := p.next(); err != nil {
			return err
		}
		input := l.input
		if p.pending != "" {
			input = nil
		} else if p.ended {
			return nil
		}
		select {
		case f, ok := <-l.frames:
			if !ok {
				return p.broken(l.gone())
			}
			if err := p.take(f); err != nil {
				return err
			}
		case b, ok := <-input:
			p.buf, p.ended = append(p.buf, b...), !ok
		case <-ctx.Done():
			return p.broken(ctx.Err())
		}
	}
}

func (p *pipe) broken(err error) error {
	if p.pending == "" {
		return err
	}
	return fmt.Errorf("%w: %w", err, errUnanswered)
}

// next sends the next message if none is pending and all of it is there.
func (p *pipe) next() error {
	for p.pending == "" && len(p.buf) > 0 {
		line, rest, whole := bytes.Cut(p.buf, []byte("\n"))
		if len(line) > maxText {
			return fmt.Errorf("line %d of the input is longer than %d bytes", p.line+1, maxText)
		}
		if !whole && !p.ended {
			return nil
		}
		p.buf = rest
		p.line++
		if !utf8.Valid(line) {
			return fmt.Errorf("line %d of the input is not UTF-8", p.line)
		}
		text := strings.TrimSuffix(string(line), "\r")
		if strings.TrimSpace(text) == "" {
			continue
		}
		id, err := p.say(text)
		if err != nil {
			return err
		}
		p.pending = id
	}
	return nil
}

// take prints what belongs to the pending message's outcome.
func (p *pipe) take(f serverFrame) error {
	switch {
	case f.Error != nil && (f.Error.ID == "" || f.Error.ID == p.pending):
		return fmt.Errorf("line %d of the input was refused: %s", p.line, visible(f.Error.Text))
	case f.Show == nil, f.Show.Kind != core.OutFinal, !slices.Contains(f.Show.Answers, p.pending):
		return nil
	}
	if f.Show.Last {
		p.pending = ""
	}
	_, err := fmt.Fprintln(p.out, strings.TrimRight(visible(f.Show.Text), "\n"))
	return err
}
