//go:build !linux && !darwin

package fsroot

// An attr is an extended attribute of a file. Elsewhere there are none that are known here.
type attr struct{}

func readAttrs(openFile) ([]attr, error) { return nil, nil }

func writeAttrs(openFile, []attr) error { return nil }
