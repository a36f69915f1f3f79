package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"bellhop/core"
)

// Reply is what a model answers to one call.
type Reply []block

// block is one step of a reply; which fields count depends on the verb.
type block struct {
	verb  string
	text  string // what is said; a tool's arguments
	name  string // a tool; a fault
	pause time.Duration
	n, m  int
}

// verbs in the order of Parse's description.
const (
	verbSay       = "say"
	verbText      = "text"
	verbReason    = "reason"
	verbTool      = "tool"
	verbSlow      = "slow"
	verbWait      = "wait"
	verbRetry     = "retry"
	verbUsage     = "usage"
	verbLength    = "length"
	verbFilter    = "filter"
	verbEmpty     = "empty"
	verbTruncated = "truncated"
	verbError     = "error"
	verbHang      = "hang"
)

var faults = []core.ModelFault{
	core.FaultAuth, core.FaultRate, core.FaultOverload, core.FaultOverflow, core.FaultRequest,
	core.FaultTransport, core.FaultTruncated, core.FaultReply,
}

// Say is a reply of one text.
func Say(text string) Reply { return Reply{{verb: verbSay, text: text}} }

// Parse reads a reply, which is one or more blocks:
//
//	say hello there            the rest of the line is text
//	text "hello\nthere"        text, quoted as in Go
//	reason "hm"                reasoning
//	tool name {"limit":5}      a tool call; a JSON string instead of the object
//	                           is passed on as arguments that are no object
//	slow 200ms word by word    the rest of the line, a pause before each word
//	wait 3s                    a pause
//	retry 1                    forget the blocks before: try 1 begins again
//	usage 1000 20              tokens in and out, instead of a guess
//	length "half a sen"        text, then cut at the output limit
//	filter                     refused by the endpoint
//	empty                      nothing at all, and a plain stop
//	truncated                  the stream ends without a word
//	error rate 2s              a core.ModelFault and what Retry-After says
//	hang                       nothing until the context ends
//
// After the last block a reply ends with tools or stop, unless that block ends
// it in another way.
func Parse(line string) (Reply, error) {
	var reply Reply
	s := &scan{rest: line}
	for s.skip(); s.rest != ""; s.skip() {
		b, err := s.block()
		if err != nil {
			return nil, fmt.Errorf("%q: %w", line, err)
		}
		if len(reply) > 0 && reply[len(reply)-1].last() {
			return nil, fmt.Errorf("%q: nothing can follow %s", line, reply[len(reply)-1].verb)
		}
		reply = append(reply, b)
	}
	if len(reply) == 0 {
		return nil, fmt.Errorf("%q: a reply needs a block", line)
	}
	return reply, nil
}

// MustParse is Parse for lines that stand in the source.
func MustParse(line string) Reply {
	reply, err := Parse(line)
	if err != nil {
		panic("script: " + err.Error())
	}
	return reply
}

// last reports whether a block ends its reply.
func (b block) last() bool {
	switch b.verb {
	case verbLength, verbFilter, verbEmpty, verbTruncated, verbError, verbHang:
		return true
	}
	return false
}

func (r Reply) toolCalls() int {
	n := 0
	for _, b := range r {
		if b.verb == verbTool {
			n++
		}
	}
	return n
}

// scan reads a line from its front.
type scan struct{ rest string }

func (s *scan) skip() { s.rest = strings.TrimLeft(s.rest, " \t") }

func (s *scan) word() string {
	s.skip()
	i := strings.IndexAny(s.rest, " \t")
	if i < 0 {
		i = len(s.rest)
	}
	word := s.rest[:i]
	s.rest = s.rest[i:]
	return word
}

// all takes the rest of the line.
func (s *scan) all() string {
	text := strings.TrimSpace(s.rest)
	s.rest = ""
	return text
}

func (s *scan) quoted() (string, error) {
	s.skip()
	q, err := strconv.QuotedPrefix(s.rest)
	if err != nil {
		return "", fmt.Errorf("a quoted text is missing at %q", s.rest)
	}
	s.rest = s.rest[len(q):]
	return strconv.Unquote(q)
}

func (s *scan) duration() (time.Duration, error) { return time.ParseDuration(s.word()) }

func (s *scan) number() (int, error) { return strconv.Atoi(s.word()) }

// arguments takes a JSON value: an object as it is written, or the text of a
// string.
func (s *scan) arguments() (string, error) {
	d := json.NewDecoder(strings.NewReader(s.rest))
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return "", fmt.Errorf("arguments: %w", err)
	}
	s.rest = s.rest[d.InputOffset():]
	if !bytes.HasPrefix(raw, []byte(`"`)) {
		return string(raw), nil
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return text, err
}

func (s *scan) block() (b block, err error) {
	b.verb = s.word()
	switch b.verb {
	case verbSay:
		b.text = s.all()
	case verbText, verbReason, verbLength:
		b.text, err = s.quoted()
	case verbTool:
		b.name = s.word()
		b.text, err = s.arguments()
	case verbSlow:
		b.pause, err = s.duration()
		b.text = s.all()
	case verbWait:
		b.pause, err = s.duration()
	case verbRetry:
		b.n, err = s.number()
	case verbUsage:
		if b.n, err = s.number(); err == nil {
			b.m, err = s.number()
		}
	case verbError:
		b.name = s.word()
		if !slices.Contains(faults, core.ModelFault(b.name)) {
			return b, fmt.Errorf("%q is no fault: %s", b.name, faults)
		}
		if s.skip(); s.rest != "" {
			b.pause, err = s.duration()
		}
	case verbFilter, verbEmpty, verbTruncated, verbHang:
	default:
		err = fmt.Errorf("unknown block %q", b.verb)
	}
	return b, err
}
