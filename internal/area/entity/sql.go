package entity

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

type row struct {
	ID                   string         `db:"legal_entity_id"`
	Name                 string         `db:"name"`
	BaseCurrency         string         `db:"base_currency"`
	Country              *string        `db:"country"`
	ParentID             *string        `db:"parent_legal_entity_id"`
	OwnershipPercent     *money.Decimal `db:"ownership_percent"`
	CostBasisMethod      string         `db:"cost_basis_method"`
	CostBasisFrom        *string        `db:"cost_basis_from"`
	CostBasisScope       string         `db:"cost_basis_scope"`
	Measurement          string         `db:"measurement"`
	FiscalYearStartMonth int64          `db:"fiscal_year_start_month"`
	CreatedAt            time.Time      `db:"created_at"`
	UpdatedAt            *time.Time     `db:"updated_at"`
}

func toRow(e LegalEntity) row {
	return row{
		e.ID, e.Name, e.BaseCurrency, db.OrNull(e.Country), db.OrNull(e.ParentID), e.OwnershipPercent, e.CostBasisMethod, db.OrNull(e.CostBasisFrom),
		e.CostBasisScope, e.Measurement, e.FiscalYearStartMonth, e.CreatedAt, e.UpdatedAt,
	}
}

func (r row) entity() LegalEntity {
	return LegalEntity{
		r.ID, r.Name, r.BaseCurrency, db.OrEmpty(r.Country), db.OrEmpty(r.ParentID), r.OwnershipPercent, r.CostBasisMethod, db.OrEmpty(r.CostBasisFrom),
		r.CostBasisScope, r.Measurement, r.FiscalYearStartMonth, r.CreatedAt, r.UpdatedAt,
	}
}

func entitiesOf(rows []row) []LegalEntity {
	out := make([]LegalEntity, len(rows))
	for i, r := range rows {
		out[i] = r.entity()
	}
	return out
}

var selectRows = "SELECT " + db.Columns[row]() + " FROM legal_entities WHERE organization_id = @org"

func insert(ctx context.Context, tx *db.Tx, e LegalEntity) error {
	return db.Insert(ctx, tx, "legal_entities", toRow(e))
}

func find(ctx context.Context, tx *db.Tx, legalEntityID string) (LegalEntity, error) {
	r, err := db.One[row](ctx, tx, noun, selectRows+" AND legal_entity_id = ?", legalEntityID)
	return r.entity(), err
}

func selectAll(ctx context.Context, tx *db.Tx) ([]LegalEntity, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" ORDER BY legal_entity_id")
	return entitiesOf(rows), err
}

// selectPage reads in the order of ids; with some ids given, only those.
func selectPage(ctx context.Context, tx *db.Tx, only []string, above string, limit int) ([]LegalEntity, error) {
	q := db.Select(selectRows).And("legal_entity_id > ?", above)
	if len(only) > 0 {
		ids := make([]any, len(only))
		for i, one := range only {
			ids[i] = one
		}
		q.And("legal_entity_id IN (?"+strings.Repeat(", ?", len(only)-1)+")", ids...)
	}
	rows, err := db.All[row](ctx, tx, q.Then("ORDER BY legal_entity_id LIMIT ?", limit), q.Args...)
	return entitiesOf(rows), err
}

func update(ctx context.Context, tx *db.Tx, e LegalEntity) error {
	r := toRow(e)
	_, err := tx.Exec(ctx, "UPDATE legal_entities SET name = ?, base_currency = ?, country = ?, parent_legal_entity_id = ?, ownership_percent = ?, cost_basis_method = ?, "+
		"cost_basis_from = ?, cost_basis_scope = ?, measurement = ?, fiscal_year_start_month = ?, updated_at = ? WHERE organization_id = @org AND legal_entity_id = ?",
		r.Name, r.BaseCurrency, r.Country, r.ParentID, r.OwnershipPercent, r.CostBasisMethod,
		r.CostBasisFrom, r.CostBasisScope, r.Measurement, r.FiscalYearStartMonth, r.UpdatedAt, r.ID)
	return err
}

func remove(ctx context.Context, tx *db.Tx, legalEntityID string) error {
	if _, err := tx.Exec(ctx, "DELETE FROM cost_basis_elections WHERE organization_id = @org AND legal_entity_id = ?", legalEntityID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "DELETE FROM legal_entities WHERE organization_id = @org AND legal_entity_id = ?", legalEntityID)
	return err
}

// What may refer to an entity or to an account: each says how often, and the number of the first journal entry where it is one.
const (
	entriesOfEntity  = "SELECT count(*) AS count, min(number) AS first FROM journal_entries WHERE organization_id = @org AND legal_entity_id = ?"
	linesOfEntity    = "SELECT count(*) AS count, min(number) AS first FROM journal_lines WHERE organization_id = @org AND legal_entity_id = ?"
	closingsOfEntity = "SELECT count(*) AS count FROM period_closings WHERE organization_id = @org AND legal_entity_id = ?"
	balancesOfEntity = "SELECT count(*) AS count FROM account_balances WHERE organization_id = @org AND legal_entity_id = ?"
	// A key that was revoked is no use of it.
	keysOfEntity = "SELECT count(*) AS count FROM api_keys WHERE organization_id = @org AND revoked_at IS NULL AND ' ' || legal_entity_ids || ' ' LIKE '% ' || ? || ' %'"

	linesOfAccount    = "SELECT count(*) AS count, min(number) AS first FROM journal_lines WHERE organization_id = @org AND ledger_account_id = ?"
	balancesOfAccount = "SELECT count(*) AS count FROM account_balances WHERE organization_id = @org AND ledger_account_id = ?"
	closedOfAccount   = "SELECT count(*) AS count FROM period_closing_balances WHERE organization_id = @org AND ledger_account_id = ?"
	accountsBelow     = "SELECT count(*) AS count FROM ledger_accounts WHERE organization_id = @org AND parent_account_id = ?"
)

func selectUse(ctx context.Context, tx *db.Tx, query, of string) (use, error) {
	return db.One[use](ctx, tx, "count", query, of)
}

type electionRow struct {
	LegalEntityID string    `db:"legal_entity_id"`
	Sequence      int64     `db:"sequence"`
	Method        string    `db:"method"`
	Scope         string    `db:"scope"`
	From          *string   `db:"effective_from"`
	CreatedAt     time.Time `db:"created_at"`
}

func insertElection(ctx context.Context, tx *db.Tx, legalEntityID string, sequence int64, e Election) error {
	return db.Insert(ctx, tx, "cost_basis_elections", electionRow{legalEntityID, sequence, e.Method, e.Scope, db.OrNull(e.From), e.CreatedAt})
}

func selectElections(ctx context.Context, tx *db.Tx, legalEntityID string) ([]Election, error) {
	rows, err := db.All[electionRow](ctx, tx, "SELECT "+db.Columns[electionRow]()+" FROM cost_basis_elections WHERE organization_id = @org AND legal_entity_id = ? ORDER BY sequence", legalEntityID)
	out := make([]Election, len(rows))
	for i, r := range rows {
		out[i] = Election{r.Method, r.Scope, db.OrEmpty(r.From), r.CreatedAt}
	}
	return out, err
}

// strays are the ids of entities that are referred to and not there.
func strays(ctx context.Context, tx *db.Tx, table string) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT DISTINCT r.legal_entity_id FROM "+table+" r WHERE r.organization_id = @org AND NOT EXISTS "+
		"(SELECT 1 FROM legal_entities e WHERE e.organization_id = r.organization_id AND e.legal_entity_id = r.legal_entity_id) ORDER BY r.legal_entity_id")
}
