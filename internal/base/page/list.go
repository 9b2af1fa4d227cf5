package page

// List gives one page of a list: the whole of paging, so that an area says only what it sorts by and how it reads.
// Scope and filters are what the cursor is bound to; key gives the columns the list is sorted by, always the same
// number of them; fetch reads up to limit rows after a key, or from the start when the key is nil.
func List[T any](scope string, filters any, p Request, key func(T) []string, fetch func(after []string, limit int) ([]T,
	error)) (Page[T], error) {
	print := Fingerprint(scope, filters)
	after, err := Decode(print, p.Cursor, len(key(*new(T))))
	if err != nil {
		return Page[T]{}, err
	}
	rows, err := fetch(after, p.Limit+1)
	if err != nil {
		return Page[T]{}, err
	}
	return Cut(rows, p.Limit, func(last T) string { return Encode(print, key(last)...) }), nil
}
