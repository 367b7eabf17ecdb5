package search

import "github.com/toolhost/toolhost/internal/filetool/search/gitignore"

// A listing is a directory whose entries are being sorted out.
type listing struct {
	*worker
	path  string // "" or ending in a slash
	at    *place
	f     *folder
	kept  bool // at keeps f open, so that tasks can be handed on
	rules gitignore.Stack
	run   []dirent
}

// list opens and lists a directory, deals with its files and hands on its directories.
func (k *worker) list(t *task) {
	f, err := k.enter(t)
	if err != nil {
		k.failed(t.path, err)
		return
	}
	l := listing{worker: k, path: t.path, f: f, rules: t.rules}
	l.at = &place{up: t.at, name: t.name, held: &k.w.held}
	l.kept = k.w.held.Load() < k.w.budget
	if l.kept {
		l.at.hold(f)
		defer l.at.release()
	} else {
		defer f.close()
	}
	entries, err := f.list(k.buf)
	if err != nil {
		k.failed(t.path, err)
	}
	l.sortOut(entries)
}

// enter opens the directory of a task and lets go of the one above.
func (k *worker) enter(t *task) (*folder, error) {
	defer t.release()
	up, done, err := t.at.open()
	if err != nil {
		return nil, err
	}
	defer done()
	return up.child(t.name)
}

func (l *listing) sortOut(entries []dirent) {
	var has markers
	for _, e := range entries {
		has.see(e)
	}
	if !l.w.opts.IncludeIgnored {
		l.rules = rulesIn(l.f, l.path, l.rules, has)
	}
	order(entries)
	for _, e := range entries {
		if l.stopped() {
			break
		}
		if e.name != ".git" {
			l.entry(e)
		}
	}
	l.flush()
}

// entry deals with one entry; they come in path order.
func (l *listing) entry(e dirent) {
	path := l.path + e.name
	rel, isDir, v := l.rel(path), e.kind == Dir, l.w.visitor
	if e.kind == File && !l.w.heavy {
		l.report.files++
	}
	down, wanted := isDir && v.descend(rel), v.wants(rel, e.kind)
	if !down && !wanted {
		return
	}
	rules := l.rules
	if rules.Ignored(path, isDir) {
		named, above := l.w.explicitly(rel)
		if !named && !above {
			l.report.skipped.Ignored++
			return
		}
		rules, down = gitignore.Stack{}, above
	}
	if l.w.opts.Visible != nil && !l.w.opts.Visible(rel, isDir) {
		l.report.skipped.Denied++
		return
	}
	if wanted {
		l.take(e, rel)
	}
	if down {
		l.hand(&task{key: rel + "/", at: l.at, name: e.name, path: path + "/", rules: rules})
	}
}

func (l *listing) take(e dirent, rel string) {
	switch {
	case !l.w.visitor.takes(e.kind):
		l.report.skipped.other(e.kind)
	case e.kind == Dir:
		l.flush()
		if h, ok := l.visit(l.f, e, rel); ok {
			l.report.chunks = append(l.report.chunks, chunk{key: rel + "/", hits: []Hit{h}})
		}
	default:
		l.run = append(l.run, e)
		if l.w.heavy && len(l.run) == runLength {
			l.flush()
		}
	}
}

// hand puts a task on the queue, when this one is reported.
func (l *listing) hand(t *task) {
	l.flush()
	t.kept = l.at.retain()
	l.report.tasks = append(l.report.tasks, t)
}

// flush deals with the run so far: what comes next does not continue it.
func (l *listing) flush() {
	if len(l.run) == 0 {
		return
	}
	run := l.run
	l.run = nil
	if !l.w.heavy || !l.kept {
		l.files(l.f, l.path, run)
		return
	}
	t := &task{key: l.rel(l.path + run[0].name), at: l.at, path: l.path, files: run}
	t.kept = l.at.retain()
	l.report.tasks = append(l.report.tasks, t)
}
