package core

import "time"

// External is an actor outside: a script, a service, a job on the host. What it
// says comes in through the control socket; what it is told goes to its webhook.
type External struct {
	Handle      string // what people write after @; unique among bots and externals
	Description string // one line, for the roster
	Listens     bool   // it has a webhook
}

// Listeners are the handles of those that can be told something.
func Listeners(all []External) []string {
	var out []string
	for _, x := range all {
		if x.Listens {
			out = append(out, x.Handle)
		}
	}
	return out
}

// Saying is what an external actor says: in the thread, or else at the place,
// which has one.
type Saying struct {
	From      string // handle
	Thread    ID
	Place     Place
	Key       string // the same for the same saying, which is taken once; empty: it is another
	Re        ID     // message that it answers, whose hops it goes on counting; empty: none
	Text      string
	Bots      []string // handles that can act
	Externals []string // handles that can be told something
	MaxHops   int
	Split     func(p Place, markdown string) []Piece
}

// Said is what became of a Saying.
type Said struct {
	Message ID
	Known   bool   // it had been said before; nothing was done
	Items   []Item // queued now
	Rows    []Row
}

// ExternalAnswer is what an external actor answers to a question.
type ExternalAnswer struct {
	From      string // handle
	Ask       ID
	Text      string   // or a choice of the question, by its words or its number
	Externals []string // handles that can be told something
	Split     func(p Place, markdown string) []Piece
}

// Errand is an item of an external actor with what it is about.
type Errand struct {
	Item    Item
	Message Message // latest version
	Thread  Thread
	Ask     ID // the open question that the message asks; empty: none
}

// Attempt is how an errand went. The zero value: well.
type Attempt struct {
	Failed string        // why not, as it follows a colon
	Again  time.Duration // when it is tried again; 0: never, it has failed
	// Notice is what is said in the thread when it has failed, unless that was
	// said before and nothing has gone well since.
	Notice func(at Place) []Piece
}

// Attempted is what storing an Attempt did.
type Attempted struct {
	Item Item // as it is now
	Rows []Row
}
