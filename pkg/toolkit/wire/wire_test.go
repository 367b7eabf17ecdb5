package wire_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/toolkit/wire"
)

func TestRead(t *testing.T) {
	id := func(s string) json.RawMessage { return json.RawMessage(s) }
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	tests := []struct {
		name, in string
		want     wire.Message
		fault    string // a part of it; "" for none
		id       string // of the fault; "" for null
		answer   bool   // the fault is one of an answer
	}{
		{name: "call", in: ` {"jsonrpc":"2.0","id":1,"method":"ping"} `, want: wire.Message{ID: id("1"), Method: "ping"}},
		{name: "notification", in: `{"jsonrpc":"2.0","method":"n/x","params":null}`, want: wire.Message{Method: "n/x"}},
		{name: "response", in: `{"jsonrpc":"2.0","id":"a","result":{"method":"x"}}`, want: wire.Message{ID: id(`"a"`)}},
		{name: "error", in: `{"jsonrpc":"2.0","id":null,"error":{}}`, want: wire.Message{ID: id("null")}},
		{name: "version", in: `{"id":1,"method":"m","params":{"a":[{"_meta":1}],` + meta + `}}`, want: wire.Message{ID: id("1"), Method: "m", Version: "2026-07-28"}},
		{name: "version of another place", in: `{"id":1,"method":"m",` + meta + `,"params":{"arguments":{` + meta + `}}}`, want: wire.Message{ID: id("1"), Method: "m"}},
		{name: "version that is no text", in: `{"id":1,"method":"m","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":5}}}`, want: wire.Message{ID: id("1"), Method: "m"}},
		{name: "escaped keys", in: `{"\u0069d":1,"m\u0065thod":"\u0070ing"}`, want: wire.Message{ID: id("1"), Method: "ping"}},
		{name: "blanks everywhere", in: "{\r\n\t\"id\" : 1 ,\n\"method\" :\t\"x\" , \"params\" : { \"a\" : [ ] , \"b\" : { } } }", want: wire.Message{ID: id("1"), Method: "x"}},
		{name: "nothing", in: " \n", fault: "there is no message"},
		{name: "not UTF-8", in: "{\"id\":7,\"method\":\"\xff\"}", fault: "UTF-8", id: "7"},
		{name: "not JSON", in: `{"id":7,"method":`, fault: "not valid JSON", id: "7"},
		{name: "not JSON, two ids", in: `{"id":7,"params":{"id":8`, fault: "not valid JSON"},
		{name: "a batch", in: `[{"id":7}]`, fault: "batches"},
		{name: "not an object", in: `"x"`, fault: "not an object"},
		{name: "a key twice", in: `{"id":7,"method":"a","method":"b"}`, fault: `the key "method" is given twice: give`, id: "7"},
		{name: "a key twice, escaped", in: `{"id":7,"method":"a","m\u0065thod":"b"}`, fault: `the key "method" is given twice`, id: "7"},
		{name: "the ninth key twice", in: `{"id":7,"method":"a","params":{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9\n":1,"9\n":2}}`, fault: `the key "9\n" is given twice in params`, id: "7"},
		{name: "a key twice further in", in: `{"id":7,"method":"a","params":{"arguments":{"x":1,"x":2}}}`, want: wire.Message{ID: id("7"), Method: "a"}},
		{name: "id null", in: `{"id":null,"method":"a"}`, fault: "must not have the id null"},
		{name: "id of a fraction", in: `{"id":1.5,"method":"a"}`, fault: "whole number", id: "1.5"},
		{name: "id too large", in: `{"id":9007199254740993,"method":"a"}`, fault: "2^53", id: "9007199254740993"},
		{name: "id of another kind", in: `{"id":{"a":1},"method":"a"}`, fault: "whole number"},
		{name: "method of another kind", in: `{"id":7,"method":5}`, fault: "method must be a string", id: "7"},
		{name: "method empty", in: `{"id":7,"method":""}`, fault: "must not be empty", id: "7"},
		{name: "neither request nor response", in: `{"id":7}`, fault: "neither a method nor a result", id: "7"},
		{name: "an answer", in: `{"id":7,"result":{"action":"accept","content":{"remember":"once","Remember":1}}}`, want: wire.Message{ID: id("7")}},
		{name: "an answer that is no object", in: `{"id":7,"result":[{"a":1,"a":2}]}`, want: wire.Message{ID: id("7")}},
		{name: "an answer of no and yes", in: `{"id":7,"result":{"action":"decline","action":"accept"}}`, fault: `the key "action" is given twice in an answer`, id: "7", answer: true},
		{name: "an answer of no and yes, escaped", in: `{"id":7,"result":{"action":"decline","\u0061ction":"accept"}}`, fault: `the key "action" is given twice in an answer`, id: "7", answer: true},
		{name: "an answer with two contents", in: `{"id":7,"result":{"action":"accept","content":{"remember":"once","remember":"session"}}}`, fault: `the key "remember" is given twice in an answer`, id: "7", answer: true},
		{name: "an answer spelt otherwise", in: `{"id":"x","result":{"Action":"accept"}}`, fault: `the key "Action" in an answer has to be written "action"`, id: `"x"`, answer: true},
		{name: "answers in a request", in: `{"id":7,"method":"a","params":{"inputResponses":{"approval":{"action":"accept","content":{}},"Approval":{}}}}`, want: wire.Message{ID: id("7"), Method: "a"}},
		{name: "answers that are none", in: `{"id":7,"method":"a","params":{"inputResponses":null}}`, want: wire.Message{ID: id("7"), Method: "a"}},
		{name: "answers in a request twice", in: `{"id":7,"method":"a","params":{"inputResponses":{"approval":{"action":"decline"},"approval":{"action":"accept"}}}}`, fault: `the key "approval" is given twice in inputResponses`, id: "7"},
		{name: "a no and a yes in a request", in: `{"id":7,"method":"a","params":{"inputResponses":{"x":1,"approval":{"action":"decline","action":"accept"}}}}`, fault: `the key "action" is given twice in an answer`, id: "7"},
		{name: "two contents in a request", in: `{"id":7,"method":"a","params":{"inputResponses":{"approval":{"action":"accept","content":{"a":1,"a":2}}}}}`, fault: `the key "a" is given twice in an answer`, id: "7"},
		{name: "a yes in a request, spelt otherwise", in: `{"id":7,"method":"a","params":{"inputResponses":{"approval":{"action":"decline","aCtion":"accept"}}}}`, fault: `the key "aCtion" in an answer has to be written "action"`, id: "7"},
		{name: "params as a list", in: `{"id":7,"method":"a","params":[1]}`, fault: "params must be an object", id: "7"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, fault := wire.Read([]byte(tc.in))
			if tc.fault == "" {
				if diff := cmp.Diff(tc.want, got); diff != "" || fault != nil {
					t.Errorf("fault %+v, -want +got:\n%s", fault, diff)
				}
				return
			}
			if fault == nil || !strings.Contains(fault.Text, tc.fault) || string(fault.ID) != tc.id || fault.Answer != tc.answer {
				t.Fatalf("fault %+v, want id %q and %q", fault, tc.id, tc.fault)
			}
			if answer := fault.Encode(); !json.Valid(answer) {
				t.Errorf("the answer is not JSON: %s", answer)
			}
		})
	}
}

// FuzzRead compares what is found in a message with what encoding/json finds.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"x"}}}`,
		`{"id":"\"}","method":"a\\","result":[[],{}],"params":{"a":"\\\"","b":-1e5,"c":true,"d":null}}`,
		"{ \"id\" :1,\t\"error\":{\"a\":[{\"b\":\"]}\"}]} }", `{"":1,"":2,"id":1,"method":"m"}`, `[]`, `{`, `{"id":1,"id":2}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, fault := wire.Read(data)
		if fault != nil {
			if !json.Valid(fault.Encode()) {
				t.Fatalf("the answer is not JSON: %s", fault.Encode())
			}
		}
		keys, twice, ok := keysOf(data)
		if !ok {
			if fault == nil {
				t.Fatalf("accepted %q", data)
			}
			return
		}
		if twice && fault == nil {
			t.Fatalf("accepted a key that is there twice: %q", data)
		}
		if fault != nil {
			return
		}
		var method string
		if raw, there := keys["method"]; there && (json.Unmarshal(raw, &method) != nil || method != got.Method) {
			t.Fatalf("method %q of %q", got.Method, data)
		}
		if !bytes.Equal(keys["id"], got.ID) {
			t.Fatalf("id %q of %q", got.ID, data)
		}
	})
}

// keysOf returns the members of a JSON object by the standard library.
func keysOf(data []byte) (keys map[string]json.RawMessage, twice, ok bool) {
	if !json.Valid(data) || bytes.TrimSpace(data)[0] != '{' {
		return nil, false, false
	}
	keys = map[string]json.RawMessage{}
	dec := json.NewDecoder(bytes.NewReader(data))
	_, _ = dec.Token()
	for dec.More() {
		key, err := dec.Token()
		name, text := key.(string)
		var value json.RawMessage
		if err != nil || !text || dec.Decode(&value) != nil {
			return nil, false, false
		}
		_, seen := keys[name]
		twice = twice || seen
		keys[name] = value
	}
	return keys, twice, true
}
