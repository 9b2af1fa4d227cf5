package books

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// LegalEntity is a legal entity.
type LegalEntity struct {
	ID                   string  `json:"id" doc:"Identifier: le_ and 26 characters."`
	Name                 string  `json:"name" maxLength:"200" doc:"Name of the company." example:"Acme Labs AG"`
	BaseCurrency         string  `json:"base_currency" doc:"Base currency (ISO 4217) in which the books are kept." example:"CHF"`
	Country              *string `json:"country" doc:"Country of incorporation (ISO 3166-1 alpha-2); null if unknown." example:"CH"`
	ParentLegalEntityID  *string `json:"parent_legal_entity_id" doc:"Parent legal entity; null if there is none, or none that the API key has access to."`
	OwnershipPercent     *string `json:"ownership_percent" format:"decimal" doc:"Percentage of this legal entity that the parent owns; null if unknown." example:"51"`
	CostBasisMethod      string  `json:"cost_basis_method" enum:"fifo,lifo,hifo,lofo,weighted_average,specific_id" doc:"Cost basis method."`
	CostBasisFrom        *string `json:"cost_basis_from" format:"date" doc:"First day on which method and scope apply; null for the beginning."`
	CostBasisScope       string  `json:"cost_basis_scope" enum:"source,legal_entity" doc:"Whether lots of an asset are pooled by source (wallet, exchange, bank) or by legal entity."`
	Measurement          string  `json:"measurement" enum:"cost,impairment,fair_value" doc:"How digital assets are measured at the end of a period."`
	MeasurementFrom      *string `json:"measurement_from" format:"date" doc:"First day on which the measurement applies; null for the beginning."`
	FiscalYearStartMonth int64   `json:"fiscal_year_start_month" minimum:"1" maximum:"12" doc:"First month of the fiscal year, 1 to 12." example:"1"`
	Framework            string  `json:"framework" enum:"us_gaap,ifrs" doc:"Accounting framework of the financial statements."`
	FeeTreatment         string  `json:"fee_treatment" enum:"expense,net,capitalize" doc:"How fees are treated. expense: as an expense. net: deducted from proceeds. capitalize: added to the cost of what is acquired."`
	ShortDisposal        string  `json:"short_disposal" enum:"block,zero_basis" doc:"What to do about a lot deficit. block: do not post. zero_basis: assume a cost of zero for the missing quantity."`
	IntercompanyBasis    string  `json:"intercompany_basis" enum:"carry_over,fair_value" doc:"Basis of transfers between legal entities. carry_over: original cost and date. fair_value: fair value, which realizes a gain or loss."`
	LoansOut             string  `json:"loans_out" enum:"derecognize,park" doc:"What happens to the lots of an asset that is lent. derecognize: they are disposed of. park: they keep their cost and date until they return."`
	CreatedAt            string  `json:"created_at" format:"date-time" doc:"When the record was created."`
	UpdatedAt            *string `json:"updated_at" format:"date-time" doc:"When the record was last updated; null if never."`
}

// LegalEntityDetail is a legal entity with its elections of cost basis and measurement.
type LegalEntityDetail struct {
	LegalEntity
	CostBasisHistory   []CostBasisElection   `json:"cost_basis_history" doc:"Every cost basis election, earliest first. Each applies from its first day until the next one does."`
	MeasurementHistory []MeasurementElection `json:"measurement_history" doc:"Every choice of measurement, earliest first. Each applies from its first day until a later one does."`
}

// MeasurementElection is a choice of measurement.
type MeasurementElection struct {
	Measurement string  `json:"measurement" enum:"cost,impairment,fair_value" doc:"How digital assets are measured."`
	From        *string `json:"from" format:"date" doc:"First day on which it applies; null for the beginning."`
	CreatedAt   string  `json:"created_at" format:"date-time" doc:"When it was chosen."`
}

// CostBasisElection is an election of cost basis method and scope.
type CostBasisElection struct {
	Method    string  `json:"method" enum:"fifo,lifo,hifo,lofo,weighted_average,specific_id" doc:"Cost basis method."`
	Scope     string  `json:"scope" enum:"source,legal_entity" doc:"Whether lots are pooled by source or by legal entity."`
	From      *string `json:"from" format:"date" doc:"First day on which the election applies; null for the beginning."`
	CreatedAt string  `json:"created_at" format:"date-time" doc:"When the election was made."`
}

// CreateLegalEntity describes a new legal entity.
type CreateLegalEntity struct {
	Name                 string           `json:"name" minLength:"1" maxLength:"200" doc:"Name of the company." example:"Acme Labs AG"`
	BaseCurrency         string           `json:"base_currency" minLength:"3" maxLength:"3" doc:"Base currency (ISO 4217) in which the books are kept. Cannot change once there are journal lines or lots." example:"CHF"`
	Country              wire.Opt[string] `json:"country,omitempty" minLength:"2" maxLength:"2" pattern:"^[A-Z]{2}$" patternDescription:"a country code of two capital letters such as CH" doc:"Country of incorporation (ISO 3166-1 alpha-2); null if unknown."`
	ParentLegalEntityID  wire.Opt[string] `json:"parent_legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"Parent legal entity; null if none."`
	OwnershipPercent     wire.Opt[string] `json:"ownership_percent,omitempty" format:"decimal" doc:"Percentage that the parent owns: more than 0 and at most 100. Requires a parent."`
	CostBasisMethod      string           `json:"cost_basis_method,omitempty" enum:"fifo,lifo,hifo,lofo,weighted_average,specific_id" default:"fifo" doc:"Cost basis method."`
	CostBasisFrom        wire.Opt[string] `json:"cost_basis_from,omitempty" format:"date" doc:"First day on which method and scope apply. Omit or null for the beginning."`
	CostBasisScope       string           `json:"cost_basis_scope,omitempty" enum:"source,legal_entity" default:"source" doc:"Whether lots of an asset are pooled by source or by legal entity."`
	Measurement          string           `json:"measurement,omitempty" enum:"cost,impairment,fair_value" default:"cost" doc:"How digital assets are measured at the end of a period."`
	FiscalYearStartMonth int64            `json:"fiscal_year_start_month,omitempty" minimum:"1" maximum:"12" default:"1" doc:"First month of the fiscal year, 1 to 12."`
	Framework            string           `json:"framework,omitempty" enum:"us_gaap,ifrs" doc:"Accounting framework of the financial statements. Defaults to us_gaap if the base currency is USD, otherwise ifrs."`
	FeeTreatment         string           `json:"fee_treatment,omitempty" enum:"expense,net,capitalize" default:"expense" doc:"How fees are treated. expense: as an expense. net: deducted from proceeds. capitalize: added to the cost of what is acquired."`
	ShortDisposal        string           `json:"short_disposal,omitempty" enum:"block,zero_basis" default:"block" doc:"What to do about a lot deficit. block: do not post. zero_basis: assume a cost of zero for the missing quantity."`
	IntercompanyBasis    string           `json:"intercompany_basis,omitempty" enum:"carry_over,fair_value" default:"carry_over" doc:"Basis of transfers between legal entities. carry_over: original cost and date. fair_value: fair value, which realizes a gain or loss."`
	LoansOut             string           `json:"loans_out,omitempty" enum:"derecognize,park" default:"derecognize" doc:"What happens to the lots of an asset that is lent. derecognize: they are disposed of. park: they keep their cost and date until they return."`
}

// UpdateLegalEntity changes a legal entity.
type UpdateLegalEntity struct {
	Name                 *string          `json:"name,omitempty" minLength:"1" maxLength:"200" doc:"Name of the company." example:"Acme Labs AG"`
	BaseCurrency         *string          `json:"base_currency,omitempty" minLength:"3" maxLength:"3" doc:"Base currency (ISO 4217) in which the books are kept. Cannot change once there are journal lines or lots." example:"CHF"`
	Country              wire.Opt[string] `json:"country,omitempty" minLength:"2" maxLength:"2" pattern:"^[A-Z]{2}$" patternDescription:"a country code of two capital letters such as CH" doc:"Country of incorporation (ISO 3166-1 alpha-2); null removes it."`
	ParentLegalEntityID  wire.Opt[string] `json:"parent_legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"Parent legal entity; must not be below this one. Null removes it and ownership_percent."`
	OwnershipPercent     wire.Opt[string] `json:"ownership_percent,omitempty" format:"decimal" doc:"Percentage that the parent owns: more than 0 and at most 100. Requires a parent. Null removes it."`
	CostBasisMethod      *string          `json:"cost_basis_method,omitempty" enum:"fifo,lifo,hifo,lofo,weighted_average,specific_id" doc:"Cost basis method. A change of method, scope or first day is stored as a new election."`
	CostBasisFrom        wire.Opt[string] `json:"cost_basis_from,omitempty" format:"date" doc:"First day on which method and scope apply; null for the beginning. A new election must begin after the date of the last disposal."`
	CostBasisScope       *string          `json:"cost_basis_scope,omitempty" enum:"source,legal_entity" doc:"Whether lots of an asset are pooled by source or by legal entity. Cannot change once there are lots."`
	Measurement          *string          `json:"measurement,omitempty" enum:"cost,impairment,fair_value" doc:"How digital assets are measured at the end of a period. A change applies to every open period, or from measurement_from on. Under us_gaap, a legal entity with lots adopts fair_value on the first day of a fiscal year: the difference is booked to opening retained earnings by the revaluation of that month."`
	MeasurementFrom      wire.Opt[string] `json:"measurement_from,omitempty" format:"date" doc:"First day on which the measurement applies: the first day of a month that is open. Sent together with measurement; null for the beginning."`
	FiscalYearStartMonth *int64           `json:"fiscal_year_start_month,omitempty" minimum:"1" maximum:"12" doc:"First month of the fiscal year, 1 to 12."`
	Framework            *string          `json:"framework,omitempty" enum:"us_gaap,ifrs" doc:"Accounting framework of the financial statements."`
	FeeTreatment         *string          `json:"fee_treatment,omitempty" enum:"expense,net,capitalize" doc:"How fees are treated. expense: as an expense. net: deducted from proceeds. capitalize: added to the cost of what is acquired."`
	ShortDisposal        *string          `json:"short_disposal,omitempty" enum:"block,zero_basis" doc:"What to do about a lot deficit. block: do not post. zero_basis: assume a cost of zero for the missing quantity."`
	IntercompanyBasis    *string          `json:"intercompany_basis,omitempty" enum:"carry_over,fair_value" doc:"Basis of transfers between legal entities. carry_over: original cost and date. fair_value: fair value, which realizes a gain or loss."`
	LoansOut             *string          `json:"loans_out,omitempty" enum:"derecognize,park" doc:"What happens to the lots of an asset that is lent. derecognize: they are disposed of. park: they keep their cost and date until they return."`
}

// TransformSchema requires at least one property.
func (UpdateLegalEntity) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}
