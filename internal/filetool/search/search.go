// Package search walks a directory tree, finds files by name and lines by content.
//
// [NewGlob], [NewGrep] and [NewList] check a query and return something that runs over a
// [Start], an open directory. One walker, one reading of ignore files and one way of
// counting lines serve all three, so that they never disagree. Results come in path order,
// bytewise over whole relative paths, whatever the number of workers; pages made with
// Offset and Limit join to exactly the result of one unlimited run.
//
// The walker opens one path component at a time below the directory it was given and
// follows no links, so that nothing it meets, and nothing that is swapped while it runs,
// leads outside. Above that directory it opens ignore files, one parent at a time, and
// nothing else ([Start]); they can only hide. What it does not look into is counted in [Skipped].
//
// The package knows no policy: a caller hides paths with Options.Visible.
package search

import (
	"fmt"
	"os"
	"time"
)

// A Start is the directory that a search starts from.
type Start struct {
	Dir *os.File // open; the search does not close it
	// Path is the directory's absolute path without links. With it the rules of ignore
	// files above the directory count too; without it only those at and below it.
	Path string
	// Top is the absolute path of the highest directory whose ignore files count where
	// the search is in no git repository; empty means Path.
	Top string
	// OSRoot opens Dir anew; it serves systems without openat and may be nil.
	OSRoot func() (*os.Root, error)
}

// Options are common to all searches. The zero value means no limit, the default timeout,
// and no ignored files.
type Options struct {
	Offset int  // results to leave out at the beginning; Glob and Grep take up to 1,000,000
	Limit  int  // results to return, 0 for all
	Newest bool // newest first, then by path, instead of by path

	IncludeIgnored bool // search also what ignore files hide

	// Visible reports whether a path, relative to the start, may be shown. It is called
	// from several goroutines at once. What it hides is counted as denied; nil hides
	// nothing.
	Visible func(rel string, isDir bool) bool

	Timeout time.Duration // what is found by then is the result; 20 s when 0
	Workers int           // the number of processors, at most 8, when 0

	// Progress, if not nil, is called about every second with the number of files seen.
	Progress func(files int)
}

// maxOffset bounds what is kept of results before the page: which they are is known only
// when all before them are.
const maxOffset = 1_000_000

func (o Options) check() error {
	if o.Offset > maxOffset {
		return queryError("narrow the search by path, pattern or glob", "offset is %d; at most %d can be used", o.Offset, maxOffset)
	}
	return nil
}

// DefaultTimeout is how long a search runs when Options.Timeout is 0.
const DefaultTimeout = 20 * time.Second

func (o Options) timeout() time.Duration {
	if o.Timeout <= 0 {
		return DefaultTimeout
	}
	return o.Timeout
}

// A Kind is what a directory entry is.
type Kind uint8

// The kinds.
const (
	File Kind = iota
	Dir
	Link
	Pipe
	Socket
	Device
)

// A Hit is one thing found.
type Hit struct {
	Path    string // relative to the start, slash-separated, without a slash at the end
	Kind    Kind
	Size    int64     // of Grep, and of List with Details
	ModTime time.Time // of Grep, of List with Details, and where Options.Newest is set
	Target  string    // of a Link, as it is stored; it may name anything
	Count   int       // of Grep: matching lines, or groups of them that one match spans
	Lines   []Line    // of Grep in Content mode
}

// A Line is one line of a file, or with OnlyMatching one match.
type Line struct {
	Number int    // from 1; only newlines count
	Text   string // without line ending; a long line is cut to a window round its first match
	Match  bool   // false for a line of context
}

// Skipped counts what a search did not look into, of what it would have wanted.
type Skipped struct {
	Ignored    int // entries pruned by ignore files; a directory counts once
	Binary     int // of which a file may have hits: those before the line of its first NUL
	TooLarge   int
	Unreadable int
	Special    int // pipes, sockets, devices
	Denied     int // hidden by Options.Visible; a directory counts once
	Links      int // symbolic links, which are never followed

	Names []string // of up to 5 unreadable entries
}

// A Result is what a search found.
type Result struct {
	Hits  []Hit // of the page
	Files int   // files looked at: searched by Grep, seen by Glob and List

	Results      int  // what Offset and Limit count: lines in Content mode, else hits
	TotalHits    int  // files or entries found, on this page and all others
	TotalMatches int  // sum of Hit.Count over them
	Complete     bool // these three are exact, since the search saw everything

	Truncated bool // there are results behind this page
	TimedOut  bool
	Skipped   Skipped
}

// A QueryError says what is wrong with a query. Its text is for whoever wrote the query.
type QueryError struct {
	Text string
	Hint string // what to do instead; may be empty
}

// Error returns the text, and the hint on a line of its own.
func (e *QueryError) Error() string {
	if e.Hint == "" {
		return e.Text
	}
	return e.Text + "\nhint: " + e.Hint
}

// Visible returns the same: it holds nothing but the caller's own words.
func (e *QueryError) Visible() string { return e.Error() }

// An entryError says that the start may be read but not entered, which nothing but a list
// of bare names could be made of.
type entryError struct{ err error }

func (e *entryError) Error() string { return "enter the directory of the search: " + e.err.Error() }
func (e *entryError) Unwrap() error { return e.err }

// Visible names no path: the caller knows where it started.
func (e *entryError) Visible() string {
	return "permission denied: this server may not enter the directory"
}

func queryError(hint, format string, args ...any) error {
	return &QueryError{Text: fmt.Sprintf(format, args...), Hint: hint}
}
