//go:build race

package bus

// raced: the race detector is on.
const raced = true
