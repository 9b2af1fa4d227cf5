package holdings

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

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
		FROM lot_positions l
		JOIN accounting_periods p ON p.organization_id = l.organization_id AND p.accounting_period_id = l.accounting_period_id
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
