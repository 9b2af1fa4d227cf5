package connection

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

// Cursor is how far a ledger of an account was read.
type Cursor struct {
	Position string
	SavedAt  time.Time
}

type cursorRow struct {
	ConnectionID string    `db:"connection_id"`
	Ledger       string    `db:"ledger"`
	Position     string    `db:"position"`
	SavedAt      time.Time `db:"saved_at"`
}

// selectCursors reads how far the ledgers of a connection were read.
func selectCursors(ctx context.Context, tx *db.Tx, connectionID string) (map[string]Cursor, error) {
	rows, err := db.All[cursorRow](ctx, tx, "SELECT "+db.Columns[cursorRow]()+
		" FROM connection_cursors WHERE organization_id = @org AND connection_id = ?", connectionID)
	out := make(map[string]Cursor, len(rows))
	for _, r := range rows {
		out[r.Ledger] = Cursor{r.Position, r.SavedAt}
	}
	return out, err
}

func upsertCursor(ctx context.Context, tx *db.Tx, connectionID, ledger, position string) error {
	return db.Upsert(ctx, tx, "connection_cursors", []cursorRow{{connectionID, ledger, position, tx.Now()}},
		"ON CONFLICT (organization_id, connection_id, ledger) DO UPDATE SET position = excluded.position, saved_at = excluded.saved_at")
}

// Gap is a range of time for which a provider does not tell what happened.
type Gap struct {
	From, Through time.Time
	Reason        string
}

type gapRow struct {
	ConnectionID string    `db:"connection_id"`
	Ledger       string    `db:"ledger"`
	From         time.Time `db:"gap_from"`
	Through      time.Time `db:"gap_through"`
	Reason       string    `db:"reason"`
	NoticedAt    time.Time `db:"noticed_at"`
}

func selectGaps(ctx context.Context, tx *db.Tx, connectionIDs []string) ([]gapRow, error) {
	return db.All[gapRow](ctx, tx, "SELECT "+db.Columns[gapRow]()+
		" FROM connection_gaps WHERE organization_id = @org AND connection_id {any} ORDER BY gap_from, ledger", connectionIDs)
}

// upsertGaps stores gaps in a ledger, each once.
func upsertGaps(ctx context.Context, tx *db.Tx, connectionID, ledger string, gaps []Gap) error {
	rows := make([]gapRow, len(gaps))
	for n, g := range gaps {
		rows[n] = gapRow{ConnectionID: connectionID, Ledger: ledger, From: g.From, Through: g.Through, Reason: cut(g.Reason, omissionReasonMax),
			NoticedAt: tx.Now()}
	}
	return db.Upsert(ctx, tx, "connection_gaps", rows, `ON CONFLICT (organization_id, connection_id, ledger, gap_from)
		DO UPDATE SET gap_through = excluded.gap_through, reason = excluded.reason`)
}

type withdrawalRow struct {
	ConnectionID  string    `db:"connection_id"`
	TransactionID string    `db:"transaction_id"`
	NoticedAt     time.Time `db:"noticed_at"`
}

// upsertWithdrawals stores transactions that a provider has taken back and that are booked.
func upsertWithdrawals(ctx context.Context, tx *db.Tx, connectionID string, transactionIDs []string) error {
	rows := make([]withdrawalRow, len(transactionIDs))
	for n, id := range transactionIDs {
		rows[n] = withdrawalRow{connectionID, id, tx.Now()}
	}
	return db.Upsert(ctx, tx, "connection_withdrawals", rows,
		"ON CONFLICT (organization_id, connection_id, transaction_id) DO NOTHING")
}

// selectWithdrawals reads which transactions were taken back.
func selectWithdrawals(ctx context.Context, tx *db.Tx, connectionIDs []string) ([]withdrawalRow, error) {
	return db.All[withdrawalRow](ctx, tx, "SELECT "+db.Columns[withdrawalRow]()+
		" FROM connection_withdrawals WHERE organization_id = @org AND connection_id {any} ORDER BY transaction_id", connectionIDs)
}
