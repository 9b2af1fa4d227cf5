package transaction

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// pendingIn is the condition for the listed transactions from a time until another that are pending. An index serves it.
const pendingIn = " FROM transactions WHERE organization_id = @org AND visibility = 0 AND status = 'pending' AND " +
	"transaction_date >= ? AND transaction_date < ?"

// CountPendingBySource returns how many transactions from start until end are pending, by source. Sources without one are
// left out. It is a building block.
func CountPendingBySource(ctx context.Context, tx *db.Tx, start, end time.Time) (map[string]int64, error) {
	rows, err := db.All[struct {
		SourceID string `db:"source_id"`
		Count    int64  `db:"count"`
	}](ctx, tx, "SELECT source_id, count(*) AS count"+pendingIn+" GROUP BY source_id", start, end)
	out := make(map[string]int64, len(rows))
	for _, r := range rows {
		out[r.SourceID] = r.Count
	}
	return out, err
}

// CountPending returns how many listed transactions are pending. An index serves it. It is a building block.
func CountPending(ctx context.Context, tx *db.Tx) (int64, error) {
	return db.One[int64](ctx, tx, "count", "SELECT count(*) FROM transactions WHERE organization_id = @org AND visibility = 0 AND "+
		"status = 'pending'")
}

// Ref identifies a transaction and names it in messages.
type Ref struct {
	ID             string
	SequenceNumber string
}

// FirstPending returns the earliest transactions of some sources from start until end that are pending, at most limit of
// them. It is a building block.
func FirstPending(ctx context.Context, tx *db.Tx, start, end time.Time, sourceIDs []string, limit int) ([]Ref, error) {
	rows, err := db.All[struct {
		ID     string `db:"transaction_id"`
		Number int64  `db:"number"`
	}](ctx, tx, "SELECT transaction_id, number"+pendingIn+" AND source_id {any} ORDER BY transaction_date, number LIMIT ?",
		start, end, sourceIDs, limit)
	out := make([]Ref, len(rows))
	for i, r := range rows {
		out[i] = Ref{r.ID, SequenceNumber(r.Number)}
	}
	return out, err
}
