package fsroot

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"
)

// A Kind is what went wrong, for callers that branch.
type Kind uint8

// The kinds of errors.
const (
	Other        Kind = iota
	NotExist          // nothing has that name; Names may hold similar ones
	Outside           // the path, or a link on its way, leaves the root
	NotRegular        // a FIFO, socket or device; Mode says which
	IsDir             // a directory where a file was asked for
	NotDir            // a file where a directory was asked for
	TooManyLinks      // more than 40 links, or a loop
	Dangling          // a link on the way points to nothing
	Permission        // the system refused
	InvalidName       // no file can have that name; Reason says why
	Ambiguous         // a relative path is in several roots; Names holds all
	NoRoots           // the set is empty
	RootMissing       // the root itself is not there
	Changed           // it was replaced while it was being opened; a repetition may succeed
	Stale             // it is no longer what the caller saw
	Exists            // something has that name already
	TooLarge          // it is larger than MaxLoad
	Busy              // others kept the right to write for too long; Err is the context's
	NoState           // the state directory cannot be used
	HalfDone          // a process died in a commit, and its changes could not all be undone; Lost says where
)

// An Error is why a path was not opened, or not changed. Path is as the caller wrote it, or
// below the root.
type Error struct {
	Op     string
	Path   string
	Kind   Kind
	Mode   fs.FileMode // type bits, of NotRegular
	Names  []string    // similar names, or candidates
	Roots  []string    // directories of the set, of Outside and RootMissing
	Link   string      // of Outside, Dangling and TooManyLinks: the link, below the root
	Reason string      // of InvalidName
	Lost   []string    // of Commit and Begin: what could not be put back, each with the reason; usually empty
	Aside  string      // of HalfDone: where the journal went, if it was of no use; for logs
	Err    error       // the cause, for logs; may name paths outside
}

// KindOf returns the kind of the first [*Error] in err's chain, or Other.
func KindOf(err error) Kind {
	if err == nil {
		return Other
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Other
}

// Naming returns the error with only those similar names that keep wants, for readers who may not
// know of all.
func (e *Error) Naming(keep func(name string) bool) *Error {
	if e.Kind != NotExist {
		return e
	}
	some := *e
	some.Names = slices.DeleteFunc(slices.Clone(e.Names), func(name string) bool { return !keep(name) })
	return &some
}

// Error returns the text for logs.
func (e *Error) Error() string {
	text := e.Op + " " + quote(e.Path) + ": " + e.what() + e.lost()
	if e.Aside != "" {
		text += "; the journal is kept as " + e.Aside
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether e is what [fs.ErrNotExist] or [fs.ErrPermission] stand for.
func (e *Error) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return e.Kind == NotExist || e.Kind == Dangling || e.Kind == RootMissing
	case fs.ErrPermission:
		return e.Kind == Permission
	}
	return false
}

// Visible returns the text that a model may read. It is the same for an outside path that
// exists and one that does not, and names no place outside the roots.
func (e *Error) Visible() string {
	text := quote(e.Path) + " " + e.what()
	switch e.Kind {
	case NoRoots, RootMissing, NoState, HalfDone, Busy:
		text = e.what()
	}
	text += e.lost()
	if hint := e.hint(); hint != "" {
		text += "; " + hint
	}
	return text
}

func (e *Error) what() string {
	switch e.Kind {
	case NotExist:
		return "does not exist"
	case Outside:
		if e.Link != "" {
			return "leads outside the root through the link " + quote(e.Link)
		}
		return "is outside the allowed roots"
	case NotRegular:
		return "is a " + TypeName(e.Mode) + ", not a regular file"
	case IsDir:
		return "is a directory"
	case NotDir:
		return "is not a directory, or goes through something that is none"
	case TooManyLinks:
		return "goes through too many links (a loop at " + quote(e.Link) + "?)"
	case Dangling:
		return "is or goes through a dangling link (" + quote(e.Link) + " points to nothing)"
	default:
		return e.whatElse()
	}
}

func (e *Error) whatElse() string {
	switch e.Kind {
	case Permission:
		return "may not be " + e.verb() + " by this server (" + cmp.Or(reason(e.Err), "permission denied") + ")"
	case InvalidName:
		return "is not a usable path: " + e.Reason
	case Ambiguous:
		return "is in several roots"
	case NoRoots:
		return "no directory is allowed yet"
	case RootMissing:
		return "the root directory " + quoteAll(e.Roots) + " does not exist or cannot be opened"
	case Changed:
		return "was replaced while it was being opened"
	case Stale:
		return "has changed since it was read"
	default:
		return e.whatWriting()
	}
}

func (e *Error) whatWriting() string {
	switch e.Kind {
	case Exists:
		return "exists already"
	case TooLarge:
		return "is larger than 64 MiB"
	case Busy:
		return "others are changing files below the root, and did not end in time"
	case NoState:
		text := "the server's state directory cannot be used"
		if why := reason(e.Err); why != "" {
			text += " (" + why + ")"
		}
		return text
	case HalfDone:
		return "an earlier change was cut short, and could not be undone everywhere"
	}
	if why := reason(e.Err); why != "" {
		return "could not be " + e.verb() + " (" + why + ")"
	}
	return "could not be " + e.verb()
}

// verb is what was tried, after "could not be".
func (e *Error) verb() string {
	switch e.Op {
	case "write":
		return "written"
	case "remove":
		return "removed"
	case "mkdir":
		return "made"
	case "restore":
		return "restored"
	}
	return "opened"
}

// lost is the part of a text that says what is not as it was.
func (e *Error) lost() string {
	if len(e.Lost) == 0 {
		return ""
	}
	more := ""
	if n := len(e.Lost) - maxLost; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return "; could not be put back as before: " + strings.Join(e.Lost[:min(len(e.Lost), maxLost)], ", ") + more
}

// maxLost is how many paths an error repeats.
const maxLost = 5

// reason is the system's own word for what went wrong, which names no path; "" if there is
// none.
func reason(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	var own *Error
	if errors.As(err, &own) {
		return own.what()
	}
	return ""
}

func (e *Error) hint() string {
	switch e.Kind {
	case NotExist:
		if len(e.Names) > 0 {
			return "similar names: " + quoteAll(e.Names)
		}
		return "list the directory to see the names"
	case Outside:
		if len(e.Roots) > 0 {
			return "use a path below " + quoteAll(e.Roots)
		}
		return "use a path that stays below the root"
	case Ambiguous:
		return "use one of " + quoteAll(e.Names)
	case NoRoots:
		return "ask the operator to start the server with --root DIR, or the client to offer a root"
	case RootMissing:
		return "ask the operator to create it or to change --root"
	case Changed, Busy:
		return "try again"
	case NoState:
		return "ask the operator to start the server with --state-dir DIR, a directory that it may write"
	case Stale:
		return "read it again first"
	}
	return ""
}

// TypeName names the type in mode for a reader: "directory", "named pipe", "socket",
// "character device", "block device", "link", "regular file" or "special file".
func TypeName(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "regular file"
	case mode&fs.ModeDir != 0:
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeCharDevice != 0:
		return "character device"
	case mode&fs.ModeDevice != 0:
		return "block device"
	}
	return "special file"
}

// errorAt classifies an error of the system.
func errorAt(op, rel string, err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	e := &Error{Op: op, Path: rel, Err: err}
	switch {
	case errors.Is(err, syscall.ENAMETOOLONG):
		e.Kind, e.Reason = InvalidName, "it is too long"
	case errors.Is(err, syscall.ENOTDIR):
		e.Kind = NotDir
	case errors.Is(err, fs.ErrNotExist):
		e.Kind = NotExist
	case errors.Is(err, fs.ErrPermission):
		e.Kind = Permission
	}
	return e
}

// quotedLimit bounds how much of a path an error repeats.
const quotedLimit = 300

// quote makes s one unforgeable token of a line.
func quote(s string) string {
	if len(s) <= quotedLimit {
		return strconv.Quote(s)
	}
	cut := quotedLimit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s... (%d bytes)", strconv.Quote(s[:cut]), len(s))
}

func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	return strings.Join(quoted, ", ")
}
