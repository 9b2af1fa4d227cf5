package holdings

import (
	"context"
	"time"

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

// Positions gives what is held at the end of an accounting period, by its key, or, without one, after everything that
// is booked. Where nothing is left there is no position. It is a building block, and gives what is asked for whoever
// asks.
func Positions(ctx context.Context, tx *db.Tx, periodKey string, f Filter) ([]Position, error) {
	return selectPositions(ctx, tx, periodKey, f, nil, 0, false)
}

// key is the order of positions: that of the table.
func (p Position) key() []string {
	return []string{p.LegalEntityID, p.SourceID, p.LedgerAccountID, p.AssetType, p.Chain, p.TokenID}
}

// positionsAt gives what was held before an end, all of it or a page: what the period of that end ends with, less
// what moved in the rest of it.
func (s *scope) positionsAt(ctx context.Context, tx *db.Tx, end time.Time, f Filter, after []string, limit int) ([]Position, error) {
	month, some := s.periodAt(end.Add(-time.Millisecond))
	if !some {
		return nil, nil
	}
	rest, err := selectMoves(ctx, tx, end, month.End, f)
	if err != nil {
		return nil, err
	}
	if len(rest) == 0 {
		return selectPositions(ctx, tx, month.Key, f, after, limit, false)
	}
	var out []Position
	for {
		held, err := selectPositions(ctx, tx, month.Key, f, after, limit, true)
		if err != nil {
			return nil, err
		}
		for _, p := range held {
			m := rest[[6]string(p.key())]
			if p.Quantity, p.Basis = p.Quantity.Sub(m.quantity), p.Basis.Sub(m.basis); !p.Quantity.IsZero() || !p.Basis.IsZero() {
				out = append(out, p)
			}
		}
		if n := len(held); limit <= 0 || n < limit || len(out) >= limit {
			return atMost(out, limit), nil
		}
		after = held[len(held)-1].key()
	}
}

// atMost cuts a list; without a limit it is whole.
func atMost[T any](list []T, limit int) []T {
	if limit > 0 && len(list) > limit {
		return list[:limit]
	}
	return list
}
