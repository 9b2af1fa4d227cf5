package account

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
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
	Monetary       bool       `db:"is_monetary"`
	ArchivedAt     *time.Time `db:"archived_at"`
	AssetType      *string    `db:"asset_type"`
	Role           *string    `db:"role"`
	NamedAfter     *string    `db:"named_after"`
	CreatedAt      time.Time  `db:"created_at"`
	UpdatedAt      *time.Time `db:"updated_at"`
}

var selectFrom = "SELECT " + db.Columns[row]() + " FROM ledger_accounts WHERE organization_id = @org"

func toRow(a Account) row {
	return row{
		ID: a.ID, SequenceNumber: a.SequenceNumber, Code: db.OrNull(a.Code), Name: a.Name, Type: string(a.Type),
		NormalBalance: string(a.NormalBalance), ParentID: db.OrNull(a.ParentID), Postable: a.Postable, Clearing: a.Clearing,
		Monetary: a.Monetary, ArchivedAt: a.ArchivedAt, AssetType: db.OrNull(a.AssetType), Role: db.OrNull(a.Role),
		NamedAfter: db.OrNull(a.NamedAfter), CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
	}
}

func (r row) account() Account {
	return Account{
		ID: r.ID, SequenceNumber: r.SequenceNumber, Code: db.OrEmpty(r.Code), Name: r.Name, Type: Type(r.Type),
		NormalBalance: Balance(r.NormalBalance), ParentID: db.OrEmpty(r.ParentID), Postable: r.Postable, Clearing: r.Clearing,
		Monetary: r.Monetary, ArchivedAt: r.ArchivedAt, AssetType: db.OrEmpty(r.AssetType), Role: db.OrEmpty(r.Role),
		NamedAfter: db.OrEmpty(r.NamedAfter), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
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

// selectByCode returns the account with a code, if there is one.
func selectByCode(ctx context.Context, tx *db.Tx, code string) ([]Account, error) {
	return query(ctx, tx, selectFrom+" AND code = ?", code)
}

func selectChildren(ctx context.Context, tx *db.Tx, accountID string) ([]Account, error) {
	return query(ctx, tx, selectFrom+" AND parent_account_id = ? ORDER BY sequence_number", accountID)
}

// selectPage reads accounts in the order of their sequence numbers.
func selectPage(ctx context.Context, tx *db.Tx, f Filter, above int64, limit int) ([]Account, error) {
	q := db.Select(selectFrom).And("sequence_number > ?", above)
	if f.Type != "" {
		q.And("type = ?", string(f.Type))
	}
	if f.Archived != nil {
		q.And(map[bool]string{true: "archived_at IS NOT NULL", false: "archived_at IS NULL"}[*f.Archived])
	}
	if f.Postable != nil {
		q.And("is_postable = ?", *f.Postable)
	}
	if f.ParentID != "" {
		q.And("parent_account_id = ?", f.ParentID)
	}
	return query(ctx, tx, q.Then("ORDER BY sequence_number LIMIT ?", limit), q.Args...)
}

func update(ctx context.Context, tx *db.Tx, a Account) error {
	r := toRow(a)
	_, err := tx.Exec(ctx, `UPDATE ledger_accounts SET code = ?, name = ?, type = ?, normal_balance = ?, parent_account_id = ?,
		is_postable = ?, is_clearing_account = ?, is_monetary = ?, archived_at = ?, asset_type = ?, named_after = ?, updated_at = ?
		WHERE organization_id = @org AND ledger_account_id = ?`,
		r.Code, r.Name, r.Type, r.NormalBalance, r.ParentID, r.Postable, r.Clearing, r.Monetary, r.ArchivedAt, r.AssetType,
		r.NamedAfter, r.UpdatedAt, r.ID)
	return err
}

func remove(ctx context.Context, tx *db.Tx, accountID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM ledger_accounts WHERE organization_id = @org AND ledger_account_id = ?", accountID)
	return err
}

type countRow struct {
	Count   int64   `db:"count"`
	Example *string `db:"example"`
}

// openDrafts returns how many drafts have a line on an account, and the number of one of them.
func openDrafts(ctx context.Context, tx *db.Tx, accountID string) (int64, string, error) {
	found, err := db.One[countRow](ctx, tx, "count",
		`SELECT count(DISTINCT e.number) AS count, 'JE-' || min(e.number) AS example FROM journal_entries e
		JOIN journal_lines l ON l.organization_id = e.organization_id AND l.journal_entry_id = e.journal_entry_id AND l.ledger_account_id = ?
		WHERE e.organization_id = @org AND e.status = 'draft'`, accountID)
	return found.Count, db.OrEmpty(found.Example), err
}

type balanceRow struct {
	EntityID string        `db:"legal_entity_id"`
	Name     string        `db:"name"`
	Currency string        `db:"base_currency"`
	Debits   money.Decimal `db:"debits"`
	Credits  money.Decimal `db:"credits"`
}

// selectBalances returns the balance of an account in each legal entity that has used it.
func selectBalances(ctx context.Context, tx *db.Tx, accountID string) ([]balanceRow, error) {
	return db.All[balanceRow](ctx, tx,
		`SELECT e.legal_entity_id, e.name, e.base_currency, {dec_sum}(b.debits) AS debits, {dec_sum}(b.credits) AS credits FROM legal_entities e
		JOIN account_balances b ON b.organization_id = e.organization_id AND b.tag_id = '' AND b.legal_entity_id = e.legal_entity_id AND
		b.ledger_account_id = ?
		WHERE e.organization_id = @org GROUP BY e.legal_entity_id, e.name, e.base_currency ORDER BY e.legal_entity_id`, accountID)
}

func selectEntityIDs(ctx context.Context, tx *db.Tx) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT legal_entity_id FROM legal_entities WHERE organization_id = @org ORDER BY legal_entity_id")
}
