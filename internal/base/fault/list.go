package fault

import (
	"errors"
	"fmt"
)

// List collects all fields at fault, so that a caller can correct them at once.
type List struct{ fields []Field }

// Addf adds a field at fault.
func (l *List) Addf(field, format string, args ...any) {
	l.fields = append(l.fields, Field{field, fmt.Sprintf(format, args...)})
}

// Merge adds the fields of an Invalid error to the list and returns nil; it returns any other error unchanged.
func (l *List) Merge(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Kind == Invalid && len(e.Fields) > 0 {
		l.fields = append(l.fields, e.Fields...)
		return nil
	}
	return err
}

// Err returns an Invalid error with all fields, or nil if there are none.
func (l *List) Err() error {
	if len(l.fields) == 0 {
		return nil
	}
	return &Error{Kind: Invalid, Message: invalidMessage, Fields: l.fields}
}
