//go:build race

package command_test

// generated is fewer, since the race detector makes each ten times slower.
const generated = 50_000
