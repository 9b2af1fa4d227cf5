package fault

import (
	"errors"
	"fmt"
)

// List collects every faulty field before anything is answered, so that a caller mends them in one go.
type List struct{ fields []Field }

// Addf blames one more field.
func (l *List) Addf(field, format string, args ...any) {
	l.fields = append(l.fields, Field{field, fmt.Sprintf(format, args...)})
}

// Take moves the fields of an Invalid error into the list; any other error is handed back.
func (l *List) Merge(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Kind == Invalid && len(e.Fields) > 0 {
		l.fields = append(l.fields, e.Fields...)
		return nil
	}
	return err
}

// Err is nil when nothing was blamed.
func (l *List) Err() error {
	if len(l.fields) == 0 {
		return nil
	}
	return &Error{Kind: Invalid, Message: invalidMessage, Fields: l.fields}
}
