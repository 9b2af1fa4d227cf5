package period

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// KeptAdjustment is what revaluations had adjusted a position by at the end of a period, kept when the period was closed. What happens
// later to the lots of the position, such as a reversal, does not change what a closed period shows.
type KeptAdjustment struct {
	KeptPosition
	Amount money.Decimal
}

// KeptPosition identifies a position. The account of a source can change later and is no part of it.
type KeptPosition struct {
	LegalEntityID   string
	AssetType       string
	SourceID        string
	LedgerAccountID string // only without a source
	Chain           string
	TokenID         string
}

// FindAdjustments returns the adjustments at the end of a period of all positions of the assets that legal entities have adjusted.
type FindAdjustments func(ctx context.Context, tx *db.Tx, p Period, legalEntityIDs []string) ([]KeptAdjustment, error)

// KeptAdjustments returns the adjustments that were kept with the closings in force of a period. It runs in the caller's transaction.
func KeptAdjustments(ctx context.Context, tx *db.Tx, periodID string, legalEntityIDs, assetTypes []string) ([]KeptAdjustment, error) {
	return selectKeptAdjustments(ctx, tx, periodID, legalEntityIDs, assetTypes)
}

// keepAdjustments stores the adjustments that reports show for the period from now on, with the closing of each legal entity.
func (x *examination) keepAdjustments(ctx context.Context, tx *db.Tx, find FindAdjustments, closings []Closing) error {
	if find == nil {
		return nil
	}
	found, err := find(ctx, tx, x.period, entityIDs(x.entities))
	if err != nil {
		return err
	}
	return insertKeptAdjustments(ctx, tx, found, byEntity(closings))
}

// byEntity returns the IDs of closings by legal entity.
func byEntity(closings []Closing) map[string]string {
	out := map[string]string{}
	for _, c := range closings {
		out[c.LegalEntityID] = c.ID
	}
	return out
}
