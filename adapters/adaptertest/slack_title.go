package adaptertest

import "unicode/utf8"

// sessionsRename gives a thread's session its title, which an app may change as
// often as it likes.
func (s *Slack) sessionsRename(p params) (map[string]any, *slackError) {
	key, e := s.sessionThread(p)
	switch {
	case e != nil:
		return nil, e
	case p["title"] == "":
		return nil, no("invalid_arguments")
	case utf8.RuneCountInString(p["title"]) > 200:
		return nil, no("title_too_long")
	}
	s.titles[key] = p["title"]
	return map[string]any{"title": p["title"]}, nil
}

// Name has a person name the thread's session.
func (c *SlackChat) Name(u *SlackUser, title string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	before := c.s.titles[c.r.id+c.thread]
	c.s.titles[c.r.id+c.thread] = title
	c.s.emit(c.r, u, map[string]any{"type": "agent_session_title_changed", "channel": c.r.id, "user": u.ID, "thread_ts": c.thread, "title": title, "previous_title": before})
}

// Name implements Platform.
func (p *SlackPlatform) Name(r Room, by Account, title string) error {
	p.rooms[r].Name(p.user(by), title)
	return nil
}

// Title implements Platform.
func (p *SlackPlatform) Title(r Room) (string, error) {
	c := p.rooms[r]
	p.slack.mu.Lock()
	defer p.slack.mu.Unlock()
	return p.slack.titles[c.r.id+c.thread], nil
}
