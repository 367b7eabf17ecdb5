package openai

import (
	"io"
	"net/netip"
)

// MaxEvent is the longest event that is read.
const MaxEvent = maxEvent

// Public reports whether pictures are fetched from a.
func Public(a netip.Addr) bool { return public(a) }

// ReadEvents returns the data of all events of a stream.
func ReadEvents(r io.Reader) (data []string, err error) {
	for s := newEvents(r); ; {
		e, err := s.next()
		if err != nil {
			return data, err
		}
		data = append(data, string(e.data))
	}
}
