package run

import "bellhop/core"

// older is how many messages of the thread the scene does not have: those before
// it, or, where the bot sees only what is for it, all others.
func older(sc core.Scene, scoped bool) int {
	switch {
	case len(sc.Messages) == 0:
		return 0
	case !scoped:
		return sc.Messages[0].N - 1
	}
	n := sc.Total
	for _, m := range sc.Messages {
		if m.N <= sc.Total {
			n--
		}
	}
	return n
}
