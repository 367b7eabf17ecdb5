//go:build !linux

package fsroot

import (
	"io/fs"
	"os"
)

// Other systems have no single call that opens a path below a directory: the walk does it.

func (r *Root) openDirect(string) *File { return nil }

func (r *Root) openDirDirect(string) *os.File { return nil }

func (r *Root) statDirect(string, bool) fs.FileInfo { return nil }
