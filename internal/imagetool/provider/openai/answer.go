package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// maxAnswer bounds a JSON answer: ten pictures of 20 MiB, as base64.
const maxAnswer = 300 << 20

// An answer is an Images API answer, as far as servers agree on it.
type answer struct {
	facts
	Created loose           `json:"created"`
	Data    []item          `json:"data"`
	Error   json.RawMessage `json:"error"`
}

// facts are what answers and events say about a picture.
type facts struct {
	Background loose           `json:"background"`
	Quality    loose           `json:"quality"`
	Usage      json.RawMessage `json:"usage"`
}

type item struct {
	B64     encoded `json:"b64_json"`
	URL     loose   `json:"url"`
	Revised loose   `json:"revised_prompt"`
}

// encoded is a picture as base64. It is decoded while it is parsed, so that a large one is
// held once.
type encoded struct {
	data []byte
	err  error
}

// UnmarshalJSON keeps what is wrong with one picture to that picture.
func (e *encoded) UnmarshalJSON(data []byte) error {
	if len(data) < 2 || data[0] != '"' {
		return nil // null, or nonsense: no picture
	}
	content := data[1 : len(data)-1]
	if bytes.IndexByte(content, '\\') >= 0 {
		content = []byte(text(data))
	}
	if len(content) > 0 {
		e.data, e.err = provider.DecodeBase64(content)
	}
	return nil
}

// read takes the pictures out of an answer: events, JSON or the bare bytes.
func (p *Provider) read(ctx context.Context, res *http.Response, q *query, report func(provider.Event)) (*provider.Result, *failure) {
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if media == "text/event-stream" {
		return p.readEvents(ctx, res.Body, q, report)
	}
	body, err := readAll(res, maxAnswer)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ended(ctx, true)
	case errors.Is(err, errTooLong):
		return nil, noImage("the answer has more than "+strconv.Itoa(maxAnswer>>20)+" MiB", nil)
	case err != nil:
		return nil, unanswered(ctx, err, true)
	case strings.HasPrefix(media, "image/"):
		return p.collect(ctx, []item{{B64: encoded{data: body}}}, report)
	}
	return p.readJSON(ctx, media, body, report)
}

func (p *Provider) readJSON(ctx context.Context, media string, body []byte, report func(provider.Event)) (*provider.Result, *failure) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, noImage(fmt.Sprintf("the answer (%s, %d bytes) is not that of an Images API", media, len(body)), err)
	}
	if len(a.Data) == 0 && len(a.Error) > 0 && string(a.Error) != "null" {
		return nil, streamFailure(body)
	}
	result, fail := p.collect(ctx, a.Data, report)
	if fail != nil {
		return nil, fail
	}
	state(result, a.facts, a.Created)
	return result, nil
}

// collect decodes and checks the pictures, fetching those that came as an address. One bad
// picture among good ones is a warning.
func (p *Provider) collect(ctx context.Context, items []item, report func(provider.Event)) (*provider.Result, *failure) {
	result := &provider.Result{}
	var bad error
	for i, it := range items {
		picture, err := p.picture(ctx, it, func() {
			report(provider.Event{Phase: provider.Downloading, Text: fmt.Sprintf("picture %d of %d", i+1, len(items))})
		})
		if ctx.Err() != nil {
			return nil, ended(ctx, true)
		}
		if err != nil {
			bad = fmt.Errorf("picture %d of %d: %w", i+1, len(items), err)
			result.Warnings = append(result.Warnings, bad.Error())
			continue
		}
		result.Images = append(result.Images, picture)
		if result.RevisedPrompt == "" {
			result.RevisedPrompt = string(it.Revised)
		}
	}
	switch {
	case len(result.Images) > 0:
		return result, nil
	case bad != nil:
		return nil, noImage(bad.Error(), bad)
	}
	return nil, noImage("the answer has no picture", nil)
}

// picture returns one item's picture, checked.
func (p *Provider) picture(ctx context.Context, it item, fetching func()) (provider.Picture, error) {
	data, err := it.B64.data, it.B64.err
	switch address := string(it.URL); {
	case data != nil || err != nil:
	case strings.HasPrefix(address, "data:"):
		_, data, err = provider.DataURL(address)
	case address != "":
		fetching()
		data, err = p.fetcher.fetch(ctx, address)
	default:
		err = errors.New("it is empty")
	}
	if err != nil {
		return provider.Picture{}, err
	}
	picture, err := provider.Identify(data)
	if err != nil {
		return provider.Picture{}, err
	}
	return picture, picture.Check()
}

// state copies what the server says about the pictures.
func state(r *provider.Result, f facts, created loose) {
	r.Background, r.Quality = string(f.Background), string(f.Quality)
	if seconds, err := strconv.ParseFloat(string(created), 64); err == nil && seconds > 0 && seconds < 1<<40 {
		r.Created = time.Unix(int64(seconds), 0).UTC()
	}
	var usage struct {
		Input   float64 `json:"input_tokens"`
		Details struct {
			Text  float64 `json:"text_tokens"`
			Image float64 `json:"image_tokens"`
		} `json:"input_tokens_details"`
		Output float64 `json:"output_tokens"`
		Total  float64 `json:"total_tokens"`
	}
	if json.Unmarshal(f.Usage, &usage) != nil {
		return
	}
	if usage.Details.Text == 0 && usage.Details.Image == 0 {
		usage.Details.Text = usage.Input
	}
	r.Usage = provider.Usage{
		InputText: int64(usage.Details.Text), InputImage: int64(usage.Details.Image),
		Output: int64(usage.Output), Total: int64(usage.Total),
	}
}

// finish says what was asked for and not given.
func (p *Provider) finish(q *query, r *provider.Result) *provider.Result {
	r.Model = q.Model
	r.Warnings = append(q.warnings, r.Warnings...)
	if len(r.Images) != q.N {
		r.Warnings = append(r.Warnings, fmt.Sprintf("asked for %d pictures, got %d", q.N, len(r.Images)))
	}
	for _, picture := range r.Images {
		if q.Format != "" && picture.Format != q.Format {
			r.Warnings = append(r.Warnings, fmt.Sprintf("asked for %s, got %s", q.Format, picture.Format))
		}
		if q.Size != (provider.Size{}) && picture.Size != q.Size {
			r.Warnings = append(r.Warnings, fmt.Sprintf("asked for %s, got %s", q.Size, picture.Size))
		}
	}
	for i, w := range r.Warnings {
		r.Warnings[i] = p.secrets.line(w)
	}
	slices.Sort(r.Warnings)
	r.Warnings = slices.Compact(r.Warnings) // ten pictures of the wrong size are one matter
	r.RevisedPrompt = p.secrets.replacer.Replace(r.RevisedPrompt)
	return r
}

// noImage is the failure of an answer without a picture: it may have cost money.
func noImage(message string, cause error) *failure {
	return &failure{Error: &provider.Error{Code: provider.NoImage, Message: message, Err: cause, MayHaveRun: true}}
}

var errTooLong = errors.New("it is too long")

// readAll reads a body of at most limit bytes.
func readAll(res *http.Response, limit int64) ([]byte, error) {
	if res.ContentLength > limit {
		return nil, errTooLong
	}
	var b bytes.Buffer
	if res.ContentLength > 0 {
		b.Grow(int(res.ContentLength) + bytes.MinRead) // else it would be copied as it grows
	}
	n, err := b.ReadFrom(io.LimitReader(res.Body, limit+1))
	if err == nil && n > limit {
		err = errTooLong
	}
	return b.Bytes(), err
}
