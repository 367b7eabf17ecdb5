//go:build race

package command_test

// Fewer, since the race detector makes each ten times slower.
const (
	generated = 50_000
	perShell  = 1000
)
