// Package errkind attaches an exit code and a hint to an error, and lists the exit codes.
package errkind

import (
	"errors"
	"fmt"
	"strings"
)

// Code is a process exit code. The list is a promise: see docs/EXITCODES.md.
type Code int

// The exit codes of iotax.
const (
	OK          Code = 0   // everything that was asked for was done
	Bug         Code = 1   // a fault of iotax itself, or of the system under it, shown whole
	Usage       Code = 2   // the request cannot be carried out as it stands; nothing was touched
	Findings    Code = 4   // an audit found something at or above the asked severity
	Partial     Code = 5   // the run ended early, what it measured is stored
	Busy        Code = 6   // another iotax uses the same state folder
	Interrupted Code = 130 // ended by Ctrl-C or a termination signal, everything undone
)

// Error is an error with the exit code that it deserves and, for a person, what to do about it.
type Error struct {
	Code Code
	Hint string // one line: the command or change that mends it; may be empty
	Err  error
}

// Error returns the message and, where there is one, the hint on the same line.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + "; " + e.Hint
}

// Unwrap returns the error underneath.
func (e *Error) Unwrap() error { return e.Err }

// New makes an error of code c with a formatted message.
func New(c Code, format string, args ...any) error {
	return &Error{Code: c, Err: fmt.Errorf(format, args...)}
}

// Userf is New for a fault of the request: exit code Usage.
func Userf(format string, args ...any) error { return New(Usage, format, args...) }

// WithHint adds a hint to err and keeps its code (Bug when it had none).
func WithHint(err error, format string, args ...any) error {
	return &Error{Code: CodeOf(err), Hint: fmt.Sprintf(format, args...), Err: err}
}

// CodeOf returns the exit code that err carries: OK for nil, Bug for an error without a code.
func CodeOf(err error) Code {
	if err == nil {
		return OK
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	var l List
	if errors.As(err, &l) {
		return Usage
	}
	return Bug
}

// List is every fault of one input at once, in the order in which a reader meets them.
type List []error

// Error returns one line per fault.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, e := range l {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.Is and errors.As every fault.
func (l List) Unwrap() []error { return l }

// Err returns the list as an error, nil when it is empty.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}
