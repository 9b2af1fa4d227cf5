package page

// List returns one page of a list. Callers only define the sort key and how to read rows: the cursor is bound to scope and
// filters; key returns the values of the sort columns, always the same number of them; fetch reads up to limit rows after
// a key, or from the start if the key is nil.
func List[T any](
	scope string, filters any, p Request, key func(T) []string, fetch func(after []string, limit int) ([]T, error),
) (Page[T], error) {
	print := Fingerprint(scope, filters)
	after, err := Decode(print, p.Cursor, len(key(*new(T))))
	if err != nil {
		return Page[T]{}, err
	}
	rows, err := fetch(after, p.Limit+1)
	if err != nil {
		return Page[T]{}, err
	}
	return FromRows(rows, p.Limit, func(last T) string { return Encode(print, key(last)...) }), nil
}

// ListByKey is List for lists that are sorted by one column. On the first page fetch gets first, which lies before every key in the
// order of the list: an empty text, or "~" if the list descends.
func ListByKey[T any](
	scope string, filters any, p Request, first string, key func(T) string, fetch func(after string, limit int) ([]T, error),
) (Page[T], error) {
	return List(scope, filters, p, func(row T) []string { return []string{key(row)} }, func(after []string, limit int) ([]T, error) {
		if after == nil {
			return fetch(first, limit)
		}
		return fetch(after[0], limit)
	})
}
