package config

// Router says who answers a person's message that mentions nobody.
type Router struct {
	Mode      string  `toml:"mode"`      // mention (the default bot of the conversation), or classifier (a model chooses among the agents); default mention
	Threshold float64 `toml:"threshold"` // how sure that model must be, 0 to 1, else the default bot answers; default 0.6
}

// Classifier is the mode in which a model chooses.
const Classifier = "classifier"

func (t *table) router() Router {
	r := Router{Mode: t.oneOf("mode", "mention", "mention", Classifier), Threshold: t.fraction("threshold", 0.6)}
	t.done()
	return r
}

// fraction returns a number between 0 and 1.
func (t *table) fraction(key string, fallback float64) float64 {
	v, ok := t.value(key)
	if !ok {
		return fallback
	}
	n, isFloat := v.(float64)
	if i, isInt := v.(int64); isInt {
		n, isFloat = float64(i), true
	}
	switch {
	case !isFloat:
		t.fail(key, "want a number, got %s", kind(v))
	case !(n >= 0 && n <= 1): // nor is a NaN
		t.fail(key, "%v is out of bounds: 0 to 1", n)
	}
	return n
}
