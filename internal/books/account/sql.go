package account

import (
	"context"
	"strconv"
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
	ArchivedAt     *time.Time `db:"archived_at"`
	AssetType      *string    `db:"asset_type"`
	Role           *string    `db:"role"`
	CreatedAt      time.Time  `db:"created_at"`
	UpdatedAt      *time.Time `db:"updated_at"`
}

var selectFrom = "SELECT " + db.Columns[row]() + " FROM ledger_accounts WHERE organization_id = @org"

func toRow(a Account) row {
	return row{
		ID: a.ID, SequenceNumber: a.SequenceNumber, Code: db.OrNull(a.Code), Name: a.Name, Type: string(a.Type), NormalBalance: string(
			a.NormalBalance), ParentID: db.OrNull(a.ParentID), Postable: a.Postable, Clearing: a.Clearing,
		ArchivedAt: a.ArchivedAt, AssetType: db.OrNull(a.AssetType), Role: db.OrNull(a.Role), CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
	}
}

func (r row) account() Account {
	return Account{
		ID: r.ID, SequenceNumber: r.SequenceNumber, Code: db.OrEmpty(r.Code), Name: r.Name, Type: Type(r.Type), NormalBalance: Balance(
			r.NormalBalance), ParentID: db.OrEmpty(r.ParentID), Postable: r.Postable, Clearing: r.Clearing,
		ArchivedAt: r.ArchivedAt, AssetType: db.OrEmpty(r.AssetType), Role: db.OrEmpty(r.Role), CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
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

func selectChildren(ctx context.Context, tx *db.Tx, accountID string) ([]Account, error) {
	return query(ctx, tx, selectFrom+" AND parent_account_id = ? ORDER BY sequence_number", accountID)
}

// selectPage reads the chart upward from a sequence number.
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
		is_postable = ?,
		is_clearing_account = ?, archived_at = ?, asset_type = ?, updated_at = ? WHERE organization_id = @org AND ledger_account_id = ?`,
		r.Code, r.Name, r.Type, r.NormalBalance, r.ParentID, r.Postable, r.Clearing, r.ArchivedAt, r.AssetType, r.UpdatedAt, r.ID)
	return err
}

func remove(ctx context.Context, tx *db.Tx, accountID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM ledger_accounts WHERE organization_id = @org AND ledger_account_id = ?", accountID)
	return err
}

// referrer is a table whose rows name accounts. Every table with a column of accounts must be here, which a test sees to: what is
// missing would not keep an account from being deleted. The count may stop at referencesMax; the example is what people know a row by.
type referrer struct {
	table, column string
	one, many     string // what its rows are called
	count         string
}

// referencesMax bounds the counting, because it is done while the organization's other writes wait.
const referencesMax = 1000

var referrers = []referrer{
	{table: "journal_lines", column: "ledger_account_id", one: "journal line", many: "journal lines",
		count: `SELECT count(*) AS count, 'of JE-' || min(number) AS example FROM (
		SELECT number FROM journal_lines WHERE organization_id = @org AND ledger_account_id = ? ORDER BY accounting_date, number LIMIT ` +
			strconv.Itoa(referencesMax) + `) AS l`},
	// Through the legal entities, because the key of balances begins with them.
	{table: "account_balances", column: "ledger_account_id", one: "balance of an accounting period",
		many: "balances of accounting periods", count: `SELECT count(*) AS count, 'of ' || min(b.accounting_period_id) AS example FROM
			legal_entities e
		JOIN account_balances b ON b.organization_id = e.organization_id AND b.tag_id = '' AND b.legal_entity_id = e.legal_entity_id AND
		b.ledger_account_id = ?
		WHERE e.organization_id = @org`},
	{table: "sources", column: "ledger_account_id", one: "source", many: "sources",
		count: `SELECT count(*) AS count, min(source_id) AS example FROM sources WHERE organization_id = @org AND ledger_account_id = ?`},
	{table: "period_closing_balances", column: "ledger_account_id", one: "balance of a closed period",
		many: "balances of closed periods", count: `SELECT count(*) AS count, 'of ' || min(b.period_closing_id) AS example FROM period_closings c
		JOIN period_closing_balances b ON b.organization_id = c.organization_id AND b.period_closing_id = c.period_closing_id AND
		b.ledger_account_id = ?
		WHERE c.organization_id = @org`},
	{table: "account_units", column: "ledger_account_id", one: "quantity of an accounting period",
		many: "quantities of accounting periods", count: `SELECT count(*) AS count, 'of ' || min(u.accounting_period_id) AS example FROM
			legal_entities e
		JOIN account_units u ON u.organization_id = e.organization_id AND u.legal_entity_id = e.legal_entity_id AND u.ledger_account_id =
		? WHERE e.organization_id = @org`},
	{table: "lots", column: "ledger_account_id", one: "asset", many: "assets", count: few("asset_id", "lots", "ledger_account_id")},
	{table: "lot_pools", column: "ledger_account_id", one: "pool of assets", many: "pools of assets", count: few("pool", "lot_pools",
		"ledger_account_id")},
	{table: "lot_takes", column: "ledger_account_id", one: "entry that takes assets", many: "entries that take assets",
		count: few("journal_entry_id", "lot_takes", "ledger_account_id")},
	{table: "lot_uses", column: "ledger_account_id", one: "use of assets", many: "uses of assets", count: few("use_id", "lot_uses",
		"ledger_account_id")},
	{table: "lot_positions", column: "ledger_account_id", one: "position of an accounting period",
		many: "positions of accounting periods", count: few("accounting_period_id", "lot_positions", "ledger_account_id")},
	{table: "bookings", column: "ledger_account_id", one: "entry of a transaction", many: "entries of transactions",
		count: few("journal_entry_id", "bookings", "ledger_account_id")},
	{table: "memory_rules", column: "ledger_account_id", one: "rule", many: "rules", count: few("rule_id", "memory_rules",
		"ledger_account_id")},
	{table: "bookings", column: "offset_ledger_account_id", one: "entry of a transaction", many: "entries of transactions",
		count: few("journal_entry_id", "bookings", "offset_ledger_account_id")},
}

// few counts the rows of a table that name an account.
func few(example, table, column string) string {
	return "SELECT count(*) AS count, min(" + example + ") AS example FROM (SELECT " + example + " FROM " + table +
		" WHERE organization_id = @org AND " + column + " = ? LIMIT " + strconv.Itoa(referencesMax) + ") AS r"
}

type countRow struct {
	Count   int64   `db:"count"`
	Example *string `db:"example"`
}

func (r referrer) references(ctx context.Context, tx *db.Tx, accountID string) (int64, string, error) {
	found, err := db.One[countRow](ctx, tx, "count", r.count, accountID)
	return found.Count, db.OrEmpty(found.Example), err
}

// strays counts the rows that name an account that is not there.
func (r referrer) strays(ctx context.Context, tx *db.Tx) (int64, error) {
	return db.One[int64](ctx, tx, "count", `SELECT count(*) FROM `+r.table+
		` r LEFT JOIN ledger_accounts a ON a.organization_id = r.organization_id
		AND a.ledger_account_id = r.`+r.column+` WHERE r.organization_id = @org AND r.`+r.column+` IS NOT NULL AND a.ledger_account_id IS NULL`)
}

// openDrafts counts the drafts with a line on an account.
func openDrafts(ctx context.Context, tx *db.Tx, accountID string) (int64, string, error) {
	found, err := db.One[countRow](ctx, tx, "count",
		`SELECT count(DISTINCT e.number) AS count, 'JE-' || min(e.number) AS example FROM journal_entries e
		JOIN journal_lines l ON l.organization_id = e.organization_id AND l.journal_entry_id = e.journal_entry_id AND l.ledger_account_id = ?
		WHERE e.organization_id = @org AND e.status = 'draft'`, accountID)
	return found.Count, db.OrEmpty(found.Example), err
}

// openSources counts the sources of an account that are not deleted.
func openSources(ctx context.Context, tx *db.Tx, accountID string) (int64, string, error) {
	found, err := db.One[countRow](ctx, tx, "count", `SELECT count(*) AS count, min(source_id) AS example FROM sources
		WHERE organization_id = @org AND ledger_account_id = ? AND deleted_at IS NULL`, accountID)
	return found.Count, db.OrEmpty(found.Example), err
}

type balanceRow struct {
	EntityID string        `db:"legal_entity_id"`
	Name     string        `db:"name"`
	Currency string        `db:"base_currency"`
	Debits   money.Decimal `db:"debits"`
	Credits  money.Decimal `db:"credits"`
}

// selectBalances gives what an account holds in each legal entity that has used it.
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
