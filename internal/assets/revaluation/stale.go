package revaluation

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
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
	return Finding{Stale: plan.stale(e.Name)}, nil
}

// stale returns what a run would book for a legal entity that is not booked, in words.
func (p *planner) stale(entityName string) string {
	var open []string
	again := false
	for _, i := range p.items {
		switch i.Outcome {
		case EntryPosted:
			open = append(open, p.describe(i, false)...)
		case EntryReplaced, EntryWithdrawn:
			open, again = append(open, p.describe(i, true)...), true
		}
	}
	if len(open) == 0 {
		return ""
	}
	named := strings.Join(open[:min(len(open), namedMax)], ", ")
	if more := len(open) - namedMax; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	const next = ". Run it with POST /v1/revaluations"
	if again {
		return "the revaluation of " + entityName + " is out of date; running it again would adjust " + named + next
	}
	return "no revaluation of " + entityName + " was run; one would adjust " + named + next
}

// describe returns what an item adjusts: what is held of an asset, or each account that has a balance of it, with its quantity. It
// names the amount to which what is booked would be adjusted or, if nothing is booked yet, the amount of the adjustment.
func (p *planner) describe(i Item, booked bool) (out []string) {
	amount := func(before, after money.Decimal) string {
		if booked {
			return "to " + after.Fixed(i.Currency) + " " + i.Currency
		}
		return "by " + after.Sub(before).Fixed(i.Currency) + " " + i.Currency
	}
	if i.Kind.ByAccount() {
		for _, r := range p.rows {
			if r.Kind == i.Kind && r.Unit == i.Unit && (booked || !r.Before.Equal(r.After)) {
				out = append(out, fmt.Sprintf("%s %s on %s %s", r.Quantity, r.Unit, p.books.Accounts[r.SubjectID], amount(r.Before, r.After)))
			}
		}
		if len(out) > 0 {
			return out
		}
	}
	return []string{fmt.Sprintf("%s %s in the holdings %s", i.Quantity, i.Unit, amount(i.Before, i.After))}
}
