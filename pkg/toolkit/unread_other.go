//go:build !unix

package toolkit

// unread reports whether nobody can read out any more, which this system does not tell.
func unread(any) bool { return false }
