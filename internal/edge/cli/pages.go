package cli

import "github.com/bursarhq/bursar/internal/base/page"

// pageSize is how many records a list reads at a time.
const pageSize = 100

// eachOf calls do for every record of a list, page by page.
func eachOf[T any](list func(page.Request) (page.Page[T], error), do func(T)) error {
	for p := (page.Request{Limit: pageSize}); ; {
		found, err := list(p)
		if err != nil {
			return err
		}
		for _, one := range found.Items {
			do(one)
		}
		if p.Cursor = found.NextCursor; p.Cursor == "" {
			return nil
		}
	}
}
