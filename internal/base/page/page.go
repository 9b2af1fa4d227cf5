// Package page implements keyset pagination of lists, with opaque cursors that are
// bound to the filters they were created with.
package page

import "fmt"

const (
	// LimitDefault is the default number of items of a page.
	LimitDefault = 50
	// LimitMax is the maximum number of items of a page.
	LimitMax = 100
)

// Request holds the paging parameters of a list.
type Request struct {
	Limit  int
	Cursor string
}

// Page is one page of a list. NextCursor is empty on the last page, and TotalCount
// is nil unless it was requested.
type Page[T any] struct {
	Items      []T
	HasMore    bool
	NextCursor string
	TotalCount *int64
}

// FromRows returns a page of rows that were fetched with a limit of one more than
// the page has: the extra row shows that there are more. The next page starts after
// the last item kept, from which next computes the cursor.
func FromRows[T any](rows []T, limit int, next func(T) string) Page[T] {
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
	// The capacity is limited too, so that appending cannot overwrite the extra row.
	items := rows[:limit:limit]
	return Page[T]{Items: items, HasMore: true, NextCursor: next(items[limit-1])}
}
