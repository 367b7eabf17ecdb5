//go:build !linux

package container

import "os"

// thisHost returns the name of the machine.
func thisHost() string {
	name, _ := os.Hostname()
	return name
}

// processStart knows nothing here: a pid that is in use counts as its owner's.
func processStart(int) (string, bool) { return "", false }

// bootID knows no name of the kernel here.
func bootID() string { return "" }
