package toolkit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
	data := bytes.TrimSpace(f.data)
	switch {
	case f.size > limit:
		return nil, refusal(idIn(data), jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message has %d bytes, at most %d are accepted", f.size, limit))
	case !utf8.Valid(data):
		return nil, refusal(idIn(data), jsonrpc.CodeParseError, "the message is not valid UTF-8")
	case data[0] == '[':
		return nil, refusal(nil, jsonrpc.CodeInvalidRequest, "batches are not accepted: send one message a line")
	case !json.Valid(data):
		return nil, refusal(idIn(data), jsonrpc.CodeParseError, "the message is not valid JSON: send one JSON-RPC message a line")
	}
	m, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		return nil, refusal(idIn(data), jsonrpc.CodeInvalidRequest, "the message is not JSON-RPC 2.0: "+err.Error())
	}
	return m, nil
}

var idPattern = regexp.MustCompile(`"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)`)

// idIn finds the id of a message that cannot be decoded, in its head or, since some
// clients put it last, its tail. nil is none.
func idIn(data []byte) json.RawMessage {
	var m struct{ ID json.RawMessage }
	if json.Unmarshal(data, &m) == nil && (len(m.ID) > 0 && m.ID[0] != '{' && m.ID[0] != '[') {
		return m.ID
	}
	found := idPattern.FindAllSubmatch(data, -1)
	if found == nil {
		return nil
	}
	// Of several, the outermost is not known; a wrong id would answer another request.
	if len(found) > 1 || !utf8.Valid(found[0][1]) {
		return nil
	}
	return found[0][1]
}

func refusal(id json.RawMessage, code int, message string) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	return marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   any             `json:"error"`
	}{"2.0", id, struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{code, message}})
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
