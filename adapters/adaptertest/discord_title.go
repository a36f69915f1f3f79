package adaptertest

// Name has a person name the thread.
func (c *DiscordChat) Name(name string) {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.name = name
	c.d.tell("THREAD_UPDATE", c, c.json(c.d))
}

// Name implements Platform.
func (p *DiscordPlatform) Name(r Room, _ Account, title string) error {
	p.chat(r).Name(title)
	return nil
}

// Title implements Platform.
func (p *DiscordPlatform) Title(r Room) (string, error) {
	c := p.chat(r)
	p.discord.mu.Lock()
	defer p.discord.mu.Unlock()
	return c.name, nil
}
