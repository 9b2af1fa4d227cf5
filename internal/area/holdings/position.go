package holdings

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// Position is what a legal entity holds of an asset in one place. An empty source means that it is parked under a clearing account.
type Position struct {
	LegalEntityID   string
	SourceID        string
	LedgerAccountID string
	AssetType       string
	Chain           string
	TokenID         string
	Currency        string // of the books
	Quantity        money.Decimal
	Basis           money.Decimal // what it cost
	Lots            int64
}

// Filter narrows what is held; what is empty does not.
type Filter struct {
	LegalEntityIDs []string
	AssetTypes     []string
	SourceIDs      []string
}

// Positions gives what is held at the end of an accounting period, by its key, or, without one, after everything that is booked. Where nothing is
// left there is no position. It is a building block, and gives what is asked for whoever asks.
func Positions(ctx context.Context, tx *db.Tx, periodKey string, f Filter) ([]Position, error) {
	return selectPositions(ctx, tx, periodKey, f, nil, 0)
}

// key is the order of positions: that of the table.
func (p Position) key() []string {
	return []string{p.LegalEntityID, p.SourceID, p.LedgerAccountID, p.AssetType, p.Chain, p.TokenID}
}
