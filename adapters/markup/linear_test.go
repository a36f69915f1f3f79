package markup

import (
	"runtime"
	"testing"
)

// TestMemoryIsLinear: eight times the text allocates eight times the memory,
// for each platform and in rendering as in splitting. Memory tells more than
// time, which differs from run to run.
func TestMemoryIsLinear(t *testing.T) {
	const small, factor, most = 50_000, 8, 1.3
	work := map[string]func(string){}
	for _, r := range renderers {
		work["render "+r.name] = func(md string) { r.render(md) }
	}
	for _, to := range targets {
		work["split "+to.name] = func(md string) { Split(md, to.target) }
	}
	for name, do := range work {
		t.Run(name, func(t *testing.T) {
			one, many := allocated(do, prose(small)), allocated(do, prose(factor*small))
			if ratio := float64(many) / float64(one) / factor; ratio > most {
				t.Errorf("%d times the text allocates %d bytes instead of %d: %.2f times as many for each byte", factor, many, one, ratio)
			}
		})
	}
}

// allocated is how many bytes work on a text allocates, once what happens only
// once has happened.
func allocated(do func(string), md string) uint64 {
	do(md)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do(md)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
