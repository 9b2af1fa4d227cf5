package period

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/db"
)

// misdatedMax is how many misdated entries are reported.
const misdatedMax = 20

// Verify recomputes the invariants of periods and returns a sentence for each broken one: no month is missing, periods begin
// and end where the calendar says, posted entries are dated in their period, and closed periods have not changed.
func Verify(ctx context.Context, tx *db.Tx) ([]string, error) {
	periods, err := selectAll(ctx, tx)
	if err != nil {
		return nil, err
	}
	found, err := verifyCalendar(ctx, tx, periods)
	if err != nil {
		return nil, err
	}
	stray, err := selectMisdatedEntries(ctx, tx, misdatedMax)
	if err != nil {
		return nil, err
	}
	for _, number := range stray {
		found = append(found, fmt.Sprintf("periods: the posted entry JE-%d is not dated in its period", number))
	}
	standing, err := selectActiveClosings(ctx, tx)
	if err != nil {
		return nil, err
	}
	found = append(found, verifyOrder(periods, standing)...)
	for _, p := range periods {
		var here []Closing
		for _, c := range standing {
			if c.PeriodID == p.ID {
				here = append(here, c)
			}
		}
		texts, err := verifyFrozen(ctx, tx, p, here)
		if err != nil {
			return nil, err
		}
		found = append(found, texts...)
	}
	return found, nil
}

// verifyCalendar reports months that are missing and periods that do not begin and end where the calendar says.
func verifyCalendar(ctx context.Context, tx *db.Tx, periods []Period) (found []string, err error) {
	loc, err := Zone(ctx, tx)
	if err != nil {
		return nil, err
	}
	for i, p := range periods {
		if start, end := p.Month().Bounds(loc); !p.Start.Equal(start) || !p.End.Equal(end) {
			found = append(found, fmt.Sprintf("periods: %s does not begin and end with the month in the time zone %s", p.Key, loc))
		}
		if i > 0 && periods[i-1].Month().Next() != p.Month() {
			found = append(found, fmt.Sprintf("periods: months are missing between %s and %s", periods[i-1].Key, p.Key))
		}
	}
	return found, nil
}

// verifyOrder reports periods that are open between closed ones. Those before the first closed one may have been created after it
// was closed.
func verifyOrder(periods []Period, standing []Closing) (found []string) {
	closed := map[string]map[string]bool{}
	for _, c := range standing {
		if closed[c.LegalEntityID] == nil {
			closed[c.LegalEntityID] = map[string]bool{}
		}
		closed[c.LegalEntityID][c.PeriodID] = true
	}
	for legalEntityID, ids := range closed {
		begun, gap := false, ""
		for _, p := range periods {
			switch {
			case !ids[p.ID] && begun && gap == "":
				gap = p.Key
			case ids[p.ID] && gap != "":
				found = append(found, fmt.Sprintf("periods: %s is closed for %s while the earlier %s is open", p.Key, legalEntityID, gap))
			}
			begun = begun || ids[p.ID]
		}
	}
	slices.Sort(found)
	return found
}

// verifyFrozen reports closings whose period has changed since.
func verifyFrozen(ctx context.Context, tx *db.Tx, p Period, closings []Closing) (found []string, err error) {
	if len(closings) == 0 {
		return nil, nil
	}
	var ids, legalEntityIDs []string
	for _, c := range closings {
		ids, legalEntityIDs = append(ids, c.ID), append(legalEntityIDs, c.LegalEntityID)
	}
	now, err := computeDigests(ctx, tx, p, legalEntityIDs)
	if err != nil {
		return nil, err
	}
	positions, err := selectPositions(ctx, tx, p, legalEntityIDs)
	if err != nil {
		return nil, err
	}
	frozen, err := selectFrozen(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	for _, c := range closings {
		d := now[c.LegalEntityID]
		var wrong []string
		if d.entries != c.EntryCount {
			wrong = append(wrong, fmt.Sprintf("it had %d entries and has %d", c.EntryCount, d.entries))
		}
		if d.sum() != c.Hash {
			wrong = append(wrong, "its entries are not those that were closed")
		}
		if !slices.EqualFunc(frozen[c.ID], positions[c.LegalEntityID], Position.equal) {
			wrong = append(wrong, "its balances are not those that were closed")
		}
		stated := map[string]movement{}
		for _, at := range frozen[c.ID] {
			stated[at.LedgerAccountID] = movement{at.Debits, at.Credits}
		}
		if len(differingAccounts(stated, d.movements)) > 0 {
			wrong = append(wrong, "its lines do not add up to what was closed")
		}
		if len(wrong) > 0 {
			found = append(found, fmt.Sprintf("periods: %s has changed since it was closed for %s: %s", p.Key, c.LegalEntityID,
				strings.Join(wrong, "; ")))
		}
	}
	return found, nil
}
