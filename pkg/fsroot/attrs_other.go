//go:build !linux && !darwin

package fsroot

import "os"

// An attr is an extended attribute of a file. Elsewhere there are none that are known here.
type attr struct{}

func readAttrs(*os.File) ([]attr, error) { return nil, nil }

func writeAttrs(*os.File, []attr) error { return nil }
