package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// UnappliedCash is what was unapplied of deposits at the end of a day.
type UnappliedCash struct {
	AsOf           string              `json:"as_of"`
	Rows           []UnappliedDeposit  `json:"rows"`
	Customers      []UnappliedCustomer `json:"customers"`
	Totals         []UnappliedTotal    `json:"totals"`
	LedgerAccounts []ControlAccount    `json:"ledger_accounts"`
}

// UnappliedDeposit is what was unapplied of a deposit.
type UnappliedDeposit struct {
	DepositTransactionID string    `json:"deposit_transaction_id"`
	SequenceNumber       string    `json:"sequence_number"`
	DepositDate          time.Time `json:"deposit_date"`
	DepositMemo          *string   `json:"deposit_memo"`
	PayerName            *string   `json:"payer_name"`
	CashApplicationID    string    `json:"cash_application_id"`
	CustomerID           *string   `json:"customer_id"`
	CustomerName         *string   `json:"customer_name"`
	LegalEntityID        string    `json:"legal_entity_id"`
	Currency             string    `json:"currency"`
	UnappliedAmount      string    `json:"unapplied_amount"`
	Explain              string    `json:"explain"`
}

// UnappliedCustomer is what was unapplied of the deposits of a customer. Its id is nil for deposits whose customer is not known.
type UnappliedCustomer struct {
	CustomerID      *string `json:"customer_id"`
	CustomerName    *string `json:"customer_name"`
	LegalEntityID   string  `json:"legal_entity_id"`
	Currency        string  `json:"currency"`
	Deposits        int64   `json:"deposits"`
	UnappliedAmount string  `json:"unapplied_amount"`
	Explain         *string `json:"explain"`
}

// UnappliedTotal is what was unapplied of all deposits to a legal entity in a currency.
type UnappliedTotal struct {
	LegalEntityID   string  `json:"legal_entity_id"`
	Currency        string  `json:"currency"`
	Deposits        int64   `json:"deposits"`
	UnappliedAmount string  `json:"unapplied_amount"`
	LedgerBalance   *string `json:"ledger_balance"`
	Difference      *string `json:"difference"`
	Explain         string  `json:"explain"`
}

// UnappliedCash returns what was unapplied of deposits. The query takes the parameters of GET /v1/reports/unapplied-cash.
func (c *Client) UnappliedCash(ctx context.Context, query url.Values) (UnappliedCash, error) {
	return one[UnappliedCash](ctx, c, Call{Method: http.MethodGet, Path: "/v1/reports/unapplied-cash", Query: query})
}
