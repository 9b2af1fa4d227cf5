package template

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
)

// Verify returns the violated invariants of the templates of an organization.
func Verify(ctx context.Context, tx *db.Tx) (problems []string, err error) {
	all, err := selectAll(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		var faults fault.List
		if err := t.validate(&faults); err != nil {
			return nil, err
		}
		if !faults.Empty() {
			problems = append(problems, fmt.Sprintf("template %s: its content is not valid: %v", t.ID, faults.Err()))
		}
		if t.ItemCount != t.Content.size() {
			problems = append(problems, fmt.Sprintf("template %s: it has %d items, and says %d", t.ID, t.Content.size(), t.ItemCount))
		}
	}
	return problems, nil
}
