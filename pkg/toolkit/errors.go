package toolkit

import (
	"errors"
	"fmt"

	"github.com/toolhost/toolhost/pkg/approval"
)

// A visible error carries two texts: what the model may read, and the cause, which only
// the log holds.
type visible struct {
	text  string
	cause error
}

func (e *visible) Error() string {
	if e.cause == nil {
		return e.text
	}
	return e.text + ": " + e.cause.Error()
}
func (e *visible) Unwrap() error   { return e.cause }
func (e *visible) Visible() string { return e.text }

// Errorf returns an error whose whole text the model may read. Its first line says what
// to do next.
func Errorf(format string, args ...any) error {
	return &visible{text: fmt.Sprintf(format, args...)}
}

// Because returns an error that shows the model text, and the log cause as well.
func Because(cause error, format string, args ...any) error {
	return &visible{text: fmt.Sprintf(format, args...), cause: cause}
}

// VisibleText returns what the model may read of err: the text of the first error in its
// chain that has a method Visible() string. Errors of engines have one where their text
// holds nothing about the host; ok is false for all others.
func VisibleText(err error) (text string, ok bool) {
	var v interface{ Visible() string }
	if errors.As(err, &v) {
		return v.Visible(), true
	}
	return "", false
}

// told returns what may be told of an error under a grant: it names what lies near a path only
// if the grant shows that. Errors that name such things have a method Under.
func told(err error, g approval.Grant) error {
	var named interface{ Under(approval.Grant) error }
	if errors.As(err, &named) {
		return named.Under(g)
	}
	return err
}
