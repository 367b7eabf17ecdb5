package streamable

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// conns bounds the connections. Where there are too many, one that is not being answered is
// closed, so that connections opened and left alone cannot keep others out: first those
// that never brought a request, then those between requests, the oldest of each first.
type conns struct {
	max int

	mu    sync.Mutex
	all   map[net.Conn]*conn
	fresh *list.List // of net.Conn, oldest first
	idle  *list.List
}

type conn struct {
	in    *list.List // fresh, idle, or nil while it is being answered
	place *list.Element
}

func newConns(limit int) *conns {
	return &conns{max: limit, all: map[net.Conn]*conn{}, fresh: list.New(), idle: list.New()}
}

// track is for [http.Server.ConnState]. When a request begins, only its handler knows: to
// the server a connection is active from its first byte on.
func (t *conns) track(c net.Conn, state http.ConnState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch state {
	case http.StateNew:
		if len(t.all) >= t.max && !t.evict() {
			go c.Close()
			return
		}
		t.all[c] = &conn{}
		t.put(c, t.fresh)
	case http.StateIdle:
		t.put(c, t.idle)
	case http.StateClosed, http.StateHijacked:
		t.put(c, nil)
		delete(t.all, c)
	}
}

// put moves a connection to the end of a list, or out of all; t.mu is held.
func (t *conns) put(c net.Conn, to *list.List) {
	v := t.all[c]
	if v == nil {
		return
	}
	if v.in != nil {
		v.in.Remove(v.place)
	}
	v.in, v.place = to, nil
	if to != nil {
		v.place = to.PushBack(c)
	}
}

// evict closes a connection that can be spared, if there is one; t.mu is held.
func (t *conns) evict() bool {
	for _, from := range []*list.List{t.fresh, t.idle} {
		if e := from.Front(); e != nil {
			c, _ := e.Value.(net.Conn)
			t.put(c, nil)
			delete(t.all, c)
			go c.Close() // it may linger
			return true
		}
	}
	return false
}

type connKey struct{}

// remember is for [http.Server.ConnContext].
func (t *conns) remember(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// answering wraps a handler: its connections are not to be closed meanwhile.
func (t *conns) answering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(net.Conn); ok {
			t.mu.Lock()
			t.put(c, nil)
			t.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}
