package openai

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// events reads a stream of server-sent events (the HTML standard, 9.2). It keeps to the fields
// event and data, takes LF and CRLF for line ends, and gives out the last event where the
// blank line after it is missing. Lines may be longer than the client library's reader takes,
// which ends at 32 MiB: a 3840x2160 PNG of noise has 34 as base64.
type events struct {
	r     *bufio.Reader
	limit int // bytes of an event
}

// An event has what its data lines hold, joined by line feeds.
type event struct {
	name string
	data *sieve // nil: none yet
}

func newEvents(r io.Reader, limit int) *events {
	return &events{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// next returns the next event with data, or io.EOF.
func (s *events) next() (event, error) {
	var e event
	for {
		blank, err := s.line(&e)
		end := errors.Is(err, io.EOF)
		switch {
		case err != nil && !end:
			return event{}, err
		case !blank && !end:
			continue
		case e.data != nil:
			return e, nil
		case end:
			return event{}, io.EOF
		}
		e = event{}
	}
}

// line takes one line into e, and says whether it is blank. The beginning, which the reader's
// buffer holds, has the name of the field.
func (s *events) line(e *event) (blank bool, err error) {
	line, more, err := s.piece()
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if len(line) == 0 && !more {
		return true, err
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	data := string(name) == "data"
	switch {
	case data:
		if wrong := e.add(value, s.limit); wrong != nil {
			return false, wrong
		}
	case string(name) == "event":
		e.name = string(value)
	}
	for more && err == nil {
		line, more, err = s.piece()
		if !data || err != nil && !errors.Is(err, io.EOF) {
			continue
		}
		if wrong := e.data.write(line); wrong != nil {
			return false, wrong
		}
	}
	return false, err
}

// add begins a data line.
func (e *event) add(value []byte, limit int) error {
	if e.data == nil {
		e.data = &sieve{limit: limit, rest: []byte{}}
	} else if err := e.data.write([]byte("\n")); err != nil {
		return err
	}
	return e.data.write(value)
}

// piece returns the next part of a line without the line's end, and whether more of it
// follows. It is valid until the next call.
func (s *events) piece() (line []byte, more bool, err error) {
	line, err = s.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		if n := len(line) - 1; line[n] == '\r' { // perhaps half of the line's end
			line = line[:n]
			err = s.r.UnreadByte()
			return line, true, err
		}
		return line, true, nil
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), false, err
}
