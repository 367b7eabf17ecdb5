package openai

import (
	"io"
	"net/netip"
)

// Public reports whether pictures are fetched from a.
func Public(a netip.Addr) bool { return public(a) }

// ReadEvents returns the data of all events of a stream, none of more than limit bytes.
func ReadEvents(r io.Reader, limit int) (data []string, err error) {
	for s := newEvents(r, limit); ; {
		e, err := s.next()
		if err != nil {
			return data, err
		}
		data = append(data, string(e.data.rest))
	}
}
