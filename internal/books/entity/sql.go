package entity

import (
	"context"
	"strconv"
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
		ID: e.ID, Name: e.Name, BaseCurrency: e.BaseCurrency, Country: db.OrNull(e.Country), ParentID: db.OrNull(
			e.ParentID), OwnershipPercent: e.OwnershipPercent, CostBasisMethod: e.CostBasisMethod, CostBasisFrom: db.OrNull(e.CostBasisFrom),
		CostBasisScope: e.CostBasisScope, Measurement: e.Measurement, FiscalYearStartMonth: e.FiscalYearStartMonth,
		Framework: e.Framework, FeeTreatment: e.FeeTreatment, ShortDisposal: e.ShortDisposal, IntercompanyBasis: e.IntercompanyBasis,
		LoansOut: e.LoansOut, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt,
	}
}

func (r row) entity() LegalEntity {
	return LegalEntity{
		ID: r.ID, Name: r.Name, BaseCurrency: r.BaseCurrency, Country: db.OrEmpty(r.Country), ParentID: db.OrEmpty(
			r.ParentID), OwnershipPercent: r.OwnershipPercent, CostBasisMethod: r.CostBasisMethod, CostBasisFrom: db.OrEmpty(r.CostBasisFrom),
		CostBasisScope: r.CostBasisScope, Measurement: r.Measurement, FiscalYearStartMonth: r.FiscalYearStartMonth,
		Framework: r.Framework, FeeTreatment: r.FeeTreatment, ShortDisposal: r.ShortDisposal, IntercompanyBasis: r.IntercompanyBasis,
		LoansOut: r.LoansOut, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
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
		q.And("legal_entity_id {any}", only)
	}
	rows, err := db.All[row](ctx, tx, q.Then("ORDER BY legal_entity_id LIMIT ?", limit), q.Args...)
	return entitiesOf(rows), err
}

func update(ctx context.Context, tx *db.Tx, e LegalEntity) error {
	r := toRow(e)
	_, err := tx.Exec(ctx, "UPDATE legal_entities SET name = ?, base_currency = ?, country = ?, parent_legal_entity_id = ?, "+
		"ownership_percent = ?, cost_basis_method = ?, "+
		"cost_basis_from = ?, cost_basis_scope = ?, measurement = ?, fiscal_year_start_month = ?, framework = ?, fee_treatment = ?, "+
		"short_disposal = ?, intercompany_basis = ?, loans_out = ?, updated_at = ? WHERE organization_id = @org AND legal_entity_id = ?",
		r.Name, r.BaseCurrency, r.Country, r.ParentID, r.OwnershipPercent, r.CostBasisMethod,
		r.CostBasisFrom, r.CostBasisScope, r.Measurement, r.FiscalYearStartMonth, r.Framework, r.FeeTreatment,
		r.ShortDisposal, r.IntercompanyBasis, r.LoansOut, r.UpdatedAt, r.ID)
	return err
}

// remove takes an entity away, with what it elected and the totals that are left of what was booked and undone.
func remove(ctx context.Context, tx *db.Tx, legalEntityID string) error {
	for _, table := range []string{"cost_basis_elections", "account_balances", "account_units", "lot_pools", "lot_positions",
		"lot_gains", "legal_entities"} {
		if _, err := tx.Exec(ctx, "DELETE FROM "+table+" WHERE organization_id = @org AND legal_entity_id = ?", legalEntityID); err != nil {
			return err
		}
	}
	return nil
}

// referrer is a table whose rows name entities. Every table with a column of entities must be here, which a test sees to: what is missing
// would not keep an entity from being deleted. What has no count goes with the entity.
type referrer struct{ table, label, count string }

// countMax bounds the counting, because it is done while the organization's other writes wait.
const countMax = 1000

var referrers = []referrer{
	{"journal_entries", "journal entries", "SELECT count(*) AS count, min(number) AS first FROM (SELECT number FROM journal_entries " +
		"WHERE organization_id = @org AND legal_entity_id = ? AND status <> 'deleted' ORDER BY accounting_date, number LIMIT " +
		strconv.Itoa(countMax) + ") AS e"},
	{"journal_lines", "journal lines", linesOfEntity},
	{"account_balances", "balances",
		"SELECT count(*) AS count FROM account_balances WHERE organization_id = @org AND legal_entity_id = ? AND (debits <> 0 OR credits <> 0)"},
	{"period_closings", "period closings",
		"SELECT count(*) AS count FROM period_closings WHERE organization_id = @org AND legal_entity_id = ?"},
	{"sources", "sources", "SELECT count(*) AS count FROM sources WHERE organization_id = @org AND legal_entity_id = ?"},
	{"revaluation_parts", "revaluations",
		"SELECT count(*) AS count FROM revaluation_parts WHERE organization_id = @org AND legal_entity_id = ?"},
	{"revaluation_items", "", ""}, // they are of a part
	{"revaluation_rows", "", ""},
	{"lots", "lots",
		"SELECT count(*) AS count FROM (SELECT 1 AS n FROM lots WHERE organization_id = @org AND legal_entity_id = ? LIMIT " +
			strconv.Itoa(countMax) + ") AS l"},
	{"lot_uses", "uses of lots", "SELECT count(*) AS count FROM (SELECT 1 AS n FROM lot_pools p JOIN lot_uses u ON " +
		"u.organization_id = p.organization_id AND u.pool = p.pool " +
		"WHERE p.organization_id = @org AND p.legal_entity_id = ? LIMIT " + strconv.Itoa(countMax) + ") AS u"},
	// A pool that nothing is in, nor was, is what is left of what was undone, and so are the totals.
	{"lot_pools", "", ""},
	{"lot_positions", "", ""},
	{"lot_gains", "", ""},
	{"account_units", "", ""},
	{"cost_basis_elections", "", ""},
	// A key that was revoked is no use of it.
	{"api_keys", "API keys limited to it",
		"SELECT count(*) AS count FROM api_keys WHERE organization_id = @org AND revoked_at IS NULL AND ' ' || legal_entity_ids || ' ' " +
			"LIKE '% ' || ? || ' %'"},
}

// linesOfEntity finds lines without an index of their own, which every line would pay for: what is posted is on an
// account of which the entity has balances, and the rest is in drafts.
var linesOfEntity = "WITH mine AS (SELECT ledger_account_id, legal_entity_id FROM account_balances WHERE organization_id = @org " +
	"AND tag_id = '' AND legal_entity_id = ? " +
	"GROUP BY ledger_account_id, legal_entity_id) SELECT count(*) AS count, min(number) AS first FROM (" +
	"SELECT l.number FROM mine JOIN journal_lines l ON l.organization_id = @org AND l.ledger_account_id = mine.ledger_account_id " +
	"AND l.legal_entity_id = mine.legal_entity_id AND l.is_posted " +
	"UNION ALL SELECT d.number FROM journal_entries e JOIN journal_lines d ON d.organization_id = e.organization_id AND " +
	"d.journal_entry_id = e.journal_entry_id " +
	"WHERE e.organization_id = @org AND e.status = 'draft' AND d.legal_entity_id = ? LIMIT " + strconv.Itoa(countMax) + ") AS l"

// selectUse runs a count, which names the entity once or more.
func selectUse(ctx context.Context, tx *db.Tx, count, legalEntityID string) (use, error) {
	args := make([]any, strings.Count(count, "?"))
	for i := range args {
		args[i] = legalEntityID
	}
	return db.One[use](ctx, tx, "count", count, args...)
}

// disposal is when an entity last took something from its lots, and the time zone in which that is a day.
type disposal struct {
	At   *time.Time `db:"at"`
	Zone string     `db:"zone"`
}

// selectLastDisposal looks at the end of every pool of an entity, because places sort by time. A move counts too:
// other lots would have moved.
func selectLastDisposal(ctx context.Context, tx *db.Tx, legalEntityID string) (disposal, error) {
	return db.One[disposal](ctx, tx, "organization",
		"SELECT o.timezone AS zone, (SELECT max(l.taken_at) FROM (SELECT (SELECT t.taken_at FROM lot_takes t WHERE t.organization_id = @org AND "+
			"t.pool = p.pool ORDER BY t.place DESC LIMIT 1) AS taken_at "+
			"FROM lot_pools p WHERE p.organization_id = @org AND p.legal_entity_id = ?) AS l) AS at FROM organizations o WHERE "+
			"o.organization_id = @org", legalEntityID)
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

// strays are the ids of entities that the rows of a table name and that are not there. A deleted entry names one only in its tombstone.
func (r referrer) strays(ctx context.Context, tx *db.Tx) ([]string, error) {
	living := map[string]string{"journal_entries": "AND r.status <> 'deleted' "}[r.table]
	return db.All[string](ctx, tx, "SELECT DISTINCT r.legal_entity_id FROM "+r.table+" r WHERE r.organization_id = @org "+living+
		"AND NOT EXISTS "+
		"(SELECT 1 FROM legal_entities e WHERE e.organization_id = r.organization_id AND e.legal_entity_id = r.legal_entity_id) ORDER "+
		"BY r.legal_entity_id")
}
