package client

import (
	"context"
	"net/http"
	"net/url"
)

// ReceivablesAgeing is what customers owed at the end of a day.
type ReceivablesAgeing struct {
	AsOf            string           `json:"as_of"`
	AgeBy           string           `json:"age_by"`
	Buckets         []AgeingBucket   `json:"buckets"`
	Rows            []AgeingRow      `json:"rows"`
	Totals          []AgeingTotal    `json:"totals"`
	ControlAccounts []ControlAccount `json:"control_accounts"`
}

// AgeingBucket is a range of days.
type AgeingBucket struct {
	Name     string `json:"name"`
	FromDays int64  `json:"from_days"`
	ToDays   *int64 `json:"to_days"`
}

// AgeingRow is what a customer owed a legal entity in a currency.
type AgeingRow struct {
	CustomerID    string   `json:"customer_id"`
	CustomerName  string   `json:"customer_name"`
	LegalEntityID string   `json:"legal_entity_id"`
	Currency      string   `json:"currency"`
	OpenInvoices  int64    `json:"open_invoices"`
	Due           []string `json:"due"`
	Credits       string   `json:"credits"`
	Total         string   `json:"total"`
	Explain       string   `json:"explain"`
}

// AgeingTotal is what all customers owed a legal entity in a currency.
type AgeingTotal struct {
	LegalEntityID string   `json:"legal_entity_id"`
	Currency      string   `json:"currency"`
	Due           []string `json:"due"`
	Credits       string   `json:"credits"`
	Total         string   `json:"total"`
	LedgerBalance *string  `json:"ledger_balance"`
	Difference    *string  `json:"difference"`
}

// ControlAccount is the balance of trade receivables of a legal entity.
type ControlAccount struct {
	LegalEntityID   string `json:"legal_entity_id"`
	LedgerAccountID string `json:"ledger_account_id"`
	Currency        string `json:"currency"`
	Balance         string `json:"balance"`
}

// ReceivablesAgeing returns what customers owed. The query takes the parameters of GET /v1/reports/receivables-ageing.
func (c *Client) ReceivablesAgeing(ctx context.Context, query url.Values) (ReceivablesAgeing, error) {
	return one[ReceivablesAgeing](ctx, c, Call{Method: http.MethodGet, Path: "/v1/reports/receivables-ageing", Query: query})
}
