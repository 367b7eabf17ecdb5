package fsroot

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// keepOwner does nothing: new files get the owner that the directory hands on.
func keepOwner(_ openFile, _, _ fs.FileInfo) error { return nil }

// key names the directory dir, for every process on the machine.
func key(dir string, _ fs.FileInfo) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	sum := sha256.Sum256([]byte(folded(dir)))
	return hex.EncodeToString(sum[:8])
}

// idOf returns which file the open f is, and how many names it has.
func idOf(f openFile, _ fs.FileInfo) (id fileID, links uint64) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return fileID{}, 0
	}
	ino := uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)
	return fileID{uint64(info.VolumeSerialNumber), ino}, uint64(info.NumberOfLinks)
}

// idAt returns which file name in dir is, if it still is what Lstat saw. Links have no
// identity here, only a target.
func idAt(dir *os.Root, name string, seen fs.FileInfo) fileID {
	if !seen.Mode().IsRegular() && !seen.IsDir() {
		return fileID{}
	}
	f, err := dir.Open(name)
	if err != nil {
		return fileID{}
	}
	defer f.Close()
	if is, err := f.Stat(); err != nil || !os.SameFile(is, seen) {
		return fileID{}
	}
	id, _ := idOf(f, nil)
	return id
}

// removeDir removes the directory name.
func removeDir(x *dir, name string) error { return x.handle.Remove(name) }

// notEmpty reports whether err says that there is something in a directory, or nothing
// like it any more.
func notEmpty(err error) bool {
	return errors.Is(err, windows.ERROR_DIR_NOT_EMPTY) || errors.Is(err, fs.ErrNotExist)
}
