// Package openai makes pictures with the Images API of OpenAI and of the servers that speak it.
//
// [New] takes where the server is, [Provider.Generate] asks it. A request is one POST: it may
// cost money, so it is sent again only where the first one cannot have run, see [Provider.Generate].
// What differs from server to server is data ([profiles] in profile.go), and so is what a model
// may be asked for (models.go); a model that is not listed gets what the caller asked for.
//
// The client library builds and sends the request. The answer is read here: the library
// keeps an error's words to itself, takes a JSON answer to a streaming request for an empty
// stream, and holds a picture several times over.
//
// The package reads no environment variable (but those of proxies, with the first request),
// no file and no policy, and it does not check what [provider.Model] says: the caller did.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
)

// Defaults of [Options].
const (
	DefaultBaseURL   = "https://api.openai.com/v1"
	DefaultRetryWait = 30 * time.Second
	DefaultTimeout   = 15 * time.Minute // a large picture on a processor takes that long
)

// Options say where the server is and how to speak to it. The zero value is OpenAI without a
// key, which OpenAI refuses.
type Options struct {
	BaseURL      string        // with the version in it; DefaultBaseURL when empty
	APIKey       string        // servers at home may need none
	Organization string        // sent as a header
	Project      string        // sent as a header
	Profile      string        // one of Profiles; by BaseURL when empty
	Model        string        // of requests that name none; the profile's when empty
	RetryWait    time.Duration // the longest wait before a second POST; DefaultRetryWait when 0, none when negative
	Timeout      time.Duration // of one POST until its answer is read; DefaultTimeout when 0
	AllowHosts   []string      // hosts (or host:port) whose pictures are fetched though their addresses are private

	// Transport carries what goes to BaseURL; one that honours the proxy variables when nil.
	Transport http.RoundTripper
}

// A Provider asks one server.
type Provider struct {
	client    openai.Client
	base      *url.URL
	profile   profile
	model     string
	retryWait time.Duration
	timeout   time.Duration
	secrets   scrubber
	fetcher   fetcher
}

var _ provider.Provider = (*Provider)(nil)

// New returns a provider for the server that o describes. It connects to nothing.
func New(o Options) (*Provider, error) {
	base, err := baseURL(o.BaseURL)
	if err != nil {
		return nil, err
	}
	of, err := profileOf(o.Profile, base)
	if err != nil {
		return nil, err
	}
	if of.name == "azure" && strings.Trim(base.Path, "/") == "" {
		base.Path = "/openai/v1"
	}
	if !strings.HasSuffix(base.Path, "/") { // what is relative to it lies below it
		base = base.JoinPath("/")
	}
	key := strings.TrimSpace(o.APIKey)
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the API key holds a space or a character that no key has")
	}
	transport := o.Transport
	if transport == nil {
		transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	own := &http.Client{Transport: bounded{transport}, CheckRedirect: stay}
	p := &Provider{
		base: base, profile: of, model: o.Model,
		retryWait: o.RetryWait, timeout: o.Timeout,
		secrets: newScrubber(key),
		fetcher: fetcher{base: base, own: own, foreign: foreignClient(o.AllowHosts), auth: of.authorize(key)},
	}
	if p.model == "" {
		p.model = of.model
	}
	if p.retryWait == 0 {
		p.retryWait = DefaultRetryWait
	}
	if p.timeout == 0 {
		p.timeout = DefaultTimeout
	}
	p.client = openai.Client{Options: clientOptions(o, base, own, p.fetcher.auth)} // NewClient reads the environment
	return p, nil
}

func clientOptions(o Options, base *url.URL, own *http.Client, auth http.Header) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(base.Scheme + "://" + base.Host + base.EscapedPath()),
		option.WithHTTPClient(own),
		option.WithMaxRetries(0), // see Generate
		option.WithUnsafeAllowHTTP(),
	}
	for name := range auth {
		opts = append(opts, option.WithHeader(name, auth.Get(name)))
	}
	for name, values := range base.Query() { // api-version of older Azure addresses
		for _, v := range values {
			opts = append(opts, option.WithQueryAdd(name, v))
		}
	}
	if o.Organization != "" {
		opts = append(opts, option.WithOrganization(o.Organization))
	}
	if o.Project != "" {
		opts = append(opts, option.WithProject(o.Project))
	}
	return opts
}

// baseURL never repeats the address in an error: people put keys into it.
func baseURL(address string) (*url.URL, error) {
	if address == "" {
		address = DefaultBaseURL
	}
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil:
		return nil, errors.New("the base URL cannot be parsed")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("the base URL wants the form https://host/v1")
	case u.User != nil:
		return nil, fmt.Errorf("the base URL of %s has a password in it; give it as the API key", u.Host)
	}
	return u, nil
}

// stay ends at the first redirect: a POST must not be repeated elsewhere.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Name is openai.
func (p *Provider) Name() string { return "openai" }

// Model returns the rules for a model on this server.
func (p *Provider) Model(name string) provider.Model {
	if name == "" {
		name = p.model
	}
	m := lookUp(name)
	m.Partials = m.Partials && p.profile.streams
	m.ForeignOwned = p.profile.can("seed") || p.profile.inPrompt != ""
	return m
}

// Close ends idle connections. Requests under way go on.
func (p *Provider) Close() {
	p.fetcher.own.CloseIdleConnections()
	p.fetcher.foreign.CloseIdleConnections()
}

// Generate makes one POST. It makes a second one only in two cases, each once, in both of which
// nothing was made: the server could not be reached, or named with 429 or 503 a time to wait for
// (within Options.RetryWait); the server objects with 400 or 422 to one optional field, which is
// then left out and said in the warnings. All else may have been made and paid for:
// [provider.Error.MayHaveRun].
func (p *Provider) Generate(ctx context.Context, r provider.Request, report func(provider.Event)) (*provider.Result, error) {
	if report == nil {
		report = func(provider.Event) {}
	}
	q, err := p.newQuery(r)
	if err != nil {
		return nil, err
	}
	for waited, dropped := false, false; ; {
		report(provider.Event{Phase: provider.Generating, Text: "asked " + p.base.Hostname()})
		result, fail := p.attempt(ctx, q, report)
		if fail == nil {
			return p.finish(q, result), nil
		}
		field := q.objection(fail.Error)
		switch {
		case field != "" && !dropped:
			dropped = true
			q.leaveOut(field, fail.Message)
		case fail.again && !waited && fail.wait <= p.retryWait:
			waited = true
			if err := p.pause(ctx, fail, report); err != nil {
				return nil, err
			}
		default:
			return nil, p.secrets.error(fail.Error)
		}
	}
}

// pause waits as long as the server asked to.
func (p *Provider) pause(ctx context.Context, fail *failure, report func(provider.Event)) error {
	text := fmt.Sprintf("%s, trying again in %s", fail.Code, fail.wait.Round(time.Millisecond))
	report(provider.Event{Phase: provider.Waiting, Text: text})
	timer := time.NewTimer(fail.wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ended(ctx, false).Error
	}
}
