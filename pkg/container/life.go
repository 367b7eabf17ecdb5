package container

import "sync"

// A life is that of the environment of a backend: restarts divide it into turns, and it ends
// once.
type life struct {
	done chan struct{} // closed at its end

	mu   sync.Mutex
	turn int
	lost error // why it ended
}

func newLife() life { return life{done: make(chan struct{})} }

// Done implements [Backend].
func (l *life) Done() <-chan struct{} { return l.done }

// lose ends the life. The first reason counts.
func (l *life) lose(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost == nil {
		l.lost = why
		close(l.done)
	}
}

// now returns the present turn, or why there is none any more.
func (l *life) now() (turn int, lost error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turn, l.lost
}

// next begins the turn after that one, and reports false where somebody else has.
func (l *life) next(turn int) (begun bool, lost error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil || l.turn != turn {
		return false, l.lost
	}
	l.turn++
	return true, nil
}
