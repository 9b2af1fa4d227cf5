package holdings

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

// LastDisposal returns when a legal entity last consumed lots, nil if it never did. Moves count too, because under another
// election other lots would have moved. It reads the last consumption of every pool, because order keys sort by time. It is a
// building block.
func LastDisposal(ctx context.Context, tx *db.Tx, legalEntityID string) (*time.Time, error) {
	return db.One[*time.Time](ctx, tx, "disposal",
		`SELECT max(l.taken_at) FROM (SELECT (SELECT t.taken_at FROM lot_takes t WHERE t.organization_id = @org AND t.pool = p.pool
			ORDER BY t.place DESC LIMIT 1) AS taken_at
		FROM lot_pools p WHERE p.organization_id = @org AND p.legal_entity_id = ?) AS l`, legalEntityID)
}

type transitRow struct {
	LegalEntityID   string        `db:"legal_entity_id"`
	LedgerAccountID string        `db:"ledger_account_id"`
	AssetType       string        `db:"asset_type"`
	Quantity        money.Decimal `db:"quantity"`
	Basis           money.Decimal `db:"basis"`
}

// InTransit returns the assets on clearing accounts at the end of a period whose transfer has not arrived, by legal entity. It
// is a building block.
func InTransit(ctx context.Context, tx *db.Tx, p period.Period, legalEntityIDs []string) (map[string][]period.InTransit, error) {
	rows, err := db.All[transitRow](ctx, tx,
		`SELECT l.legal_entity_id, l.ledger_account_id, l.asset_type, {dec_sum}(l.quantity) AS quantity, {dec_sum}(l.basis) AS basis
		FROM lot_positions l JOIN accounting_periods p ON p.organization_id = l.organization_id AND p.accounting_period_id =
		l.accounting_period_id
		WHERE l.organization_id = @org AND l.legal_entity_id {any} AND l.source_id = '' AND p.key <= ?
		GROUP BY l.legal_entity_id, l.ledger_account_id, l.asset_type ORDER BY l.legal_entity_id, l.ledger_account_id, l.asset_type`,
		legalEntityIDs, p.Key)
	out := map[string][]period.InTransit{}
	for _, r := range rows {
		if !r.Quantity.IsZero() {
			out[r.LegalEntityID] = append(out[r.LegalEntityID], period.InTransit{LedgerAccountID: r.LedgerAccountID,
				AssetType: r.AssetType, Quantity: r.Quantity, Basis: r.Basis})
		}
	}
	return out, err
}
