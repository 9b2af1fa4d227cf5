// Package fault defines errors with a kind that tells a caller how to react and, for invalid input, the fields at fault. The
// API and the command line each map kinds to statuses in one table.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind classifies an error by what the caller can do about it.
type Kind int

// The kinds. Internal is the zero value, so that an unclassified error is never blamed on the caller.
const (
	Internal Kind = iota
	Invalid
	Unauthorized
	Forbidden
	NotFound
	Conflict
	RateLimited
	Unavailable
	Provider
)

var kindNames = [...]string{"internal", "invalid", "unauthorized", "forbidden", "not found", "conflict", "rate limited",
	"unavailable", "provider"}

// String returns the name of the kind, for logs.
func (k Kind) String() string { return kindNames[k] }

// Field is a field at fault, named by its path in the request, such as lines[2].amount.
type Field struct {
	Name    string
	Message string
}

// Error is an error with a kind, a message for the caller and, for invalid input, every field at fault.
type Error struct {
	Kind       Kind
	Message    string
	Fields     []Field
	Cut        bool // there may be faults that Fields does not list, because there are too many
	Unread     bool // not all of the input was looked at, so that there may be others
	RetryAfter time.Duration

	cause error
}

// Error returns the message and the fields at fault. It leaves out the cause, because callers see this text.
func (e *Error) Error() string {
	if len(e.Fields) == 0 {
		return e.Message
	}
	parts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		parts[i] = f.Name + " " + f.Message
	}
	return e.Message + ": " + strings.Join(parts, "; ")
}

// Unwrap returns the cause, which is for logs.
func (e *Error) Unwrap() error { return e.cause }

// KindOf returns the kind of an error, Internal if it has none.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// Refused reports whether an error is due to the request, so that repeating it would fail again.
func Refused(err error) bool {
	switch KindOf(err) {
	case Invalid, NotFound, Conflict, Forbidden:
		return true
	default:
		return false
	}
}

const invalidMessage = "the request is not valid"

// Invalidf returns an Invalid error for one field.
func Invalidf(field, format string, args ...any) error {
	return &Error{Kind: Invalid, Message: invalidMessage, Fields: []Field{{field, fmt.Sprintf(format, args...)}}}
}

// Malformedf returns an Invalid error for the request as a whole, for use if no field can be named.
func Malformedf(format string, args ...any) error { return newf(Invalid, format, args) }

// Unauthorizedf returns the error for a caller who is not authenticated.
func Unauthorizedf(format string, args ...any) error { return newf(Unauthorized, format, args) }

// Forbiddenf returns the error for an authenticated caller who lacks permission.
func Forbiddenf(format string, args ...any) error { return newf(Forbidden, format, args) }

// Conflictf returns the error for a request that conflicts with the state of a resource or an accounting rule.
func Conflictf(format string, args ...any) error { return newf(Conflict, format, args) }

// Missing returns a NotFound error. It names only the kind of record, so that a record of another organization is reported
// like one that does not exist.
func Missing(noun string) error {
	return &Error{Kind: NotFound, Message: noun + " " + notFound}
}

// notFound is what is wrong with a field that names a record that does not exist.
const notFound = "not found"

// nounOf returns the kind of record that a NotFound error is about.
func nounOf(e *Error) string { return strings.TrimSuffix(e.Message, " "+notFound) }

// MissingAt is Missing with the fields that named the record.
func MissingAt(noun string, fields ...string) error {
	var l List
	l.AddMissing(noun, fields...)
	return l.Err()
}

// ConflictAt is Conflictf with the fields in conflict.
func ConflictAt(fields []Field, format string, args ...any) error {
	return &Error{Kind: Conflict, Message: fmt.Sprintf(format, args...), Fields: fields}
}

// RenameField returns an error in which a field at fault has another name, and with it all that is within the field. Other errors are
// returned unchanged.
func RenameField(err error, from, to string) error {
	return renameFields(err, from, func(name string) string { return to + strings.TrimPrefix(name, from) })
}

// RenameWhole is RenameField for where the elements of a list have no names, as on the command line: all that is within the field gets the
// name itself.
func RenameWhole(err error, from, to string) error {
	return renameFields(err, from, func(string) string { return to })
}

func renameFields(err error, from string, rename func(name string) string) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	renamed := *e
	renamed.Fields = slices.Clone(e.Fields)
	for i, f := range renamed.Fields {
		if within(f.Name, from) {
			renamed.Fields[i].Name = rename(f.Name)
		}
	}
	return &renamed
}

// PrefixFields prepends a path such as "filter." to the names of the fields at fault. Errors without fields are returned
// unchanged.
func PrefixFields(prefix string, err error) error {
	var e *Error
	if !errors.As(err, &e) || len(e.Fields) == 0 {
		return err
	}
	inside := *e
	inside.Fields = make([]Field, len(e.Fields))
	for i, f := range e.Fields {
		inside.Fields[i] = Field{prefix + f.Name, f.Message}
	}
	return &inside
}

// RateLimitedf returns the error that asks the caller to retry after a while. Its message says which limit was exceeded.
func RateLimitedf(wait time.Duration, format string, args ...any) error {
	return &Error{Kind: RateLimited, Message: fmt.Sprintf(format, args...), RetryAfter: wait}
}

// Busyf returns the error for a request that the service refuses because it has too much to do at present. It has no cause: nothing is
// out of order.
func Busyf(wait time.Duration, format string, args ...any) error {
	return &Error{Kind: Unavailable, Message: fmt.Sprintf(format, args...), RetryAfter: wait}
}

// UnavailableBecause returns the error for a dependency that does not respond; the cause is for logs only.
func UnavailableBecause(cause error, format string, args ...any) error {
	return &Error{Kind: Unavailable, Message: fmt.Sprintf(format, args...), RetryAfter: retryAfter, cause: cause}
}

// AsProviderError converts an Unavailable error to a Provider error, for routes that pass requests on to a provider. Other
// errors are returned unchanged.
func AsProviderError(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Kind != Unavailable {
		return err
	}
	out := *e
	out.Kind = Provider
	return &out
}

// retryAfter is the default delay before a retry: long enough for a database to fail over, short enough to be useful.
const retryAfter = 2 * time.Second

func newf(k Kind, format string, args []any) error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// Choices lists values in words, for messages: "owner, admin or viewer".
func Choices[T ~string](all []T) string {
	var b strings.Builder
	for i, one := range all {
		switch {
		case i == 0:
		case i == len(all)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(one))
	}
	return b.String()
}
