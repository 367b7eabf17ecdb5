package testneed_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testneed"
)

// recorder stands in for a test and keeps how it ended.
type recorder struct {
	testing.TB
	ended, text string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) { r.end("failed", format, args) }
func (r *recorder) Skipf(format string, args ...any)  { r.end("skipped", format, args) }

func (r *recorder) end(how, format string, args []any) {
	r.ended, r.text = how, fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func record(f func(testing.TB)) *recorder {
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r
}

func TestMissing(t *testing.T) {
	needs := map[string]func(testing.TB){
		"tool":   func(t testing.TB) { testneed.Tool(t, "no-such-program-anywhere") },
		"files":  func(t testing.TB) { testneed.Files(t, "no/such/file", "make it") },
		"engine": func(t testing.TB) { testneed.MissingDocker(t, "an engine", "start it") },
	}
	for name, need := range needs {
		for require, want := range map[string]string{"": "skipped", "REQUIRE_ALL": "failed", "REQUIRE_DOCKER": "skipped"} {
			if name == "engine" && require == "REQUIRE_DOCKER" {
				want = "failed"
			}
			t.Run(name+" "+require, func(t *testing.T) {
				t.Setenv("REQUIRE_ALL", "")
				t.Setenv("REQUIRE_DOCKER", "")
				if require != "" {
					t.Setenv(require, "1")
				}
				r := record(need)
				if r.ended != want || !strings.Contains(r.text, "hint: ") {
					t.Errorf("the test %s with %q, want it %s with a hint", r.ended, r.text, want)
				}
			})
		}
	}
}

func TestPresent(t *testing.T) {
	t.Setenv("REQUIRE_ALL", "1")
	if got := testneed.Tool(t, "go"); got == "" {
		t.Error("Tool returned no path")
	}
	if got := testneed.Files(t, "testneed.go", ""); !strings.HasSuffix(got, "testneed.go") {
		t.Errorf("Files returned %q", got)
	}
}
