package openai_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openai"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openaitest"
)

var (
	html   = map[string]string{"Content-Type": "text/html; charset=utf-8"}
	plain  = map[string]string{"Content-Type": "text/plain"}
	events = map[string]string{"Content-Type": "text/event-stream"}
)

// A refusal is an answer without a picture, and what it must come to.
type refusal struct {
	step    openaitest.Step
	code    provider.Code
	says    string // in the message
	param   string
	maybe   bool // it may have run
	stage   string
	details []string
}

// refusals are answers that people report, each with the key in it where there is room.
var refusals = map[string]refusal{
	"moderation":                   {step: openaitest.JSON(400, `{"error":{"message":"Rejected KEY","type":"image_generation_user_error","param":null,"code":"moderation_blocked","moderation_details":{"moderation_stage":"input","categories":["violence","KEY"]}}}`), code: provider.ModerationBlocked, says: "Rejected", stage: "input", details: []string{"[key]", "violence"}},
	"moderation of the output":     {step: openaitest.JSON(400, `{"error":{"message":"Rejected","code":"moderation_blocked","moderation_details":{"moderation_stage":"output"}}}`), code: provider.ModerationBlocked, maybe: true, stage: "output"},
	"Azure's filter":               {step: openaitest.JSON(400, `{"error":{"message":"Filtered KEY","code":"contentFilter","innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_results":{"hate":{"filtered":true},"sexual":{"filtered":false}}}}}`), code: provider.ModerationBlocked, says: "Filtered", details: []string{"hate"}},
	"Azure's account block":        {step: openaitest.JSON(403, `{"error":{"code":"403","message":"Your resource has been temporarily blocked because of the content policy. KEY"}}`), code: provider.ProviderBlocked, says: "temporarily blocked"},
	"billing limit":                {step: openaitest.JSON(400, `{"error":{"message":"Billing hard limit has been reached KEY","type":"billing_limit_user_error","code":"billing_hard_limit_reached"}}`), code: provider.QuotaExceeded, says: "billing_hard_limit_reached"},
	"quota":                        {step: openaitest.Step{Status: 429, Header: map[string]string{"Retry-After": "1"}, Body: `{"error":{"message":"You exceeded your quota KEY","code":"insufficient_quota"}}`}, code: provider.QuotaExceeded, says: "insufficient_quota"},
	"payment":                      {step: openaitest.JSON(402, `{"message":"pay KEY"}`), code: provider.QuotaExceeded, says: "pay [key]"},
	"key":                          {step: openaitest.JSON(401, `{"error":{"message":"Incorrect API key provided: KEY. Bearer KEY","code":"invalid_api_key"}}`), code: provider.Unauthorized, says: "Incorrect API key provided: [key]"},
	"organization":                 {step: openaitest.JSON(403, `{"error":{"message":"Your organization must be verified KEY"}}`), code: provider.Forbidden, says: "must be verified"},
	"unknown model":                {step: openaitest.JSON(404, `{"error":{"message":"The model 'x' does not exist KEY","param":"model","code":"model_not_found"}}`), code: provider.InvalidRequest, says: "model_not_found", param: "model"},
	"bad prompt":                   {step: openaitest.JSON(400, `{"error":{"message":"Invalid prompt KEY","param":"prompt KEY"}}`), code: provider.InvalidRequest, says: "Invalid prompt", param: "prompt [key]"},
	"detail":                       {step: openaitest.JSON(400, `{"detail":"The prompt is bad KEY"}`), code: provider.InvalidRequest, says: "The prompt is bad"},
	"list of details":              {step: openaitest.JSON(422, `{"detail":[{"loc":["body","prompt"],"msg":"too short KEY","type":"value_error"}]}`), code: provider.InvalidRequest, says: "prompt: too short", param: "prompt"},
	"error as text":                {step: openaitest.JSON(400, `{"error":"Validation failed KEY","steady":{}}`), code: provider.InvalidRequest, says: "Validation failed"},
	"problem":                      {step: openaitest.Step{Status: 422, Header: map[string]string{"Content-Type": "application/problem+json"}, Body: `{"type":"x","title":"Invalid request","status":422,"detail":"Not valid KEY","validation":[{"location":["body","prompt"],"severity":"Error","code":"type","message":"must be string"},{"location":["body","model"],"message":"is required"}]}`}, code: provider.InvalidRequest, says: "Not valid [key]; prompt: must be string; model: is required"},
	"code as number":               {step: openaitest.JSON(500, `{"error":{"message":"broken KEY","code":500}}`), code: provider.Unavailable, says: "broken", maybe: true},
	"plain text":                   {step: openaitest.Step{Status: 500, Header: plain, Body: "it broke\nKEY"}, code: provider.Unavailable, says: "it broke [key]", maybe: true},
	"invalid JSON":                 {step: openaitest.JSON(500, `{"error": KEY`), code: provider.Unavailable, maybe: true},
	"empty body":                   {step: openaitest.JSON(500, ``), code: provider.Unavailable, says: "500 Internal Server Error", maybe: true},
	"gateway's page":               {step: openaitest.Step{Status: 502, Header: html, Body: "<html><h1>502 Bad Gateway</h1>KEY nginx</html>"}, code: provider.Unavailable, says: "502 Bad Gateway", maybe: true},
	"unavailable":                  {step: openaitest.JSON(503, `{"error":"loading KEY"}`), code: provider.Unavailable, says: "loading", maybe: true},
	"gateway's timeout":            {step: openaitest.Step{Status: 504, Header: html, Body: "<html>KEY"}, code: provider.TimedOut, says: "504", maybe: true},
	"proxy's timeout":              {step: openaitest.Step{Status: 524, Header: html, Body: "<!DOCTYPE html>KEY"}, code: provider.TimedOut, says: "524", maybe: true},
	"request timeout":              {step: openaitest.JSON(408, `{}`), code: provider.TimedOut, says: "408", maybe: true},
	"conflict":                     {step: openaitest.JSON(409, `{}`), code: provider.Unavailable, says: "409", maybe: true},
	"too large":                    {step: openaitest.Step{Status: 413, Header: html, Body: "<html>KEY"}, code: provider.TooLarge, says: "413"},
	"rate without time":            {step: openaitest.JSON(429, `{"error":{"message":"slow down KEY"}}`), code: provider.RateLimited, says: "slow down"},
	"redirect":                     {step: openaitest.Step{Status: 307, Header: map[string]string{"Location": "https://example.org/KEY"}}, code: provider.InvalidRequest, says: "base URL"},
	"cut connection":               {step: openaitest.Step{Cut: true}, code: provider.Unavailable, says: "ended before the answer", maybe: true},
	"cut answer":                   {step: openaitest.Step{Status: 200, Cut: true, Body: `{"data":[{"b64_json":"iVBOR`}, code: provider.Unavailable, says: "ended before the answer", maybe: true},
	"no data":                      {step: openaitest.JSON(200, `{"created":1,"data":[]}`), code: provider.NoImage, says: "no picture", maybe: true},
	"null data":                    {step: openaitest.JSON(200, `{"created":"1","data":null,"usage":null}`), code: provider.NoImage, says: "no picture", maybe: true},
	"odd data":                     {step: openaitest.JSON(200, `{"data":"KEY"}`), code: provider.NoImage, maybe: true},
	"empty picture":                {step: openaitest.JSON(200, `{"data":[{"b64_json":"","url":null}]}`), code: provider.NoImage, maybe: true},
	"no base64":                    {step: openaitest.JSON(200, `{"data":[{"b64_json":"§§"}]}`), code: provider.NoImage, says: "base64", maybe: true},
	"no picture in it":             {step: openaitest.JSON(200, `{"data":[{"b64_json":"aGVsbG8="}]}`), code: provider.NoImage, says: "no PNG", maybe: true},
	"page instead of JSON":         {step: openaitest.Step{Status: 200, Header: html, Body: "<html>KEY"}, code: provider.NoImage, says: "text/html", maybe: true},
	"broken JSON":                  {step: openaitest.JSON(200, `{"data": [`), code: provider.NoImage, maybe: true},
	"error with status 200":        {step: openaitest.JSON(200, `{"error":{"message":"Rejected KEY","code":"moderation_blocked"}}`), code: provider.ModerationBlocked, says: "Rejected"},
	"bad address":                  {step: openaitest.JSON(200, `{"data":[{"url":"ftp://example.org/KEY"}]}`), code: provider.NoImage, says: "ftp", maybe: true},
	"event with a moderation code": {step: openaitest.Step{Status: 200, Header: events, Body: "event: error\ndata: {\"type\":\"error\",\"error\":{\"code\":\"moderation_blocked\",\"message\":\"Rejected KEY\"}}\n\n"}, code: provider.ModerationBlocked, says: "Rejected"},
	"event of a rate limit":        {step: openaitest.Step{Status: 200, Header: events, Body: "data: {\"error\":{\"code\":\"rate_limit_exceeded\",\"message\":\"slow KEY\"}}\n\n"}, code: provider.RateLimited, says: "slow"},
	"event of any error":           {step: openaitest.Step{Status: 200, Header: events, Body: "event: error\ndata: {\"message\":\"broken KEY\"}\n\n"}, code: provider.Unavailable, says: "broken", maybe: true},
	"stream of nothing":            {step: openaitest.Step{Status: 200, Header: events, Body: ": KEY\n\ndata: [DONE]\n\n"}, code: provider.NoImage, maybe: true},
}

// TestRefusals wants one POST, the server's words and no key for each.
func TestRefusals(t *testing.T) {
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			c.step.Body = strings.ReplaceAll(c.step.Body, "KEY", key)
			p, s := serve(t, openai.Options{Organization: "org-1", Project: "proj-1"}, c.step, c.step)
			_, e := generate(t, p, provider.Request{Size: small})
			if e == nil {
				t.Fatal("there is no error")
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d POSTs, want 1", n)
			}
			want := &provider.Error{Code: c.code, Param: c.param, MayHaveRun: c.maybe, Stage: c.stage, Categories: c.details}
			got := &provider.Error{Code: e.Code, Param: e.Param, MayHaveRun: e.MayHaveRun, Stage: e.Stage, Categories: e.Categories}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got)\n%s%v", d, e)
			}
			if !strings.Contains(e.Visible(), c.says) || e.Message == "" || strings.ContainsAny(e.Message, "\n<") {
				t.Errorf("the model reads %q, want %q in one line", e.Visible(), c.says)
			}
			withoutKey(t, e)
		})
	}
}

// withoutKey looks for the key in whatever could be printed of e.
func withoutKey(t *testing.T, e *provider.Error) {
	t.Helper()
	if all := fmt.Sprintf("%v %+v %#v %v %#v", e, *e, *e, e.Err, e.Err); strings.Contains(all, key) || strings.Contains(all, "4711") {
		t.Errorf("the key is in %s", all)
	}
}

func TestUnreachable(t *testing.T) {
	p := client(t, openai.Options{BaseURL: "http://127.0.0.1:1/v1?secret=" + key})
	var events []provider.Event
	_, err := p.Generate(t.Context(), provider.Request{Prompt: "a house"}, func(e provider.Event) { events = append(events, e) })
	e, ok := err.(*provider.Error)
	if !ok || e.Code != provider.Unavailable || e.MayHaveRun || !strings.Contains(e.Message, "cannot be reached") {
		t.Fatalf("got %#v", err)
	}
	withoutKey(t, e)
	var phases []provider.Phase
	for _, e := range events {
		phases = append(phases, e.Phase)
	}
	if d := cmp.Diff([]provider.Phase{provider.Generating, provider.Waiting, provider.Generating}, phases); d != "" {
		t.Errorf("phases (-want +got)\n%s", d)
	}
}

func TestTimeout(t *testing.T) {
	p, s := serve(t, openai.Options{Timeout: 500 * time.Millisecond}, openaitest.Step{Delay: time.Hour})
	_, e := generate(t, p, provider.Request{})
	if e == nil || e.Code != provider.TimedOut || !e.MayHaveRun || len(s.Requests()) != 1 {
		t.Errorf("got %v after %d POSTs, want timeout after 1", e, len(s.Requests()))
	}
	<-s.Gone()
}

// waits are steps that ask to come back.
func waits(status int, header, value string) openaitest.Step {
	return openaitest.Step{Status: status, Header: map[string]string{header: value}, Body: `{"error":{"message":"later"}}`}
}

func TestAskAgain(t *testing.T) {
	tests := map[string]struct {
		wait  time.Duration
		steps []openaitest.Step
		posts int
		code  provider.Code
		after time.Duration
	}{
		"rate":                        {steps: []openaitest.Step{waits(429, "Retry-After", "1")}, posts: 2},
		"rate, in milliseconds":       {steps: []openaitest.Step{waits(429, "Retry-After-Ms", "5")}, posts: 2},
		"rate, until a date gone by":  {steps: []openaitest.Step{waits(429, "Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT")}, posts: 2},
		"unavailable":                 {steps: []openaitest.Step{waits(503, "Retry-After", "0")}, posts: 2},
		"rate, twice":                 {steps: []openaitest.Step{waits(429, "Retry-After-Ms", "5"), waits(429, "Retry-After-Ms", "5")}, posts: 2, code: provider.RateLimited, after: 5 * time.Millisecond},
		"rate, for too long":          {steps: []openaitest.Step{waits(429, "Retry-After", "31")}, posts: 1, code: provider.RateLimited, after: 31 * time.Second},
		"rate, for longer than we do": {wait: -1, steps: []openaitest.Step{waits(429, "Retry-After", "0")}, posts: 1, code: provider.RateLimited},
		"rate, for ever":              {steps: []openaitest.Step{waits(429, "Retry-After", "1e300")}, posts: 1, code: provider.RateLimited, after: 24 * time.Hour},
		"broken, with a time":         {steps: []openaitest.Step{waits(500, "Retry-After", "0")}, posts: 1, code: provider.Unavailable},
		"timeout, with a time":        {steps: []openaitest.Step{waits(504, "Retry-After", "0")}, posts: 1, code: provider.TimedOut},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			p, s := serve(t, openai.Options{RetryWait: c.wait}, c.steps...)
			_, e := generate(t, p, provider.Request{Size: small})
			if n := len(s.Requests()); n != c.posts {
				t.Errorf("%d POSTs, want %d", n, c.posts)
			}
			if e == nil {
				e = &provider.Error{}
			}
			if e.Code != c.code || e.RetryAfter != c.after {
				t.Errorf("got %v with %s to wait, want %q with %s", e, e.RetryAfter, c.code, c.after)
			}
		})
	}
}

func TestUnwantedFields(t *testing.T) {
	refuse := func(body string) openaitest.Step { return openaitest.JSON(http.StatusBadRequest, body) }
	tests := map[string]struct {
		step  openaitest.Step
		again bool
		gone  string // the field
	}{
		"named":               {refuse(`{"error":{"message":"Unknown parameter: 'quality'.","param":"quality","code":"unknown_parameter"}}`), true, "quality"},
		"refused value":       {refuse(`{"error":{"message":"Invalid value","param":"background"}}`), true, "background"},
		"in a list":           {openaitest.JSON(422, `{"detail":[{"loc":["body","quality"],"msg":"Extra inputs are not permitted","type":"extra_forbidden"}]}`), true, "quality"},
		"in a message":        {refuse(`{"error":"openai does not support parameters: ['quality']"}`), true, "quality"},
		"n in a message":      {refuse(`{"error":"unsupported: 'n'"}`), true, "n"},
		"one of a pair":       {refuse(`{"error":{"message":"stream is not supported","param":"stream"}}`), false, ""},
		"two in a message":    {refuse(`{"error":"unsupported: quality, background"}`), false, ""},
		"a word in a message": {refuse(`{"error":"the quality of this prompt is bad"}`), false, ""},
		"what we did not ask": {refuse(`{"error":{"message":"Unknown parameter","param":"seed"}}`), false, ""},
		"what must be":        {refuse(`{"error":{"message":"Unknown model","param":"model"}}`), false, ""},
		"broken server":       {openaitest.JSON(500, `{"error":{"message":"Unknown parameter","param":"quality"}}`), false, ""},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			p, s := serve(t, openai.Options{}, c.step)
			result, e := generate(t, p, provider.Request{Size: small, Quality: "high", Background: "opaque", N: 2})
			if !c.again {
				if e == nil || len(s.Requests()) != 1 {
					t.Errorf("got %v after %d POSTs, want an error after 1", e, len(s.Requests()))
				}
				return
			}
			if e != nil || len(s.Requests()) != 2 {
				t.Fatalf("got %v after %d POSTs, want a picture after 2", e, len(s.Requests()))
			}
			first, second := s.Requests()[0].Fields, s.Requests()[1].Fields
			delete(first, c.gone)
			if d := cmp.Diff(first, second); d != "" {
				t.Errorf("the second POST (-want +got)\n%s", d)
			}
			if !strings.Contains(strings.Join(result.Warnings, "\n"), "does not take "+c.gone) {
				t.Errorf("no warning about %s in %q", c.gone, result.Warnings)
			}
		})
	}
}

// A server that repeats the key beside a picture.
func TestKeyBesidePicture(t *testing.T) {
	body := strings.ReplaceAll(`{"quality":"KEY","background":"KEY","data":[{"b64_json":"`+b64+`","revised_prompt":"a house KEY"},{"url":"ftp://KEY/"}]}`, "KEY", key)
	stream := strings.ReplaceAll(`data: {"type":"image_generation.completed","quality":"KEY","background":"KEY","revised_prompt":"KEY","b64_json":"`+b64+`"}`+"\n\n", "KEY", key)
	refusal := openaitest.JSON(http.StatusBadRequest, `{"error":{"message":"Unknown parameter `+key+`","param":"quality"}}`)
	for name, steps := range map[string][]openaitest.Step{
		"JSON": {openaitest.JSON(200, body)}, "stream": {openaitest.Events(stream)}, "what was left out": {refusal, openaitest.JSON(200, body)},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := serve(t, openai.Options{}, steps...)
			got, e := generate(t, p, provider.Request{Quality: "low"})
			if e != nil {
				t.Fatal(e)
			}
			got.Images = nil
			if all := fmt.Sprintf("%+v", got); strings.Contains(all, key) || !strings.Contains(all, "[key]") {
				t.Errorf("the result says %s", all)
			}
		})
	}
}

// What is said beside a picture is cut: it goes to the model.
func TestLongTextBesidePicture(t *testing.T) {
	long := strings.Repeat("x", 100_000) + `\u001b`
	p, _ := serve(t, openai.Options{}, openaitest.JSON(200, `{"quality":"\u001b`+long+`","background":"`+long+`","data":[{"b64_json":"`+b64+`","revised_prompt":"a\u001b\n`+long+`"}]}`))
	got, e := generate(t, p, provider.Request{})
	if e != nil {
		t.Fatal(e)
	}
	for name, c := range map[string]struct {
		text string
		most int
	}{"quality": {got.Quality, 1000}, "background": {got.Background, 1000}, "revised prompt": {got.RevisedPrompt, 32_000}} {
		if n := utf8.RuneCountInString(c.text); n != c.most || strings.Contains(c.text, "\x1b") {
			t.Errorf("%s has %d characters: %.20q, want %d and no escape", name, n, c.text, c.most)
		}
	}
	if !strings.HasPrefix(got.RevisedPrompt, "a\nx") {
		t.Errorf("the prompt begins with %.20q", got.RevisedPrompt)
	}
}
