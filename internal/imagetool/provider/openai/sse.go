package openai

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxEvent is the longest event that is read. A 3840x2160 PNG of noise takes 34 MiB as
// base64; the client library's reader ends at lines of 32 MiB.
const maxEvent = 96 << 20

var errLongEvent = errors.New("an event of the stream is too long")

// events reads a stream of server-sent events (the HTML standard, 9.2). It keeps to the fields
// event and data, takes LF and CRLF for line ends, and gives out the last event where the
// blank line after it is missing.
type events struct {
	r     *bufio.Reader
	limit int
}

// An event has what its data lines hold, joined by line feeds.
type event struct {
	name string
	data []byte
}

func newEvents(r io.Reader) *events {
	return &events{r: bufio.NewReaderSize(r, 64<<10), limit: maxEvent}
}

// next returns the next event with data, or io.EOF. The data is the caller's.
func (s *events) next() (event, error) {
	var e event
	for {
		line, err := s.line(len(e.data))
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return event{}, err
		}
		if len(line) > 0 {
			e.add(line)
			if !end {
				continue
			}
		}
		switch {
		case e.data != nil:
			return e, nil
		case end:
			return event{}, io.EOF
		}
		e = event{}
	}
}

// add takes one line in. A comment has an empty name.
func (e *event) add(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		e.name = string(value)
	case "data":
		if e.data == nil {
			e.data = make([]byte, 0, len(value))
		} else {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
	}
}

// line returns the next line without its end; with what came before an error, if that is
// io.EOF. The line is valid until the next call.
func (s *events) line(held int) ([]byte, error) {
	line, err := s.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = s.longLine(bytes.Clone(line), s.limit-held)
	}
	if len(line)+held > s.limit {
		return nil, errLongEvent
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), err
}

// longLine reads on a line that is longer than the buffer.
func (s *events) longLine(line []byte, limit int) ([]byte, error) {
	for {
		more, err := s.r.ReadSlice('\n')
		line = append(line, more...)
		if len(line) > limit {
			return nil, errLongEvent
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
