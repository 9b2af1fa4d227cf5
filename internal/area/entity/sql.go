package entity

import (
	"context"
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
