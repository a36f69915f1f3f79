package core

// Life is everything that is known of one message: what the ledger still has of
// it, and what the activity log says, which may be more or less than that.
type Life struct {
	Message Message
	Thread  Thread
	Items   []Item
	Runs    []Run
	Steps   map[ID][]Step
	Posts   []Post
	Rows    []Row      // undelivered
	Log     []Activity // oldest first
}

// At reports whether that took place at the place.
func (l *Life) At(p Place) bool {
	if l.Thread.ID != "" {
		return l.Thread.Place == p
	}
	return len(l.Log) > 0 && l.Log[0].Place == p
}

// Record is the part of the Desk that tells what was done, and why.
type Record interface {
	// Life is the life of a message, item, run or post. A message of which the log
	// says nothing is looked for in the thread alone.
	Life(thread, id ID) (l Life, ok bool, err error)
	// Latest is the newest thing that was decided about what was said at the place:
	// a message of its current thread, or what left no message. Neither: there is
	// none.
	Latest(at Place, thread ID) (message ID, aside Activity, err error)
	// Spent is what models were used, in the thread and today.
	Spent(thread ID) (Spent, error)
}
