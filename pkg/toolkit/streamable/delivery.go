package streamable

import "sync"

// A delivery is what becomes of the answer to one request.
type delivery struct {
	mu       sync.Mutex
	answered bool // what is written next is the answer
	settled  bool
	arrived  bool
	waiting  []func(delivered bool)
}

// AfterDelivery has do called once it is known whether the answer to the request was written
// whole, to a client that was still there. What the system had taken by then, and the client
// had not read, counts as delivered: nothing tells.
func (r *Request) AfterDelivery(do func(delivered bool)) {
	d := &r.delivery
	d.mu.Lock()
	if !d.settled {
		d.waiting = append(d.waiting, do)
		d.mu.Unlock()
		return
	}
	arrived := d.arrived
	d.mu.Unlock()
	do(arrived)
}

// answering notes that the handler of the message has returned.
func (r *Request) answering() {
	r.delivery.mu.Lock()
	defer r.delivery.mu.Unlock()
	r.delivery.answered = true
}

// wrote tells those who wait, if what was written is the answer.
func (r *Request) wrote(err error) {
	r.delivery.mu.Lock()
	answered := r.delivery.answered
	r.delivery.mu.Unlock()
	if answered {
		r.settle(err == nil && r.ctx.Err() == nil)
	}
}

// settle tells those who wait what became of the answer. The first word counts.
func (r *Request) settle(delivered bool) {
	d := &r.delivery
	d.mu.Lock()
	if d.settled {
		d.mu.Unlock()
		return
	}
	d.settled, d.arrived = true, delivered
	waiting := d.waiting
	d.waiting = nil
	d.mu.Unlock()
	for _, do := range waiting {
		do(delivered)
	}
}
