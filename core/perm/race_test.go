//go:build race

package perm

// many is how many random cases a test tries: a tenth under the race detector,
// which finds nothing in what one goroutine does.
const many = 10_000
