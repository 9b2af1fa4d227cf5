package revaluation

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
)

// namedMax is the number of assets or currencies that a text names; the others are counted.
const namedMax = 5

// Finding is what is left to do to measure a period.
type Finding struct {
	Unpriced []string // assets without a price at the end of the period
	Stale    string   // why a run is needed; empty if the revaluation is up to date
}

// Inspect returns whether the period of a legal entity lacks a revaluation or has one that would book something else now, and
// why. If a run would book nothing, none is needed. It is a building block.
func Inspect(ctx context.Context, tx *db.Tx, p period.Period, legalEntityID string) (Finding, error) {
	b, err := snapshot.Read(ctx, tx)
	if err != nil {
		return Finding{}, err
	}
	e, there := b.Entities[legalEntityID]
	if !there {
		return Finding{}, fault.Missing("legal entity")
	}
	plan := newPlanner(tx, b, p, nil)
	if err := plan.measure(ctx, e); err != nil {
		return Finding{}, err
	}
	if err := plan.err(); err != nil {
		return Finding{plan.unpriced, err.Error()}, nil
	}
	return Finding{Stale: plan.stale()}, nil
}

// stale returns what a run would book that is not booked, in words.
func (p *planner) stale() string {
	var open []string
	again := false
	for _, i := range p.items {
		switch i.Outcome {
		case EntryPosted:
			open = append(open, fmt.Sprintf("%s by %s %s", i.Unit, i.Delta().Fixed(i.Currency), i.Currency))
		case EntryReplaced, EntryWithdrawn:
			open, again = append(open, fmt.Sprintf("%s to %s %s", i.Unit, i.After.Fixed(i.Currency), i.Currency)), true
		}
	}
	if len(open) == 0 {
		return ""
	}
	named := strings.Join(open[:min(len(open), namedMax)], ", ")
	if more := len(open) - namedMax; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	if again {
		return "the revaluation is out of date; running it again would adjust " + named
	}
	return "no revaluation was run; one would adjust " + named
}
