package streamable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/toolhost/toolhost/pkg/toolkit/wire"
	"golang.org/x/sync/semaphore"
)

// A body has to arrive with patience to begin with, and pace after that; others may be
// waiting for the room that it takes.
const (
	firstRead = 4 << 10  // bytes that need no room: a connection has as many
	smallBody = 64 << 10 // bytes; what nearly all bodies stay below
	smallRoom = 32 << 20 // bytes for all small bodies, which so never wait for large ones
	patience  = 10 * time.Second
	pace      = 256 << 10 // bytes a second
)

// A budget bounds the bytes of all bodies that are in use: the SDK reads each whole, and
// keeps it while the call runs.
type budget struct {
	most         int64 // of one body
	small, large *semaphore.Weighted
}

func newBudget(one, all int64) *budget {
	return &budget{most: one, small: semaphore.NewWeighted(smallRoom), large: semaphore.NewWeighted(all + 1)} // the one by which a longer body is known
}

// A hold is what one body takes of a budget.
type hold struct {
	of *semaphore.Weighted
	n  int64
}

func (h *hold) release() {
	if h.n > 0 {
		h.of.Release(h.n)
		h.n = 0
	}
}

// grow waits until the hold has n bytes, for as long as patience lasts.
func (h *hold) grow(ctx context.Context, n int64) *refusal {
	if n <= h.n {
		return nil
	}
	if !h.of.TryAcquire(n - h.n) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if h.of.Acquire(ctx, n-h.n) != nil {
			return &refusal{status: http.StatusServiceUnavailable, code: codeBusy, text: "too many large requests are being served: try again in a second", retry: true}
		}
	}
	h.n = n
	return nil
}

// readBody returns the body of a request, once there is room for it. The room is taken
// until the hold is released.
func (b *budget) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *hold, *refusal) {
	if refused := readable(r); refused != nil {
		return nil, nil, refused
	}
	in := &paced{r: r.Body, conn: http.NewResponseController(w)}
	if r.ContentLength > b.most {
		return nil, nil, b.tooLarge(nil, in)
	}
	body, whole, h, refused := b.readSmall(r, in)
	if refused == nil && !whole {
		body, h, refused = b.readLarge(r, in, body, h)
	}
	if refused != nil {
		h.release()
		return nil, nil, refused
	}
	return body, h, nil
}

// readable refuses what cannot be a message, before it is read.
func readable(r *http.Request) *refusal {
	text := ""
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		text = "the header Content-Type must be application/json"
	} else if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		text = "the body must not be compressed: leave out the header Content-Encoding"
	}
	if text == "" {
		return nil
	}
	return &refusal{status: http.StatusUnsupportedMediaType, code: jsonrpc.CodeInvalidRequest, text: text}
}

// readSmall reads a body up to the size of a small one. A few bytes need no room.
func (b *budget) readSmall(r *http.Request, in *paced) (body []byte, whole bool, h *hold, refused *refusal) {
	first := int64(firstRead)
	if r.ContentLength >= 0 {
		first = min(first, r.ContentLength+1) // and one more, by which the end is seen
	}
	h = &hold{of: b.small}
	body, whole, refused = in.readGrowing(r.Context(), make([]byte, 0, first), h, smallBody)
	return body, whole, h, refused
}

// readLarge reads the rest of a body. If its length is known, all of it waits its turn, so that
// no two can wait for each other.
func (b *budget) readLarge(r *http.Request, in *paced, body []byte, small *hold) ([]byte, *hold, *refusal) {
	defer small.release()
	h, whole := &hold{of: b.large}, true
	var refused *refusal
	if r.ContentLength < 0 {
		body, whole, refused = in.readGrowing(r.Context(), body, h, b.most)
	} else if refused = in.pause(func() *refusal { return h.grow(r.Context(), r.ContentLength) }); refused == nil {
		var err error
		body, err = readUpTo(in, append(make([]byte, 0, r.ContentLength+1), body...), r.ContentLength)
		if err != nil {
			refused = notRead(err)
		}
	}
	if refused == nil && !whole {
		refused = b.tooLarge(body, in)
	}
	return body, h, refused
}

// readGrowing reads on, and takes room as bytes come: who claims much and sends little
// takes little. It stops at the end, or behind most bytes.
func (p *paced) readGrowing(ctx context.Context, body []byte, h *hold, most int64) (_ []byte, whole bool, refused *refusal) {
	for {
		limit := int64(cap(body)) - 1
		var err error
		body, err = readUpTo(p, body, limit)
		switch {
		case err != nil:
			return nil, false, notRead(err)
		case int64(len(body)) <= limit:
			return body, true, nil
		case limit >= most:
			return body, false, nil
		}
		next := min(2*int64(cap(body)), most+1)
		if refused := p.pause(func() *refusal { return h.grow(ctx, next) }); refused != nil {
			return nil, false, refused
		}
		body = append(make([]byte, 0, next), body...)
	}
}

// readUpTo appends to buf what there is, up to one byte more than limit, by which a
// longer body is known.
func readUpTo(r io.Reader, buf []byte, limit int64) ([]byte, error) {
	for int64(len(buf)) <= limit {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		end := min(int64(cap(buf)), limit+1)
		n, err := r.Read(buf[len(buf):end])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

func notRead(err error) *refusal {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &refusal{status: http.StatusRequestTimeout, code: jsonrpc.CodeInvalidRequest, text: "the body did not arrive in time", close: true}
	}
	return &refusal{status: http.StatusBadRequest, code: jsonrpc.CodeInvalidRequest, text: "the body ended early", close: true}
}

// tooLarge lets the rest of a long body pass, up to a bound, since many clients read
// no answer before they have sent all; and looks for the id at both its ends.
func (b *budget) tooLarge(read []byte, in io.Reader) *refusal {
	const edge = 512
	ends := append([]byte(nil), read[:min(len(read), edge)]...)
	buf := make([]byte, smallBody)
	passed := int64(len(read))
	var tail []byte
	for passed <= 3*b.most {
		n, err := in.Read(buf)
		if len(ends) < edge {
			ends = append(ends, buf[:min(n, edge-len(ends))]...)
		}
		tail = append(tail, buf[:n]...)
		tail = tail[max(0, len(tail)-edge):]
		passed += int64(n)
		if err != nil {
			break
		}
	}
	return &refusal{
		status: http.StatusRequestEntityTooLarge, id: wire.IDIn(append(ends, tail...)), code: jsonrpc.CodeInvalidRequest,
		text: fmt.Sprintf("the body has more than %d bytes: send less at a time", b.most), close: true,
	}
}

// paced reads a body that has to keep up a pace, from its first byte on.
type paced struct {
	r     io.Reader
	conn  *http.ResponseController
	start time.Time
	n     int64
}

func (p *paced) Read(b []byte) (int, error) {
	if p.start.IsZero() {
		p.start = time.Now()
	}
	_ = p.conn.SetReadDeadline(p.start.Add(patience + time.Duration(p.n)*time.Second/pace)) // a recorder has none
	n, err := p.r.Read(b)
	p.n += int64(n)
	if errors.Is(err, io.EOF) {
		// By a deadline the server would later take the client for gone. A body that was not
		// read to its end keeps it, since the server waits for the rest when all is over.
		_ = p.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}

// pause does what takes time for which the client is not to blame.
func (p *paced) pause(do func() *refusal) *refusal {
	start := time.Now()
	defer func() { p.start = p.start.Add(time.Since(start)) }()
	return do()
}

// bounded gives every body a deadline, for those that nobody reads: the server waits for
// their rest before it lets go of the connection.
func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience))
		}
		next.ServeHTTP(w, r)
	})
}
