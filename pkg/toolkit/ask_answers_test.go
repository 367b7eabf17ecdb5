package toolkit_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// rawAnswers are results as clients may send them, and whether each is a yes. Of two keys another
// reader may see the other one (CVE-2026-27896).
var rawAnswers = []struct {
	name, answer string
	yes          bool
}{
	{"yes", `{"action":"accept","content":{}}`, true},
	{"no and yes", `{"action":"decline","action":"accept"}`, false},
	{"yes twice", `{"action":"accept","action":"accept"}`, false},
	{"no, and yes spelt otherwise", `{"action":"decline","Action":"accept"}`, false},
	{"yes, and no spelt otherwise", `{"action":"accept","ACTION":"decline"}`, false},
	{"yes spelt otherwise", `{"Action":"accept"}`, false},
	{"yes, escaped, behind no", `{"action":"decline","\u0061ction":"accept"}`, false},
	{"two contents", `{"action":"accept","content":{"remember":"once","remember":"session"}}`, false},
	{"content twice", `{"action":"accept","content":{},"content":{}}`, false},
	{"content spelt otherwise", `{"action":"accept","Content":{}}`, false},
}

func TestAnswerIsReadInOneWayOnly(t *testing.T) {
	ways := map[string]func(t *testing.T, s *toolkit.Server, answer string) (text string){
		"stdio, legacy": answeredOverStdio,
		"stdio, modern": answeredWithAState,
		"http, legacy":  answeredOverHTTP,
	}
	for name, way := range ways {
		for _, tt := range rawAnswers {
			t.Run(name+", "+tt.name, func(t *testing.T) {
				s, runs := counting(t, toolkit.Options{Evaluator: always(asks)})
				begun := time.Now()
				got := way(t, s, tt.answer)
				if (runs.Load() == 1) != tt.yes || (got == "ran") != tt.yes {
					t.Errorf("%d runs: %s", runs.Load(), got)
				}
				if took := time.Since(begun); took > 20*time.Second {
					t.Errorf("the call waited %s for another answer", took)
				}
			})
		}
	}
}

// answeredOverStdio makes a call before 2026-07-28, answers the question and returns the result.
func answeredOverStdio(t *testing.T, s *toolkit.Server, answer string) string {
	k := newTalk(t, s, `"elicitation":{}`)
	fmt.Fprint(k.in, callLine(1, `{"name":"n"}`))
	id := ""
	for id == "" && k.out.Scan() {
		id = idOfQuestion(k.out.Text())
	}
	fmt.Fprintf(k.in, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, answer)
	return said(k.answer("1"))
}

// answeredWithAState makes a call again, with the answer.
func answeredWithAState(t *testing.T, s *toolkit.Server, answer string) string {
	state := stateOf(t, byHand(t, s), `{"name":"n"}`)
	got := serveAll(t, s, fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"probe","arguments":{"name":"n"},`+
		`"requestState":%q,"inputResponses":{"approval":%s},%s}}`+"\n", state, answer, modern))["7"]
	if got.Error != nil && got.Error.Code != -32602 {
		t.Errorf("the error is %+v", got.Error)
	}
	return said(got)
}

// answeredOverHTTP makes a call in a session, and answers the question in a request of its own.
func answeredOverHTTP(t *testing.T, s *toolkit.Server, answer string) string {
	w := newWeb(t, s, streamable.Options{})
	header := append(w.session(`"elicitation":{}`), "Accept", "text/event-stream")
	call := w.open(http.MethodPost, callLine(1, `{"name":"n"}`), header...)
	for lines := bufio.NewScanner(call.Body); lines.Scan(); {
		data, found := strings.CutPrefix(lines.Text(), "data: ")
		if id := idOfQuestion(data); id != "" {
			w.open(http.MethodPost, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, answer), header...)
		} else if found && strings.Contains(data, `"content"`) {
			return said(parsed(t, data))
		}
	}
	return ""
}

// idOfQuestion returns the id of a message that asks a person, or "".
func idOfQuestion(message string) string {
	var m answer
	if json.Unmarshal([]byte(message), &m) != nil || m.Method != "elicitation/create" {
		return ""
	}
	return string(m.ID)
}

func parsed(t *testing.T, message string) (a answer) {
	t.Helper()
	if err := json.Unmarshal([]byte(message), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// said returns the text of a result, or of an error.
func said(a answer) string {
	if a.Error != nil {
		return a.Error.Message
	}
	if a.Result == nil || len(a.Result.Content) == 0 {
		return ""
	}
	return a.Result.Content[0].Text
}
