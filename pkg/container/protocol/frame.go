package protocol

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// MaxFrame is the largest frame that is read, in bytes: more is taken for a broken stream.
const MaxFrame = 64 << 20

// A Kind says what a frame is.
type Kind byte

// The kinds of frames.
const (
	Hello    Kind = iota + 1 // header: [Salutation] or nothing, answered with [Greeting]; from supervisor to agent: it starts the command
	Ping                     // no header; the answer is the same
	Run                      // header: [Command], body: its standard input
	Poll                     // header: [Target]
	Kill                     // header: [Target]
	List                     // no header
	Progress                 // header: [Report]
	Result                   // header: [Outcome], body: its output
	Failed                   // header: [Failure]
	State                    // header: [JobState], body: its output since the last one
	Ended                    // header: [JobState], body: its output since the last one
	Jobs                     // header: [JobList]
	Alone                    // from agent to supervisor: no other command runs
	Reset                    // no header; the answer is the same
)

// prefix is what stands before the header: sizes of header and body, kind and id.
const prefix = 4 + 4 + 1 + 8

// A Frame is one message.
type Frame struct {
	Kind   Kind
	ID     uint64 // of the request
	Header []byte // JSON, or empty
	Body   []byte
}

// Make returns a frame with header as JSON; a nil header is left out.
func Make(kind Kind, id uint64, header any, body ...[]byte) (Frame, error) {
	f := Frame{Kind: kind, ID: id}
	if header != nil {
		raw, err := json.Marshal(header)
		if err != nil {
			return f, fmt.Errorf("encode frame: %w", err)
		}
		f.Header = raw
	}
	for _, b := range body {
		f.Body = append(f.Body, b...)
	}
	return f, nil
}

// Decode reads the header of f into v.
func (f Frame) Decode(v any) error {
	if err := json.Unmarshal(f.Header, v); err != nil {
		return fmt.Errorf("decode frame of kind %d: %w", f.Kind, err)
	}
	return nil
}

// WriteTo writes f with one call of Write, so that a process that dies leaves no half of it
// in a pipe that has room.
func (f Frame) WriteTo(w io.Writer) (int64, error) {
	if len(f.Header)+len(f.Body) > MaxFrame {
		return 0, fmt.Errorf("write frame of %d bytes: at most %d", len(f.Header)+len(f.Body), MaxFrame)
	}
	b := make([]byte, prefix, prefix+len(f.Header)+len(f.Body))
	binary.BigEndian.PutUint32(b, uint32(len(f.Header)))
	binary.BigEndian.PutUint32(b[4:], uint32(len(f.Body)))
	b[8] = byte(f.Kind)
	binary.BigEndian.PutUint64(b[9:], f.ID)
	n, err := w.Write(append(append(b, f.Header...), f.Body...))
	return int64(n), err
}

// Read reads the next frame. It returns io.EOF where the stream ends between two frames.
func Read(r io.Reader) (f Frame, err error) {
	var b [prefix]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return f, err
	}
	header, body := binary.BigEndian.Uint32(b[:]), binary.BigEndian.Uint32(b[4:])
	if size := uint64(header) + uint64(body); size > MaxFrame {
		return f, fmt.Errorf("read frame of %d bytes: at most %d", size, MaxFrame)
	}
	f.Kind, f.ID = Kind(b[8]), binary.BigEndian.Uint64(b[9:])
	rest := make([]byte, header+body)
	if _, err := io.ReadFull(r, rest); err != nil {
		return f, fmt.Errorf("read frame: %w", noEOF(err))
	}
	f.Header, f.Body = rest[:header:header], rest[header:]
	return f, nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
