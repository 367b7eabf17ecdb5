// Package openaitest stands in for an Images API: a strict [http.Handler] for tests and
// demonstrations.
//
// Without a script it answers as the API does: it refuses what the API refuses, with its
// words, and draws a picture of the size and format that was asked for, or streams partial
// ones and the finished one. [Step] makes it misbehave, one request each. It records every
// POST, so that a test can count them.
//
// It judges nothing but the form of requests, and its pictures show a gradient.
package openaitest

import (
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

// A Server answers POSTs to images/generations and images/edits below any path.
type Server struct {
	key string

	mu       sync.Mutex
	steps    []Step
	requests []Request
	gone     chan struct{}
}

// New returns a server that wants key as bearer or api-key; any when empty. It plays the
// steps, one a POST, and then answers rightly.
func New(key string, steps ...Step) *Server {
	return &Server{key: key, steps: steps, gone: make(chan struct{}, 1000)}
}

// A Step is what one POST gets. The zero value is the right answer.
type Step struct {
	Delay  time.Duration     // first; it ends early when the client goes away
	Cut    bool              // the connection ends after Body, or without an answer if there is no Status
	Status int               // of a scripted answer; 0: the right one
	Header map[string]string // of a scripted answer; JSON unless it says otherwise
	Body   string            // of a scripted answer
}

// JSON is a step that answers with a status and a body.
func JSON(status int, body string) Step { return Step{Status: status, Body: body} }

// Events is a step that answers with an event stream, as written.
func Events(text string) Step {
	return Step{Status: http.StatusOK, Header: map[string]string{"Content-Type": "text/event-stream"}, Body: text}
}

// A Request is a POST as it came.
type Request struct {
	Path   string
	Header http.Header
	Fields map[string]any // of JSON as decoded; of a form texts
	Files  []File
}

// A File is a part of a form that has a file name.
type File struct {
	Field, Name, Type string
	Data              []byte
}

// Requests returns the POSTs so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Gone gets a value whenever a client went away during a delay.
func (s *Server) Gone() <-chan struct{} { return s.gone }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch what := path.Base(path.Dir(r.URL.Path)) + "/" + path.Base(r.URL.Path); {
	case what != "images/generations" && what != "images/edits":
		refuse(w, http.StatusNotFound, problem{Message: "Invalid URL (" + r.Method + " " + r.URL.Path + ")"})
		return
	case r.Method != http.MethodPost:
		refuse(w, http.StatusMethodNotAllowed, problem{Message: "Not allowed to " + r.Method + " on " + r.URL.Path})
		return
	}
	got, err := read(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, problem{Message: "We could not parse the body of your request: " + err.Error()})
		return
	}
	step := s.record(got)
	if step.Delay > 0 && !s.sleep(r, step.Delay) {
		return
	}
	switch {
	case step.Status != 0:
		play(w, step)
	case step.Cut:
		panic(http.ErrAbortHandler)
	case !s.knows(r.Header):
		refuse(w, http.StatusUnauthorized, problem{Message: "Incorrect API key provided.", Code: "invalid_api_key"})
	default:
		answer(w, got)
	}
}

// record notes the request and takes its step.
func (s *Server) record(r Request) (step Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if len(s.steps) > 0 {
		step, s.steps = s.steps[0], s.steps[1:]
	}
	return step
}

func (s *Server) sleep(r *http.Request, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		s.gone <- struct{}{}
		return false
	}
}

func (s *Server) knows(h http.Header) bool {
	return s.key == "" || h.Get("Authorization") == "Bearer "+s.key || h.Get("Api-Key") == s.key
}

func play(w http.ResponseWriter, step Step) {
	w.Header().Set("Content-Type", "application/json")
	for name, value := range step.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(step.Status)
	io.WriteString(w, step.Body)
	if step.Cut {
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// read takes a JSON body or a form apart.
func read(r *http.Request) (Request, error) {
	got := Request{Path: r.URL.Path, Header: r.Header.Clone(), Fields: map[string]any{}}
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return got, err
	}
	if media != "multipart/form-data" {
		return got, json.NewDecoder(r.Body).Decode(&got.Fields)
	}
	for form := multipart.NewReader(r.Body, params["boundary"]); ; {
		part, err := form.NextPart()
		if err == io.EOF {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return got, err
		}
		if part.FileName() == "" {
			got.Fields[part.FormName()] = string(data)
			continue
		}
		got.Files = append(got.Files, File{part.FormName(), part.FileName(), part.Header.Get("Content-Type"), data})
	}
}

// edits reports whether r is one.
func (r Request) edits() bool { return strings.HasSuffix(r.Path, "/edits") }
