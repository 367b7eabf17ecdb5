package shelltool

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// limits say how many sandboxes there are, and for how long.
type limits struct {
	idle     time.Duration // without a call
	lifetime time.Duration // in all; one that is at work then ends afterwards
	most     int           // the spare included
	warm     bool          // keep a spare
}

// maxTenants bounds how many are remembered who have no sandbox at the moment.
const maxTenants = 1024

// An opener makes a sandbox, and may report what it waits for.
type opener func(ctx context.Context, c container.Config, report func(line string)) (*container.Sandbox, error)

// A pool holds the sandboxes. Each belongs to a tenant and is made when it first needs one.
type pool struct {
	limits
	open opener
	ctx  context.Context // of what is being made
	stop context.CancelFunc
	work sync.WaitGroup // what is being made or closed

	mu      sync.Mutex
	byID    map[string]*tenant
	byKey   map[string]*tenant // those that have one
	spare   *box               // nil: none
	closing bool
}

// A tenant is who has a sandbox: a session, a principal, or whoever knows the id.
type tenant struct {
	id    string
	key   string // "" for who has nothing but the id
	known bool   // a result has named the id
	box   *box   // nil: none at the moment
	lost  string // how its last sandbox ended; "" where it had none
	used  time.Time
}

// A box is a sandbox, from when somebody wants it.
type box struct {
	config container.Config
	lost   string // how the one before it ended; "" for a tenant's first
	begun  time.Time
	cancel context.CancelFunc // of its making
	ready  chan struct{}      // closed when the next two are set
	*container.Sandbox
	err error

	// Under the pool's mutex.
	line   string // what its making waits for
	told   bool   // somebody was told of lost
	users  int    // calls that use it
	ran    int    // commands
	used   time.Time
	expiry *time.Timer // nil while it is used
}

func newPool(l limits, open opener) *pool {
	p := &pool{limits: l, open: open, byID: map[string]*tenant{}, byKey: map[string]*tenant{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// close ends all sandboxes, and returns when they have ended.
func (p *pool) close() {
	p.mu.Lock()
	p.closing = true
	for _, t := range p.byID {
		p.discard(t, "the server ended")
	}
	p.dropSpare()
	p.mu.Unlock()
	p.stop()
	p.work.Wait()
}

// An address is how a call names its sandbox.
type address struct {
	call  *toolkit.Call
	key   string
	keyed bool   // key holds for the next calls too
	id    string // sandbox_id as given; may be empty
}

func addressOf(call *toolkit.Call, id string) address {
	key, keyed := call.Caller.StateKey()
	return address{call, key, keyed, strings.TrimSpace(id)}
}

// find returns the tenant that a means, or nil where that is one who is new; p.mu is held.
// The id of another's sandbox is as unknown as one that nobody has.
func (p *pool) find(a address) (*tenant, error) {
	t := p.byKey[a.key]
	if !a.keyed {
		t = p.byID[a.id]
		if t != nil && t.key != "" {
			t = nil
		}
	}
	if a.id != "" && (t == nil || t.id != a.id) {
		return nil, toolkit.Errorf("sandbox_id: there is no sandbox %s of yours: send the id that a result named, or leave it out to get a sandbox", toolkit.Inline(toolkit.Cut(a.id, 200)))
	}
	return t, nil
}

// look returns the sandbox that a means if it is there and ready; nil if not.
func (p *pool) look(a address) (*tenant, *box, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, err := p.find(a)
	if t == nil || t.box == nil || !t.box.isReady() || t.box.isOver() {
		return t, nil, err
	}
	return t, t.box, nil
}

func (b *box) isReady() bool { return isDone(b.ready) }

// suits reports whether a box is as c says: calls differ in nothing else.
func (b *box) suits(c container.Config) bool {
	return slices.Equal(b.config.Mounts, c.Mounts) && b.config.Dir == c.Dir
}

// isOver reports whether a box was made and is of no use any more.
func (b *box) isOver() bool { return b.isReady() && (b.err != nil || isDone(b.Done())) }

func isDone(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// claim returns the box that a call shall use, and counts the call. It begins to make one
// where there is none that would do.
func (p *pool) claim(a address, c container.Config) (*tenant, *box, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return nil, nil, toolkit.Errorf("the server is ending")
	}
	t, err := p.find(a)
	if err != nil {
		return nil, nil, err
	}
	if t == nil {
		t = p.settle(a)
	}
	if err := p.refresh(t, c); err != nil {
		return nil, nil, err
	}
	if t.box == nil {
		if err := p.furnish(t, c); err != nil {
			p.forgetNew(t)
			return nil, nil, err
		}
	}
	t.box.users++
	if t.box.expiry != nil {
		t.box.expiry.Stop()
	}
	return t, t.box, nil
}

// settle makes a tenant.
func (p *pool) settle(a address) *tenant {
	t := &tenant{id: "sb_" + strings.ToLower(rand.Text()), key: a.key, used: time.Now()}
	p.makeRoom()
	p.byID[t.id] = t
	if !a.keyed {
		t.key = ""
		return t
	}
	p.byKey[t.key] = t
	a.call.AfterSession(func() { p.forget(t) })
	return t
}

// makeRoom forgets who had no sandbox for longest, where there are many.
func (p *pool) makeRoom() {
	for len(p.byID) >= maxTenants {
		var oldest *tenant
		for _, t := range p.byID {
			if t.box == nil && (oldest == nil || t.used.Before(oldest.used)) {
				oldest = t
			}
		}
		if oldest == nil {
			return
		}
		p.remove(oldest)
	}
}

// forget ends a tenant whose session has ended.
func (p *pool) forget(t *tenant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.discard(t, "the session ended")
	p.remove(t)
}

// forgetNew removes a tenant that never had a sandbox.
func (p *pool) forgetNew(t *tenant) {
	if t.key == "" && t.box == nil && t.lost == "" {
		p.remove(t)
	}
}

func (p *pool) remove(t *tenant) {
	if p.byID[t.id] != t {
		return
	}
	delete(p.byID, t.id)
	if t.key != "" {
		delete(p.byKey, t.key)
	}
}

// refresh discards a tenant's sandbox that will not do for c.
func (p *pool) refresh(t *tenant, c container.Config) error {
	b := t.box
	if b == nil {
		return nil
	}
	same := b.suits(c)
	switch {
	case b.isOver():
		p.discard(t, "it ended by itself")
	case !same && b.users > 0:
		return toolkit.Errorf("other directories are to be mounted, since the client's roots changed, while a command runs in the sandbox of before: call again when it has ended")
	case !same:
		p.discard(t, "other directories are mounted now")
	case b.users == 0 && p.isOld(b):
		p.discard(t, p.whyOld())
	}
	return nil
}

func (p *pool) isOld(b *box) bool { return time.Since(b.begun) >= p.lifetime }

func (p *pool) whyOld() string {
	return fmt.Sprintf("it had lived for %s (--max-lifetime)", short(p.lifetime))
}

// furnish gives t a box: the spare, or a new one, for which another may have to go.
func (p *pool) furnish(t *tenant, c container.Config) error {
	if s := p.spare; s != nil && !s.isOver() && !p.isOld(s) && s.suits(c) {
		p.spare, t.box = nil, s
		s.lost = t.lost
		return nil
	}
	gone, err := p.evict()
	if err != nil {
		return err
	}
	t.box = p.begin(c, gone)
	t.box.lost = t.lost
	return nil
}

// evict makes room for one more sandbox, and returns the box that goes for it, or nil.
func (p *pool) evict() (gone *box, err error) {
	count := 0
	var oldest *tenant
	for _, t := range p.byID {
		if t.box == nil {
			continue
		}
		count++
		if t.box.users == 0 && (oldest == nil || t.box.used.Before(oldest.box.used)) {
			oldest = t
		}
	}
	if p.spare != nil {
		count++
	}
	switch {
	case count < p.most:
		return nil, nil
	case p.spare != nil:
		gone = p.spare
		p.dropSpare()
	case oldest != nil:
		gone = oldest.box
		p.discard(oldest, fmt.Sprintf("it was idle and another was needed (--max-sandboxes %d)", p.most))
	default:
		return nil, toolkit.Errorf("all %d sandboxes are at work (--max-sandboxes): call again when a command of another has ended", p.most)
	}
	return gone, nil
}

// discard takes t's box from it and closes it.
func (p *pool) discard(t *tenant, why string) {
	if t.box == nil {
		return
	}
	t.lost, t.used = why, time.Now()
	p.shut(t.box)
	t.box = nil
}

func (p *pool) dropSpare() {
	if p.spare != nil {
		p.shut(p.spare)
		p.spare = nil
	}
}

// shut closes a box that nobody has any more; p.mu is held.
func (p *pool) shut(b *box) {
	if b.expiry != nil {
		b.expiry.Stop()
	}
	b.cancel()
	p.work.Go(func() {
		<-b.ready
		if b.Sandbox != nil {
			b.Close()
		}
	})
}
