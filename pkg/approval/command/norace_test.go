//go:build !race

package command_test

// How many commands TestMillion judges, and how many lines TestOracle generates for each shell.
const (
	generated = 1_000_000
	perShell  = 6000
)
