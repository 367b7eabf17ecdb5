package toolkit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/toolhost/toolhost/pkg/toolkit/wire"
)

// MaxFrame is the longest message accepted over stdio, in bytes.
const MaxFrame = 64 << 20

// edge is how much of an over-long frame is kept at either end, to find its id.
const edge = 512

// A frame is one line from the client.
type frame struct {
	data []byte // whole, or head and tail of an over-long one
	size int    // bytes on the wire
}

// readFrame returns the next line. At the end of the input it returns what is left, and
// the error. Of a line longer than limit it keeps only head and tail.
func readFrame(r *bufio.Reader, limit int) (frame, error) {
	var f frame
	for {
		part, err := r.ReadSlice('\n')
		f.size += len(part)
		f.data = append(f.data, part...)
		if f.size > limit && len(f.data) > 2*edge {
			tail := f.data[len(f.data)-edge:]
			f.data = append(f.data[:edge:edge], tail...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return f, err
	}
}

// decode returns the frame's message, or the answer that says what is wrong with it.
func (f frame) decode(limit int) (jsonrpc.Message, []byte) {
	if f.size > limit {
		fault := wire.Fault{ID: wire.IDIn(f.data), Code: jsonrpc.CodeInvalidRequest, Text: fmt.Sprintf("the message has %d bytes, at most %d are accepted", f.size, limit)}
		return nil, fault.Encode()
	}
	data := f.data
	known, fault := wire.Read(data)
	if fault != nil && !fault.Answer {
		return nil, fault.Encode()
	}
	if fault != nil { // who waits for the answer hears at once that there is none
		data = fault.Encode()
	}
	m, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		return nil, wire.Refusal(known.ID, jsonrpc.CodeInvalidRequest, "the message is not JSON-RPC 2.0: "+err.Error(), nil)
	}
	return m, nil
}

// readFrames sends every frame of r to each, until r ends; blank lines are nothing.
func readFrames(r io.Reader, limit int, each func(frame) bool) error {
	br := bufio.NewReaderSize(r, 64<<10)
	for {
		f, err := readFrame(br, limit)
		if len(bytes.TrimSpace(f.data)) > 0 && !each(f) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
