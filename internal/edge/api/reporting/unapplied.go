package reporting

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/reporting/explain"
	"github.com/bursarhq/bursar/internal/reporting/unapplied"
)

// UnappliedCash is what was unapplied of deposits at the end of a day.
type UnappliedCash struct {
	AsOf           string              `json:"as_of" format:"date" example:"2026-01-31" doc:"Date at whose end the figures are, in the time zone of the organization."`
	Rows           []UnappliedDeposit  `json:"rows" doc:"One row for each deposit of which something was unapplied, by date."`
	Customers      []UnappliedCustomer `json:"customers" doc:"One row for each customer, legal entity and currency, by name of the customer; last those whose customer is not known."`
	Totals         []UnappliedTotal    `json:"totals" doc:"One row for each legal entity and currency."`
	LedgerAccounts []ControlAccount    `json:"ledger_accounts" doc:"Balance of unapplied cash of each legal entity, as the balance sheet shows it. Empty if the report is about one customer."`
}

// UnappliedDeposit is what was unapplied of a deposit.
type UnappliedDeposit struct {
	DepositTransactionID string  `json:"deposit_transaction_id" doc:"Transaction of the deposit."`
	SequenceNumber       string  `json:"sequence_number" doc:"Sequence number of the transaction."`
	DepositDate          string  `json:"deposit_date" format:"date-time" doc:"Time of the deposit."`
	DepositMemo          *string `json:"deposit_memo" doc:"What the bank or the payer says about the deposit."`
	PayerName            *string `json:"payer_name" doc:"Who paid, as the bank states it."`
	CashApplicationID    string  `json:"cash_application_id" doc:"Cash application that booked the deposit."`
	CustomerID           *string `json:"customer_id" doc:"Customer whose invoices the deposit pays, or else the only one with the name or the address of the payer; null if it is not known."`
	CustomerName         *string `json:"customer_name" doc:"Name of the customer."`
	LegalEntityID        string  `json:"legal_entity_id" doc:"Legal entity that received the deposit."`
	Currency             string  `json:"currency" doc:"ISO 4217 currency of the amount."`
	UnappliedAmount      string  `json:"unapplied_amount" format:"decimal" doc:"What was unapplied of the deposit. Includes what cash applications that wait for their review will use."`
	Explain              string  `json:"explain" doc:"Query string for GET /v1/reports/explain that explains unapplied_amount."`
}

// UnappliedCustomer is what was unapplied of the deposits of a customer.
type UnappliedCustomer struct {
	CustomerID      *string `json:"customer_id" doc:"Customer; null for the deposits whose customer is not known."`
	CustomerName    *string `json:"customer_name" doc:"Name of the customer."`
	LegalEntityID   string  `json:"legal_entity_id" doc:"Legal entity that received the deposits."`
	Currency        string  `json:"currency" doc:"ISO 4217 currency of the amount."`
	Deposits        int64   `json:"deposits" doc:"Number of deposits of which something was unapplied."`
	UnappliedAmount string  `json:"unapplied_amount" format:"decimal" doc:"What was unapplied of them."`
	Explain         *string `json:"explain" doc:"Query string for GET /v1/reports/explain that explains unapplied_amount; null for the deposits whose customer is not known."`
}

// UnappliedTotal is what was unapplied of all deposits to a legal entity in a currency.
type UnappliedTotal struct {
	LegalEntityID   string  `json:"legal_entity_id" doc:"Legal entity that received the deposits."`
	Currency        string  `json:"currency" doc:"ISO 4217 currency of the amounts."`
	Deposits        int64   `json:"deposits" doc:"Number of deposits of which something was unapplied."`
	UnappliedAmount string  `json:"unapplied_amount" format:"decimal" doc:"What was unapplied of them."`
	LedgerBalance   *string `json:"ledger_balance" format:"decimal" doc:"Balance of unapplied cash in this currency in the ledger; null if the report is about one customer."`
	Difference      *string `json:"difference" format:"decimal" doc:"unapplied_amount less ledger_balance: the opposite of what entries that no cash application made have credited to the account, such as a manual entry; otherwise zero. Null if the report is about one customer."`
	Explain         string  `json:"explain" doc:"Query string for GET /v1/reports/explain that explains unapplied_amount."`
}

func (h handlers) getUnappliedCash(ctx context.Context, in *struct {
	AsOf           string   `query:"as_of" minLength:"1" maxLength:"10" doc:"Date of the report, YYYY-MM-DD. Defaults to today."`
	LegalEntityIDs []string `query:"legal_entity_ids" maxItems:"100" doc:"Include only these legal entities, at most 100. Defaults to all that the API key has access to."`
	CustomerID     string   `query:"customer_id" minLength:"1" maxLength:"200" doc:"Include only this customer, by its identifier or its identifier at a provider."`
	Currency       string   `query:"currency" minLength:"3" maxLength:"3" doc:"Include only this currency (ISO 4217)."`
}) (wire.Data[UnappliedCash], error) {
	r, err := h.app.Unapplied.Get(ctx, unapplied.Params{AsOf: in.AsOf, LegalEntityIDs: in.LegalEntityIDs, CustomerID: in.CustomerID,
		Currency: in.Currency})
	if err != nil {
		return wire.Data[UnappliedCash]{}, err
	}
	return wire.DataOf(viewUnapplied(r, in.CustomerID)), nil
}

func viewUnapplied(r unapplied.Report, customerID string) UnappliedCash {
	v := UnappliedCash{AsOf: r.AsOf, Rows: []UnappliedDeposit{}, Customers: []UnappliedCustomer{}, Totals: []UnappliedTotal{},
		LedgerAccounts: []ControlAccount{}}
	named := func(q explain.Query) string {
		q.Report, q.AsOf = "unapplied-cash", r.AsOf
		return q.String()
	}
	for _, row := range r.Rows {
		v.Rows = append(v.Rows, UnappliedDeposit{DepositTransactionID: row.DepositID, SequenceNumber: row.DepositNumber,
			DepositDate: clock.Format(row.DepositAt), DepositMemo: db.OrNull(row.DepositMemo), PayerName: db.OrNull(row.PayerName),
			CashApplicationID: row.ApplicationID, CustomerID: db.OrNull(row.CustomerID), CustomerName: db.OrNull(row.CustomerName),
			LegalEntityID: row.LegalEntityID, Currency: row.Currency, UnappliedAmount: row.Amount.Fixed(row.Currency),
			Explain: named(explain.Query{DocumentID: row.DepositID, Currency: row.Currency})})
	}
	for _, c := range r.Customers {
		sum := UnappliedCustomer{CustomerID: db.OrNull(c.CustomerID), CustomerName: db.OrNull(c.CustomerName),
			LegalEntityID: c.LegalEntityID, Currency: c.Currency, Deposits: c.Deposits, UnappliedAmount: c.Amount.Fixed(c.Currency)}
		if c.CustomerID != "" {
			sum.Explain = new(named(explain.Query{LegalEntityID: c.LegalEntityID, CustomerID: c.CustomerID, Currency: c.Currency}))
		}
		v.Customers = append(v.Customers, sum)
	}
	for _, t := range r.Totals {
		total := UnappliedTotal{LegalEntityID: t.LegalEntityID, Currency: t.Currency, Deposits: t.Deposits,
			UnappliedAmount: t.Amount.Fixed(t.Currency), Explain: named(explain.Query{LegalEntityID: t.LegalEntityID,
				CustomerID: customerID, Currency: t.Currency})}
		if t.Ledger != nil {
			total.LedgerBalance, total.Difference = new(t.Ledger.Fixed(t.Currency)), new(t.Amount.Sub(*t.Ledger).Fixed(t.Currency))
		}
		v.Totals = append(v.Totals, total)
	}
	for _, c := range r.Accounts {
		v.LedgerAccounts = append(v.LedgerAccounts, ControlAccount{c.LegalEntityID, c.LedgerAccountID, c.Currency, c.Balance.Fixed(c.Currency)})
	}
	return v
}
