package realized

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/lot"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// item is the measurement of an asset by lot, with what its entry added to realized gains.
type item struct {
	runID, legalEntityID, key, kind, unit, currency string
	entryPeriodID                                   string // empty if nothing was booked
	correction                                      money.Decimal
}

// history returns how the asset was measured by the same kind in earlier periods. items are in the order of their periods.
func (i item) history(ctx context.Context, tx *db.Tx, items []item, months []period.Period) (History, error) {
	h := History{LegalEntityID: i.legalEntityID, Kind: i.kind, Unit: i.unit, Currency: i.currency, booked: []Run{{ID: i.runID}}}
	for n := len(items) - 1; n >= 0; n-- {
		o := items[n]
		if o.legalEntityID != i.legalEntityID || o.kind != i.kind || o.unit != i.unit || o.key >= i.key {
			continue
		}
		if at := slices.IndexFunc(months, func(p period.Period) bool { return p.Key == o.key }); at >= 0 {
			h.Runs = append(h.Runs, Run{o.runID, months[at].End})
		}
	}
	if len(h.Runs) > 0 {
		return h, nil
	}
	var err error
	h.From, err = LastRun(ctx, tx, i.legalEntityID, i.kind, i.key, months)
	return h, err
}

// LastRun returns the end of the last period before another one in which a legal entity was measured by a kind or, if there is none, by
// any kind; the zero time if it never was. It is a building block.
func LastRun(ctx context.Context, tx *db.Tx, legalEntityID, kind, beforeKey string, months []period.Period) (at time.Time, err error) {
	keys, err := db.All[string](ctx, tx, `SELECT a.key FROM revaluation_parts p
		JOIN accounting_periods a ON a.organization_id = @org AND a.accounting_period_id = p.accounting_period_id
		WHERE p.organization_id = @org AND p.legal_entity_id = ? AND p.status = 'posted' AND a.key < ?
		ORDER BY CASE WHEN p.kind = ? THEN 0 ELSE 1 END, a.key DESC LIMIT 1`, legalEntityID, beforeKey, kind)
	for _, key := range keys {
		if n := slices.IndexFunc(months, func(p period.Period) bool { return p.Key == key }); n >= 0 {
			at = months[n].End
		}
	}
	return at, err
}

// itemFilter selects measurements by every field that is not empty.
type itemFilter struct {
	entities, units []string
	periodID        string   // of the entry
	kinds           []string // those that correct realized gains if empty
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
		WHERE p.organization_id = @org AND p.status = 'posted'`)
	if len(f.kinds) == 0 {
		f.kinds = []string{revaluation, impairment}
	}
	q.And("p.kind {any}", f.kinds)
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

type rowRow struct {
	RunID    string        `db:"revaluation_id"`
	LotID    string        `db:"subject_id"`
	Quantity money.Decimal `db:"quantity"`
	After    money.Decimal `db:"after"`
	// TakenOver is null if the lot was not taken over from one that was measured in another way.
	TakenOver *money.Decimal `db:"taken_over"`
}

// state returns the lot as the run left it.
func (r rowRow) state() measure.State {
	out := measure.State{Lot: r.LotID, Quantity: r.Quantity, Adjustment: r.After}
	if r.TakenOver != nil {
		out.TakenOver = *r.TakenOver
	}
	return out
}

const (
	ofRuns   = " WHERE organization_id = @org AND legal_entity_id = ? AND kind = ? AND unit = ? AND revaluation_id {any}"
	fromRows = " FROM revaluation_rows" + ofRuns
)

// selectStates reads the lots after the latest run of a history.
func selectStates(ctx context.Context, tx *db.Tx, h History) (map[string]measure.State, error) {
	rows, err := db.All[rowRow](ctx, tx, "SELECT "+db.Columns[rowRow]()+fromRows, h.LegalEntityID, h.Kind, h.Unit, []string{h.Runs[0].ID})
	out := make(map[string]measure.State, len(rows))
	for _, r := range heldRows(rows) {
		out[r.LotID] = r.state()
	}
	return out, err
}

// selectRows reads lots as runs measured them.
func selectRows(ctx context.Context, tx *db.Tx, h History, runs []Run, lotIDs []string) ([]rowRow, error) {
	rows, err := db.All[rowRow](ctx, tx, "SELECT "+db.Columns[rowRow]()+fromRows+" AND subject_id {any}",
		h.LegalEntityID, h.Kind, h.Unit, runIDs(runs), lotIDs)
	return heldRows(rows), err
}

// releaseKey identifies what a consumption took from a lot, in a pool that follows from the lot.
type releaseKey struct {
	lotID string
	at    lot.OrderKey
}

type releaseRow struct {
	LotID     string        `db:"subject_id"`
	OrderKey  string        `db:"order_key"`
	Quantity  money.Decimal `db:"quantity"`
	Share     money.Decimal `db:"share"`
	TakenOver money.Decimal `db:"taken_over"`
}

// selectReleases reads what runs released of lots, by consumption: what the last run did.
func selectReleases(ctx context.Context, tx *db.Tx, h History, runs []Run, lotIDs []string) (map[releaseKey]*measure.State, error) {
	if len(runs) == 0 || len(lotIDs) == 0 {
		return nil, nil
	}
	rows, err := db.All[releaseRow](ctx, tx, "SELECT "+db.Columns[releaseRow]()+" FROM revaluation_releases"+ofRuns+
		" AND subject_id {any} ORDER BY revaluation_id", h.LegalEntityID, h.Kind, h.Unit, runIDs(runs), lotIDs)
	out := make(map[releaseKey]*measure.State, len(rows))
	for _, r := range rows {
		out[releaseKey{r.LotID, lot.OrderKey(r.OrderKey)}] = &measure.State{Lot: r.LotID, Quantity: r.Quantity, Adjustment: r.Share,
			TakenOver: r.TakenOver, Gone: true}
	}
	return out, err
}

func runIDs(runs []Run) []string {
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.ID
	}
	return ids
}

// heldRows returns the rows of lots of which something was left.
func heldRows(rows []rowRow) []rowRow {
	return slices.DeleteFunc(rows, func(r rowRow) bool { return r.Quantity.IsZero() })
}
