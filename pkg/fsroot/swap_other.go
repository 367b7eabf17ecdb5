//go:build !linux && !darwin

package fsroot

import "errors"

// These systems have no such calls.

func exchange(*dir, string, string) error { return errors.ErrUnsupported }

func renameNew(*dir, string, string) error { return errors.ErrUnsupported }

func unable(err error) bool { return errors.Is(err, errors.ErrUnsupported) }
