//go:build !race

package command_test

// generated is how many commands TestMillion judges.
const generated = 1_000_000
