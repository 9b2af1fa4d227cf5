package db

import "strings"

// Query grows a statement with the conditions a request asks for. The text comes from code, the values are always arguments.
type Query struct {
	text strings.Builder
	Args []any
}

// Select begins a statement that has its WHERE already, with @org in it.
func Select(text string, args ...any) *Query {
	q := &Query{Args: args}
	q.text.WriteString(text)
	return q
}

// And adds a condition.
func (q *Query) And(condition string, args ...any) *Query {
	q.text.WriteString(" AND " + condition)
	q.Args = append(q.Args, args...)
	return q
}

// Then adds what comes last and gives the statement's text.
func (q *Query) Then(text string, args ...any) string {
	q.text.WriteString(" " + text)
	q.Args = append(q.Args, args...)
	return q.text.String()
}

// OrNull gives an empty text as null, in a column or in an answer.
func OrNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// OrEmpty reads NULL as an empty text.
func OrEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
