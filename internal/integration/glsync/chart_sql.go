package glsync

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/db"
)

type booksRow struct {
	ConnectionID  string  `db:"connection_id"`
	Currency      string  `db:"currency"`
	Foreign       bool    `db:"takes_foreign"`
	LockedThrough *string `db:"locked_through"`
}

// encode returns a value as JSON. All values that are stored so can be encoded.
func encode(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// decode returns the value of a JSON text, or the zero value for one that is none, which Verify finds.
func decode[T any](text string) (v T) {
	_ = json.Unmarshal([]byte(text), &v)
	return v
}

func upsertBooks(ctx context.Context, tx *db.Tx, connectionID string, b books) error {
	return db.Upsert(ctx, tx, "gl_charts", []booksRow{{ConnectionID: connectionID, Currency: b.Currency, Foreign: b.Foreign,
		LockedThrough: db.OrNull(b.LockedThrough)}}, `ON CONFLICT (organization_id, connection_id) DO UPDATE SET
		currency = excluded.currency, takes_foreign = excluded.takes_foreign, locked_through = excluded.locked_through`)
}

func selectBooks(ctx context.Context, tx *db.Tx, connectionID string) (books, error) {
	r, err := db.One[booksRow](ctx, tx, "chart of accounts", "SELECT "+db.Columns[booksRow]()+
		" FROM gl_charts WHERE organization_id = @org AND connection_id = ?", connectionID)
	return books{Currency: r.Currency, Foreign: r.Foreign, LockedThrough: db.OrEmpty(r.LockedThrough)}, err
}

type accountRow struct {
	ID           string     `db:"gl_account_id"`
	ConnectionID string     `db:"connection_id"`
	ExternalID   string     `db:"external_id"`
	Code         *string    `db:"code"`
	Name         string     `db:"name"`
	Type         *string    `db:"account_type"`
	Currency     *string    `db:"currency"`
	Active       bool       `db:"is_active"`
	Refusal      *string    `db:"refusal"`
	Search       string     `db:"search"`
	CreatedAt    time.Time  `db:"created_at"`
	UpdatedAt    *time.Time `db:"updated_at"`
}

func (r accountRow) account() Account {
	return Account{ID: r.ID, ConnectionID: r.ConnectionID, ExternalID: r.ExternalID, Code: db.OrEmpty(r.Code), Name: r.Name,
		Type: db.OrEmpty(r.Type), Currency: db.OrEmpty(r.Currency), Active: r.Active, Refusal: db.OrEmpty(r.Refusal),
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
}

func accountsOf(rows []accountRow) []Account {
	out := make([]Account, len(rows))
	for n, r := range rows {
		out[n] = r.account()
	}
	return out
}

var accountColumns = "SELECT " + db.Columns[accountRow]() + " FROM gl_accounts WHERE organization_id = @org"

// selectAccounts reads the accounts of a general ledger, in the order in which they were first read.
func selectAccounts(ctx context.Context, tx *db.Tx, connectionID string) ([]Account, error) {
	rows, err := db.All[accountRow](ctx, tx, accountColumns+" AND connection_id = ? ORDER BY gl_account_id", connectionID)
	return accountsOf(rows), err
}

// selectSomeAccounts reads the accounts with some ids.
func selectSomeAccounts(ctx context.Context, tx *db.Tx, ids []string) ([]Account, error) {
	rows, err := db.All[accountRow](ctx, tx, accountColumns+" AND gl_account_id {any}", ids)
	return accountsOf(rows), err
}

// containsText is the condition that a row contains the text of a pattern.
const containsText = `search LIKE ? ESCAPE '\'`

// pattern returns what containsText compares with, for a text that somebody searches for.
func pattern(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.ToLower(text)) + "%"
}

func selectAccountPage(ctx context.Context, tx *db.Tx, f AccountFilter, connections []string, above string, limit int) ([]Account, error) {
	q := db.Select(accountColumns).And("connection_id {any}", connections).And("gl_account_id > ?", above)
	if f.Active != nil && *f.Active {
		q.And("is_active AND refusal IS NULL")
	} else if f.Active != nil {
		q.And("NOT (is_active AND refusal IS NULL)")
	}
	if f.Search != "" {
		q.And(containsText, pattern(f.Search))
	}
	rows, err := db.All[accountRow](ctx, tx, q.Then("ORDER BY gl_account_id LIMIT ?", limit), q.Args...)
	return accountsOf(rows), err
}

func upsertAccounts(ctx context.Context, tx *db.Tx, all []Account) error {
	if len(all) == 0 {
		return nil
	}
	rows := make([]accountRow, len(all))
	for n, a := range all {
		rows[n] = accountRow{ID: a.ID, ConnectionID: a.ConnectionID, ExternalID: a.ExternalID, Code: db.OrNull(a.Code), Name: a.Name,
			Type: db.OrNull(a.Type), Currency: db.OrNull(a.Currency), Active: a.Active, Refusal: db.OrNull(a.Refusal), Search: a.search(),
			CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt}
	}
	return db.Upsert(ctx, tx, "gl_accounts", rows, `ON CONFLICT (organization_id, gl_account_id) DO UPDATE SET code = excluded.code,
		name = excluded.name, account_type = excluded.account_type, currency = excluded.currency, is_active = excluded.is_active,
		refusal = excluded.refusal, search = excluded.search, updated_at = excluded.updated_at`)
}
