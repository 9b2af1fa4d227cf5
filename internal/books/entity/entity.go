// Package entity keeps legal entities: the companies of an organization. Each has a base currency, accounting policies and a
// history of cost basis elections. Settings that existing bookings depend on cannot change: see validateFixedFields.
package entity

import (
	"context"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// LegalEntity is one company. Optional fields are empty if they are not set.
type LegalEntity struct {
	ID                   string
	Name                 string
	BaseCurrency         string
	Country              string
	ParentID             string
	OwnershipPercent     *money.Decimal // the share that the parent owns
	CostBasisMethod      string
	CostBasisFrom        string // the first day of the election, YYYY-MM-DD; empty means from the beginning
	CostBasisScope       string
	Measurement          string
	MeasurementFrom      string // the first day on which the measurement applies, YYYY-MM-DD; empty means from the beginning
	FiscalYearStartMonth int64
	Framework            string
	FeeTreatment         string
	ShortDisposal        string
	IntercompanyBasis    string
	LoansOut             string
	CreatedAt            time.Time
	UpdatedAt            *time.Time
}

// The methods to choose the lots that a disposal consumes.
const (
	MethodFIFO            = "fifo"
	MethodLIFO            = "lifo"
	MethodHIFO            = "hifo"
	MethodLOFO            = "lofo"
	MethodWeightedAverage = "weighted_average"
	MethodSpecificID      = "specific_id"
)

// The scopes of a lot pool.
const (
	ScopeSource      = "source"
	ScopeLegalEntity = "legal_entity"
)

// The ways to measure assets at the end of a period.
const (
	MeasuredAtCost       = "cost"
	MeasuredImpaired     = "impairment"
	MeasuredAtFairValue  = "fair_value"
	monthsOfYear         = 12
	fiscalYearStartMonth = 1
)

// Election is a choice of cost basis method and scope, effective from a day on, until a later election is effective.
type Election struct {
	Method    string
	Scope     string
	From      string // YYYY-MM-DD; empty means from the beginning
	CreatedAt time.Time
}

func (e LegalEntity) election(at time.Time) Election {
	return Election{e.CostBasisMethod, e.CostBasisScope, e.CostBasisFrom, at}
}

// facts describes a legal entity in the audit log and in events.
func (e LegalEntity) facts() map[string]any {
	return map[string]any{
		"id": e.ID, "name": e.Name, "base_currency": e.BaseCurrency, "country": db.OrNull(e.Country),
		"parent_legal_entity_id": db.OrNull(e.ParentID), "ownership_percent": decimalFact(e.OwnershipPercent),
		"cost_basis_method": e.CostBasisMethod, "cost_basis_from": db.OrNull(e.CostBasisFrom),
		"cost_basis_scope": e.CostBasisScope, "measurement": e.Measurement, "measurement_from": db.OrNull(e.MeasurementFrom),
		"fiscal_year_start_month": e.FiscalYearStartMonth, "framework": e.Framework, "fee_treatment": e.FeeTreatment,
		"short_disposal": e.ShortDisposal, "intercompany_basis": e.IntercompanyBasis, "loans_out": e.LoansOut,
	}
}

func decimalFact(d *money.Decimal) *string {
	if d == nil {
		return nil
	}
	text := d.String()
	return &text
}

// withDefaults returns a legal entity with the default settings.
func withDefaults(name, currency string) LegalEntity {
	return LegalEntity{
		Name: name, BaseCurrency: currency, CostBasisMethod: MethodFIFO, CostBasisScope: ScopeSource, Measurement: MeasuredAtCost,
		FiscalYearStartMonth: fiscalYearStartMonth, Framework: defaultFramework(currency), FeeTreatment: FeesExpensed,
		ShortDisposal: ShortBlocked, IntercompanyBasis: BasisCarriedOver, LoansOut: LoansDerecognized,
	}
}

// Create creates a legal entity with the default settings. It runs in the caller's transaction.
func Create(ctx context.Context, tx *db.Tx, name, currency string) (LegalEntity, error) {
	if _, err := orgstate.Touch(ctx, tx); err != nil {
		return LegalEntity{}, err
	}
	if !money.IsFiat(currency) {
		return LegalEntity{}, fault.Invalidf("base_currency", mustBeCurrency)
	}
	return create(ctx, tx, withDefaults(name, currency))
}

const mustBeCurrency = "must be an ISO 4217 currency such as USD"

// create writes a valid legal entity and creates its intercompany accounts. The caller holds the lock on the organization state.
func create(ctx context.Context, tx *db.Tx, e LegalEntity) (LegalEntity, error) {
	e.ID, e.CreatedAt = tx.NewID(id.LegalEntity), tx.Now()
	if err := insert(ctx, tx, e); err != nil {
		return e, err
	}
	if err := insertElection(ctx, tx, e.ID, 1, e.election(e.CreatedAt)); err != nil {
		return e, err
	}
	if err := insertMeasurement(ctx, tx, e.ID, 1, e.measured(e.CreatedAt)); err != nil {
		return e, err
	}
	audit.Record(ctx, tx, audit.Change{Action: "legal_entity.created", ResourceType: "legal_entity", ResourceID: e.ID, After: e.facts()})
	return e, account.CreateIntercompany(ctx, tx, e.ID, e.Name)
}

// Get returns a legal entity. It returns NotFound both for one that does not exist and for one that the actor may not see. It runs
// in the caller's transaction.
func Get(ctx context.Context, tx *db.Tx, legalEntityID string) (LegalEntity, error) {
	if !actor.From(ctx).Sees(legalEntityID) {
		return LegalEntity{}, fault.Missing(noun)
	}
	return find(ctx, tx, legalEntityID)
}

// Selected returns the legal entities that a filter selects: those that it names, which must exist and be visible to the actor, or, if it
// names none, those that the actor is limited to; nil for all. It runs in the caller's transaction.
func Selected(ctx context.Context, tx *db.Tx, named []string) ([]string, error) {
	for _, id := range named {
		if _, err := Get(ctx, tx, id); err != nil {
			return nil, err
		}
	}
	if who := actor.From(ctx); named == nil && who.Limited() {
		return who.LegalEntityIDs, nil
	}
	return named, nil
}

// noun names a legal entity in messages.
const noun = "legal entity"

// All returns every legal entity by id, including those that the actor may not see. It runs in the caller's transaction.
func All(ctx context.Context, tx *db.Tx) ([]LegalEntity, error) { return selectAll(ctx, tx) }

// Resolve returns the id of the legal entity, one of some, with an id or a unique name.
func Resolve(entities []LegalEntity, wanted string) (string, error) {
	var found, names []string
	for _, e := range entities {
		if e.ID == wanted {
			return e.ID, nil
		}
		if e.Name == wanted {
			found = append(found, e.ID)
		}
		names = append(names, e.Name)
	}
	switch len(found) {
	case 0:
		return "", fault.Conflictf("there is no legal entity %q; choose one of %s", wanted, strings.Join(names, ", "))
	case 1:
		return found[0], nil
	}
	return "", fault.Conflictf("there are %d legal entities named %q: give the id of one of them, %s", len(found), wanted,
		strings.Join(found, " or "))
}

// Elections returns the elections of a legal entity, the oldest first. It runs in the caller's transaction.
func Elections(ctx context.Context, tx *db.Tx, legalEntityID string) ([]Election, error) {
	return selectElections(ctx, tx, legalEntityID)
}

// AllElections returns the elections of every legal entity, the oldest first. It runs in the caller's transaction.
func AllElections(ctx context.Context, tx *db.Tx) (map[string][]Election, error) {
	return selectAllElections(ctx, tx)
}
