package transaction

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// Unlinked is a transaction that is not linked to another one yet, with the fields that matching needs.
type Unlinked struct {
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

// ListUnlinked returns up to limit pending transactions without a link, dated from a time to before an end, by date and
// number and after the one given. It is a building block.
func ListUnlinked(ctx context.Context, tx *db.Tx, from, end time.Time, after *Unlinked, limit int) ([]Unlinked, error) {
	return selectUnlinked(ctx, tx, from, end, after, limit)
}

// FindSomeUnchecked returns transactions by id, in no particular order and without deleted ones. It does not check what
// the actor may see. It is a building block.
func FindSomeUnchecked(ctx context.Context, tx *db.Tx, ids []string) ([]Transaction, error) {
	if len(ids) == 1 {
		t, err := selectOne(ctx, tx, ids[0])
		if fault.KindOf(err) == fault.NotFound {
			return nil, nil
		}
		return []Transaction{t}, err
	}
	return selectSome(ctx, tx, ids)
}

// CreatedAt returns when the transaction with a number was stored. It is a building block.
func CreatedAt(ctx context.Context, tx *db.Tx, number int64) (time.Time, error) {
	return selectCreatedAt(ctx, tx, number)
}

// DateSpan returns the first and last date of the transactions after a number and up to another. It is a building block.
func DateSpan(ctx context.Context, tx *db.Tx, after, upTo int64) (first, last time.Time, err error) {
	return selectDateSpan(ctx, tx, after, upTo)
}

type unlinkedRow struct {
	ID        string        `db:"transaction_id"`
	Number    int64         `db:"number"`
	SourceID  string        `db:"source_id"`
	At        time.Time     `db:"transaction_date"`
	Direction string        `db:"direction"`
	Quantity  money.Decimal `db:"quantity"`
	Currency  string        `db:"currency"`
	Asset     string        `db:"asset_type"`
	Chain     string        `db:"chain"`
	Type      string        `db:"transaction_type"`
	EventKey  *string       `db:"event_key"`
	Details   *string       `db:"details"`
}

func (r unlinkedRow) unlinked() (Unlinked, error) {
	l := Unlinked{ID: r.ID, Number: r.Number, SourceID: r.SourceID, At: r.At, Direction: Direction(r.Direction), Quantity: r.Quantity,
		Currency: r.Currency, Asset: r.Asset, Chain: r.Chain, Type: Type(r.Type), EventKey: db.OrEmpty(r.EventKey), Crypto: nil, Card: nil}
	if r.Details != nil {
		var d details
		if err := json.Unmarshal([]byte(*r.Details), &d); err != nil {
			return l, fmt.Errorf("transaction: the stored details of %s: %w", r.ID, err)
		}
		l.Crypto, l.Card = d.Crypto, d.Card
	}
	return l, nil
}

var selectUnlinkedRows = "SELECT " + db.Columns[unlinkedRow]() +
	" FROM transactions WHERE organization_id = @org AND visibility = ? AND status = ? AND group_id IS NULL AND journal_entry_id IS NULL " +
	"AND quantity IS NOT NULL"

func selectUnlinked(ctx context.Context, tx *db.Tx, from, end time.Time, after *Unlinked, limit int) ([]Unlinked, error) {
	q := db.Select(selectUnlinkedRows, listed, string(Pending))
	if after != nil {
		q.And("(transaction_date, number) > (?, ?)", after.At, after.Number)
	} else {
		q.And("transaction_date >= ?", from)
	}
	q.And("transaction_date < ?", end)
	rows, err := db.All[unlinkedRow](ctx, tx, q.Then("ORDER BY transaction_date, number LIMIT ?", limit), q.Args...)
	if err != nil {
		return nil, err
	}
	out := make([]Unlinked, len(rows))
	for i, r := range rows {
		if out[i], err = r.unlinked(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func selectCreatedAt(ctx context.Context, tx *db.Tx, number int64) (time.Time, error) {
	return db.One[time.Time](ctx, tx, noun, "SELECT created_at FROM transactions WHERE organization_id = @org AND number = ?", number)
}

func selectDateSpan(ctx context.Context, tx *db.Tx, after, upTo int64) (first, last time.Time, err error) {
	type row struct {
		First *time.Time `db:"first"`
		Last  *time.Time `db:"last"`
	}
	r, err := db.One[row](ctx, tx, noun,
		"SELECT min(transaction_date) AS first, max(transaction_date) AS last FROM transactions WHERE organization_id = @org AND "+
			"number > ? AND number <= ?", after, upTo)
	if err == nil && r.First == nil {
		err = fault.Missing(noun)
	}
	if err != nil {
		return first, last, err
	}
	return *r.First, *r.Last, nil
}

// GroupsOfSource returns the groups of links that transactions of a source are in. It is a building block.
func GroupsOfSource(ctx context.Context, tx *db.Tx, sourceID string) ([]string, error) {
	return db.All[string](ctx, tx,
		"SELECT DISTINCT group_id FROM transactions WHERE organization_id = @org AND source_id = ? AND group_id IS NOT NULL ORDER "+
			"BY group_id", sourceID)
}
