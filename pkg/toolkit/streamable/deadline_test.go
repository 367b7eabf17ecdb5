package streamable_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/pkg/toolkit/streamable"
)

// A late is a response that notes what is written after its deadline. The server sets one
// when a request begins.
type late struct {
	*httptest.ResponseRecorder
	deadline time.Time
	lost     int
}

func (l *late) SetWriteDeadline(t time.Time) error { l.deadline = t; return nil }

func (l *late) Write(b []byte) (int, error) {
	if time.Now().After(l.deadline) {
		l.lost += len(b)
	}
	return l.ResponseRecorder.Write(b)
}

// However long a call took, its answer has time of its own.
func TestAnswerAfterLongCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation()
		e, err := streamable.New(s.Server, streamable.Options{Loopback: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, accept := range []string{both, "application/json"} {
			m := modern("tools/call", "slow", `{"name":"slow","arguments":{"seconds":50}}`)
			m.header.Set("Accept", accept)
			w := &late{ResponseRecorder: httptest.NewRecorder(), deadline: time.Now().Add(30 * time.Second)}
			e.ServeHTTP(w, m.request(t.Context(), t, "http://127.0.0.1/mcp"))
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "done") || w.lost > 0 {
				t.Errorf("accepting %s: %d, %d bytes too late: %s", accept, w.Code, w.lost, w.Body)
			}
		}
	})
}
