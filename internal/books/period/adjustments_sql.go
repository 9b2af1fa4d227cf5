package period

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

type keptAdjustmentRow struct {
	ClosingID       string        `db:"period_closing_id"`
	AssetType       string        `db:"asset_type"`
	SourceID        string        `db:"source_id"`
	LedgerAccountID string        `db:"ledger_account_id"`
	Chain           string        `db:"chain"`
	TokenID         string        `db:"token_id"`
	Amount          money.Decimal `db:"amount"`
}

// insertKeptAdjustments stores adjustments with the closings of their legal entities.
func insertKeptAdjustments(ctx context.Context, tx *db.Tx, adjustments []KeptAdjustment, closings map[string]string) error {
	rows := make([]keptAdjustmentRow, len(adjustments))
	for i, a := range adjustments {
		rows[i] = keptAdjustmentRow{ClosingID: closings[a.LegalEntityID], AssetType: a.AssetType, SourceID: a.SourceID,
			LedgerAccountID: a.LedgerAccountID, Chain: a.Chain, TokenID: a.TokenID, Amount: a.Amount}
	}
	return db.Insert(ctx, tx, "period_closing_adjustments", rows...)
}

type keptAdjustmentOfEntity struct {
	keptAdjustmentRow
	LegalEntityID string `db:"legal_entity_id"`
}

// selectKeptAdjustments reads the adjustments of some assets with the closings in force of a period.
func selectKeptAdjustments(ctx context.Context, tx *db.Tx, periodID string, legalEntityIDs, assetTypes []string) ([]KeptAdjustment, error) {
	rows, err := db.All[keptAdjustmentOfEntity](ctx, tx, `SELECT k.period_closing_id, k.asset_type, k.source_id, k.ledger_account_id, k.chain,
		k.token_id, k.amount, c.legal_entity_id FROM period_closings c
		JOIN period_closing_adjustments k ON k.organization_id = c.organization_id AND k.period_closing_id = c.period_closing_id
		WHERE c.organization_id = @org AND c.accounting_period_id = ? AND c.legal_entity_id {any} AND c.reopened_at IS NULL
		AND k.asset_type {any}`, periodID, legalEntityIDs, assetTypes)
	out := make([]KeptAdjustment, len(rows))
	for i, r := range rows {
		out[i] = KeptAdjustment{KeptPosition{LegalEntityID: r.LegalEntityID, AssetType: r.AssetType, SourceID: r.SourceID,
			LedgerAccountID: r.LedgerAccountID, Chain: r.Chain, TokenID: r.TokenID}, r.Amount}
	}
	return out, err
}
