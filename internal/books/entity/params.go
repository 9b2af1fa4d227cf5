package entity

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
)

// nameMax is the maximum length of a name in characters.
const nameMax = 200

// The valid values, as in the API.
var (
	Methods      = []string{MethodFIFO, MethodLIFO, MethodHIFO, MethodLOFO, MethodWeightedAverage, MethodSpecificID}
	Scopes       = []string{ScopeSource, ScopeLegalEntity}
	measurements = []string{MeasuredAtCost, MeasuredImpaired, MeasuredAtFairValue}
)

// CreateParams describe a new legal entity; empty fields get their defaults.
type CreateParams struct {
	Name                 string
	BaseCurrency         string
	Country              string
	ParentID             string
	OwnershipPercent     string
	CostBasisMethod      string
	CostBasisFrom        string
	CostBasisScope       string
	Measurement          string
	FiscalYearStartMonth int64
	Framework            string
	FeeTreatment         string
	ShortDisposal        string
	IntercompanyBasis    string
	LoansOut             string
}

// entity returns the legal entity that the params describe, or every fault in them.
func (p CreateParams) entity() (LegalEntity, error) {
	u := UpdateParams{Country: &p.Country, ParentID: &p.ParentID, OwnershipPercent: &p.OwnershipPercent, CostBasisFrom: &p.CostBasisFrom}
	for given, field := range map[*string]**string{
		&p.CostBasisMethod: &u.CostBasisMethod, &p.CostBasisScope: &u.CostBasisScope, &p.Measurement: &u.Measurement,
		&p.Framework: &u.Framework, &p.FeeTreatment: &u.FeeTreatment, &p.ShortDisposal: &u.ShortDisposal,
		&p.IntercompanyBasis: &u.IntercompanyBasis, &p.LoansOut: &u.LoansOut,
	} {
		if *given != "" {
			*field = given
		}
	}
	if p.FiscalYearStartMonth != 0 {
		u.FiscalYearStartMonth = &p.FiscalYearStartMonth
	}
	return u.apply(withDefaults(p.Name, p.BaseCurrency))
}

// UpdateParams are the requested changes; nil leaves a field unchanged, and an empty country, parent, percentage or first day clears
// it. A measurement without a first day applies from the beginning.
type UpdateParams struct {
	Name                 *string
	BaseCurrency         *string
	Country              *string
	ParentID             *string
	OwnershipPercent     *string
	CostBasisMethod      *string
	CostBasisFrom        *string
	CostBasisScope       *string
	Measurement          *string
	MeasurementFrom      *string
	FiscalYearStartMonth *int64
	Framework            *string
	FeeTreatment         *string
	ShortDisposal        *string
	IntercompanyBasis    *string
	LoansOut             *string
}

// apply returns the legal entity with the changes, or every fault in it. Clearing the parent clears the percentage too.
func (p UpdateParams) apply(e LegalEntity) (LegalEntity, error) {
	var faults fault.List
	if p.ParentID != nil && *p.ParentID == "" {
		e.OwnershipPercent = nil
	}
	set(&e.Name, p.Name)
	set(&e.BaseCurrency, p.BaseCurrency)
	set(&e.Country, p.Country)
	set(&e.ParentID, p.ParentID)
	set(&e.CostBasisMethod, p.CostBasisMethod)
	set(&e.CostBasisFrom, p.CostBasisFrom)
	set(&e.CostBasisScope, p.CostBasisScope)
	p.applyMeasurement(&faults, &e)
	set(&e.FiscalYearStartMonth, p.FiscalYearStartMonth)
	set(&e.Framework, p.Framework)
	set(&e.FeeTreatment, p.FeeTreatment)
	set(&e.ShortDisposal, p.ShortDisposal)
	set(&e.IntercompanyBasis, p.IntercompanyBasis)
	set(&e.LoansOut, p.LoansOut)
	if p.OwnershipPercent != nil {
		e.OwnershipPercent = percent(&faults, *p.OwnershipPercent)
	}
	e.validate(&faults)
	return e, faults.Err()
}

func set[T any](field, to *T) {
	if to != nil {
		*field = *to
	}
}

func percent(faults *fault.List, text string) *money.Decimal {
	if text == "" {
		return nil
	}
	d, err := money.Parse(text)
	if err != nil {
		faults.Addf("ownership_percent", "%s", err)
		return nil
	}
	return &d
}

var (
	countryRe = regexp.MustCompile(`^[A-Z]{2}$`)
	hundred   = money.FromInt(100)
)

// validate adds every fault in the fields of a legal entity, without looking at other records.
func (e LegalEntity) validate(faults *fault.List) {
	if n := utf8.RuneCountInString(e.Name); n > nameMax || strings.TrimSpace(e.Name) == "" {
		faults.Addf("name", "must have 1 to %d characters, not only spaces", nameMax)
	}
	if !money.IsFiat(e.BaseCurrency) {
		faults.Addf("base_currency", mustBeCurrency)
	}
	if e.Country != "" && !countryRe.MatchString(e.Country) {
		faults.Addf("country", "must be an ISO 3166-1 country of two capitals such as CH")
	}
	if p := e.OwnershipPercent; p != nil {
		if p.Sign() <= 0 || p.Cmp(hundred) > 0 {
			faults.Addf("ownership_percent", "must be more than 0 and at most 100")
		}
		if e.ParentID == "" {
			faults.Addf("ownership_percent", "needs a parent_legal_entity_id")
		}
	}
	if e.CostBasisFrom != "" {
		if _, err := time.Parse(time.DateOnly, e.CostBasisFrom); err != nil {
			faults.Addf("cost_basis_from", "must be a date such as 2026-01-01")
		}
	}
	switch at, err := time.Parse(time.DateOnly, e.MeasurementFrom); {
	case e.MeasurementFrom == "" || err == nil && at.Day() == 1:
	case err == nil && e.Measurement == MeasuredAtFairValue: // a date, but not one on which fair value can be adopted
		faults.AddConflictf("measurement_from", "fair value applies from the first day of a fiscal year, or of a month if the framework is "+
			"not US GAAP or nothing is held yet, but measurement_from is %s: choose such a day, for example %s if that month is open",
			e.MeasurementFrom, e.nearestFirstDay(at))
	default:
		faults.Addf("measurement_from", "must be the first day of a month such as 2026-01-01")
	}
	for _, choice := range []struct {
		field, value string
		among        []string
	}{
		{"cost_basis_method", e.CostBasisMethod, Methods}, {"cost_basis_scope", e.CostBasisScope, Scopes},
		{"measurement", e.Measurement, measurements}, {"framework", e.Framework, frameworks},
		{"fee_treatment", e.FeeTreatment, feeTreatments}, {"short_disposal", e.ShortDisposal, shortDisposals},
		{"intercompany_basis", e.IntercompanyBasis, intercompanyBases}, {"loans_out", e.LoansOut, loansOuts},
	} {
		if !slices.Contains(choice.among, choice.value) {
			faults.Addf(choice.field, "must be one of %s", strings.Join(choice.among, ", "))
		}
	}
	if e.FiscalYearStartMonth < 1 || e.FiscalYearStartMonth > monthsOfYear {
		faults.Addf("fiscal_year_start_month", "must be 1 to %d", monthsOfYear)
	}
}
