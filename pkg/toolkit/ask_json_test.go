package toolkit_test

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// A client that takes no event stream in the answer to its call is asked on the session's own,
// if it keeps that open.
func TestAskedOnTheSessionsStream(t *testing.T) {
	v := asks
	v.Asking = approval.Asking{Timeout: 20 * time.Second, Unattended: approval.Allow}
	for _, listens := range []bool{true, false} {
		t.Run(fmt.Sprintf("listens %v", listens), func(t *testing.T) {
			s, runs := counting(t, toolkit.Options{Evaluator: always(v)})
			w := newWeb(t, s, streamable.Options{})
			header := w.session(`"elicitation":{}`)
			if listens {
				stream := w.open(http.MethodGet, "", append(header, "Accept", "text/event-stream")...)
				go w.answerOn(bufio.NewScanner(stream.Body), header)
			}
			start := time.Now()
			text, _ := w.post(strings.Replace(probed, `"probe"`, `"probe","arguments":{"name":"n"}`, 1), header...)
			want, wantRuns := "ran", int32(1)
			if !listens {
				want, wantRuns = "no decision", 0
			}
			if !strings.Contains(text, want) || runs.Load() != wantRuns {
				t.Errorf("after %s and %d runs: %s", time.Since(start), runs.Load(), text)
			}
		})
	}
}

// answerOn says yes to the first question on a stream.
func (w *web) answerOn(lines *bufio.Scanner, header []string) {
	for lines.Scan() {
		_, rest, found := strings.Cut(lines.Text(), `"id":`)
		if !found || !strings.Contains(rest, "elicitation/create") {
			continue
		}
		id := rest[:strings.IndexAny(rest, ",}")]
		res, err := http.NewRequest(http.MethodPost, w.url, strings.NewReader(`{"jsonrpc":"2.0","id":`+id+`,"result":{"action":"accept","content":{}}}`))
		if err != nil {
			w.t.Error(err)
			return
		}
		for i := 0; i < len(header); i += 2 {
			res.Header.Set(header[i], header[i+1])
		}
		res.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(res)
		if err != nil {
			w.t.Error(err)
			return
		}
		answer.Body.Close()
		return
	}
}
