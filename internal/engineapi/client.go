// Package engineapi speaks as much of the Docker Engine API as tests and measurements need,
// by plain HTTP over the engine's socket: images, containers, commands in them.
//
// It stands beside what is tested, so that a fault of the client library cannot hide itself. It is
// not for programs: it knows unix sockets and plain TCP only, and bounds nothing that it reads.
package engineapi

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// version is the oldest of the API that has all that is used here: engines since 19.03.
const version = "v1.40"

// DefaultHost is where an engine listens if nothing says otherwise.
const DefaultHost = "unix:///var/run/docker.sock"

// A Client speaks to one engine. Its methods can be called at the same time.
type Client struct {
	// Host is the engine's address, such as unix:///var/run/docker.sock.
	Host string
	http *http.Client
}

// Host returns DOCKER_HOST, or the default.
func Host() string {
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		return host
	}
	return DefaultHost
}

// New returns a client of the engine at host: unix:///path or tcp://address. It does not connect.
func New(host string) (*Client, error) {
	network, address, _ := strings.Cut(host, "://")
	if network != "unix" && network != "tcp" || address == "" {
		return nil, fmt.Errorf("engine %q: neither unix:///path nor tcp://address", host)
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	return &Client{Host: host, http: &http.Client{Transport: &http.Transport{DialContext: dial}}}, nil
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// A StatusError is an answer other than 2xx.
type StatusError struct {
	Status int
	Text   string
}

// Error is what the engine said.
func (e *StatusError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Text) }

// Ping asks whether the engine answers.
func (c *Client) Ping(ctx context.Context) error { return c.ask(ctx, "GET", "/_ping", nil, nil) }

// ask makes a request with in as its JSON body, if there is one, and decodes the answer into out,
// if it is asked for.
func (c *Client) ask(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("%s %s: %w", method, path, err)
		}
		body = bytes.NewReader(data)
	}
	answer, err := c.open(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer answer.Close()
	if out != nil {
		err = json.NewDecoder(answer).Decode(out)
	}
	if err != nil {
		return fmt.Errorf("%s %s: decode the answer: %w", method, path, err)
	}
	_, err = io.Copy(io.Discard, answer) // or the connection is not used again
	return err
}

// open makes a request and returns the body of a good answer, which the caller closes.
func (c *Client) open(ctx context.Context, method, path string, body io.Reader) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://engine/"+version+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	if resp.StatusCode/100 == 2 {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return nil, fmt.Errorf("%s %s: %w", method, path, &StatusError{resp.StatusCode, strings.TrimSpace(string(text))})
}

// HasImage says whether the engine has an image.
func (c *Client) HasImage(ctx context.Context, name string) (bool, error) {
	err := c.ask(ctx, "GET", "/images/"+url.PathEscape(name)+"/json", nil, nil)
	if isNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// CopyImage brings an image of another engine here.
func (c *Client) CopyImage(ctx context.Context, from *Client, name string) error {
	archive, err := from.open(ctx, "GET", "/images/get?names="+url.QueryEscape(name), nil)
	if err != nil {
		return err
	}
	defer archive.Close()
	progress, err := c.open(ctx, "POST", "/images/load?quiet=1", archive)
	if err != nil {
		return err
	}
	defer progress.Close()
	if _, err := io.Copy(io.Discard, progress); err != nil {
		return fmt.Errorf("load %s: %w", name, err)
	}
	has, err := c.HasImage(ctx, name)
	if err == nil && !has {
		err = fmt.Errorf("load %s: the engine does not have it then", name)
	}
	return err
}
