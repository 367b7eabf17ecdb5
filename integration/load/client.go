// Package load speaks MCP over HTTP without an SDK: for tests that say what no library would,
// and for measurements that need a thousand clients whose cost is small.
//
// A [Client] is one client in one protocol era. It checks little, since what it is told
// is what its callers want to look at.
package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// The protocol versions that a [Client] speaks.
const (
	Legacy = "2025-06-18"
	Modern = "2026-07-28"
)

// A Client is a client of one server. Its methods can be called at the same time.
type Client struct {
	URL     string
	Version string       // Legacy, which has sessions, or Modern
	HTTP    *http.Client // nil: the default one
	Session string       // set by Open

	lastID atomic.Int64
}

// A Message is an answer of a server, or a notification.
type Message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// Text is the first text of a tool's result.
func (m Message) Text() string {
	var result struct{ Content []struct{ Text string } }
	if json.Unmarshal(m.Result, &result) != nil || len(result.Content) == 0 {
		return ""
	}
	return result.Content[0].Text
}

// A StatusError is an answer other than 2xx.
type StatusError struct {
	Status int
	Header http.Header
	Message
}

func (e *StatusError) Error() string {
	if e.Message.Error == nil {
		return fmt.Sprintf("status %d", e.Status)
	}
	return fmt.Sprintf("status %d: %d: %s", e.Status, e.Message.Error.Code, e.Message.Error.Message)
}

// Open begins a session, where the version has them.
func (c *Client) Open(ctx context.Context) error {
	if c.Version == Modern {
		return nil
	}
	const hello = `"protocolVersion":"` + Legacy + `","capabilities":{},"clientInfo":{"name":"load","version":"1"}`
	res, err := c.post(ctx, "initialize", "", c.body("initialize", hello, false))
	if err != nil {
		return err
	}
	if _, err := c.answer(res, nil); err != nil {
		return err
	}
	c.Session = res.Header.Get("Mcp-Session-Id")
	res, err = c.post(ctx, "", "", []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return refused(res)
}

// Close ends the session.
func (c *Client) Close(ctx context.Context) error {
	res, err := c.Do(ctx, http.MethodDelete, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	return refused(res)
}

// Listen opens the event stream of a session; the caller closes its body.
func (c *Client) Listen(ctx context.Context) (*http.Response, error) {
	res, err := c.Do(ctx, http.MethodGet, nil)
	if err != nil {
		return nil, err
	}
	if err := refused(res); err != nil {
		res.Body.Close()
		return nil, err
	}
	return res, nil
}

// List returns the answer to tools/list.
func (c *Client) List(ctx context.Context) (Message, error) {
	return c.ask(ctx, "tools/list", "", "", nil)
}

// Call calls a tool with args as JSON. If hear is not nil, it asks for progress, and hear
// is called for every message before the answer, as it arrives.
func (c *Client) Call(ctx context.Context, tool, args string, hear func(Message)) (Message, error) {
	return c.ask(ctx, "tools/call", tool, `"name":"`+tool+`","arguments":`+args, hear)
}

func (c *Client) ask(ctx context.Context, method, name, params string, hear func(Message)) (Message, error) {
	res, err := c.post(ctx, method, name, c.body(method, params, hear != nil))
	if err != nil {
		return Message{}, err
	}
	return c.answer(res, hear)
}

// body returns a request, with params given as the inside of a JSON object.
func (c *Client) body(method, params string, progress bool) []byte {
	id := c.lastID.Add(1)
	var meta []string
	if progress {
		meta = append(meta, fmt.Sprintf(`"progressToken":%d`, id))
	}
	if c.Version == Modern {
		meta = append(meta, `"io.modelcontextprotocol/protocolVersion":"`+Modern+`","io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}`)
	}
	if params != "" && len(meta) > 0 {
		params += ","
	}
	if len(meta) > 0 {
		params += `"_meta":{` + strings.Join(meta, ",") + `}`
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, id, method, params)
}

func (c *Client) post(ctx context.Context, method, name string, body []byte) (*http.Response, error) {
	req, err := c.Request(ctx, http.MethodPost, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if c.Version == Modern {
		req.Header.Set("Mcp-Method", method)
		if name != "" {
			req.Header.Set("Mcp-Name", name)
		}
	}
	return c.client().Do(req)
}

// Do sends a request with the headers that every request of the client has.
func (c *Client) Do(ctx context.Context, method string, body io.Reader) (*http.Response, error) {
	req, err := c.Request(ctx, method, body)
	if err != nil {
		return nil, err
	}
	return c.client().Do(req)
}

// Request returns a request with the headers that every request of the client has.
func (c *Client) Request(ctx context.Context, method string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.URL, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Content-Type", "application/json")
	if c.Version == Modern || c.Session != "" {
		req.Header.Set("Mcp-Protocol-Version", c.Version)
	}
	if c.Session != "" {
		req.Header.Set("Mcp-Session-Id", c.Session)
	}
	return req, nil
}

func (c *Client) client() *http.Client {
	if c.HTTP == nil {
		return http.DefaultClient
	}
	return c.HTTP
}

// answer reads an answer to its end, which lets the connection be used again.
func (c *Client) answer(res *http.Response, hear func(Message)) (last Message, err error) {
	defer res.Body.Close()
	if err := refused(res); err != nil {
		return last, err
	}
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		err := json.NewDecoder(res.Body).Decode(&last)
		_, _ = io.Copy(io.Discard, res.Body)
		return last, err
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok || len(data) == 0 {
			continue
		}
		last = Message{}
		if err := json.Unmarshal(data, &last); err != nil {
			return last, fmt.Errorf("event %.200q: %w", data, err)
		}
		if last.Method != "" && hear != nil {
			hear(last)
		}
	}
	if err := lines.Err(); err != nil {
		return last, err
	}
	if last.ID == nil || last.Method != "" {
		return last, fmt.Errorf("the event stream ended without an answer: %w", io.ErrUnexpectedEOF)
	}
	return last, nil
}

// refused returns the error that an answer is.
func refused(res *http.Response) error {
	if res.StatusCode/100 == 2 {
		return nil
	}
	e := &StatusError{Status: res.StatusCode, Header: res.Header}
	_ = json.NewDecoder(res.Body).Decode(&e.Message) // others than the server answer in other forms
	return e
}
