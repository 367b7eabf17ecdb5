package patchapply

import (
	"errors"
	"strings"
)

// A Class says what kind of error stopped a patch. It opens the text that a model reads.
type Class string

// The classes.
const (
	ParseError       Class = "parse_error"
	EmptyPatch       Class = "empty_patch"
	InvalidOperation Class = "invalid_operation"
	InvalidPath      Class = "invalid_path"
	PathEscape       Class = "path_escape"
	FileNotFound     Class = "file_not_found"
	AlreadyExists    Class = "already_exists"
	IsDirectory      Class = "is_directory"
	NotText          Class = "not_text"
	ContextNotFound  Class = "context_not_found"
	AnchorNotFound   Class = "anchor_not_found"
	Ambiguous        Class = "ambiguous"
	StaleFile        Class = "stale_file"
	TooLarge         Class = "too_large"
	IOError          Class = "io_error"
)

// An Error is why a patch was not applied. Nothing was changed, unless Text says what could
// not be restored.
type Error struct {
	Class Class
	Path  string // as the patch has it; "" where it is about none
	Line  int    // of the patch, 1-based; 0 where it is about none
	Text  string // for the model: what, where, and how to mend it; at most 2 KiB
	near  string // the part of Text that names similar paths
	Err   error  // the cause, for logs
}

// Error returns the text for logs.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Visible()
	}
	return e.Visible() + ": " + e.Err.Error()
}

// Visible returns the text that a model may read. Its first line begins with the class.
func (e *Error) Visible() string { return string(e.Class) + ": " + e.Text }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// WithoutNames returns the error without the names of similar paths, for those who may not list
// them.
func (e *Error) WithoutNames() *Error {
	plain := *e
	if e.near != "" {
		plain.Text, plain.near = strings.Replace(e.Text, e.near, "", 1), ""
	}
	return &plain
}

// ClassOf returns the class of the first *Error in err's chain, or "".
func ClassOf(err error) Class {
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return ""
}
