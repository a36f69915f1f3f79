package core

// Task is a person's view of an item that points at a message.
type Task struct {
	Item    Item
	Message Message // that it is about
	Thread  Thread
	Mine    bool // the viewer wrote the message
}

// State is the item's, as people call it.
func (t *Task) State() string {
	if t.Item.State == Queued {
		return "todo"
	}
	return string(t.Item.State)
}

// TaskLife is a task more closely.
type TaskLife struct {
	Task
	Run     Run    // zero: none has joined it yet
	Steps   []Step // the last few
	Outcome string // what is said of it, as far as that is kept as text
	Retries []ID   // the items that retry it
}
