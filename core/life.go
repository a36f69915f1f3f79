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
