package period

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// noun names a period in messages.
const noun = "accounting period"

type periodRow struct {
	ID        string    `db:"accounting_period_id"`
	Key       string    `db:"key"`
	Start     time.Time `db:"start_date_utc"`
	End       time.Time `db:"end_date_utc"`
	CreatedAt time.Time `db:"created_at"`
}

var periodQuery = "SELECT " + db.Columns[periodRow]() + " FROM accounting_periods WHERE organization_id = @org AND key > '" +
	OpeningKey + "'"

func periodsOf(rows []periodRow, err error) ([]Period, error) {
	out := make([]Period, len(rows))
	for i, r := range rows {
		out[i] = Period(r)
	}
	return out, err
}

func rowsOf(periods []Period) []periodRow {
	out := make([]periodRow, len(periods))
	for i, p := range periods {
		out[i] = periodRow(p)
	}
	return out
}

func selectAll(ctx context.Context, tx *db.Tx) ([]Period, error) {
	return periodsOf(db.All[periodRow](ctx, tx, periodQuery+" ORDER BY key"))
}

func selectOpening(ctx context.Context, tx *db.Tx) ([]Period, error) {
	return periodsOf(db.All[periodRow](ctx, tx, "SELECT "+db.Columns[periodRow]()+
		" FROM accounting_periods WHERE organization_id = @org AND key = ?", OpeningKey))
}

func selectOne(ctx context.Context, tx *db.Tx, periodID string) (Period, error) {
	r, err := db.One[periodRow](ctx, tx, noun, periodQuery+" AND accounting_period_id = ?", periodID)
	return Period(r), err
}

// selectLastOver returns the latest period that has ended by a time.
func selectLastOver(ctx context.Context, tx *db.Tx, now time.Time) (Period, error) {
	r, err := db.One[periodRow](ctx, tx, noun, periodQuery+" AND end_date_utc <= ? ORDER BY key DESC LIMIT 1", now)
	return Period(r), err
}

// selectByKey returns the period of a month.
func selectByKey(ctx context.Context, tx *db.Tx, key string) (Period, error) {
	r, err := db.One[periodRow](ctx, tx, noun, periodQuery+" AND key = ?", key)
	return Period(r), err
}

// selectFirstKey returns the key of the first period, or an empty key if there is none.
func selectFirstKey(ctx context.Context, tx *db.Tx) (string, error) {
	return db.One[string](ctx, tx, noun, "SELECT COALESCE(min(key), '') FROM accounting_periods WHERE organization_id = @org AND key > ?",
		OpeningKey)
}

// selectSpan reads the periods of a span, the latest first.
func selectSpan(ctx context.Context, tx *db.Tx, r span, limit int) ([]Period, error) {
	q := db.Select(periodQuery).And("key < ?", r.below).And("key > ?", r.above)
	if r.through != "" {
		q.And("key <= ?", r.through)
	}
	if !r.from.IsZero() {
		q.And("end_date_utc > ?", r.from)
	}
	if !r.to.IsZero() {
		q.And("start_date_utc <= ?", r.to)
	}
	return periodsOf(db.All[periodRow](ctx, tx, q.Then("ORDER BY key DESC LIMIT ?", limit), q.Args...))
}

func insertPeriods(ctx context.Context, tx *db.Tx, periods []Period) error {
	return db.Insert(ctx, tx, "accounting_periods", rowsOf(periods)...)
}

// selectOrganizationsEndingBy returns the organizations whose last period ends by a time.
func selectOrganizationsEndingBy(ctx context.Context, tx *db.Tx, by time.Time) ([]string, error) {
	return db.All[string](ctx, tx, `SELECT o.organization_id FROM organizations o
		WHERE NOT EXISTS (SELECT 1 FROM accounting_periods p WHERE p.organization_id = o.organization_id AND p.end_date_utc > ?) ORDER BY
		o.organization_id`, by)
}

type closingRow struct {
	ID            string     `db:"period_closing_id"`
	PeriodID      string     `db:"accounting_period_id"`
	LegalEntityID string     `db:"legal_entity_id"`
	ClosedAt      time.Time  `db:"closed_at"`
	ClosedBy      *string    `db:"closed_by"`
	EntryCount    int64      `db:"entry_count"`
	Hash          string     `db:"hash"`
	ReopenedAt    *time.Time `db:"reopened_at"`
	ReopenedBy    *string    `db:"reopened_by"`
	ReopenReason  *string    `db:"reopen_reason"`
	Override      *string    `db:"override_reason"`
}

func (r closingRow) closing() Closing {
	return Closing{ID: r.ID, PeriodID: r.PeriodID, LegalEntityID: r.LegalEntityID, ClosedAt: r.ClosedAt,
		ClosedBy: db.OrEmpty(r.ClosedBy), EntryCount: r.EntryCount, Hash: r.Hash, ReopenedAt: r.ReopenedAt,
		ReopenedBy: db.OrEmpty(r.ReopenedBy), ReopenReason: db.OrEmpty(r.ReopenReason), OverrideReason: db.OrEmpty(r.Override)}
}

func toRow(c Closing) closingRow {
	return closingRow{ID: c.ID, PeriodID: c.PeriodID, LegalEntityID: c.LegalEntityID, ClosedAt: c.ClosedAt,
		ClosedBy: db.OrNull(c.ClosedBy), EntryCount: c.EntryCount, Hash: c.Hash, ReopenedAt: c.ReopenedAt,
		ReopenedBy: db.OrNull(c.ReopenedBy), ReopenReason: db.OrNull(c.ReopenReason), Override: db.OrNull(c.OverrideReason)}
}

var closingQuery = "SELECT " + db.Columns[closingRow]() + " FROM period_closings WHERE organization_id = @org"

func selectActiveClosings(ctx context.Context, tx *db.Tx) ([]Closing, error) {
	return closingsOf(db.All[closingRow](ctx, tx, closingQuery+" AND reopened_at IS NULL ORDER BY period_closing_id"))
}

// selectClosings returns the closings of some periods for some legal entities, the oldest first, or only the active ones.
func selectClosings(ctx context.Context, tx *db.Tx, periodIDs, legalEntityIDs []string, standing bool) ([]Closing, error) {
	q := db.Select(closingQuery).And("accounting_period_id {any}", periodIDs).And("legal_entity_id {any}", legalEntityIDs)
	if standing {
		q.And("reopened_at IS NULL")
	}
	return closingsOf(db.All[closingRow](ctx, tx, q.Then("ORDER BY period_closing_id"), q.Args...))
}

func closingsOf(rows []closingRow, err error) ([]Closing, error) {
	out := make([]Closing, len(rows))
	for i, r := range rows {
		out[i] = r.closing()
	}
	return out, err
}

// selectClosedThrough returns the key of the last closed period by legal entity.
func selectClosedThrough(ctx context.Context, tx *db.Tx) (map[string]string, error) {
	rows, err := db.All[struct {
		LegalEntityID string `db:"legal_entity_id"`
		Key           string `db:"key"`
	}](ctx, tx, `SELECT c.legal_entity_id, max(p.key) AS key FROM period_closings c
		JOIN accounting_periods p ON p.organization_id = c.organization_id AND p.accounting_period_id = c.accounting_period_id
		WHERE c.organization_id = @org AND c.reopened_at IS NULL GROUP BY c.legal_entity_id`)
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.LegalEntityID] = r.Key
	}
	return out, err
}

func insertClosings(ctx context.Context, tx *db.Tx, closings []Closing) error {
	rows := make([]closingRow, len(closings))
	for i, c := range closings {
		rows[i] = toRow(c)
	}
	return db.Insert(ctx, tx, "period_closings", rows...)
}

func updateReopened(ctx context.Context, tx *db.Tx, c Closing) error {
	r := toRow(c)
	_, err := tx.Exec(ctx, "UPDATE period_closings SET reopened_at = ?, reopened_by = ?, reopen_reason = ? WHERE organization_id = "+
		"@org AND period_closing_id = ?",
		r.ReopenedAt, r.ReopenedBy, r.ReopenReason, r.ID)
	return err
}

type frozenRow struct {
	ClosingID       string        `db:"period_closing_id"`
	LedgerAccountID string        `db:"ledger_account_id"`
	Opening         money.Decimal `db:"opening_balance"`
	Debits          money.Decimal `db:"debits"`
	Credits         money.Decimal `db:"credits"`
	Closing         money.Decimal `db:"closing_balance"`
}

func insertFrozen(ctx context.Context, tx *db.Tx, frozen []frozenRow) error {
	return db.Insert(ctx, tx, "period_closing_balances", frozen...)
}

// selectFrozen returns the positions that were stored with some closings, by closing.
func selectFrozen(ctx context.Context, tx *db.Tx, closingIDs []string) (map[string][]Position, error) {
	rows, err := db.All[frozenRow](ctx, tx, "SELECT "+db.Columns[frozenRow]()+
		" FROM period_closing_balances WHERE organization_id = @org AND period_closing_id {any} ORDER BY period_closing_id, "+
		"ledger_account_id", closingIDs)
	out := map[string][]Position{}
	for _, r := range rows {
		out[r.ClosingID] = append(out[r.ClosingID], Position{LedgerAccountID: r.LedgerAccountID, Opening: r.Opening, Debits: r.Debits,
			Credits: r.Credits, Closing: r.Closing})
	}
	return out, err
}
