package entity

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/reference"
)

// Check finds what must not be in an organization's legal entities.
func Check(ctx context.Context, tx *db.Tx) (out []string, err error) {
	all, err := All(ctx, tx)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		out = append(out, "legal entities: the organization has none")
	}
	parents := make(map[string]string, len(all))
	for _, e := range all {
		parents[e.ID] = e.ParentID
	}
	for _, e := range all {
		var faults fault.List
		e.check(&faults)
		if err := faults.Err(); err != nil {
			out = append(out, fmt.Sprintf("legal entity %s: %v", e.ID, err))
		}
		out = append(out, e.checkAbove(parents)...)
		history, err := Elections(ctx, tx, e.ID)
		if err != nil {
			return nil, err
		}
		if n := len(history); n == 0 || history[n-1] != e.election(history[n-1].CreatedAt) {
			out = append(out, fmt.Sprintf("legal entity %s: its cost basis is not what was elected last", e.ID))
		}
	}
	strays, err := reference.FindDangling(ctx, tx, table)
	for _, s := range strays {
		out = append(out, fmt.Sprintf("%s: the legal entity %s is not there", s.Table, s.ID))
	}
	return out, err
}

// checkAbove goes up from an entity: every parent must be there, and the way must end.
func (e LegalEntity) checkAbove(parents map[string]string) []string {
	steps := 0
	for above := e.ParentID; above != ""; steps++ {
		next, there := parents[above]
		if !there {
			return []string{fmt.Sprintf("legal entity %s: the entity %s above it is not there", e.ID, above)}
		}
		if steps > len(parents) {
			return []string{fmt.Sprintf("legal entity %s: the entities above it go in a circle", e.ID)}
		}
		above = next
	}
	return nil
}
