package db

import "strings"

// Query builds a statement whose conditions depend on a request. Its text comes from code only; values are arguments.
type Query struct {
	text strings.Builder
	Args []any
}

// Select starts a statement with a text that contains a WHERE clause with @org.
func Select(text string, args ...any) *Query {
	q := &Query{Args: args}
	q.text.WriteString(text)
	return q
}

// And adds a condition with its arguments.
func (q *Query) And(condition string, args ...any) *Query {
	q.text.WriteString(" AND " + condition)
	q.Args = append(q.Args, args...)
	return q
}

// Then adds the rest of the statement, such as ORDER BY, and returns its text.
func (q *Query) Then(text string, args ...any) string {
	q.text.WriteString(" " + text)
	q.Args = append(q.Args, args...)
	return q.text.String()
}

// OrNull returns nil for an empty text, for a column or a response field that is then null.
func OrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// OrEmpty returns an empty text for nil.
func OrEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
