package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// LegalEntity is a legal entity. CostBasisHistory and MeasurementHistory are set for a single one, not in lists.
type LegalEntity struct {
	ID                   string              `json:"id"`
	Name                 string              `json:"name"`
	BaseCurrency         string              `json:"base_currency"`
	Country              *string             `json:"country"`
	ParentLegalEntityID  *string             `json:"parent_legal_entity_id"`
	OwnershipPercent     *string             `json:"ownership_percent"`
	CostBasisMethod      string              `json:"cost_basis_method"`
	CostBasisFrom        *string             `json:"cost_basis_from"`
	CostBasisScope       string              `json:"cost_basis_scope"`
	Measurement          string              `json:"measurement"`
	MeasurementFrom      *string             `json:"measurement_from"`
	FiscalYearStartMonth int64               `json:"fiscal_year_start_month"`
	Framework            string              `json:"framework"`
	FeeTreatment         string              `json:"fee_treatment"`
	ShortDisposal        string              `json:"short_disposal"`
	IntercompanyBasis    string              `json:"intercompany_basis"`
	LoansOut             string              `json:"loans_out"`
	CreatedAt            time.Time           `json:"created_at"`
	UpdatedAt            *time.Time          `json:"updated_at"`
	CostBasisHistory     []CostBasisElection `json:"cost_basis_history"`
	MeasurementHistory   []MeasurementChoice `json:"measurement_history"`
}

// MeasurementChoice is a choice of measurement, and the date from which it applies.
type MeasurementChoice struct {
	Measurement string    `json:"measurement"`
	From        *string   `json:"from"`
	CreatedAt   time.Time `json:"created_at"`
}

// CostBasisElection is an elected method and scope, and the date from which it applies.
type CostBasisElection struct {
	Method    string    `json:"method"`
	Scope     string    `json:"scope"`
	From      *string   `json:"from"`
	CreatedAt time.Time `json:"created_at"`
}

// CreateLegalEntity describes a new legal entity; nil or empty means the default.
type CreateLegalEntity struct {
	Name                 string  `json:"name"`
	BaseCurrency         string  `json:"base_currency"`
	Country              *string `json:"country,omitempty"`
	ParentLegalEntityID  *string `json:"parent_legal_entity_id,omitempty"`
	OwnershipPercent     *string `json:"ownership_percent,omitempty"`
	CostBasisMethod      string  `json:"cost_basis_method,omitempty"`
	CostBasisFrom        *string `json:"cost_basis_from,omitempty"`
	CostBasisScope       string  `json:"cost_basis_scope,omitempty"`
	Measurement          string  `json:"measurement,omitempty"`
	FiscalYearStartMonth int64   `json:"fiscal_year_start_month,omitempty"`
	Framework            string  `json:"framework,omitempty"`
	FeeTreatment         string  `json:"fee_treatment,omitempty"`
	ShortDisposal        string  `json:"short_disposal,omitempty"`
	IntercompanyBasis    string  `json:"intercompany_basis,omitempty"`
	LoansOut             string  `json:"loans_out,omitempty"`
}

// UpdateLegalEntity describes changes; nil leaves a field as it is, and Null clears one that may be null.
type UpdateLegalEntity struct {
	Name                 *string           `json:"name,omitempty"`
	BaseCurrency         *string           `json:"base_currency,omitempty"`
	Country              *Nullable[string] `json:"country,omitempty"`
	ParentLegalEntityID  *Nullable[string] `json:"parent_legal_entity_id,omitempty"`
	OwnershipPercent     *Nullable[string] `json:"ownership_percent,omitempty"`
	CostBasisMethod      *string           `json:"cost_basis_method,omitempty"`
	CostBasisFrom        *Nullable[string] `json:"cost_basis_from,omitempty"`
	CostBasisScope       *string           `json:"cost_basis_scope,omitempty"`
	Measurement          *string           `json:"measurement,omitempty"`
	MeasurementFrom      *Nullable[string] `json:"measurement_from,omitempty"`
	FiscalYearStartMonth *int64            `json:"fiscal_year_start_month,omitempty"`
	Framework            *string           `json:"framework,omitempty"`
	FeeTreatment         *string           `json:"fee_treatment,omitempty"`
	ShortDisposal        *string           `json:"short_disposal,omitempty"`
	IntercompanyBasis    *string           `json:"intercompany_basis,omitempty"`
	LoansOut             *string           `json:"loans_out,omitempty"`
}

// LegalEntities iterates over the legal entities that the key may see, in the order of their creation.
func (c *Client) LegalEntities(ctx context.Context) iter.Seq2[LegalEntity, error] {
	return each[LegalEntity](ctx, c, "/v1/legal-entities", nil)
}

// LegalEntity returns a legal entity with its cost basis elections.
func (c *Client) LegalEntity(ctx context.Context, id string) (LegalEntity, error) {
	return one[LegalEntity](ctx, c, Call{Method: http.MethodGet, Path: "/v1/legal-entities/" + url.PathEscape(id)})
}

// CreateLegalEntity creates a legal entity.
func (c *Client) CreateLegalEntity(ctx context.Context, entity CreateLegalEntity) (LegalEntity, error) {
	return post[LegalEntity](ctx, c, "/v1/legal-entities", entity)
}

// UpdateLegalEntity changes a legal entity.
func (c *Client) UpdateLegalEntity(ctx context.Context, id string, changes UpdateLegalEntity) (LegalEntity, error) {
	return one[LegalEntity](ctx, c, Call{Method: http.MethodPatch, Path: "/v1/legal-entities/" + url.PathEscape(id), Body: changes})
}

// DeleteLegalEntity deletes a legal entity that nothing refers to.
func (c *Client) DeleteLegalEntity(ctx context.Context, id string) error {
	return c.Do(ctx, Call{Method: http.MethodDelete, Path: "/v1/legal-entities/" + url.PathEscape(id)}, nil)
}
