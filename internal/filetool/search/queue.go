package search

import (
	"container/heap"
	"sync"
	"sync/atomic"

	"github.com/toolhost/toolhost/internal/filetool/search/gitignore"
)

// A task is a piece of work for one worker: a directory to list, or a run of files of one
// directory that no subdirectory comes between in path order.
type task struct {
	key   string // of the first path that can come out of it
	at    *place // of the directory above, or with files of their own
	kept  bool   // the task keeps the folder of at open
	name  string // of the directory
	path  string // of the directory, "" or ending in a slash
	rules gitignore.Stack
	files []dirent
}

func (t *task) release() {
	if t.kept {
		t.at.release()
	}
}

// A report is what a worker found out by one task.
type report struct {
	chunks  []chunk
	tasks   []*task
	skipped Skipped
	files   int
	partial bool // some results were left out uncounted
}

// Why a walk stops before its end.
const (
	running int32 = iota
	cancelled
	timedOut
)

// A queue hands out tasks in path order, and keeps the page. Workers that always take the
// first task go through the tree roughly in order, so that the page fills from its
// beginning; when it is full, everything behind its last result is dropped.
type queue struct {
	stop   atomic.Int32
	files  atomic.Int64
	cutoff atomic.Pointer[string] // page.cutoff, to be read without mu

	mu      sync.Mutex
	wake    *sync.Cond
	tasks   taskHeap
	busy    int
	page    *page
	skipped Skipped
}

func newQueue(p *page) *queue {
	q := &queue{page: p}
	q.wake = sync.NewCond(&q.mu)
	return q
}

// next takes the report of a worker's last task, nil if it had none, and returns its next
// one, or nil at the end.
func (q *queue) next(r *report) *task {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r != nil {
		q.busy--
		q.settle(r)
	}
	for {
		if q.stop.Load() == running && len(q.tasks) > 0 {
			q.busy++
			return heap.Pop(&q.tasks).(*task)
		}
		if q.busy == 0 || q.stop.Load() != running {
			q.wake.Broadcast()
			return nil
		}
		q.wake.Wait()
	}
}

func (q *queue) settle(r *report) {
	q.skipped.Add(r.skipped)
	q.page.partial = q.page.partial || r.partial
	q.files.Add(int64(r.files))
	for _, c := range r.chunks {
		q.page.add(c)
	}
	for _, t := range r.tasks {
		heap.Push(&q.tasks, t)
	}
	if q.page.early && q.page.cutoff != "" {
		cutoff := q.page.cutoff
		q.cutoff.Store(&cutoff)
	}
	if len(q.tasks) > 0 && q.page.beyond(q.tasks[0].key) {
		q.page.partial = true
		q.drop()
	}
	if len(q.tasks) > 0 {
		q.wake.Broadcast()
	}
}

// drop gives up all tasks that wait.
func (q *queue) drop() {
	for _, t := range q.tasks {
		t.release()
	}
	q.tasks = nil
}

// halt ends the walk as soon as the workers see it.
func (q *queue) halt(why int32) {
	if q.stop.CompareAndSwap(running, why) {
		q.mu.Lock()
		q.wake.Broadcast()
		q.mu.Unlock()
	}
}

// beyond reports whether results at key are no longer wanted.
func (q *queue) beyond(key string) bool {
	c := q.cutoff.Load()
	return c != nil && key > *c
}

// taskHeap is a heap.Interface by key.
type taskHeap []*task

func (h taskHeap) Len() int           { return len(h) }
func (h taskHeap) Less(i, j int) bool { return h[i].key < h[j].key }
func (h taskHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *taskHeap) Push(x any)        { *h = append(*h, x.(*task)) }
func (h *taskHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}
