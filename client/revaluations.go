package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// Revaluation is the measurement of holdings at the end of an accounting period. Lists omit assets, currencies and rows.
type Revaluation struct {
	ID                 *string              `json:"id"`
	AccountingPeriodID string               `json:"accounting_period_id"`
	PeriodKey          string               `json:"period_key"`
	AsOf               time.Time            `json:"as_of"`
	Status             string               `json:"status"`
	Parts              []RevaluationPart    `json:"parts"`
	CreatedBy          *string              `json:"created_by"`
	CreatedAt          time.Time            `json:"created_at"`
	ReversedAt         *time.Time           `json:"reversed_at"`
	DryRun             bool                 `json:"dry_run"`
	Assets             []RevaluedAsset      `json:"assets"`
	Balances           []RemeasuredBalance  `json:"balances"`
	FX                 []RemeasuredCurrency `json:"fx"`
	RowCount           int64                `json:"row_count"`
	Rows               []RevaluationRow     `json:"rows"`
}

// RevaluationPart is the part of a legal entity.
type RevaluationPart struct {
	LegalEntityID string `json:"legal_entity_id"`
	Kind          string `json:"kind"`
	Status        string `json:"status"`
}

// Booked is what was booked for an asset or a currency.
type Booked struct {
	Delta           string            `json:"delta"`
	Outcome         string            `json:"outcome"`
	JournalEntryID  *string           `json:"journal_entry_id"`
	ReversedEntryID *string           `json:"reversed_entry_id"`
	Lines           []RevaluationLine `json:"lines"`
}

// RevaluationLine is one line of an entry.
type RevaluationLine struct {
	LedgerAccountID *string `json:"ledger_account_id"`
	Role            *string `json:"role"`
	CreditOrDebit   string  `json:"credit_or_debit"`
	Amount          string  `json:"amount"`
}

// FrozenPrice is a price as it was when it was used.
type FrozenPrice struct {
	Price          *string    `json:"price"`
	PriceID        *string    `json:"price_id"`
	PriceTimestamp *time.Time `json:"price_timestamp"`
	PriceOrigin    *string    `json:"price_origin"`
}

// RevaluedAsset is an asset of a legal entity.
type RevaluedAsset struct {
	LegalEntityID      string `json:"legal_entity_id"`
	Kind               string `json:"kind"`
	AssetType          string `json:"asset_type"`
	Currency           string `json:"currency"`
	Quantity           string `json:"quantity"`
	CostBasis          string `json:"cost_basis"`
	PreviousAdjustment string `json:"previous_adjustment"`
	FairValue          string `json:"fair_value"`
	NewAdjustment      string `json:"new_adjustment"`
	FrozenPrice
	Booked
}

// RemeasuredCurrency is the net position of a legal entity in a foreign currency.
type RemeasuredCurrency struct {
	LegalEntityID   string  `json:"legal_entity_id"`
	ForeignCurrency string  `json:"foreign_currency"`
	Currency        string  `json:"currency"`
	ForeignBalance  string  `json:"foreign_balance"`
	Rate            *string `json:"rate"`
	RateDate        *string `json:"rate_date"`
	RateSource      *string `json:"rate_source"`
	BookBefore      string  `json:"book_before"`
	BookAfter       string  `json:"book_after"`
	Booked
}

// RemeasuredBalance is what a legal entity owes or may claim of a digital asset and no lots carry, debits less credits.
type RemeasuredBalance struct {
	LegalEntityID string `json:"legal_entity_id"`
	AssetType     string `json:"asset_type"`
	Currency      string `json:"currency"`
	Quantity      string `json:"quantity"`
	BookBefore    string `json:"book_before"`
	BookAfter     string `json:"book_after"`
	FrozenPrice
	Booked
}

// RevaluationRow is a lot, or an account with a balance.
type RevaluationRow struct {
	LegalEntityID   string  `json:"legal_entity_id"`
	Kind            string  `json:"kind"`
	Unit            string  `json:"unit"`
	AssetID         *string `json:"asset_id"`
	LedgerAccountID *string `json:"ledger_account_id"`
	Currency        string  `json:"currency"`
	Quantity        string  `json:"quantity"`
	CostBasis       *string `json:"cost_basis"`
	Before          string  `json:"before"`
	Value           string  `json:"value"`
	After           string  `json:"after"`
	Delta           string  `json:"delta"`
	FrozenPrice
}

// CreateRevaluation describes what to measure; without legal entities or kinds, everything.
type CreateRevaluation struct {
	AccountingPeriodID string   `json:"accounting_period_id"`
	LegalEntityIDs     []string `json:"legal_entity_ids,omitempty"`
	Kinds              []string `json:"kinds,omitempty"`
	DryRun             bool     `json:"dry_run,omitempty"`
}

// Revaluations iterates over the revaluations, newest first. The query takes the filters of GET /v1/revaluations.
func (c *Client) Revaluations(ctx context.Context, query url.Values) iter.Seq2[Revaluation, error] {
	return each[Revaluation](ctx, c, "/v1/revaluations", query)
}

// Revaluation returns a revaluation.
func (c *Client) Revaluation(ctx context.Context, id string) (Revaluation, error) {
	return one[Revaluation](ctx, c, Call{Method: http.MethodGet, Path: "/v1/revaluations/" + url.PathEscape(id)})
}

// RevaluationRows iterates over the lots and accounts that a revaluation measured.
func (c *Client) RevaluationRows(ctx context.Context, id string, query url.Values) iter.Seq2[RevaluationRow, error] {
	return each[RevaluationRow](ctx, c, "/v1/revaluations/"+url.PathEscape(id)+"/rows", query)
}

// CreateRevaluation revalues the holdings at the end of a period and posts the difference.
func (c *Client) CreateRevaluation(ctx context.Context, r CreateRevaluation) (Revaluation, error) {
	return post[Revaluation](ctx, c, "/v1/revaluations", r)
}

// ReverseRevaluation reverses the last revaluation of an open period.
func (c *Client) ReverseRevaluation(ctx context.Context, id string) (Revaluation, error) {
	return post[Revaluation](ctx, c, "/v1/revaluations/"+url.PathEscape(id)+"/reverse", nil)
}
