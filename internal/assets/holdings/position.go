package holdings

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// Position is the holding of an asset by a legal entity at one source: what came in less what left. Its cost is that of what came
// in less that of the lots consumed by what left, which may be lots of other sources if the legal entity pools them. Without a source
// it is parked on a clearing account.
type Position struct {
	LegalEntityID   string
	SourceID        string
	LedgerAccountID string // that of the source
	AssetType       string
	Chain           string
	TokenID         string
	Currency        string // of the books
	Quantity        money.Decimal
	Basis           money.Decimal // what it cost
	Lots            int64
}

// Filter narrows a report by every field that is not empty.
type Filter struct {
	LegalEntityIDs []string
	AssetTypes     []string
	SourceIDs      []string
}

// Positions returns the positions at the end of an accounting period, given by its key, or the current ones without a key.
// Empty positions are left out. It is a building block and does not check what the actor may see.
func Positions(ctx context.Context, tx *db.Tx, periodKey string, f Filter) ([]Position, error) {
	return selectPositions(ctx, tx, periodKey, f, nil, 0, false)
}

// key returns the sort key of positions, which is that of the table.
func (p Position) key() []string {
	return []string{p.LegalEntityID, p.SourceID, p.LedgerAccountID, p.AssetType, p.Chain, p.TokenID}
}

// positionsAt returns the positions just before an instant, all of them or a page: those at the end of its period, less the
// movements in the rest of the period.
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

// atMost truncates a list to a limit; without one it returns the whole list.
func atMost[T any](list []T, limit int) []T {
	if limit > 0 && len(list) > limit {
		return list[:limit]
	}
	return list
}
