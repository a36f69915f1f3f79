//go:build !race

package perm

// many is how many random cases a test tries.
const many = 100_000
