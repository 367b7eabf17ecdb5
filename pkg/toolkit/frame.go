package toolkit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
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
	if id, fault := misshapen(data); fault != "" {
		return nil, refusal(id, jsonrpc.CodeInvalidRequest, fault)
	}
	m, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		return nil, refusal(idIn(data), jsonrpc.CodeInvalidRequest, "the message is not JSON-RPC 2.0: "+err.Error())
	}
	return m, nil
}

// misshapen finds what the SDK would let through and answer wrongly, or not at all: keys
// given twice, of which another reader may see the other; ids that do not survive a
// float64; a request with the id null; a message that is neither request nor response.
func misshapen(data []byte) (id json.RawMessage, fault string) {
	top, twice := fields(data)
	id = top["id"]
	if len(id) > 0 && !isID(id) && string(id) != "null" {
		if id[0] == '{' || id[0] == '[' || id[0] == 't' || id[0] == 'f' {
			id = nil
		}
		return id, "the id must be a string, or a whole number of at most 2^53"
	}
	_, isRequest := top["method"]
	_, isResult := top["result"]
	_, isError := top["error"]
	switch params := top["params"]; {
	case twice != "":
		return id, fmt.Sprintf("the key %s is given twice: give it once", twice)
	case isRequest && string(id) == "null":
		return nil, "a request must not have the id null: leave it out for a notification"
	case !isRequest && !isResult && !isError:
		return id, "the message is not JSON-RPC 2.0: it has neither a method nor a result"
	case len(params) > 0 && params[0] != '{' && string(params) != "null":
		return id, "params must be an object"
	case len(params) > 0:
		if _, twice := fields(params); twice != "" {
			return id, fmt.Sprintf("the key %s is given twice in params: give it once", twice)
		}
	}
	return id, ""
}

// fields returns the members of a valid JSON object, and a key that it has twice.
func fields(object []byte) (members map[string]json.RawMessage, twice string) {
	members = map[string]json.RawMessage{}
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return members, ""
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return members, ""
		}
		key, _ := t.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return members, ""
		}
		if _, ok := members[key]; ok {
			twice = Inline(strconv.Quote(shorten(key)))
		}
		members[key] = value
	}
	return members, twice
}

// isID reports whether a JSON value is an id that survives the SDK's reading of it.
func isID(raw json.RawMessage) bool {
	if raw[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil && n >= -1<<53 && n <= 1<<53
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
