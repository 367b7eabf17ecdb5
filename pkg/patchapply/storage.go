package patchapply

import (
	"context"
	"io/fs"
)

// A Storage holds the files that a patch is applied to. Its methods return an [*Error] for
// whatever a model can mend, and may be called from several goroutines.
type Storage interface {
	// View returns a way to read without waiting for those who change the storage. A commit
	// of another may be seen half done; [Tx.Commit] finds that out.
	View(ctx context.Context) View
	// Begin waits until the caller is the only one who may change the storage, and brings
	// it into order where a commit died half way.
	Begin(ctx context.Context) (Tx, error)
}

// A View reads a storage. It is used from one goroutine, for one patch.
type View interface {
	// Clean returns the storage's own form of a path, slash-separated and without dots, the
	// same for all ways to write one name. Links in the last component stay.
	// Errors are InvalidPath and PathEscape.
	Clean(path string) (string, error)
	// Load returns what a clean path holds, or nil and no error where there is nothing.
	// Errors are InvalidPath, PathEscape, IsDirectory, NotText for what is no regular file,
	// TooLarge for one of more than limit bytes, or than the storage takes, and IOError.
	Load(path string, limit int64) (*File, error)
	// Similar returns up to three paths, as clients may write them, that path may have meant.
	Similar(path string) []string
}

// A Tx is the sole right to change a storage. It is used from one goroutine.
type Tx interface {
	View
	// Commit makes all changes or none. No two are of one path. Before it begins it looks at
	// every file again, and returns StaleFile where one is not as it was loaded, by this Tx or
	// by a View of the same storage. After an error all is as it was, or the error's text says
	// what is not. After a StaleFile it may be called again.
	Commit(changes []Change) error
	// End gives the right back. It may be called twice.
	End()
}

// A File is what a path holds.
type File struct {
	Content []byte
	Perm    fs.FileMode // permission bits
	Real    string      // the clean path with links resolved; the path itself of a broken link
	Same    any         // equal for all names of one file, hard links included; nil means Real
	IsLink  bool        // the name itself is a symbolic link; all else is of what it leads to
	Broken  error       // of a link that leads to no file of the storage: why
	Token   any         // by which the storage knows the file again
}

// A Change is what a commit does to one path: it writes After, or removes the name. An
// existing file is written through links, and removed as the link that it may be. What
// else a storage keeps of an existing file, such as its owner, stays.
type Change struct {
	Path   string
	Before *File // as loaded; nil: nothing was there, and nothing may be there
	After  []byte
	Remove bool
	Perm   fs.FileMode // of a new file, or one that is to change; 0: as it is, or the storage's own
	From   *File       // of a new file: what it was elsewhere, whose owner it keeps; nil if it is new
}
