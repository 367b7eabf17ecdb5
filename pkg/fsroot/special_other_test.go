//go:build !linux

package fsroot_test

import (
	"errors"
	"testing"
)

func mkfifo(string) error { return errors.ErrUnsupported }

func mknod(string, bool, uint32, uint32) error { return errors.ErrUnsupported }

func bindMount(*testing.T, string, string) error { return errors.ErrUnsupported }
