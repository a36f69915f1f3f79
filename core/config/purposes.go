package config

// purpose is the model of a purpose; empty: none of its own.
func (t *table) purpose(key string, c *Config) string {
	model, ok := t.text(key)
	if !ok || model == "" {
		return ""
	}
	if problem, near := c.modelProblem(model); problem != "" {
		t.failAt(join(t.path, key), near, "%s: %s", t.quoted(key), problem)
	}
	return model
}
