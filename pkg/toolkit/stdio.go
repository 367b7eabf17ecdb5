package toolkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/toolkit/wire"
)

// How an ending takes its course: calls in flight get grace, are then cancelled, and have
// settle to answer. A handler that hears nothing is left behind after lastResort.
const (
	grace      = 1500 * time.Millisecond
	settle     = 300 * time.Millisecond
	lastResort = 1900 * time.Millisecond
)

// A client that sends and does not read is let go on until this many requests wait for
// their answers. If nothing moves for stuck after that, it is taken for gone.
const (
	maxPending = 4096
	stuck      = 10 * time.Second
)

// stdio is a transport over a pair of streams, one message a line, that answers what it has
// read before it honours the end of its input. The SDK's own loses answers in flight when
// the client closes its side right after its last request.
type stdio struct {
	in     io.Reader
	out    io.Writer
	stop   <-chan struct{} // closed on a signal: end without grace
	ending func()          // called once, when the end begins
	warn   func(error)     // told of input that cannot be read
}

// Connect implements [mcp.Transport].
func (t *stdio) Connect(context.Context) (mcp.Connection, error) {
	c := &conn{
		t:       t,
		frames:  make(chan jsonrpc.Message),
		eof:     make(chan struct{}),
		closed:  make(chan struct{}),
		changed: make(chan struct{}, 1),
		pending: map[jsonrpc.ID]string{},
		asked:   map[jsonrpc.ID]bool{},
		room:    make(chan struct{}, maxPending),
		refused: make(chan []byte),
		writing: make(chan struct{}, 1),
	}
	go c.receive()
	go c.refuse()
	return c, nil
}

// A conn is one session over stdio. It has three states: open; ending, when calls in
// flight may still answer; and cancelling, when they have been told to stop.
type conn struct {
	t       *stdio
	frames  chan jsonrpc.Message
	eof     chan struct{} // closed at the end of the input
	closed  chan struct{}
	close   sync.Once
	changed chan struct{} // pending or asked changed
	room    chan struct{} // one for each request that is pending
	refused chan []byte   // answers to what cannot be a request, on their way out

	writing chan struct{} // held by who writes

	mu      sync.Mutex
	pending map[jsonrpc.ID]string // requests read and not answered: id -> method
	sending int                   // answers on their way out
	asked   map[jsonrpc.ID]bool   // our requests that the client has not answered

	// Only Read touches these; the SDK calls it from one goroutine.
	inject     []jsonrpc.Message // to be read before anything else
	ending     bool
	cancelling bool
	until      <-chan time.Time
}

// SessionID implements [mcp.Connection]; stdio has one session, without a name.
func (c *conn) SessionID() string { return "" }

// Close implements [mcp.Connection].
func (c *conn) Close() error {
	c.close.Do(func() { close(c.closed) })
	return nil
}

// receive reads the input and hands its messages to Read. What cannot be a message is
// answered at once, and reading goes on.
func (c *conn) receive() {
	err := readFrames(c.t.in, MaxFrame, func(f frame) bool {
		m, refused := f.decode(MaxFrame)
		if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
			if !pass(c, c.room, struct{}{}) {
				return false
			}
			if refused = c.admit(r); refused != nil {
				<-c.room
			}
		}
		if refused != nil {
			c.count(&c.sending, 1)
			return pass(c, c.refused, refused)
		}
		select {
		case c.frames <- m:
			return true
		case <-c.closed:
			return false
		}
	})
	if err != nil && !errors.Is(err, io.EOF) {
		c.t.warn(fmt.Errorf("read stdin: %w", err))
	}
	close(c.eof)
}

// pass sends v, unless the session ends or the client does not read.
func pass[T any](c *conn, to chan<- T, v T) bool {
	patience := time.NewTimer(stuck)
	defer patience.Stop()
	select {
	case to <- v:
		return true
	case <-c.closed:
	case <-patience.C:
		c.t.warn(errors.New("the client sends and does not read: the session ends"))
	}
	return false
}

// refuse writes the answers to what cannot be a request, apart from receive, which has to
// see the end of the input even if nobody reads the output.
func (c *conn) refuse() {
	for {
		select {
		case data := <-c.refused:
			_ = c.send(data) // a client that has gone is noticed by the next read
			c.count(&c.sending, -1)
			c.look()
		case <-c.closed:
			return
		}
	}
}

func (c *conn) count(n *int, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*n += by
}

// admit notes a request, or refuses one whose id is still in use: the SDK would answer
// only one of the two.
func (c *conn) admit(r *jsonrpc.Request) (refused []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, used := c.pending[r.ID]; used {
		return wire.Refusal(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("request id %s is still in use: every request needs an id of its own", marshal(r.ID.Raw())), nil)
	}
	c.pending[r.ID] = r.Method
	return nil
}

// Read implements [mcp.Connection].
func (c *conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if c.ending {
			c.answerOurOwn()
		}
		if len(c.inject) > 0 {
			m := c.inject[0]
			c.inject = c.inject[1:]
			return m, nil
		}
		if c.ending && c.idle() {
			return nil, io.EOF
		}
		m, err := c.wait(ctx)
		if m != nil || err != nil {
			return m, err
		}
	}
}

// wait blocks until there is a message, an end, or something to look at again.
func (c *conn) wait(ctx context.Context) (jsonrpc.Message, error) {
	eof, stop := c.eof, c.t.stop
	if c.ending {
		eof = nil
	}
	if c.cancelling {
		stop = nil
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
		return nil, io.EOF
	case m := <-c.frames:
		c.noteAnswer(m)
		return m, nil
	case <-c.changed:
	case <-eof:
		c.end()
		if unread(c.t.out) { // the client was killed: there is nobody to answer
			c.cancelAll()
		}
	case <-stop:
		c.end()
		c.cancelAll()
	case <-c.until:
		if c.cancelling {
			return nil, io.EOF
		}
		c.cancelAll()
	}
	return nil, nil
}

// end begins the ending. A parked subscription would wait for ever, so it is cancelled.
func (c *conn) end() {
	if c.ending {
		return
	}
	c.ending = true
	c.t.ending()
	c.until = time.After(grace)
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, method := range c.pending {
		if method == "subscriptions/listen" {
			c.inject = append(c.inject, cancelled(id))
		}
	}
}

// cancelAll tells the calls in flight to stop; their answers still go out.
func (c *conn) cancelAll() {
	c.cancelling = true
	c.until = time.After(settle)
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.pending {
		c.inject = append(c.inject, cancelled(id))
	}
}

func cancelled(id jsonrpc.ID) *jsonrpc.Request {
	params := struct {
		ID     any    `json:"requestId"`
		Reason string `json:"reason"`
	}{id.Raw(), "the session is ending"}
	return &jsonrpc.Request{Method: "notifications/cancelled", Params: json.RawMessage(marshal(params))}
}

// answerOurOwn answers the questions that we put to a client which has gone.
func (c *conn) answerOurOwn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.asked {
		delete(c.asked, id)
		c.inject = append(c.inject, &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{
			Code: jsonrpc.CodeInternalError, Message: "the client has closed its side",
		}})
	}
}

func (c *conn) noteAnswer(m jsonrpc.Message) {
	if r, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.asked, r.ID)
		c.mu.Unlock()
	}
}

func (c *conn) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending) == 0 && c.sending == 0
}

// Write implements [mcp.Connection].
func (c *conn) Write(_ context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		c.mu.Lock()
		c.asked[r.ID] = true
		c.mu.Unlock()
		defer c.look() // once the input has ended nobody answers: Read does
	}
	if r, ok := m.(*jsonrpc.Response); ok {
		r.Error = wire.Coded(r.Error)
		defer c.answered(r.ID)()
	}
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	return c.send(data)
}

// answered frees an id before its answer goes out, since the client may use it again as
// soon as it has that. The function returned ends the sending.
func (c *conn) answered(id jsonrpc.ID) (sent func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.pending[id]; ok {
		delete(c.pending, id)
		defer func() { <-c.room }()
	}
	c.sending++
	return func() {
		c.count(&c.sending, -1)
		c.look()
	}
}

// look makes Read look at the state again.
func (c *conn) look() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

func (c *conn) send(data []byte) error {
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	_, err := c.t.out.Write(append(data, '\n'))
	return err
}

// ServeStdio serves one session over in and out, until in ends or ctx is done. Calls in
// flight when in ends may still answer for a short while. It returns within two seconds
// of the end, even where a tool does not listen to its cancellation.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ending := make(chan struct{})
	var once sync.Once
	begin := func() { once.Do(func() { s.closing.ending(); close(ending) }) }
	defer context.AfterFunc(ctx, begin)()
	ss, err := s.mcp.Connect(context.WithoutCancel(ctx), &stdio{
		in: in, out: out, stop: ctx.Done(), ending: begin,
		warn: func(err error) { s.opts.Log.Error().Err(err).Msg("stdio") },
	}, nil)
	if err != nil {
		return fmt.Errorf("serve stdio: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- ss.Wait() }()
	select {
	case err = <-ended:
		return endOf(err)
	case <-ending:
	}
	select {
	case err = <-ended:
		return endOf(err)
	case <-time.After(lastResort):
		s.opts.Log.Warn().Msg("a tool did not stop when it was told to; it is left behind")
		return nil
	}
}

// endOf tells a session that ended, also by the client closing its side while an answer
// was on its way, from one that failed.
func endOf(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return fmt.Errorf("serve stdio: %w", err)
}
