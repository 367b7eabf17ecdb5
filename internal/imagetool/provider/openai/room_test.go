package openai_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openai"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openaitest"
)

// Ways to write a picture that is longer than the pieces it is read in.
func TestEncodingsOfPictures(t *testing.T) {
	data := padded(openaitest.Picture(64, 64, "png", 0), 5<<20)
	std := base64.StdEncoding.EncodeToString(data)
	for name, text := range map[string]string{
		"usual":       std,
		"not padded":  strings.TrimRight(std, "="),
		"URL-safe":    base64.URLEncoding.EncodeToString(data),
		"data: URL":   "data:image/png;base64," + std,
		"escapes":     strings.ReplaceAll(std, "/", `\/`),
		"line breaks": std[:1<<20] + `\r\n` + std[1<<20:],
	} {
		t.Run(name, func(t *testing.T) {
			for _, step := range []openaitest.Step{
				openaitest.JSON(200, `{"data" : [{"revised_prompt":"\"b64_json\":\"", "b64_json" : "`+text+`","more":"b64_json"}]}`),
				openaitest.Events(`data: {"b64_json":"` + text + `"}` + "\n\n"),
				openaitest.Events(`data: {"b64_json":` + "\r\n" + `data: "` + text + `"}` + "\r\n\r\n"),
			} {
				p, _ := serve(t, openai.Options{}, step)
				got, e := generate(t, p, provider.Request{Size: small, Partials: 1})
				if e != nil || !bytes.Equal(got.Images[0].Data, data) {
					t.Errorf("got %v for %.80s", e, step.Body)
				}
			}
		})
	}
}

// A broken picture of many pieces, and marks of pictures that there are none of, are no picture.
func TestBrokenPictures(t *testing.T) {
	zeros := strings.Repeat("AAAA", 1<<18)
	for name, text := range map[string]string{
		"padding within": zeros[4:] + "AA==" + zeros, "no base64": zeros + "?" + zeros, "cut": zeros + "A", "a mark": "#0", "a mark of none": "#17",
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := serve(t, openai.Options{}, openaitest.JSON(200, `{"data":[{"b64_json":"`+text+`"}]}`))
			if _, e := generate(t, p, provider.Request{}); e == nil || e.Code != provider.NoImage {
				t.Errorf("got %v, want no_image", e)
			}
		})
	}
}

// Ten of the largest pictures that can be asked for, without compression, are taken.
func TestRoomForAll(t *testing.T) {
	const n = 10
	data := padded(openaitest.Picture(64, 64, "png", 0), 3840*2160*3)
	one := []byte(`{"b64_json":"` + base64.StdEncoding.EncodeToString(data) + `"}`)
	p := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"data":[`)
		for i := range n {
			if i > 0 {
				io.WriteString(w, ",")
			}
			w.Write(one)
		}
		io.WriteString(w, `]}`)
	})
	got, e := generate(t, p, provider.Request{N: n, Size: provider.Size{Width: 3840, Height: 2160}})
	if e != nil || len(got.Images) != n {
		t.Errorf("got %v, want %d pictures", e, n)
	}
}

// What is more than was asked for ends the answer early, however it comes.
func TestEndlessAnswers(t *testing.T) {
	for name, c := range map[string]struct{ media, start, more string }{
		"a picture":       {"application/json", `{"data":[{"b64_json":"`, someZeros},
		"other text":      {"application/json", `{"data":"`, someZeros},
		"bare bytes":      {"image/png", "\x89PNG\r\n\x1a\n", someZeros},
		"an event":        {"text/event-stream", `data: {"b64_json":"`, someZeros},
		"an event's text": {"text/event-stream", `data: {"x":"`, someZeros},
		"data lines":      {"text/event-stream", "", "data: " + someZeros + "\n"},
	} {
		for _, zipped := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, zipped %v", name, zipped), func(t *testing.T) {
				p := clientOf(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", c.media)
					var to io.Writer = w
					if zipped {
						w.Header().Set("Content-Encoding", "gzip")
						z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // a level that there is
						defer z.Close()
						to = z
					}
					io.WriteString(to, c.start)
					for range 1 << 14 { // 1 GiB, unless the client goes away
						if _, err := io.WriteString(to, c.more); err != nil {
							return
						}
					}
				})
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, e := generate(t, p, provider.Request{Size: small, Partials: 1})
				runtime.ReadMemStats(&after)
				if e == nil || e.Code != provider.NoImage || !e.MayHaveRun || !strings.Contains(e.Message, "64 MiB") {
					t.Errorf("got %v, want that it is too long", e)
				}
				if all := (after.TotalAlloc - before.TotalAlloc) >> 20; all > 1000 { // the whole answer would take twice that; the server is in this process, too
					t.Errorf("%d MiB were allocated", all)
				}
			})
		}
	}
}
