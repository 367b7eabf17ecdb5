//go:build !linux

package fsroot_test

import (
	"errors"
	"os"
	"testing"
)

func mkfifo(string) error { return errors.ErrUnsupported }

func mknod(string, bool, uint32, uint32) error { return errors.ErrUnsupported }

func bindMount(*testing.T, string, string) error { return errors.ErrUnsupported }

func owner(os.FileInfo) [2]uint32 { return [2]uint32{} }
