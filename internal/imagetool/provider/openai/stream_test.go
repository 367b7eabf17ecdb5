package openai_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openai"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openaitest"
)

// b64 is a picture as it stands in answers.
var b64 = base64.StdEncoding.EncodeToString(openaitest.Picture(64, 64, "png", 0))

func partial(i int) string {
	return fmt.Sprintf(`data: {"type":"image_generation.partial_image","partial_image_index":%d,"b64_json":"%s"}`+"\n\n", i, b64)
}

var completed = `data: {"type":"image_generation.completed","b64_json":"` + b64 + `","quality":"high","created_at":1790000000}`

func TestStreams(t *testing.T) {
	tests := map[string]struct {
		step     openaitest.Step
		code     provider.Code // "": one picture
		partials int
		maybe    bool
	}{
		"right":                           {step: openaitest.Step{}, partials: 2},
		"JSON instead (B6)":               {step: openaitest.JSON(200, `{"data":[{"b64_json":"`+b64+`"}]}`)},
		"JSON of another name":            {step: openaitest.Step{Status: 200, Header: plain, Body: `{"data":[{"b64_json":"` + b64 + `"}]}`}},
		"partials only (B7)":              {step: openaitest.Events(partial(0) + partial(1) + "event: done\ndata: {}\n\n"), code: provider.NoImage, partials: 2, maybe: true},
		"no last blank line (B8)":         {step: openaitest.Events(partial(0) + completed + "\n"), partials: 1},
		"no last line end":                {step: openaitest.Events(partial(0) + completed), partials: 1},
		"CRLF":                            {step: openaitest.Events(strings.ReplaceAll(partial(0)+completed+"\n\n", "\n", "\r\n")), partials: 1},
		"[DONE] and comments":             {step: openaitest.Events(": ping\n\n" + completed + "\n\ndata: [DONE]\n\n")},
		"named by the event line":         {step: openaitest.Events("event: image_generation.completed\ndata: {\"b64_json\":\"" + b64 + "\"}\n\n")},
		"a single event without a name":   {step: openaitest.Events("data: {\"b64_json\":\"" + b64 + "\"}\n\n")},
		"a whole answer as an event":      {step: openaitest.Events("data: {\"data\":[{\"b64_json\":\"" + b64 + "\"}]}\n\n")},
		"an error after a partial one":    {step: openaitest.Events(partial(0) + "data: {\"type\":\"error\",\"error\":{\"code\":\"moderation_blocked\",\"message\":\"no\",\"moderation_details\":{\"moderation_stage\":\"output\"}}}\n\n"), code: provider.ModerationBlocked, partials: 1, maybe: true},
		"cut after a partial one":         {step: openaitest.Step{Status: 200, Header: events, Body: partial(0) + completed[:len(completed)/2], Cut: true}, code: provider.Unavailable, partials: 1, maybe: true},
		"cut after the finished one":      {step: openaitest.Step{Status: 200, Header: events, Body: completed + "\n\n", Cut: true}},
		"ended in the finished one":       {step: openaitest.Events(partial(0) + completed[:len(completed)/2]), code: provider.NoImage, partials: 1, maybe: true},
		"a finished one that is no image": {step: openaitest.Events(partial(0) + `data: {"type":"image_generation.completed","b64_json":"aGVsbG8="}` + "\n\n"), code: provider.NoImage, partials: 1, maybe: true},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			p, s := serve(t, openai.Options{}, c.step)
			var got []int
			result, err := p.Generate(t.Context(), provider.Request{Prompt: "a house", Size: small, Partials: 2}, func(e provider.Event) {
				if e.Partial != nil {
					got = append(got, e.Index)
				}
			})
			if n := len(s.Requests()); n != 1 || len(got) != c.partials {
				t.Errorf("%d POSTs and partial pictures %v, want 1 and %d", n, got, c.partials)
			}
			var e *provider.Error
			switch {
			case c.code == "" && (err != nil || len(result.Images) != 1):
				t.Errorf("got %v, %v, want a picture", result, err)
			case c.code == "":
			case !errors.As(err, &e) || e.Code != c.code || e.MayHaveRun != c.maybe || (e.Partial != nil) != (c.partials > 0):
				t.Errorf("got %#v, want %s with the last partial picture", err, c.code)
			}
		})
	}
}

// TestResultOfStream looks at what the finished event says.
func TestResultOfStream(t *testing.T) {
	p, s := serve(t, openai.Options{})
	got, e := generate(t, p, provider.Request{Size: small, Partials: 1, Quality: "high"})
	if e != nil {
		t.Fatal(e)
	}
	if accept := s.Requests()[0].Header.Get("Accept"); !strings.HasPrefix(accept, "text/event-stream") {
		t.Errorf("Accept is %q: servers that heed it answer with JSON", accept)
	}
	want := &provider.Result{
		Images: got.Images, Model: "gpt-image-2", Quality: "high", Background: "opaque", Created: time.Unix(1790000000, 0).UTC(),
		Usage: provider.Usage{InputText: 8, InputImage: 2, Output: 90, Total: 100},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestLongLine streams a picture whose line the client library's reader would end at.
func TestLongLine(t *testing.T) {
	data := padded(openaitest.Picture(64, 64, "png", 0), 48<<20)
	p, _ := serve(t, openai.Options{}, openaitest.Events(`data: {"type":"image_generation.completed","b64_json":"`+base64.StdEncoding.EncodeToString(data)+`"}`+"\n\n"))
	got, e := generate(t, p, provider.Request{Size: small, Partials: 1})
	if e != nil || len(got.Images[0].Data) != len(data) {
		t.Errorf("got %v for a picture of %d bytes", e, len(data))
	}
}

// padded puts a private chunk of n bytes behind the header of a PNG.
func padded(png []byte, n int) []byte {
	const header = 8 + 25
	chunk := append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, "prVt"...)
	chunk = append(chunk, make([]byte, n)...)
	sum := crc32.ChecksumIEEE(chunk[4:])
	chunk = append(chunk, byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
	return bytes.Join([][]byte{png[:header], chunk, png[header:]}, nil)
}

// TestEndlessEvent wants an end to a line that has none.
func TestEndlessEvent(t *testing.T) {
	endless := io.MultiReader(strings.NewReader("data: "), io.LimitReader(zeros{}, 1<<20+1))
	if _, err := openai.ReadEvents(endless, 1<<20); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("got %v, want that it is too long", err)
	}
}

// zeros is a reader without an end.
type zeros struct{}

var someZeros = strings.Repeat("0", 64<<10)

func (zeros) Read(b []byte) (int, error) { return copy(b, someZeros), nil }

// FuzzEvents compares with the reader of the client library, which wants a blank line at the
// end and adds a line feed to the data.
func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		"data: a\n\n", "data:a\ndata: b\n\nevent: x\ndata\n\n", ": c\n\ndata: a", "data: a\r\n\r\ndata: b\r\n", "event: x\n\ndata:  two\n", "\n\n\ndata:\n\n", "datax: 1\nretry: 3\ndata: é\x00\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		oracle := ssestream.NewDecoder(&http.Response{Body: io.NopCloser(strings.NewReader(text + "\n\n"))})
		var want []string
		for oracle.Next() {
			want = append(want, strings.TrimSuffix(string(oracle.Event().Data), "\n"))
		}
		for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			got, err := openai.ReadEvents(r, 1<<20)
			if d := cmp.Diff(want, got); d != "" || !errors.Is(err, io.EOF) {
				t.Errorf("%q: %v (-want +got)\n%s", text, err, d)
			}
		}
	})
}

// TestCancel wants the server to notice within a second, wherever the request is.
func TestCancel(t *testing.T) {
	for name, step := range map[string]openaitest.Step{
		"before the answer": {Delay: time.Hour},
		"while waiting":     waits(429, "Retry-After", "25"),
	} {
		t.Run(name, func(t *testing.T) {
			p, s := serve(t, openai.Options{}, step)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() {
				_, err := p.Generate(ctx, provider.Request{Prompt: "a house"}, nil)
				done <- err
			}()
			for len(s.Requests()) == 0 {
				time.Sleep(time.Millisecond)
			}
			cancel()
			start := time.Now()
			var e *provider.Error
			if err := <-done; !errors.As(err, &e) || e.Code != provider.Cancelled {
				t.Errorf("got %v, want cancelled", err)
			}
			if step.Delay > 0 {
				<-s.Gone()
			}
			if d := time.Since(start); d > 5*time.Second {
				t.Errorf("it took %s", d)
			}
		})
	}
}

// TestCancelInStream cancels between a partial picture and the next, which never comes.
func TestCancelInStream(t *testing.T) {
	gone := make(chan struct{})
	p := clientOf(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, partial(0))
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := p.Generate(ctx, provider.Request{Prompt: "a house", Partials: 1}, func(e provider.Event) {
		if e.Partial != nil {
			cancel()
		}
	})
	<-gone
	var e *provider.Error
	if !errors.As(err, &e) || e.Code != provider.Cancelled || e.Partial == nil || !e.MayHaveRun {
		t.Errorf("got %#v, want cancelled with the partial picture", err)
	}
}
