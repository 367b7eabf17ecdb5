package shelltool

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/toolhost/toolhost/pkg/container"
)

// begin makes a box, once gone is closed; p.mu is held. The making does not end with the call
// that wants it: others may have come to want it too, and what was pulled is not in vain.
func (p *pool) begin(c container.Config, gone *box) *box {
	ctx, cancel := context.WithCancel(p.ctx)
	b := &box{config: c, begun: time.Now(), used: time.Now(), cancel: cancel, ready: make(chan struct{})}
	p.work.Go(func() {
		defer cancel()
		if gone != nil {
			gone.awaitEnd(ctx)
		}
		b.Sandbox, b.err = p.open(ctx, c, func(line string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			b.line = line
		})
		close(b.ready)
		p.made(b)
	})
	return b
}

// awaitEnd waits until a box that is being closed has ended.
func (b *box) awaitEnd(ctx context.Context) {
	<-b.ready
	if b.Sandbox == nil {
		return
	}
	select {
	case <-b.Done():
	case <-ctx.Done():
	}
}

// made removes a box whose making failed, and makes a spare after one that did not.
func (p *pool) made(b *box) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.err != nil {
		for _, t := range p.byID {
			if t.box == b {
				t.box = nil
				p.forgetNew(t)
			}
		}
		if p.spare == b {
			p.spare = nil
		}
		return
	}
	p.keepSpare(b.config)
}

// keepSpare begins to make a spare, where one is wanted and there is room.
func (p *pool) keepSpare(c container.Config) {
	count := 0
	for _, t := range p.byID {
		if t.box != nil {
			count++
		}
	}
	if p.warm && p.spare == nil && !p.closing && count < p.most {
		p.spare = p.begin(c, nil)
	}
}

// A visit is the use of a sandbox by one call.
type visit struct {
	*box
	pool   *pool
	tenant *tenant
	fresh  bool // it is the first use of this sandbox
}

// enter returns the sandbox that a means, ready for commands. The caller leaves it. Until it
// is ready, report hears what its making waits for, about once a second.
func (p *pool) enter(ctx context.Context, a address, c container.Config, report func(line string)) (*visit, error) {
	t, b, err := p.claim(a, c)
	if err != nil {
		return nil, err
	}
	v := &visit{box: b, pool: p, tenant: t}
	if err := p.await(ctx, b, report); err != nil {
		v.leave()
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	v.fresh = !b.told
	b.told = true
	if v.fresh {
		p.keepSpare(c) // it may have been the spare
	}
	return v, nil
}

func (p *pool) await(ctx context.Context, b *box, report func(line string)) error {
	if b.isReady() {
		return b.err
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-b.ready:
			return b.err
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			p.mu.Lock()
			line := b.line
			p.mu.Unlock()
			report(cmp.Or(line, "making the sandbox"))
		}
	}
}

// leave ends a visit.
func (v *visit) leave() {
	p, b := v.pool, v.box
	p.mu.Lock()
	defer p.mu.Unlock()
	b.used = time.Now()
	if b.users--; b.users > 0 || v.tenant.box != b {
		return
	}
	if v.tenant.key == "" && !v.tenant.known { // nobody can come back to it
		p.discard(v.tenant, "its call failed")
		p.remove(v.tenant)
		return
	}
	wait := max(0, min(p.idle, p.lifetime-time.Since(b.begun)))
	b.expiry = time.AfterFunc(wait, func() { p.expire(v.tenant, b) })
}

// expire ends a box that is idle for long, or old.
func (p *pool) expire(t *tenant, b *box) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case t.box != b || b.users > 0:
	case p.isOld(b):
		p.discard(t, p.whyOld())
	case time.Since(b.used) >= p.idle:
		p.discard(t, "it was idle for "+short(p.idle)+" (--idle-timeout)")
	}
}

// replaced says how the sandbox before this one ended, where the caller has to be told: then
// what it left there is gone. It is "" where there is nothing to tell.
func (v *visit) replaced() string {
	if v.fresh {
		return v.box.lost
	}
	return ""
}

// count notes that a command was run.
func (v *visit) count() {
	v.pool.mu.Lock()
	defer v.pool.mu.Unlock()
	v.ran++
}

// name notes that a result names the sandbox.
func (v *visit) name() {
	v.pool.mu.Lock()
	defer v.pool.mu.Unlock()
	v.tenant.known = true
}

// check looks at an error of the sandbox: a sandbox that is gone is not used again. It
// returns what the model may read of it.
func (v *visit) check(err error) error {
	var lost *container.LostError
	if !errors.As(err, &lost) {
		return err
	}
	v.abandon(lost.Why)
	return lostError{lost}
}

// abandon has the next call get a new sandbox.
func (v *visit) abandon(why string) {
	v.pool.mu.Lock()
	defer v.pool.mu.Unlock()
	if v.tenant.box == v.box {
		v.pool.discard(v.tenant, why)
	}
}

// A lostError is a [container.LostError] that says what comes next.
type lostError struct{ *container.LostError }

// Visible returns what the model may read.
func (e lostError) Visible() string {
	return "the sandbox is gone: " + e.Why + "; the next call gets a new one, without the processes and files of this one, but for those in roots and mounts"
}

// Unwrap returns the error of the sandbox.
func (e lostError) Unwrap() error { return e.LostError }
