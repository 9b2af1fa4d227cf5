package txn

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// Loose is a transaction that is not linked to another yet, as far as it says which one it could belong to.
type Loose struct {
	ID        string
	Number    int64
	SourceID  string
	At        time.Time
	Direction Direction
	Quantity  money.Decimal
	Currency  string
	Asset     string
	Chain     string
	Type      Type
	EventKey  string
	Crypto    *Crypto
	Card      *Card
}

// LooseFrom gives transactions that are pending and linked to nothing, of a span of time that ends before its end, in the order of date and number
// and after one of them, as many as a limit. It is a building block.
func LooseFrom(ctx context.Context, tx *db.Tx, from, end time.Time, after *Loose, limit int) ([]Loose, error) {
	return selectLoose(ctx, tx, from, end, after, limit)
}

// Some gives transactions by their ids, in no order, except those that are deleted, whoever asks. It is a building block.
func Some(ctx context.Context, tx *db.Tx, ids []string) ([]Transaction, error) {
	return selectSome(ctx, tx, ids)
}

// CameAt tells when the transaction with a number came. It is a building block.
func CameAt(ctx context.Context, tx *db.Tx, number int64) (time.Time, error) {
	return selectCameAt(ctx, tx, number)
}

// SpanOf tells when the transactions after a number and up to another happened, first and last. It is a building block.
func SpanOf(ctx context.Context, tx *db.Tx, after, upTo int64) (first, last time.Time, err error) {
	return selectSpan(ctx, tx, after, upTo)
}
