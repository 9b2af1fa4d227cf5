package period

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
)

// dateRange is the time by which a boundary between periods moves: what is dated in it moves from one period to the next or previous.
type dateRange struct {
	start, end time.Time
	from       Period
	to         calendar.Month
	entries    bool // there are entries in it
}

// Reassignment is a range of dates that moves from one period to another, with or without entries.
type Reassignment struct {
	Start, End   time.Time
	FromID, ToID string
}

// Reassign moves the journal entries of a range of dates to their new period and returns how many there were. The journal, which
// depends on this package, provides it.
type Reassign func(ctx context.Context, tx *db.Tx, m Reassignment) (int64, error)

// ChangeTimezone moves the boundaries of all periods to another time zone, and with them the entries that then lie in
// another period. The dates of entries do not change. It returns which ranges of dates were reassigned, for what others keep by
// period and date. It returns a conflict if a posted entry would leave or enter a period that is closed for one of its legal
// entities. It runs in the caller's transaction.
func ChangeTimezone(ctx context.Context, tx *db.Tx, zone string, reassign Reassign) ([]Reassignment, error) {
	if _, err := orgstate.Touch(ctx, tx); err != nil {
		return nil, err
	}
	loc, err := time.LoadLocation(zone)
	if err != nil {
		return nil, err
	}
	periods, err := selectAll(ctx, tx)
	if err != nil {
		return nil, err
	}
	moved, ranges, err := planShift(ctx, tx, periods, loc)
	if err != nil {
		return nil, err
	}
	if err := requireNoneClosed(ctx, tx, periods, ranges, zone); err != nil {
		return nil, err
	}
	if err := updateBounds(ctx, tx, moved); err != nil {
		return nil, err
	}
	var months []calendar.Month
	for _, s := range ranges {
		if s.entries {
			months = append(months, s.to)
		}
	}
	if periods, err = createMissing(ctx, tx, loc, months); err != nil {
		return nil, err
	}
	return moveEntries(ctx, tx, periods, ranges, reassign)
}

// planShift returns the periods whose bounds change, with their new bounds, and the ranges of dates to reassign.
func planShift(ctx context.Context, tx *db.Tx, periods []Period, loc *time.Location) (moved []Period, ranges []dateRange, err error) {
	for _, p := range periods {
		was := p
		if p.Start, p.End = p.Month().Bounds(loc); p.Start.Equal(was.Start) && p.End.Equal(was.End) {
			continue
		}
		moved = append(moved, p)
		var around []dateRange
		if p.Start.After(was.Start) { // its beginning goes to the month before
			around = append(around, dateRange{start: was.Start, end: p.Start, from: was, to: p.Month().Prev()})
		}
		if p.End.Before(was.End) { // its end goes to the month after
			around = append(around, dateRange{start: p.End, end: was.End, from: was, to: p.Month().Next()})
		}
		for _, s := range around {
			if s.entries, err = hasEntries(ctx, tx, s); err != nil {
				return nil, nil, err
			}
			ranges = append(ranges, s)
		}
	}
	return moved, ranges, nil
}

// requireNoneClosed returns a conflict if a posted entry would leave or enter a closed period.
func requireNoneClosed(ctx context.Context, tx *db.Tx, periods []Period, ranges []dateRange, zone string) error {
	byKey := map[string]string{}
	for _, p := range periods {
		byKey[p.Key] = p.ID
	}
	total := int64(0)
	for _, s := range ranges {
		if !s.entries {
			continue
		}
		n, err := countClosed(ctx, tx, s, []string{s.from.ID, byKey[s.to.Key()]})
		if err != nil {
			return err
		}
		total += n
	}
	if total == 0 {
		return nil
	}
	const why = "posted entries would leave or enter a closed period"
	return fault.ConflictAt([]fault.Field{{Name: "timezone", Message: why}}, "the time zone cannot be changed to %s: %d %s", zone, total, why)
}

// moveEntries moves the entries of ranges of dates to their new periods, and their share of the balances with them. It returns the ranges
// whose new period exists: without entries, nothing needs one that does not.
func moveEntries(ctx context.Context, tx *db.Tx, periods []Period, ranges []dateRange, reassign Reassign) (out []Reassignment, err error) {
	byKey := map[string]Period{}
	for _, p := range periods {
		byKey[p.Key] = p
	}
	for _, s := range ranges {
		to, there := byKey[s.to.Key()]
		if !there {
			continue
		}
		m := Reassignment{s.start, s.end, s.from.ID, to.ID}
		out = append(out, m)
		if !s.entries {
			continue
		}
		if err := moveBalances(ctx, tx, s, to); err != nil {
			return nil, err
		}
		n, err := reassign(ctx, tx, m)
		if err != nil {
			return nil, err
		}
		// The audit record names the entries by the range of their dates. There is no event, because nothing was booked.
		audit.Record(ctx, tx, audit.Change{
			Action: "accounting_period.moved", ResourceType: "accounting_period", ResourceID: s.from.ID, NoEvent: true,
			Before: map[string]any{"accounting_period_id": s.from.ID, "key": s.from.Key},
			After:  map[string]any{"accounting_period_id": to.ID, "key": to.Key, "dated_from": s.start, "dated_before": s.end, "entries": n},
		})
	}
	return out, nil
}

// moveBalances moves the share that the entries of a range have in the balances.
func moveBalances(ctx context.Context, tx *db.Tx, s dateRange, to Period) error {
	rows, err := selectRangeTotals(ctx, tx, s)
	if err != nil {
		return err
	}
	held, err := selectRangeUnits(ctx, tx, s)
	if err != nil {
		return err
	}
	totals := book.Totals{}
	for _, r := range rows {
		totals.Remove(s.from.ID, r.lines())
		totals.Add(to.ID, r.lines())
	}
	if err := balance.Add(ctx, tx, totals); err != nil {
		return err
	}
	units := balance.Units{}
	for _, h := range held {
		at := balance.UnitKey{Entity: h.LegalEntityID, Account: h.LedgerAccountID, Unit: h.Unit, Period: s.from.ID}
		units.AddMovement(at, h.quantity().Neg(), h.amount().Neg())
		at.Period = to.ID
		units.AddMovement(at, h.quantity(), h.amount())
	}
	return balance.AddUnits(ctx, tx, units)
}
