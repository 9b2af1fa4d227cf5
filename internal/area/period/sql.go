package period

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

func selectZone(ctx context.Context, tx *db.Tx) (string, error) {
	return db.One[string](ctx, tx, "organization", "SELECT timezone FROM organizations WHERE organization_id = @org")
}

var periodColumns = db.Columns[Period]()

func selectAll(ctx context.Context, tx *db.Tx) ([]Period, error) {
	return db.All[Period](ctx, tx, "SELECT "+periodColumns+" FROM accounting_periods WHERE organization_id = @org ORDER BY key")
}

func insertPeriods(ctx context.Context, tx *db.Tx, periods []Period) error {
	return db.Insert(ctx, tx, "accounting_periods", periods...)
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
}

func (r closingRow) closing() Closing {
	return Closing{r.ID, r.PeriodID, r.LegalEntityID, r.ClosedAt, db.OrEmpty(r.ClosedBy), r.EntryCount, r.Hash, r.ReopenedAt, db.OrEmpty(r.ReopenedBy), db.OrEmpty(r.ReopenReason)}
}

var closingQuery = "SELECT " + db.Columns[closingRow]() + " FROM period_closings WHERE organization_id = @org"

func selectStanding(ctx context.Context, tx *db.Tx) ([]Closing, error) {
	return closings(db.All[closingRow](ctx, tx, closingQuery+" AND reopened_at IS NULL ORDER BY period_closing_id"))
}

func closings(rows []closingRow, err error) ([]Closing, error) {
	out := make([]Closing, len(rows))
	for i, r := range rows {
		out[i] = r.closing()
	}
	return out, err
}
