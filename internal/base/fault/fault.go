// Package fault holds the few kinds of failure a caller can act on; every edge maps a kind to its own status in one table.
package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind says what the caller can do about a failure.
type Kind int

// The kinds. Internal is the zero value, so that an error nobody classified is never mistaken for the caller's.
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

// String names the kind for logs.
func (k Kind) String() string { return kindNames[k] }

// Field blames one input, by its path on the wire, such as lines[2].amount.
type Field struct {
	Name    string
	Message string
}

// Error is a failure with a kind, a sentence for the caller and, where input is to blame, every faulty field.
type Error struct {
	Kind       Kind
	Message    string
	Fields     []Field
	RetryAfter time.Duration

	cause error
}

// Error gives the sentence and the blamed fields; the cause stays out of it, because this text reaches callers.
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

// Unwrap gives the cause, which is for logs.
func (e *Error) Unwrap() error { return e.cause }

// KindOf finds the kind of an error; what carries none is Internal.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// Refused tells a fault of what is asked for from one of the house: it would be refused again.
func Refused(err error) bool {
	switch KindOf(err) {
	case Invalid, NotFound, Conflict, Forbidden:
		return true
	default:
		return false
	}
}

const invalidMessage = "the request is not valid"

// Invalidf blames one field.
func Invalidf(field, format string, args ...any) error {
	return &Error{Kind: Invalid, Message: invalidMessage, Fields: []Field{{field, fmt.Sprintf(format, args...)}}}
}

// Malformedf refuses input as a whole, where no field can be named.
func Malformedf(format string, args ...any) error { return newf(Invalid, format, args) }

// Unauthorizedf says the caller did not prove who they are.
func Unauthorizedf(format string, args ...any) error { return newf(Unauthorized, format, args) }

// Forbiddenf says the caller is known and may not do this.
func Forbiddenf(format string, args ...any) error { return newf(Forbidden, format, args) }

// Conflictf says the state of a resource, or an accounting rule, stands against it.
func Conflictf(format string, args ...any) error { return newf(Conflict, format, args) }

// Missing names only the sort of thing: what does not exist and what belongs to somebody else must read the same.
func Missing(noun string) error {
	return &Error{Kind: NotFound, Message: noun + " not found"}
}

// MissingAt is Missing with the inputs that named what is not there.
func MissingAt(noun string, fields ...string) error {
	e := &Error{Kind: NotFound, Message: noun + " not found"}
	for _, f := range fields {
		e.Fields = append(e.Fields, Field{f, "not found"})
	}
	return e
}

// ConflictAt is Conflictf with the inputs that are in conflict.
func ConflictAt(fields []Field, format string, args ...any) error {
	return &Error{Kind: Conflict, Message: fmt.Sprintf(format, args...), Fields: fields}
}

// Within says of the fields that an error blames where they are, such as in filter.
func PrefixFields(place string, err error) error {
	var e *Error
	if !errors.As(err, &e) || len(e.Fields) == 0 {
		return err
	}
	inside := *e
	inside.Fields = make([]Field, len(e.Fields))
	for i, f := range e.Fields {
		inside.Fields[i] = Field{place + f.Name, f.Message}
	}
	return &inside
}

// RateLimitedFor asks the caller to come back later.
func RateLimitedFor(wait time.Duration) error {
	return &Error{Kind: RateLimited, Message: "too many requests", RetryAfter: wait}
}

// UnavailableBecause says a part the service needs does not answer now; the cause is kept for the log.
func UnavailableBecause(cause error, format string, args ...any) error {
	return &Error{Kind: Unavailable, Message: fmt.Sprintf(format, args...), RetryAfter: retryAfter, cause: cause}
}

// OfProvider calls what is unavailable a failure of the provider that the caller asked; every other error passes.
func AsProviderError(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Kind != Unavailable {
		return err
	}
	out := *e
	out.Kind = Provider
	return &out
}

// retryAfter is what a caller is told when nothing better is known: long enough for a database to fail over, short enough to be of use.
const retryAfter = 2 * time.Second

func newf(k Kind, format string, args []any) error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}
