package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// A message is the data of an event. A completed picture is in it, or a partial one, or an
// error, or, from servers that stream what they would have answered, a whole answer.
type message struct {
	answer
	item
	Type      string `json:"type"`
	Index     *int   `json:"partial_image_index"`
	CreatedAt loose  `json:"created_at"`
}

// A stream is what came so far.
type stream struct {
	items   []item
	kept    int // bytes of items
	facts   facts
	created loose
	last    *provider.Picture // the last partial one
	report  func(provider.Event)
}

// readEvents reads until there are as many pictures as asked for, or to the end.
func (p *Provider) readEvents(ctx context.Context, body io.Reader, q *query, report func(provider.Event)) (*provider.Result, *failure) {
	s := &stream{report: report}
	fail := s.read(ctx, newEvents(body, q.room()), q)
	if fail == nil || len(s.items) > 0 && ctx.Err() == nil { // what is here counts, whatever came after it
		result, bad := p.collect(ctx, q, s.items, report)
		if bad == nil {
			state(result, s.facts, s.created)
			return result, nil
		}
		fail = bad
	}
	fail.Partial = s.last
	return nil, fail
}

func (s *stream) read(ctx context.Context, from *events, q *query) *failure {
	for len(s.items) < q.N {
		e, err := from.next()
		switch {
		case errors.Is(err, io.EOF):
			return s.end()
		case err != nil:
			return unread(ctx, err, q)
		}
		if fail := s.take(e); fail != nil {
			return fail
		}
		from.limit = q.room() - s.kept
	}
	return nil
}

// end is where a stream ended before all pictures came.
func (s *stream) end() *failure {
	switch {
	case len(s.items) > 0:
		return nil
	case s.last != nil:
		return noImage("the stream ended after a partial picture, without the finished one", nil)
	}
	return noImage("the stream ended without a picture", nil)
}

// take looks at one event. What is no JSON object, such as [DONE], says nothing.
func (s *stream) take(e event) *failure {
	var m message
	if json.Unmarshal(e.data.rest, &m) != nil {
		return nil
	}
	own := []item{m.item}
	e.data.fill(own)
	e.data.fill(m.Data)
	m.item = own[0]
	kind := m.Type
	if kind == "" {
		kind = e.name
	}
	switch {
	case kind == "error" || len(m.Error) > 0 && string(m.Error) != "null":
		return streamFailure(e.data.rest)
	case strings.HasSuffix(kind, ".partial_image") || m.Index != nil && !strings.HasSuffix(kind, ".completed"):
		s.partial(m)
	case m.B64.data != nil || m.B64.err != nil || m.URL != "":
		s.note(m, m.item)
	case len(m.Data) > 0:
		s.note(m, m.Data...)
	}
	return nil
}

func (s *stream) note(m message, items ...item) {
	s.items, s.facts = append(s.items, items...), m.facts
	for _, it := range items {
		s.kept += len(it.B64.data)
	}
	s.created = m.Created
	if m.CreatedAt != "" {
		s.created = m.CreatedAt
	}
}

// partial reports a picture on the way; one that is none is not worth a word.
func (s *stream) partial(m message) {
	picture, err := provider.Identify(m.B64.data)
	if err != nil {
		return
	}
	s.last = &picture
	e := provider.Event{Phase: provider.PartialImage, Partial: &picture, Text: "partial picture, " + picture.Size.String()}
	if m.Index != nil {
		e.Index = *m.Index
	}
	s.report(e)
}
