package entity

import (
	"context"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
)

// table is the table of legal entities.
const table = "legal_entities"

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
	MeasurementFrom      *string        `db:"measurement_from"`
	FiscalYearStartMonth int64          `db:"fiscal_year_start_month"`
	Framework            string         `db:"framework"`
	FeeTreatment         string         `db:"fee_treatment"`
	ShortDisposal        string         `db:"short_disposal"`
	IntercompanyBasis    string         `db:"intercompany_basis"`
	LoansOut             string         `db:"loans_out"`
	CreatedAt            time.Time      `db:"created_at"`
	UpdatedAt            *time.Time     `db:"updated_at"`
}

func toRow(e LegalEntity) row {
	return row{
		ID: e.ID, Name: e.Name, BaseCurrency: e.BaseCurrency, Country: db.OrNull(e.Country), ParentID: db.OrNull(e.ParentID),
		OwnershipPercent: e.OwnershipPercent, CostBasisMethod: e.CostBasisMethod, CostBasisFrom: db.OrNull(e.CostBasisFrom),
		CostBasisScope: e.CostBasisScope, Measurement: e.Measurement, MeasurementFrom: db.OrNull(e.MeasurementFrom),
		FiscalYearStartMonth: e.FiscalYearStartMonth, Framework: e.Framework, FeeTreatment: e.FeeTreatment,
		ShortDisposal: e.ShortDisposal, IntercompanyBasis: e.IntercompanyBasis, LoansOut: e.LoansOut,
		CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt,
	}
}

func (r row) entity() LegalEntity {
	return LegalEntity{
		ID: r.ID, Name: r.Name, BaseCurrency: r.BaseCurrency, Country: db.OrEmpty(r.Country), ParentID: db.OrEmpty(r.ParentID),
		OwnershipPercent: r.OwnershipPercent, CostBasisMethod: r.CostBasisMethod, CostBasisFrom: db.OrEmpty(r.CostBasisFrom),
		CostBasisScope: r.CostBasisScope, Measurement: r.Measurement, MeasurementFrom: db.OrEmpty(r.MeasurementFrom),
		FiscalYearStartMonth: r.FiscalYearStartMonth, Framework: r.Framework, FeeTreatment: r.FeeTreatment,
		ShortDisposal: r.ShortDisposal, IntercompanyBasis: r.IntercompanyBasis, LoansOut: r.LoansOut,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
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
	return db.Insert(ctx, tx, table, toRow(e))
}

func find(ctx context.Context, tx *db.Tx, legalEntityID string) (LegalEntity, error) {
	r, err := db.One[row](ctx, tx, noun, selectRows+" AND legal_entity_id = ?", legalEntityID)
	return r.entity(), err
}

func selectAll(ctx context.Context, tx *db.Tx) ([]LegalEntity, error) {
	rows, err := db.All[row](ctx, tx, selectRows+" ORDER BY legal_entity_id")
	return entitiesOf(rows), err
}

// selectPage reads legal entities in the order of their ids, limited to some ids if there are any in only.
func selectPage(ctx context.Context, tx *db.Tx, only []string, above string, limit int) ([]LegalEntity, error) {
	q := db.Select(selectRows).And("legal_entity_id > ?", above)
	if len(only) > 0 {
		q.And("legal_entity_id {any}", only)
	}
	rows, err := db.All[row](ctx, tx, q.Then("ORDER BY legal_entity_id LIMIT ?", limit), q.Args...)
	return entitiesOf(rows), err
}

func update(ctx context.Context, tx *db.Tx, e LegalEntity) error {
	r := toRow(e)
	_, err := tx.Exec(ctx, "UPDATE legal_entities SET name = ?, base_currency = ?, country = ?, parent_legal_entity_id = ?, "+
		"ownership_percent = ?, cost_basis_method = ?, "+
		"cost_basis_from = ?, cost_basis_scope = ?, measurement = ?, measurement_from = ?, "+
		"fiscal_year_start_month = ?, framework = ?, fee_treatment = ?, "+
		"short_disposal = ?, intercompany_basis = ?, loans_out = ?, updated_at = ? WHERE organization_id = @org AND legal_entity_id = ?",
		r.Name, r.BaseCurrency, r.Country, r.ParentID, r.OwnershipPercent, r.CostBasisMethod,
		r.CostBasisFrom, r.CostBasisScope, r.Measurement, r.MeasurementFrom, r.FiscalYearStartMonth, r.Framework, r.FeeTreatment,
		r.ShortDisposal, r.IntercompanyBasis, r.LoansOut, r.UpdatedAt, r.ID)
	return err
}

func remove(ctx context.Context, tx *db.Tx, legalEntityID string) error {
	_, err := tx.Exec(ctx, "DELETE FROM legal_entities WHERE organization_id = @org AND legal_entity_id = ?", legalEntityID)
	return err
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
	return db.Insert(ctx, tx, "cost_basis_elections", electionRow{LegalEntityID: legalEntityID, Sequence: sequence, Method: e.Method,
		Scope: e.Scope, From: db.OrNull(e.From), CreatedAt: e.CreatedAt})
}

func selectElections(ctx context.Context, tx *db.Tx, legalEntityID string) ([]Election, error) {
	rows, err := db.All[electionRow](ctx, tx, "SELECT "+db.Columns[electionRow]()+
		" FROM cost_basis_elections WHERE organization_id = @org AND legal_entity_id = ? ORDER BY sequence", legalEntityID)
	out := make([]Election, len(rows))
	for i, r := range rows {
		out[i] = Election{r.Method, r.Scope, db.OrEmpty(r.From), r.CreatedAt}
	}
	return out, err
}

func selectAllElections(ctx context.Context, tx *db.Tx) (map[string][]Election, error) {
	rows, err := db.All[electionRow](ctx, tx, "SELECT "+db.Columns[electionRow]()+
		" FROM cost_basis_elections WHERE organization_id = @org ORDER BY legal_entity_id, sequence")
	out := map[string][]Election{}
	for _, r := range rows {
		out[r.LegalEntityID] = append(out[r.LegalEntityID], Election{r.Method, r.Scope, db.OrEmpty(r.From), r.CreatedAt})
	}
	return out, err
}

type measurementRow struct {
	LegalEntityID string    `db:"legal_entity_id"`
	Sequence      int64     `db:"sequence"`
	Measurement   string    `db:"measurement"`
	From          *string   `db:"effective_from"`
	CreatedAt     time.Time `db:"created_at"`
}

func insertMeasurement(ctx context.Context, tx *db.Tx, legalEntityID string, sequence int64, m Measured) error {
	return db.Insert(ctx, tx, "measurement_elections", measurementRow{LegalEntityID: legalEntityID, Sequence: sequence,
		Measurement: m.Measurement, From: db.OrNull(m.From), CreatedAt: m.CreatedAt})
}

func selectMeasurements(ctx context.Context, tx *db.Tx, legalEntityID string) ([]Measured, error) {
	rows, err := db.All[measurementRow](ctx, tx, "SELECT "+db.Columns[measurementRow]()+
		" FROM measurement_elections WHERE organization_id = @org AND legal_entity_id = ? ORDER BY sequence", legalEntityID)
	out := make([]Measured, len(rows))
	for i, r := range rows {
		out[i] = Measured{r.Measurement, db.OrEmpty(r.From), r.CreatedAt}
	}
	return out, err
}

// ExistingIDs returns those of some ids that legal entities have. It runs in the caller's transaction.
func ExistingIDs(ctx context.Context, tx *db.Tx, ids []string) ([]string, error) {
	return db.All[string](ctx, tx, "SELECT legal_entity_id FROM legal_entities WHERE organization_id = @org AND legal_entity_id {any}", ids)
}
