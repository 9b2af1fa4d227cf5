package account

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

const table, noun = "ledger_accounts", "ledger account"

type row struct {
	ID             string     `db:"ledger_account_id"`
	SequenceNumber int64      `db:"sequence_number"`
	Code           *string    `db:"code"`
	Name           string     `db:"name"`
	Type           string     `db:"type"`
	NormalBalance  string     `db:"normal_balance"`
	ParentID       *string    `db:"parent_account_id"`
	Postable       bool       `db:"is_postable"`
	Clearing       bool       `db:"is_clearing_account"`
	ArchivedAt     *time.Time `db:"archived_at"`
	AssetType      *string    `db:"asset_type"`
	Role           *string    `db:"role"`
	CreatedAt      time.Time  `db:"created_at"`
	UpdatedAt      *time.Time `db:"updated_at"`
}

var selectFrom = "SELECT " + db.Columns[row]() + " FROM ledger_accounts WHERE organization_id = @org"

func toRow(a Account) row {
	return row{
		a.ID, a.SequenceNumber, db.OrNull(a.Code), a.Name, string(a.Type), string(a.NormalBalance), db.OrNull(a.ParentID), a.Postable, a.Clearing,
		a.ArchivedAt, db.OrNull(a.AssetType), db.OrNull(a.Role), a.CreatedAt, a.UpdatedAt,
	}
}

func (r row) account() Account {
	return Account{
		r.ID, r.SequenceNumber, db.OrEmpty(r.Code), r.Name, Type(r.Type), Balance(r.NormalBalance), db.OrEmpty(r.ParentID), r.Postable, r.Clearing,
		r.ArchivedAt, db.OrEmpty(r.AssetType), db.OrEmpty(r.Role), r.CreatedAt, r.UpdatedAt,
	}
}

func insert(ctx context.Context, tx *db.Tx, accounts ...Account) error {
	rows := make([]row, len(accounts))
	for i, a := range accounts {
		rows[i] = toRow(a)
	}
	return db.Insert(ctx, tx, table, rows...)
}

func query(ctx context.Context, tx *db.Tx, text string, args ...any) ([]Account, error) {
	rows, err := db.All[row](ctx, tx, text, args...)
	out := make([]Account, len(rows))
	for i, r := range rows {
		out[i] = r.account()
	}
	return out, err
}

func selectAll(ctx context.Context, tx *db.Tx) ([]Account, error) {
	return query(ctx, tx, selectFrom+" ORDER BY sequence_number")
}

func find(ctx context.Context, tx *db.Tx, accountID string) (Account, error) {
	r, err := db.One[row](ctx, tx, noun, selectFrom+" AND ledger_account_id = ?", accountID)
	return r.account(), err
}

func findByRole(ctx context.Context, tx *db.Tx, role string) (Account, error) {
	r, err := db.One[row](ctx, tx, noun, selectFrom+" AND role = ?", role)
	return r.account(), err
}

func selectByRoles(ctx context.Context, tx *db.Tx, one, other string) ([]Account, error) {
	return query(ctx, tx, selectFrom+" AND role IN (?, ?) ORDER BY sequence_number", one, other)
}

// selectByCode gives the account that has a code, if there is one.
func selectByCode(ctx context.Context, tx *db.Tx, code string) ([]Account, error) {
	return query(ctx, tx, selectFrom+" AND code = ?", code)
}
