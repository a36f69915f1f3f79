package core

// Spent is how much models were used: of a conversation since it began, and of
// everybody today (in UTC).
type Spent struct {
	Here  Usage
	Today Usage
}
