package patchapply

import (
	"context"
	"io/fs"
)

// A Storage holds the files that a patch is applied to. Its methods return an [*Error] for
// whatever a model can mend, and may be called from several goroutines.
type Storage interface {
	// Begin waits until the caller is the only one who may change the storage, and brings
	// it into order where a commit died half way.
	Begin(ctx context.Context) (Tx, error)
}

// A Tx is the sole right to change a storage. It is used from one goroutine.
type Tx interface {
	// Clean returns the storage's own form of a path: relative, slash-separated, without dots.
	// Errors are InvalidPath and PathEscape.
	Clean(path string) (string, error)
	// Load returns what a clean path holds, or nil and no error where there is nothing.
	// Errors are PathEscape, IsDirectory, NotText for what is no regular file, TooLarge and IOError.
	Load(path string) (*File, error)
	// Similar returns up to three paths that a path may have meant.
	Similar(path string) []string
	// Commit makes all changes or none. Before it begins it looks at every file again, and
	// returns StaleFile where one is not as it was loaded. After an error all is as it was, or
	// the error's text says what is not.
	Commit(changes []Change) error
	// End gives the right back. It may be called twice.
	End()
}

// A File is what a path holds.
type File struct {
	Content []byte
	Perm    fs.FileMode // permission bits
	Real    string      // the clean path with links resolved: equal for names of one file
	IsLink  bool        // the name itself is a symbolic link; Content and Perm are of what it leads to; nil content where it leads nowhere
	Token   any         // by which the storage knows the file again
}

// A Change is what a commit does to one path: it writes After, or removes the name. An
// existing file is written through links, and removed as the link that it may be.
type Change struct {
	Path   string
	Before *File // as loaded; nil: nothing was there, and nothing may be there
	After  []byte
	Remove bool
	Perm   fs.FileMode // of a new file, or one that is to change; 0: as it is, or the storage's own
}
