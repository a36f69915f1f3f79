package mailbox

import (
	"testing"
	"testing/synctest"
	"time"

	"bellhop/core"
)

// While a crowd comes in, no run begins; those that have begun go on. However
// long it lasts, runs begin again after a while.
func TestHold(t *testing.T) {
	d := newDesk()
	talk(t, d, Options{Bots: []core.Bot{{Handle: "ann"}}, MaxRuns: 8}, func(t *testing.T, s *System) {
		s.Wake([]core.Item{item(1, "ann", "t1")})
		want(t, d.take(), "ann/t1:i1")
		s.Hold(300 * time.Millisecond)
		s.Wake([]core.Item{item(2, "ann", "t2")})
		want(t, d.take())
		d.end("t1", nil)
		time.Sleep(299 * time.Millisecond)
		want(t, d.take())
		time.Sleep(time.Millisecond)
		want(t, d.take(), "ann/t2:i2")

		s.Wake([]core.Item{item(3, "ann", "t3")})
		want(t, d.take(), "ann/t3:i3")
		began := time.Now()
		for range 50 {
			s.Hold(300 * time.Millisecond)
			s.Wake([]core.Item{item(4, "ann", "t4")})
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			if started := d.take(); len(started) > 0 {
				if after := time.Since(began); after < maxHold || after > maxHold+200*time.Millisecond {
					t.Errorf("%v has begun after %s", started, after)
				}
				return
			}
		}
		t.Error("nothing has begun in five seconds")
	})
}
