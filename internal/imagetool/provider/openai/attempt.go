package openai

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// maxErrorBody is how much of an error's body is read.
const maxErrorBody = 1 << 20

// unreachableWait is how long to wait before a server that could not be reached is asked again.
const unreachableWait = 500 * time.Millisecond

// A failure is an error and whether to ask again: nothing was made, and the server said when
// it would like to be asked, or could not be reached.
type failure struct {
	*provider.Error
	again bool
	wait  time.Duration
}

// attempt makes exactly one POST and reads the answer.
func (p *Provider) attempt(ctx context.Context, q *query, report func(provider.Event)) (*provider.Result, *failure) {
	within, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	var sent atomic.Bool
	traced := httptrace.WithClientTrace(within, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	var res *http.Response
	err := p.client.Post(traced, q.path(), q.body(), &res, q.options()...)
	if res == nil {
		return nil, unanswered(within, err, sent.Load())
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusCreated {
		return nil, refused(within, res)
	}
	return p.read(within, res, q, report)
}

// unanswered is the failure of a POST without an answer.
func unanswered(ctx context.Context, err error, sent bool) *failure {
	if ctx.Err() != nil {
		return ended(ctx, sent)
	}
	cause := bare(err)
	fail := &failure{Error: &provider.Error{Code: provider.Unavailable, Err: cause, MayHaveRun: sent}}
	var op *net.OpError
	switch {
	case sent:
		fail.Message = "the connection ended before the answer: " + cause.Error()
	case errors.As(err, &op) && op.Op == "dial":
		fail.Message, fail.again, fail.wait = "the server cannot be reached: "+cause.Error(), true, unreachableWait
	default:
		fail.Message = "the request was not sent: " + cause.Error()
	}
	return fail
}

// refused is the failure of a POST that was answered with another status than 200.
func refused(ctx context.Context, res *http.Response) *failure {
	body, err := io.ReadAll(res.Body)
	if err != nil && ctx.Err() != nil {
		return ended(ctx, true)
	}
	return upstreamFailure(res.StatusCode, res.Header, body)
}

// ended is the failure of a request whose context is over.
func ended(ctx context.Context, sent bool) *failure {
	e := &provider.Error{Code: provider.Cancelled, Message: "the request was cancelled", Err: ctx.Err(), MayHaveRun: sent}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		e.Code, e.Message = provider.TimedOut, "there was no answer in time"
	}
	return &failure{Error: e}
}

// bare returns err without the address that was asked, which may hold secrets.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// bounded reads a limited part of the bodies of errors, which the client library reads whole.
type bounded struct{ http.RoundTripper }

// RoundTrip is that of the transport within.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.RoundTripper.RoundTrip(r)
	if err == nil && res.StatusCode >= 400 {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, maxErrorBody), res.Body}
	}
	return res, err
}

// CloseIdleConnections is that of the transport within.
func (b bounded) CloseIdleConnections() {
	if t, ok := b.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}
