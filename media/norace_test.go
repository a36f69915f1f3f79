//go:build !race

package media

// raced: the race detector is on.
const raced = false
