package books

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/edge/api/wire"
)

// LegalEntity is a company on the wire.
type LegalEntity struct {
	ID                   string  `json:"id" doc:"le_ and 26 characters"`
	Name                 string  `json:"name" maxLength:"200" doc:"The name of the company" example:"Acme Labs AG"`
	BaseCurrency         string  `json:"base_currency" doc:"The ISO 4217 currency its books are kept and reported in" example:"CHF"`
	Country              *string `json:"country" doc:"Where it is incorporated, ISO 3166-1 alpha-2" example:"CH"`
	ParentLegalEntityID  *string `json:"parent_legal_entity_id" doc:"The legal entity that holds it"`
	OwnershipPercent     *string `json:"ownership_percent" format:"decimal" doc:"How much of it the parent holds, in percent" example:"51"`
	CostBasisMethod      string  `json:"cost_basis_method" enum:"fifo,lifo,hifo,lofo,weighted_average,specific_id" doc:"How the cost of what is disposed of is found"`
	CostBasisFrom        *string `json:"cost_basis_from" format:"date" doc:"The first day on which method and scope hold; null means from the beginning"`
	CostBasisScope       string  `json:"cost_basis_scope" enum:"source,legal_entity" doc:"Whether holdings of an asset are one pool per source (wallet, exchange, bank) or per legal entity"`
	Measurement          string  `json:"measurement" enum:"cost,impairment,fair_value" doc:"How digital assets are measured at the end of a period"`
	FiscalYearStartMonth int64   `json:"fiscal_year_start_month" minimum:"1" maximum:"12" doc:"The month its fiscal year begins with" example:"1"`
	Framework            string  `json:"framework" enum:"us_gaap,ifrs" doc:"The rules its financial statements follow"`
	FeeTreatment         string  `json:"fee_treatment" enum:"expense,net,capitalize" doc:"What becomes of fees: a cost of their own, less proceeds, or part of the cost of what is acquired"`
	ShortDisposal        string  `json:"short_disposal" enum:"block,zero_basis" doc:"What happens when more is disposed of than is held: it is not posted, or what is missing goes at no cost"`
	IntercompanyBasis    string  `json:"intercompany_basis" enum:"carry_over,fair_value" doc:"At what another legal entity of the organization gets an asset: at its cost and date, or at fair value, which realizes a gain"`
	LoansOut             string  `json:"loans_out" enum:"derecognize,park" doc:"What becomes of the lots of an asset that is lent out: they are disposed of, or kept with their cost and dates until they return"`
	CreatedAt            string  `json:"created_at" format:"date-time" doc:"When it was made"`
	UpdatedAt            *string `json:"updated_at" format:"date-time" doc:"When it was last changed"`
}

// LegalEntityDetail is a company with all it ever elected.
type LegalEntityDetail struct {
	LegalEntity
	CostBasisHistory []CostBasisElection `json:"cost_basis_history" doc:"Every election of cost basis, the first one first; each holds from its first day on, until a later one does"`
}

// CostBasisElection is one choice of method and scope.
type CostBasisElection struct {
	Method    string  `json:"method" enum:"fifo,lifo,hifo,lofo,weighted_average,specific_id" doc:"How the cost of what is disposed of is found"`
	Scope     string  `json:"scope" enum:"source,legal_entity" doc:"Which holdings of an asset are one pool"`
	From      *string `json:"from" format:"date" doc:"The first day on which it holds; null means from the beginning"`
	CreatedAt string  `json:"created_at" format:"date-time" doc:"When it was elected"`
}

// CreateLegalEntity describes a new company.
type CreateLegalEntity struct {
	Name                 string           `json:"name" minLength:"1" maxLength:"200" doc:"The name of the company" example:"Acme Labs AG"`
	BaseCurrency         string           `json:"base_currency" minLength:"3" maxLength:"3" doc:"The ISO 4217 currency its books are kept and reported in; it cannot change once there are journal lines or lots" example:"CHF"`
	Country              wire.Opt[string] `json:"country,omitempty" minLength:"2" maxLength:"2" pattern:"^[A-Z]{2}$" doc:"Where it is incorporated, ISO 3166-1 alpha-2"`
	ParentLegalEntityID  wire.Opt[string] `json:"parent_legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"The legal entity that holds it"`
	OwnershipPercent     wire.Opt[string] `json:"ownership_percent,omitempty" format:"decimal" doc:"How much of it the parent holds, in percent: more than 0, at most 100, and only with a parent"`
	CostBasisMethod      string           `json:"cost_basis_method,omitempty" enum:"fifo,lifo,hifo,lofo,weighted_average,specific_id" default:"fifo" doc:"How the cost of what is disposed of is found"`
	CostBasisFrom        wire.Opt[string] `json:"cost_basis_from,omitempty" format:"date" doc:"The first day on which method and scope hold; omit or null for the beginning"`
	CostBasisScope       string           `json:"cost_basis_scope,omitempty" enum:"source,legal_entity" default:"source" doc:"Whether holdings of an asset are one pool per source or per legal entity"`
	Measurement          string           `json:"measurement,omitempty" enum:"cost,impairment,fair_value" default:"cost" doc:"How digital assets are measured at the end of a period"`
	FiscalYearStartMonth int64            `json:"fiscal_year_start_month,omitempty" minimum:"1" maximum:"12" default:"1" doc:"The month its fiscal year begins with"`
	Framework            string           `json:"framework,omitempty" enum:"us_gaap,ifrs" doc:"The rules its financial statements follow; us_gaap where the books are in USD and ifrs elsewhere unless it is given"`
	FeeTreatment         string           `json:"fee_treatment,omitempty" enum:"expense,net,capitalize" default:"expense" doc:"What becomes of fees: a cost of their own, less proceeds, or part of the cost of what is acquired"`
	ShortDisposal        string           `json:"short_disposal,omitempty" enum:"block,zero_basis" default:"block" doc:"What happens when more is disposed of than is held: it is not posted, or what is missing goes at no cost"`
	IntercompanyBasis    string           `json:"intercompany_basis,omitempty" enum:"carry_over,fair_value" default:"carry_over" doc:"At what another legal entity of the organization gets an asset: at its cost and date, or at fair value, which realizes a gain"`
	LoansOut             string           `json:"loans_out,omitempty" enum:"derecognize,park" default:"derecognize" doc:"What becomes of the lots of an asset that is lent out: they are disposed of, or kept with their cost and dates until they return"`
}

// UpdateLegalEntity are the changes asked for.
type UpdateLegalEntity struct {
	Name                 *string          `json:"name,omitempty" minLength:"1" maxLength:"200" doc:"The name of the company" example:"Acme Labs AG"`
	BaseCurrency         *string          `json:"base_currency,omitempty" minLength:"3" maxLength:"3" doc:"The ISO 4217 currency its books are kept and reported in; it cannot change once there are journal lines or lots" example:"CHF"`
	Country              wire.Opt[string] `json:"country,omitempty" minLength:"2" maxLength:"2" pattern:"^[A-Z]{2}$" doc:"Where it is incorporated, ISO 3166-1 alpha-2; null clears it"`
	ParentLegalEntityID  wire.Opt[string] `json:"parent_legal_entity_id,omitempty" minLength:"1" maxLength:"64" doc:"The legal entity that holds it, not one below it; null clears it, and ownership_percent with it"`
	OwnershipPercent     wire.Opt[string] `json:"ownership_percent,omitempty" format:"decimal" doc:"How much of it the parent holds, in percent: more than 0, at most 100, and only with a parent; null clears it"`
	CostBasisMethod      *string          `json:"cost_basis_method,omitempty" enum:"fifo,lifo,hifo,lofo,weighted_average,specific_id" doc:"How the cost of what is disposed of is found; a change of method, scope or first day is kept as a new election"`
	CostBasisFrom        wire.Opt[string] `json:"cost_basis_from,omitempty" format:"date" doc:"The first day on which method and scope hold; null for the beginning. A new election holds for the future: from a day after the last disposal"`
	CostBasisScope       *string          `json:"cost_basis_scope,omitempty" enum:"source,legal_entity" doc:"Whether holdings of an asset are one pool per source or per legal entity; it cannot change once there are lots"`
	Measurement          *string          `json:"measurement,omitempty" enum:"cost,impairment,fair_value" doc:"How digital assets are measured at the end of a period"`
	FiscalYearStartMonth *int64           `json:"fiscal_year_start_month,omitempty" minimum:"1" maximum:"12" doc:"The month its fiscal year begins with"`
	Framework            *string          `json:"framework,omitempty" enum:"us_gaap,ifrs" doc:"The rules its financial statements follow"`
	FeeTreatment         *string          `json:"fee_treatment,omitempty" enum:"expense,net,capitalize" doc:"What becomes of fees: a cost of their own, less proceeds, or part of the cost of what is acquired"`
	ShortDisposal        *string          `json:"short_disposal,omitempty" enum:"block,zero_basis" doc:"What happens when more is disposed of than is held: it is not posted, or what is missing goes at no cost"`
	IntercompanyBasis    *string          `json:"intercompany_basis,omitempty" enum:"carry_over,fair_value" doc:"At what another legal entity of the organization gets an asset: at its cost and date, or at fair value, which realizes a gain"`
	LoansOut             *string          `json:"loans_out,omitempty" enum:"derecognize,park" doc:"What becomes of the lots of an asset that is lent out: they are disposed of, or kept with their cost and dates until they return"`
}

// TransformSchema asks for at least one change.
func (UpdateLegalEntity) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return wire.RequireChange(s)
}
