package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// List collects everything that is wrong with a request, so that a caller can correct it at once: values that are not valid,
// references to records that do not exist, and conflicts with the state of records.
type List struct {
	invalid, missing, conflicts []Field
	noun                        string // the kind of the first record that does not exist
	conflict                    string // the message of the first conflict
	cut                         bool   // there are faults beyond ListMax
	unread                      bool   // not all of the input was looked at
}

// ListMax is how many faults of a kind a List keeps, so that a request cannot make it grow without limit. The rest is not counted: the
// same fault may be found by several checks, and only faults that are kept can be compared.
const ListMax = 1000

// Addf adds a field that is not valid.
func (l *List) Addf(field, format string, args ...any) {
	if len(l.invalid) >= ListMax {
		l.cut = true
		return
	}
	l.invalid = append(l.invalid, Field{field, fmt.Sprintf(format, args...)})
}

// MarkCut states, if it is so, that there are faults which are not listed, because there are too many.
func (l *List) MarkCut(cut bool) { l.cut = l.cut || cut }

// MarkUnread states that not all of the input was looked at, because too much of it is at fault.
func (l *List) MarkUnread() { l.unread = true }

// keep appends fields to a list that may have ListMax.
func (l *List) keep(list *[]Field, fields ...Field) {
	room := min(len(fields), max(0, ListMax-len(*list)))
	*list = append(*list, fields[:room]...)
	l.cut = l.cut || room < len(fields)
}

// AddMissing adds fields that name records of a kind that do not exist.
func (l *List) AddMissing(noun string, fields ...string) {
	for _, field := range fields {
		if len(l.missing) == 0 {
			l.noun = noun
		}
		l.keep(&l.missing, Field{field, notFound})
	}
}

// AddConflictf adds a field that conflicts with the state of a record.
func (l *List) AddConflictf(field, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if len(l.conflicts) == 0 {
		l.conflict = message
	}
	l.keep(&l.conflicts, Field{field, message})
}

// Empty reports whether nothing was found to be wrong.
func (l *List) Empty() bool { return len(l.invalid)+len(l.missing)+len(l.conflicts) == 0 }

// Merge adds the fields of an Invalid, NotFound or Conflict error to the list and returns nil. It returns any other error, and one that
// names no field, unchanged.
func (l *List) Merge(err error) error {
	var e *Error
	if !errors.As(err, &e) || len(e.Fields) == 0 {
		return err
	}
	switch e.Kind {
	case Invalid:
		l.keep(&l.invalid, e.Fields...)
	case NotFound:
		if len(l.missing) == 0 {
			l.noun = nounOf(e)
		}
		l.keep(&l.missing, e.Fields...)
	case Conflict:
		if len(l.conflicts) == 0 {
			l.conflict = e.Message
		}
		l.keep(&l.conflicts, e.Fields...)
	default:
		return err
	}
	l.cut, l.unread = l.cut || e.Cut, l.unread || e.Unread
	return nil
}

// MergeMissing is Merge for the error of a lookup: a NotFound error that names no field is added with the field that named the record.
func (l *List) MergeMissing(err error, field string) error {
	var e *Error
	if errors.As(err, &e) && e.Kind == NotFound && len(e.Fields) == 0 {
		l.AddMissing(nounOf(e), field)
		return nil
	}
	return l.Merge(err)
}

// Err returns an error with all fields, or nil if there are none. Its kind is Invalid if a field is not valid, otherwise NotFound if a
// record does not exist, and Conflict if there are only conflicts. A field that conflicts with the state of a record is not reported as
// invalid too, because no other value would be accepted.
func (l *List) Err() error {
	invalid := slices.DeleteFunc(slices.Clone(l.invalid), func(f Field) bool {
		return slices.ContainsFunc(l.conflicts, func(c Field) bool { return c.Name == f.Name })
	})
	all := slices.Concat(invalid, l.missing, l.conflicts)
	switch {
	case len(invalid) > 0:
		return &Error{Kind: Invalid, Message: invalidMessage, Fields: all, Cut: l.cut, Unread: l.unread}
	case len(l.missing) > 0:
		return &Error{Kind: NotFound, Message: l.noun + " " + notFound, Fields: all, Cut: l.cut, Unread: l.unread}
	case len(l.conflicts) > 0:
		return &Error{Kind: Conflict, Message: l.conflict, Fields: all, Cut: l.cut, Unread: l.unread}
	}
	return nil
}

// With returns the faults of the list together with those that an error, which was found after them, names in other fields. What concerns a
// field of the list, something within it or something around it is left out, because it may only follow from the fault that is known. An
// empty list returns the error unchanged; otherwise an error that is not Invalid or NotFound is dropped.
func (l *List) With(err error) error {
	if l.Empty() {
		return err
	}
	known := slices.Concat(l.invalid, l.missing, l.conflicts)
	var e *Error
	if errors.As(err, &e) && (e.Kind == Invalid || e.Kind == NotFound) {
		other := *e
		other.Fields = slices.DeleteFunc(slices.Clone(e.Fields), func(f Field) bool {
			return slices.ContainsFunc(known, func(k Field) bool { return within(f.Name, k.Name) || within(k.Name, f.Name) })
		})
		_ = l.Merge(&other) // an error without other fields adds nothing
	}
	return l.Err()
}

// within reports whether the path of a field is that of another, or of something in it: lines[2].amount is within lines.
func within(inner, outer string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
