package entity

import (
	"context"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/reference"
)

// Verify recomputes the invariants of legal entities and returns a sentence for each broken one.
func Verify(ctx context.Context, tx *db.Tx) (out []string, err error) {
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
		e.validate(&faults)
		if err := faults.Err(); err != nil {
			out = append(out, fmt.Sprintf("legal entity %s: %v", e.ID, err))
		}
		out = append(out, e.verifyAncestors(parents)...)
		history, err := Elections(ctx, tx, e.ID)
		if err != nil {
			return nil, err
		}
		if n := len(history); n == 0 || history[n-1] != e.election(history[n-1].CreatedAt) {
			out = append(out, fmt.Sprintf("legal entity %s: its cost basis differs from its latest election", e.ID))
		}
	}
	for _, e := range all {
		history, err := selectMeasurements(ctx, tx, e.ID)
		if err != nil {
			return nil, err
		}
		if n := len(history); n == 0 || history[n-1] != e.measured(history[n-1].CreatedAt) {
			out = append(out, fmt.Sprintf("legal entity %s: its measurement differs from its latest election", e.ID))
		}
	}
	strays, err := reference.FindDangling(ctx, tx, table)
	for _, s := range strays {
		out = append(out, fmt.Sprintf("%s: the legal entity %s does not exist", s.Table, s.ID))
	}
	return out, err
}

// verifyAncestors verifies that every ancestor of a legal entity exists and that there is no cycle.
func (e LegalEntity) verifyAncestors(parents map[string]string) []string {
	steps := 0
	for above := e.ParentID; above != ""; steps++ {
		next, there := parents[above]
		if !there {
			return []string{fmt.Sprintf("legal entity %s: the legal entity %s above it does not exist", e.ID, above)}
		}
		if steps > len(parents) {
			return []string{fmt.Sprintf("legal entity %s: the legal entities above it form a circle", e.ID)}
		}
		above = next
	}
	return nil
}
