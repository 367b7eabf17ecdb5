//go:build !linux

package fsroot

import "io/fs"

// Elsewhere package os does it all.

func (r *Root) loadBare(string) ([]byte, fs.FileInfo) { return nil, nil }

func (d *Reader) loadBare(string) ([]byte, fs.FileInfo) { return nil, nil }

// Close gives the directories back.
func (d *Reader) Close() {}

func (x *dir) openBare(string, int, fs.FileMode) openFile { return nil }

func (x *dir) lookBare(string) (fs.FileInfo, bool) { return nil, false }

func (x *dir) removeBare(string) bool { return false }
