package revaluation

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

const noun = "revaluation"

type runRow struct {
	ID         string     `db:"revaluation_id"`
	PeriodID   string     `db:"accounting_period_id"`
	AsOf       time.Time  `db:"as_of"`
	CreatedBy  *string    `db:"created_by"`
	CreatedAt  time.Time  `db:"created_at"`
	ReversedAt *time.Time `db:"reversed_at"`
}

type partRow struct {
	LegalEntityID string `db:"legal_entity_id"`
	PeriodID      string `db:"accounting_period_id"`
	Kind          string `db:"kind"`
	RunID         string `db:"revaluation_id"`
	Status        string `db:"status"`
}

type quoteRow struct {
	Price   *money.Decimal `db:"price"`
	PriceID *string        `db:"price_id"`
	At      *time.Time     `db:"priced_at"`
	Origin  *string        `db:"price_origin"`
}

func toQuote(q *Quote) quoteRow {
	if q == nil {
		return quoteRow{}
	}
	return quoteRow{&q.Value, db.OrNull(q.PriceID), &q.At, db.OrNull(q.Origin)}
}

func (r quoteRow) quote() *Quote {
	if r.Price == nil || r.At == nil {
		return nil
	}
	return &Quote{*r.Price, db.OrEmpty(r.PriceID), *r.At, db.OrEmpty(r.Origin)}
}

type itemRow struct {
	RunID         string         `db:"revaluation_id"`
	LegalEntityID string         `db:"legal_entity_id"`
	Kind          string         `db:"kind"`
	Unit          string         `db:"unit"`
	Currency      string         `db:"currency"`
	Quantity      money.Decimal  `db:"quantity"`
	Cost          *money.Decimal `db:"cost"`
	Before        money.Decimal  `db:"before"`
	quoteRow
	Value      money.Decimal `db:"value"`
	After      money.Decimal `db:"after"`
	Outcome    string        `db:"outcome"`
	EntryID    *string       `db:"journal_entry_id"`
	ReplacedID *string       `db:"replaced_entry_id"`
	Lines      string        `db:"lines"`
}

func (r itemRow) item() (Item, error) {
	i := Item{
		LegalEntityID: r.LegalEntityID, Kind: Kind(r.Kind), Unit: r.Unit, Currency: r.Currency, Quantity: r.Quantity, Cost: r.Cost,
		Before: r.Before, Price: r.quote(), Value: r.Value, After: r.After, Outcome: Outcome(r.Outcome),
		EntryID: db.OrEmpty(r.EntryID), ReplacedID: db.OrEmpty(r.ReplacedID),
	}
	if err := json.Unmarshal([]byte(r.Lines), &i.Lines); err != nil {
		return i, fmt.Errorf("read the lines of %s %s of %s: %w", r.Kind, r.Unit, r.RunID, err)
	}
	return i, nil
}

type rowRow struct {
	RunID         string         `db:"revaluation_id"`
	LegalEntityID string         `db:"legal_entity_id"`
	Kind          string         `db:"kind"`
	Unit          string         `db:"unit"`
	SubjectID     string         `db:"subject_id"`
	Quantity      money.Decimal  `db:"quantity"`
	Cost          *money.Decimal `db:"cost"`
	Before        money.Decimal  `db:"before"`
	quoteRow
	Value money.Decimal `db:"value"`
	After money.Decimal `db:"after"`
	// TakenOver is null if it is zero.
	TakenOver *money.Decimal `db:"taken_over"`
}

// orZero returns an amount, or zero for null.
func orZero(amount *money.Decimal) (out money.Decimal) {
	if amount != nil {
		out = *amount
	}
	return out
}

type releaseRow struct {
	RunID         string        `db:"revaluation_id"`
	LegalEntityID string        `db:"legal_entity_id"`
	Kind          string        `db:"kind"`
	Unit          string        `db:"unit"`
	LotID         string        `db:"subject_id"`
	OrderKey      string        `db:"order_key"`
	Quantity      money.Decimal `db:"quantity"`
	Share         money.Decimal `db:"share"`
	TakenOver     money.Decimal `db:"taken_over"`
}

// insertReleases stores what a run released. A lot that a disposal paid its fee with too has one row.
func insertReleases(ctx context.Context, tx *db.Tx, runID string, all []release) error {
	var rows []releaseRow
	index := map[[5]string]int{}
	for _, x := range all {
		key := [5]string{x.LegalEntityID, string(x.Kind), x.Unit, x.LotID, string(x.OrderKey)}
		n, there := index[key]
		if !there {
			n, index[key] = len(rows), len(rows)
			rows = append(rows, releaseRow{RunID: runID, LegalEntityID: x.LegalEntityID, Kind: string(x.Kind), Unit: x.Unit, LotID: x.LotID,
				OrderKey: string(x.OrderKey)})
		}
		rows[n].Quantity, rows[n].Share = rows[n].Quantity.Add(x.Units), rows[n].Share.Add(x.Share)
		rows[n].TakenOver = rows[n].TakenOver.Add(x.TakenOver)
	}
	return db.Insert(ctx, tx, "revaluation_releases", rows...)
}

// insertRun stores a run with its parts, items, rows and releases.
func insertRun(ctx context.Context, tx *db.Tx, r Run, rows []Row, releases []release) error {
	if err := db.Insert(ctx, tx, "revaluations", runRow{ID: r.ID, PeriodID: r.PeriodID, AsOf: r.AsOf,
		CreatedBy: db.OrNull(r.CreatedBy), CreatedAt: r.CreatedAt, ReversedAt: r.ReversedAt}); err != nil {
		return err
	}
	parts := make([]partRow, len(r.Parts))
	for n, p := range r.Parts {
		parts[n] = partRow{LegalEntityID: p.LegalEntityID, PeriodID: r.PeriodID, Kind: string(p.Kind), RunID: r.ID, Status: string(p.Status)}
	}
	if err := db.Insert(ctx, tx, "revaluation_parts", parts...); err != nil {
		return err
	}
	items := make([]itemRow, len(r.Items))
	for n, i := range r.Items {
		lines, err := json.Marshal(i.Lines)
		if err != nil {
			return err
		}
		items[n] = itemRow{
			RunID: r.ID, LegalEntityID: i.LegalEntityID, Kind: string(i.Kind), Unit: i.Unit, Currency: i.Currency,
			Quantity: i.Quantity, Cost: i.Cost, Before: i.Before, quoteRow: toQuote(i.Price), Value: i.Value, After: i.After,
			Outcome: string(i.Outcome), EntryID: db.OrNull(i.EntryID), ReplacedID: db.OrNull(i.ReplacedID), Lines: string(lines),
		}
	}
	if err := db.Insert(ctx, tx, "revaluation_items", items...); err != nil {
		return err
	}
	out := make([]rowRow, len(rows))
	for n, row := range rows {
		out[n] = rowRow{RunID: r.ID, LegalEntityID: row.LegalEntityID, Kind: string(row.Kind), Unit: row.Unit, SubjectID: row.SubjectID,
			Quantity: row.Quantity, Cost: row.Cost, Before: row.Before, quoteRow: toQuote(row.Price), Value: row.Value, After: row.After}
		if !row.TakenOver.IsZero() {
			out[n].TakenOver = &row.TakenOver
		}
	}
	if err := db.Insert(ctx, tx, "revaluation_rows", out...); err != nil {
		return err
	}
	return insertReleases(ctx, tx, r.ID, releases)
}

// setStatus sets the status of the posted part for a legal entity, a period and a kind.
func setStatus(ctx context.Context, tx *db.Tx, legalEntityID, periodID string, kind Kind, status Status) error {
	_, err := tx.Exec(ctx, `UPDATE revaluation_parts SET status = ? WHERE organization_id = @org AND legal_entity_id = ? AND
		accounting_period_id = ? AND kind = ? AND status = 'posted'`,
		string(status), legalEntityID, periodID, string(kind))
	return err
}

func setReversed(ctx context.Context, tx *db.Tx, runID string, at time.Time) error {
	if _, err := tx.Exec(ctx, "UPDATE revaluations SET reversed_at = ? WHERE organization_id = @org AND revaluation_id = ?", at,
		runID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "UPDATE revaluation_parts SET status = 'reversed' WHERE organization_id = @org AND revaluation_id = ?", runID)
	return err
}

const runColumns = "r.revaluation_id, r.accounting_period_id, r.as_of, r.created_by, r.created_at, r.reversed_at"

func selectRun(ctx context.Context, tx *db.Tx, runID string) (runRow, error) {
	return db.One[runRow](ctx, tx, noun,
		"SELECT "+runColumns+" FROM revaluations r WHERE r.organization_id = @org AND r.revaluation_id = ?", runID)
}

// selectRuns reads a page of the runs of legal entities, the newest first. Without entities it reads those of all.
func selectRuns(ctx context.Context, tx *db.Tx, periodID string, entities []string, status Status, below string,
	limit int) ([]runRow, error) {
	q := db.Select("SELECT "+runColumns+" FROM revaluations r WHERE r.organization_id = @org AND r.revaluation_id < ?", below)
	if periodID != "" {
		q.And("r.accounting_period_id = ?", periodID)
	}
	part := db.Select("EXISTS (SELECT 1 FROM revaluation_parts p WHERE p.organization_id = @org AND p.revaluation_id = r.revaluation_id")
	if len(entities) > 0 {
		part.And("p.legal_entity_id {any}", entities)
	}
	switch status {
	case Posted:
		part.And("p.status = 'posted'")
	case Reversed:
		q.And("r.reversed_at IS NOT NULL")
	case Replaced:
		q.And("r.reversed_at IS NULL AND NOT EXISTS (SELECT 1 FROM revaluation_parts s WHERE s.organization_id = @org AND " +
			"s.revaluation_id = r.revaluation_id AND s.status = 'posted')")
	}
	q.And(part.Then(")"), part.Args...)
	return db.All[runRow](ctx, tx, q.Then("ORDER BY r.revaluation_id DESC LIMIT ?", int64(limit)), q.Args...)
}

func selectParts(ctx context.Context, tx *db.Tx, runIDs []string) ([]partRow, error) {
	return db.All[partRow](ctx, tx, "SELECT "+db.Columns[partRow]()+
		" FROM revaluation_parts WHERE organization_id = @org AND revaluation_id {any} ORDER BY revaluation_id, legal_entity_id, kind", runIDs)
}

func selectItems(ctx context.Context, tx *db.Tx, runID string) ([]Item, error) {
	rows, err := db.All[itemRow](ctx, tx, "SELECT "+db.Columns[itemRow]()+
		" FROM revaluation_items WHERE organization_id = @org AND revaluation_id = ? ORDER BY legal_entity_id, kind, unit", runID)
	if err != nil {
		return nil, err
	}
	out := make([]Item, len(rows))
	for n, r := range rows {
		if out[n], err = r.item(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// selectRows reads a page of the rows of a run. Without entities it reads those of all.
func selectRows(ctx context.Context, tx *db.Tx, runID string, entities []string, f RowFilter, after []string, limit int) ([]rowRow, error) {
	q := db.Select("SELECT "+db.Columns[rowRow]()+" FROM revaluation_rows WHERE organization_id = @org AND revaluation_id = ?", runID)
	if len(entities) > 0 {
		q.And("legal_entity_id {any}", entities)
	}
	if f.Kind != "" {
		q.And("kind = ?", string(f.Kind))
	}
	if f.Unit != "" {
		q.And("unit = ?", f.Unit)
	}
	if after != nil {
		q.And("(legal_entity_id, kind, unit, subject_id) > (?, ?, ?, ?)", after[0], after[1], after[2], after[3])
	}
	text := q.Then("ORDER BY legal_entity_id, kind, unit, subject_id")
	if limit > 0 {
		text = q.Then("LIMIT ?", int64(limit))
	}
	return db.All[rowRow](ctx, tx, text, q.Args...)
}

func countRows(ctx context.Context, tx *db.Tx, runID string, entities []string) (int64, error) {
	q := db.Select("SELECT count(*) FROM revaluation_rows WHERE organization_id = @org AND revaluation_id = ?", runID)
	if len(entities) > 0 {
		q.And("legal_entity_id {any}", entities)
	}
	return db.One[int64](ctx, tx, "count", q.Then(""), q.Args...)
}
