// Package page holds the one way lists are cut into pages: by opaque keyset
// cursors that are bound to the filters they were made with.
package page

import "fmt"

const (
	// LimitDefault is how many items a page has when the caller does not say.
	LimitDefault = 50
	// LimitMax is how many items a page may have at most.
	LimitMax = 100
)

// Request is what a caller asks of a list besides its filters.
type Request struct {
	Limit  int
	Cursor string
}

// Page is one page of a list; NextCursor is empty on the last, and TotalCount is
// nil unless it was asked for.
type Page[T any] struct {
	Items      []T
	HasMore    bool
	NextCursor string
	TotalCount *int64
}

// Cut makes a page of rows that were fetched with one more than the limit, that
// one being the cheapest proof that there are more. The cursor is made of the
// last item kept, because the next page starts after it.
func Cut[T any](rows []T, limit int, next func(T) string) Page[T] {
	if limit < 1 {
		panic(fmt.Sprintf("page: limit %d, want at least 1", limit))
	}
	if len(rows) <= limit {
		// A list without items is [] on the wire, never null.
		if rows == nil {
			rows = []T{}
		}
		return Page[T]{Items: rows}
	}
	// The capacity ends here too: appending must not write into the row cut off.
	items := rows[:limit:limit]
	return Page[T]{Items: items, HasMore: true, NextCursor: next(items[limit-1])}
}
