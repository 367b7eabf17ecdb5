//go:build !unix

package streamable

// affordable returns limit: this system has no bound on descriptors.
func affordable(limit int) int { return limit }
