package realized

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// item is the measurement of an asset by lot, with what its entry added to realized gains.
type item struct {
	runID, legalEntityID, key, kind, unit, currency string
	entryPeriodID                                   string // empty if nothing was booked
	correction                                      money.Decimal
}

// previous returns the last measurement of the same kind and asset in an earlier period, nil if there is none. items are in the
// order of their periods.
func (i item) previous(items []item) *item {
	for n := len(items) - 1; n >= 0; n-- {
		if o := items[n]; o.legalEntityID == i.legalEntityID && o.kind == i.kind && o.unit == i.unit && o.key < i.key {
			return &o
		}
	}
	return nil
}

// itemFilter selects measurements by every field that is not empty.
type itemFilter struct {
	entities, units []string
	periodID        string // of the entry
}

type itemRow struct {
	RunID         string  `db:"revaluation_id"`
	LegalEntityID string  `db:"legal_entity_id"`
	Key           string  `db:"key"`
	Kind          string  `db:"kind"`
	Unit          string  `db:"unit"`
	Currency      string  `db:"currency"`
	Lines         string  `db:"lines"`
	EntryID       *string `db:"journal_entry_id"`
	Status        *string `db:"status"` // of the entry
	NextID        *string `db:"next_entry_id"`
	PeriodID      *string `db:"accounting_period_id"` // of the entry
}

// selectItems reads the measurements by lot that are in force, in the order of their periods: of posted runs, and with an entry
// that was not reversed or unposted since.
func selectItems(ctx context.Context, tx *db.Tx, f itemFilter) ([]item, error) {
	q := db.Select(`SELECT p.revaluation_id, p.legal_entity_id, a.key, i.kind, i.unit, i.currency, i.lines, i.journal_entry_id, e.status,
		e.next_entry_id, e.accounting_period_id FROM revaluation_parts p
		JOIN accounting_periods a ON a.organization_id = @org AND a.accounting_period_id = p.accounting_period_id
		JOIN revaluation_items i ON i.organization_id = @org AND i.revaluation_id = p.revaluation_id
			AND i.legal_entity_id = p.legal_entity_id AND i.kind = p.kind
		LEFT JOIN journal_entries e ON e.organization_id = @org AND e.journal_entry_id = i.journal_entry_id
		WHERE p.organization_id = @org AND p.status = 'posted' AND p.kind IN ('revaluation', 'impairment')`)
	if len(f.entities) > 0 {
		q.And("p.legal_entity_id {any}", f.entities)
	}
	if len(f.units) > 0 {
		q.And("i.unit {any}", f.units)
	}
	if f.periodID != "" {
		q.And("e.accounting_period_id = ?", f.periodID)
	}
	rows, err := db.All[itemRow](ctx, tx, q.Then("ORDER BY a.key, p.revaluation_id"), q.Args...)
	if err != nil {
		return nil, err
	}
	var out []item
	for _, r := range rows {
		if r.EntryID != nil && (db.OrEmpty(r.Status) != "posted" || r.NextID != nil) {
			continue
		}
		correction, err := r.correction()
		if err != nil {
			return nil, err
		}
		out = append(out, item{runID: r.RunID, legalEntityID: r.LegalEntityID, key: r.Key, kind: r.Kind, unit: r.Unit, currency: r.Currency,
			entryPeriodID: db.OrEmpty(r.PeriodID), correction: correction})
	}
	return out, nil
}

// correction returns what the lines of the item add to realized gains.
func (r itemRow) correction() (sum money.Decimal, err error) {
	var lines []struct {
		Role   string        `json:"role"`
		Side   book.Side     `json:"side"`
		Amount money.Decimal `json:"amount"`
	}
	if err := json.Unmarshal([]byte(r.Lines), &lines); err != nil {
		return sum, fmt.Errorf("read the lines of %s %s of %s: %w", r.Kind, r.Unit, r.RunID, err)
	}
	for _, l := range lines {
		switch {
		case l.Role != account.RoleRealizedGain && l.Role != account.RoleRealizedLoss:
		case l.Side == book.Credit:
			sum = sum.Add(l.Amount)
		default:
			sum = sum.Sub(l.Amount)
		}
	}
	return sum, nil
}

// state is a lot after a measurement: its quantity and its adjustment.
type state struct{ quantity, adjustment money.Decimal }

// selectStates reads the lots that a measurement left with an adjustment.
func selectStates(ctx context.Context, tx *db.Tx, i item) (map[string]state, error) {
	type row struct {
		LotID    string        `db:"subject_id"`
		Quantity money.Decimal `db:"quantity"`
		After    money.Decimal `db:"after"`
	}
	rows, err := db.All[row](ctx, tx, "SELECT "+db.Columns[row]()+` FROM revaluation_rows WHERE organization_id = @org
		AND revaluation_id = ? AND legal_entity_id = ? AND kind = ? AND unit = ?`, i.runID, i.legalEntityID, i.kind, i.unit)
	out := map[string]state{}
	for _, r := range rows {
		if !r.After.IsZero() && !r.Quantity.IsZero() {
			out[r.LotID] = state{r.Quantity, r.After}
		}
	}
	return out, err
}
