package bus

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"bellhop/core"
)

// draft is what a post shows while its run works: the latest preview, and how
// long that has been the latest. The bus's mutex guards it.
type draft struct {
	want  core.Preview
	since time.Time // what is wanted is the same since then
	next  time.Time // when to show it next; zero: when it changes
	shown string    // the text that is shown
}

const (
	// gather is how long a change waits for the next: what comes whole is not
	// shown in pieces, and the outcome need not wait for a call that shows the
	// same.
	gather = 100 * time.Millisecond
	// lasting is when a usual status is told: a person who waits a few seconds
	// for a model thinks nothing of it.
	lasting = 5 * time.Second
)

// update takes a preview and reports whether it is to be shown sooner than the
// worker expects.
func (d *draft) update(p core.Preview, now time.Time) bool {
	if p == d.want && !d.since.IsZero() {
		return false
	}
	d.want, d.since = p, now
	before := d.next
	switch next := now.Add(gather); {
	case p.Usual && p.Text == d.shown:
		d.next = now.Add(lasting)
	case before.IsZero() || next.Before(before):
		d.next = next
	}
	return before.IsZero() || d.next.Before(before)
}

// look is the draft as it is to be shown now.
func (d *draft) look(now time.Time) core.Preview {
	p, lasted := d.want, now.Sub(d.since)
	d.next = time.Time{}
	switch {
	case p.Status == "":
	case p.Usual && lasted < lasting:
		d.next = d.since.Add(lasting)
		p.Status = ""
	default:
		told := lasted.Truncate(beat(lasted))
		d.next = d.since.Add(told + beat(told))
		p.Status = words(p.Status, told)
	}
	return p
}

// beat is the time from one sign of life to the next in work that has lasted
// so long. Ten minutes of one tool's work cost 15 edits: Telegram takes 20
// messages a minute in a group, Discord five edits in five seconds, Slack about
// 50 calls a minute, and none of them notifies anybody of an edit.
func beat(lasted time.Duration) time.Duration {
	switch {
	case lasted < time.Minute:
		return 20 * time.Second
	case lasted < 3*time.Minute:
		return 30 * time.Second
	case lasted < 10*time.Minute:
		return time.Minute
	}
	return 5 * time.Minute
}

// words are a status as a person reads it.
func words(status string, lasted time.Duration) string {
	if lasted > 0 {
		return "Still " + status + ", " + plainly(lasted) + "…"
	}
	first, n := utf8.DecodeRuneInString(status)
	return string(unicode.ToUpper(first)) + status[n:] + "…"
}

// plainly is a time in whole seconds, as people say it.
func plainly(d time.Duration) string {
	var said []string
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}} {
		if n := d / unit.size; n > 0 {
			said = append(said, fmt.Sprintf("%d %s", n, unit.name))
			d -= n * unit.size
		}
	}
	return strings.Join(said, " ")
}

// fit is as much of a text as one message shows with the status below and what
// was thought above it, and of these what there is room for.
func fit(split func(string) []string, text, status, thinking string) (string, string, string) {
	for _, with := range [][2]string{{status, thinking}, {status, ""}} {
		room := 2 * (utf8.RuneCountInString(with[0]) + utf8.RuneCountInString(with[1])) // a mark may take an escape
		if room == 0 || strings.TrimSpace(text) == "" {
			break
		}
		if pieces, ok := spaced(split, text, room); ok {
			return pieces[0], with[0], with[1]
		}
		status = ""
	}
	pieces := split(text)
	if len(pieces) == 0 {
		return "", status, ""
	}
	return pieces[0], status, ""
}
