//go:build !unix

package fsroot

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
)

// keepOwner does nothing: new files get the owner that the directory hands on.
func keepOwner(*os.File, fs.FileInfo) error { return nil }

// key names the directory dir, for every process on the machine.
func key(dir string, _ fs.FileInfo) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	sum := sha256.Sum256([]byte(folded(dir)))
	return hex.EncodeToString(sum[:8])
}
