package opening

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// selectFirstTransactions returns when the first transaction of each source of a legal entity happened.
func selectFirstTransactions(ctx context.Context, tx *db.Tx, legalEntityID string) ([]*time.Time, error) {
	type row struct {
		At *time.Time `db:"at"`
	}
	rows, err := db.All[row](ctx, tx,
		"SELECT (SELECT t.transaction_date FROM transactions t WHERE t.organization_id = @org AND t.visibility = 0 "+
			"AND t.source_id = s.source_id "+
			"ORDER BY t.transaction_date, t.number LIMIT 1) AS at FROM sources s WHERE s.organization_id = @org AND s.legal_entity_id = ?",
		legalEntityID)
	out := make([]*time.Time, len(rows))
	for i, r := range rows {
		out[i] = r.At
	}
	return out, err
}
