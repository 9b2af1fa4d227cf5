package customer

import (
	"context"
	"fmt"
	"reflect"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/reference"
)

// verifyChunk is how many customers are read at a time.
const verifyChunk = 1000

// Verify recomputes the invariants of customers and returns a sentence for each broken one.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
	searched, err := selectSearchTexts(ctx, tx)
	if err != nil {
		return nil, err
	}
	for above := ""; ; {
		chunk, err := selectPage(ctx, tx, Filter{}, above, verifyChunk)
		if err != nil {
			return nil, err
		}
		for _, c := range chunk {
			above = c.ID
			var faults fault.List
			c.validate(&faults)
			if err := faults.Err(); err != nil {
				out = append(out, fmt.Sprintf("customer %s: %v", c.ID, err))
			}
			if kept := c.normalized(); !reflect.DeepEqual(kept, c) || searched[c.ID] != searchText(c.Name) {
				out = append(out, fmt.Sprintf("customer %s: it is not in normalized form", c.ID))
			}
		}
		if len(chunk) < verifyChunk {
			break
		}
	}
	identifiers, err := selectIdentifiers(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, r := range identifiers {
		if r.MatchKey != kind(r.Kind).matchKey(r.Value) {
			out = append(out, fmt.Sprintf("customer %s: the match key of %s does not follow from it", r.CustomerID, r.Value))
		}
	}
	strays, err := reference.FindDangling(ctx, tx, table)
	for _, s := range strays {
		out = append(out, fmt.Sprintf("%s: the customer %s does not exist", s.Table, s.ID))
	}
	return out, err
}
