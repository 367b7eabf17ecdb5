// Package wire looks at JSON-RPC messages before go-sdk does, for every transport: it
// finds what the SDK would let through and answer wrongly, or not at all, and makes the
// answer that says how to mend it.
//
// It does not know what the methods mean.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ModernEra is the first protocol version without a handshake and without sessions, in which
// every request says its version in _meta.
const ModernEra = "2026-07-28"

// metaVersion is the member of _meta in which a request of the era without a handshake
// says its protocol version (MCP 2026-07-28, SEP-2575).
const metaVersion = mcp.MetaKeyProtocolVersion

// A Message is what a transport has to know of a message.
type Message struct {
	ID      json.RawMessage // nil: a notification
	Method  string          // "": a response
	Version string          // the protocol version in _meta; "" where there is none
}

// IsCall reports whether the message is a request that wants an answer.
func (m Message) IsCall() bool { return m.Method != "" && m.ID != nil }

// A Fault is why a message is refused.
type Fault struct {
	ID   json.RawMessage // of the request, where it is known for sure
	Code int64           // of JSON-RPC
	Text string          // says how to mend it

	// Answer says that the message answers a request of ours, the one with the ID. Encode then
	// returns what can be read in its place: the answer that there was none.
	Answer bool
}

// Encode returns the answer to the message.
func (f *Fault) Encode() []byte { return Refusal(f.ID, f.Code, f.Text, nil) }

// Read looks at data, which should be one JSON-RPC message, and finds: bytes that are not
// UTF-8 or not JSON; batches; keys given twice, of which another reader may see the other, and
// answers to questions whose keys can be read in two ways; ids that do not survive a float64; a request with the id null; what is neither request
// nor response.
func Read(data []byte) (Message, *Fault) {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
		return Message{}, &Fault{Code: jsonrpc.CodeInvalidRequest, Text: "there is no message: send one JSON-RPC message"}
	case !utf8.Valid(data):
		return Message{}, &Fault{ID: IDIn(data), Code: jsonrpc.CodeParseError, Text: "the message is not valid UTF-8"}
	case data[0] == '[':
		return Message{}, &Fault{Code: jsonrpc.CodeInvalidRequest, Text: "batches are not accepted: send one message at a time"}
	case !json.Valid(data):
		return Message{}, &Fault{ID: IDIn(data), Code: jsonrpc.CodeParseError, Text: "the message is not valid JSON: send one JSON-RPC message at a time"}
	case data[0] != '{':
		return Message{}, &Fault{Code: jsonrpc.CodeInvalidRequest, Text: "the message is not JSON-RPC 2.0: it is not an object"}
	}
	e, twice := read(data)
	if fault := e.fault(twice); fault != "" {
		return Message{}, &Fault{ID: e.usableID(), Code: jsonrpc.CodeInvalidRequest, Text: fault}
	}
	m := Message{ID: e.id, Version: e.version}
	if e.method != nil && json.Unmarshal(e.method, &m.Method) != nil {
		return Message{}, &Fault{ID: e.id, Code: jsonrpc.CodeInvalidRequest, Text: "the method must be a string"}
	}
	if e.method != nil && m.Method == "" {
		return Message{}, &Fault{ID: e.id, Code: jsonrpc.CodeInvalidRequest, Text: "the method must not be empty"}
	}
	if fault := answersFault(e.answers); fault != "" {
		return Message{}, &Fault{ID: e.id, Code: jsonrpc.CodeInvalidParams, Text: fault}
	}
	if e.method == nil {
		if fault := answerFault(e.result); fault != "" {
			return Message{}, &Fault{ID: e.usableID(), Code: jsonrpc.CodeInvalidParams, Text: fault, Answer: true}
		}
	}
	return m, nil
}

// An envelope holds the members of a message that Read looks at; nil is a member that is
// not there.
type envelope struct {
	id, method, params, result, error []byte
	answers                           []byte // inputResponses in params
	version                           string
}

// read returns the envelope of an object, and the first key that it or its params have
// twice, with where.
func read(object []byte) (e envelope, twice string) {
	if key := members(object, e.note); key != "" {
		twice = key
	}
	if len(e.params) == 0 || e.params[0] != '{' {
		return e, twice
	}
	var meta []byte
	key := members(e.params, func(key string, value []byte) {
		switch key {
		case "_meta":
			meta = value
		case "inputResponses":
			e.answers = value
		}
	})
	if key != "" && twice == "" {
		twice = key + " in params"
	}
	if len(meta) > 0 && meta[0] == '{' {
		members(meta, func(key string, value []byte) {
			if key == metaVersion && value[0] == '"' {
				_ = json.Unmarshal(value, &e.version) // it is a valid string
			}
		})
	}
	return e, twice
}

func (e *envelope) note(key string, value []byte) {
	switch key {
	case "id":
		e.id = value
	case "method":
		e.method = value
	case "params":
		e.params = value
	case "result":
		e.result = value
	case "error":
		e.error = value
	}
}

func (e *envelope) fault(twice string) string {
	switch {
	case e.id != nil && !isID(e.id) && string(e.id) != "null":
		return "the id must be a string, or a whole number of at most 2^53"
	case strings.HasSuffix(twice, " in params"):
		return fmt.Sprintf("the key %s is given twice in params: give it once", strings.TrimSuffix(twice, " in params"))
	case twice != "":
		return fmt.Sprintf("the key %s is given twice: give it once", twice)
	case e.method != nil && string(e.id) == "null":
		return "a request must not have the id null: leave it out for a notification"
	case e.method == nil && e.result == nil && e.error == nil:
		return "the message is not JSON-RPC 2.0: it has neither a method nor a result"
	case e.params != nil && e.params[0] != '{' && string(e.params) != "null":
		return "params must be an object"
	}
	return ""
}

// usableID is the id, or nil where it cannot stand in an answer.
func (e *envelope) usableID() json.RawMessage {
	if e.id == nil || strings.IndexByte("{[tfn", e.id[0]) >= 0 {
		return nil
	}
	return e.id
}

// isID reports whether a JSON value is an id that survives the SDK's reading of it.
func isID(raw []byte) bool {
	if raw[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil && n >= -1<<53 && n <= 1<<53
}

// Refusal returns an error response. A nil id is null; data is left out where it is nil.
func Refusal(id json.RawMessage, code int64, message string, data any) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	type wireError struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}
	out, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   wireError       `json:"error"`
	}{"2.0", id, wireError{code, message, data}})
	if err != nil { // only data of a kind that JSON does not have
		panic(fmt.Sprintf("encode refusal: %v", err))
	}
	return out
}

// Coded gives a code to the errors that the SDK sends with code 0; all of those answer
// requests that should not have come.
func Coded(err error) error {
	var wire *jsonrpc.Error
	if err == nil || errors.As(err, &wire) && wire.Code != 0 {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
}
