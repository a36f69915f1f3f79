package store

import "bellhop/core"

// checkActivity: the log's index leads to each of its rows from all that it is
// about, and nowhere else. What a row is about may be gone.
func (c *checker) checkActivity() error {
	want := map[string]bool{}
	err := read(c, famActivity, nil, func(key string, row activityRow) {
		n := seqOf([]byte(key))
		p, known := core.Place{}, true
		switch {
		case row.Place != nil:
			p = *row.Place
		case row.Thread != "":
			th, ok := c.threads[row.Thread]
			p, known = th.Place, ok
		}
		if row.Event == "" || !known {
			c.say("activity %q is %q in thread %q", key, row.Event, row.Thread)
		}
		for _, key := range row.index(n, p) {
			want[string(key)] = true
		}
	})
	if err != nil {
		return err
	}
	err = c.keys(famAbout, func(key, _ []byte) {
		if want[string(key)] {
			delete(want, string(key))
			return
		}
		at := activityKey(seqOf(key))
		rows, err := c.Get(at, append([]byte(famBad), at...))
		lost := err != nil || rows[1] != nil
		if !lost && rows[0] != nil {
			_, _, err := open(rows[0])
			lost = err != nil
		}
		if !lost {
			c.say("%q leads to no activity that is about it", key)
		}
	})
	for key := range want {
		c.say("%q is missing in the activity log's index", key)
	}
	return err
}
