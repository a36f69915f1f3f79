package config

// Router says who answers a person's message that mentions nobody.
type Router struct {
	Mode      string  `toml:"mode"`      // mention (the default bot of the conversation), or classifier (a model chooses among the agents); default mention
	Threshold float64 `toml:"threshold"` // how sure that model must be, 0 to 1, else the default bot answers; default 0.6
}

// Classifier is the mode in which a model chooses.
const Classifier = "classifier"

func (t *table) router() Router {
	r := Router{Mode: t.oneOf("mode", "mention", "mention", Classifier), Threshold: t.number("threshold", 0.6, 0, 1)}
	t.done()
	return r
}
