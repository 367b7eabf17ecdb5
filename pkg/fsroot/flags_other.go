//go:build !unix

package fsroot

// nonBlocking has no meaning where no file name can be a FIFO.
const nonBlocking = 0
