//go:build !race

package run

// many is how many random cases a test tries.
const many = 100_000
