package console

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"bellhop/adapters/adaptertest"
	"bellhop/core"
)

func TestConformance(t *testing.T) {
	adaptertest.Run(t, adaptertest.Harness{
		New: func(*testing.T) adaptertest.Platform {
			return &terminals{Lacking: "the console", rooms: make(map[adaptertest.Room]*desk)}
		},
		Skip: map[string]string{
			"identity":           "the console has one user, so two people are one",
			"preview":            "the console shows Markdown as it is written",
			"split at the limit": "a terminal scrolls: one piece may have any length",
		},
	})
}

// terminals is a platform of terminals: each person the suite asks for is the
// one user in a session of their own. Its adapters have their clients attached
// from the call of Run on.
type terminals struct {
	adaptertest.Lacking

	mu      sync.Mutex
	people  int
	running *attended // nil: none
	rooms   map[adaptertest.Room]*desk
}

// desk is a client of one session, through all its connections. The
// platform's mutex guards it.
type desk struct {
	session string
	shown   []adaptertest.Shown
	said    []say
	unacked map[string]bool
	lines   chan string // to the connection; nil: there is none
}

// attended is an Adapter whose clients come with Run.
type attended struct {
	*Adapter
	p        *terminals
	attached chan core.Place
	ready    chan struct{} // closed when they are there
	serve    func(*desk)
}

func (p *terminals) Adapter(testing.TB, core.Cursors) core.Adapter {
	attached := make(chan core.Place, 100)
	a := New(Options{Name: "console", User: "you", Attached: func(place core.Place) { attached <- place }})
	return &attended{Adapter: a, p: p, attached: attached, ready: make(chan struct{})}
}

func (a *attended) Run(ctx context.Context, sink core.Sink) error {
	var serving sync.WaitGroup
	defer serving.Wait()
	a.serve = func(d *desk) {
		near, far := net.Pipe()
		lines := make(chan string, 10_000)
		d.lines = lines
		serving.Go(func() { _ = a.Serve(ctx, far) })
		serving.Go(func() { a.p.read(d, near) })
		serving.Go(func() { carry(ctx, near, lines) })
		lines <- fmt.Sprintf(`{"hello":{"session":%q}}`, d.session)
		select {
		case <-a.attached:
		case <-ctx.Done():
			return
		}
		for _, s := range d.said {
			if d.unacked[s.ID] {
				d.send(s)
			}
		}
	}
	a.p.mu.Lock()
	a.p.running = a
	for _, d := range a.p.rooms {
		a.serve(d)
	}
	close(a.ready)
	a.p.mu.Unlock()
	defer func() {
		a.p.mu.Lock()
		defer a.p.mu.Unlock()
		a.p.running = nil
		for _, d := range a.p.rooms {
			d.lines = nil
		}
	}()
	return a.Adapter.Run(ctx, sink)
}

// Features are the adapter's, but for a size that the suite makes its longest
// texts by.
func (a *attended) Features() core.Features {
	f := a.Adapter.Features()
	f.MaxText = 10_000
	return f
}

func (a *attended) Send(ctx context.Context, o core.Outbound) (core.Receipt, error) {
	<-a.ready
	return a.Adapter.Send(ctx, o)
}

// carry takes lines to the connection until ctx ends, and closes it then.
func carry(ctx context.Context, conn net.Conn, lines <-chan string) {
	defer func() { _ = conn.Close() }()
	for {
		select {
		case line := <-lines:
			if _, err := fmt.Fprintln(conn, line); err != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// read takes what the adapter shows until the connection ends.
func (p *terminals) read(d *desk, conn net.Conn) {
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var f serverFrame
		if err := json.Unmarshal(line, &f); err != nil {
			panic(err)
		}
		p.mu.Lock()
		switch {
		case f.Ack != nil:
			delete(d.unacked, f.Ack.ID)
		case f.Show != nil:
			d.show(*f.Show)
		}
		p.mu.Unlock()
	}
}

func (d *desk) show(s show) {
	if s.Status != "" { // as view puts it
		s.Text = strings.TrimSpace(s.Text + "  " + s.Status)
	}
	i := slices.IndexFunc(d.shown, func(m adaptertest.Shown) bool { return m.ID == s.Post })
	if i < 0 {
		d.shown = append(d.shown, adaptertest.Shown{ID: s.Post, From: s.Speaker, Own: true, Text: s.Text})
		return
	}
	d.shown[i].Text = s.Text
	d.shown[i].Edits++
}

func (d *desk) send(s say) {
	line, err := json.Marshal(clientFrame{Say: &s})
	if err != nil {
		panic(err)
	}
	if d.lines != nil {
		d.lines <- string(line)
	}
}

func (p *terminals) Me() adaptertest.Account { return adaptertest.Account{ID: "us", Name: "bellhop"} }

func (p *terminals) Person(string) adaptertest.Account {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.people++
	return adaptertest.Account{ID: fmt.Sprint("session", p.people), Name: "you"}
}

func (p *terminals) Room(kind adaptertest.RoomKind, with adaptertest.Account) (adaptertest.Room, error) {
	if kind != adaptertest.Direct {
		return "", adaptertest.Unsupported("the console has no " + string(kind) + " rooms")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := adaptertest.Room(with.ID)
	if p.rooms[r] == nil {
		p.rooms[r] = &desk{session: with.ID, unacked: make(map[string]bool)}
		if p.running != nil {
			p.running.serve(p.rooms[r])
		}
	}
	return r, nil
}

func (p *terminals) Say(r adaptertest.Room, s adaptertest.Saying) (string, error) {
	switch {
	case s.To.ID != "" || len(s.Mention) > 0 || s.Hidden:
		return "", adaptertest.Unsupported("the console has one user and one appliance")
	case s.ReplyTo != "" || s.Forward.ID != "" || s.File != nil:
		return "", adaptertest.Unsupported("the console has nothing but text")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.rooms[r]
	text := s.Text
	if s.Command != "" {
		text = "/" + s.Command
		if s.Text != "" {
			text += " " + s.Text
		}
	}
	m := newSay(text)
	d.said = append(d.said, m)
	d.unacked[m.ID] = true
	d.shown = append(d.shown, adaptertest.Shown{ID: m.ID, From: "you", Text: text})
	d.send(m)
	return m.ID, nil
}

func (p *terminals) Shown(r adaptertest.Room) []adaptertest.Shown {
	synctest.Wait() // until what was sent has been read
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.rooms[r].shown)
}

func (p *terminals) Redeliver() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.rooms {
		for _, s := range d.said {
			d.send(s)
		}
	}
	return nil
}

func (p *terminals) Unacked() (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, d := range p.rooms {
		n += len(d.unacked)
	}
	return n, nil
}
