package reporting

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/reporting/ageing"
	"github.com/bursarhq/bursar/internal/reporting/explain"
)

// ReceivablesAgeing is what customers owed at the end of a day.
type ReceivablesAgeing struct {
	AsOf            string           `json:"as_of" format:"date" example:"2026-01-31" doc:"Date at whose end the figures are, in the time zone of the organization."`
	AgeBy           string           `json:"age_by" enum:"due_date,invoice_date" doc:"Date from which the age of an invoice is counted."`
	Buckets         []AgeingBucket   `json:"buckets" doc:"Ranges of days, in the order of the amounts in due."`
	Rows            []AgeingRow      `json:"rows" doc:"One row for each customer, legal entity and currency, by name of the customer."`
	Totals          []AgeingTotal    `json:"totals" doc:"One row for each legal entity and currency."`
	ControlAccounts []ControlAccount `json:"control_accounts" doc:"Balance of trade receivables of each legal entity, as the balance sheet shows it. Empty if the report is about one customer."`
}

// AgeingBucket is a range of days.
type AgeingBucket struct {
	Name     string `json:"name" example:"31-60" doc:"Name of the bucket: current for what is not overdue, over_90 for more than 90 days."`
	FromDays int64  `json:"from_days" doc:"First day of the bucket; 0 in the first bucket, which has everything up to its last day."`
	ToDays   *int64 `json:"to_days" doc:"Last day of the bucket; null in the last bucket."`
}

// AgeingRow is what a customer owed a legal entity in a currency.
type AgeingRow struct {
	CustomerID    string   `json:"customer_id" doc:"Customer."`
	CustomerName  string   `json:"customer_name" doc:"Name of the customer."`
	LegalEntityID string   `json:"legal_entity_id" doc:"Legal entity that is owed."`
	Currency      string   `json:"currency" doc:"ISO 4217 currency of the amounts."`
	OpenInvoices  int64    `json:"open_invoices" doc:"Number of invoices on which something was due."`
	Due           []string `json:"due" doc:"Amounts due, one for each bucket."`
	Credits       string   `json:"credits" format:"decimal" doc:"What was left of credit notes of the customer; zero or negative."`
	Total         string   `json:"total" format:"decimal" doc:"Sum of due and credits."`
	Explain       string   `json:"explain" doc:"Query string for GET /v1/reports/explain that explains total."`
}

// AgeingTotal is what all customers owed a legal entity in a currency.
type AgeingTotal struct {
	LegalEntityID string   `json:"legal_entity_id" doc:"Legal entity that is owed."`
	Currency      string   `json:"currency" doc:"ISO 4217 currency of the amounts."`
	Due           []string `json:"due" doc:"Amounts due, one for each bucket."`
	Credits       string   `json:"credits" format:"decimal" doc:"What was left of credit notes of customers; zero or negative."`
	Total         string   `json:"total" format:"decimal" doc:"Sum of due and credits."`
	LedgerBalance *string  `json:"ledger_balance" format:"decimal" doc:"Balance of trade receivables in this currency in the ledger; null if the report is about one customer."`
	Difference    *string  `json:"difference" format:"decimal" doc:"total less ledger_balance, which is zero unless the database was changed outside of Bursar; null if the report is about one customer."`
}

// ControlAccount is the balance of trade receivables of a legal entity.
type ControlAccount struct {
	LegalEntityID   string `json:"legal_entity_id" doc:"Legal entity."`
	LedgerAccountID string `json:"ledger_account_id" doc:"Ledger account of trade receivables."`
	Currency        string `json:"currency" doc:"Base currency of the legal entity."`
	Balance         string `json:"balance" format:"decimal" doc:"Balance at the end of the day, in the base currency."`
}

func (h handlers) getReceivablesAgeing(ctx context.Context, in *struct {
	AsOf           string   `query:"as_of" minLength:"1" maxLength:"10" doc:"Date of the report, YYYY-MM-DD. Defaults to today."`
	LegalEntityIDs []string `query:"legal_entity_ids" maxItems:"100" doc:"Include only these legal entities, at most 100. Defaults to all that the API key has access to."`
	CustomerID     string   `query:"customer_id" minLength:"1" maxLength:"200" doc:"Include only this customer, by its identifier or its identifier at a provider."`
	Currency       string   `query:"currency" minLength:"3" maxLength:"3" doc:"Include only this currency (ISO 4217)."`
	AgeBy          string   `query:"age_by" enum:"due_date,invoice_date" default:"due_date" doc:"Date from which the age of an invoice is counted. Defaults to due_date."`
	BucketDays     []int64  `query:"bucket_days" maxItems:"12" doc:"Last day of each bucket, ascending, from 1 to 3650. Defaults to 30,60,90."`
}) (wire.Data[ReceivablesAgeing], error) {
	r, err := h.app.Ageing.Get(ctx, ageing.Params{AsOf: in.AsOf, LegalEntityIDs: in.LegalEntityIDs, CustomerID: in.CustomerID,
		Currency: in.Currency, AgeBy: in.AgeBy, BucketDays: in.BucketDays})
	if err != nil {
		return wire.Data[ReceivablesAgeing]{}, err
	}
	return wire.DataOf(viewAgeing(r)), nil
}

func viewAgeing(r ageing.Report) ReceivablesAgeing {
	v := ReceivablesAgeing{AsOf: r.AsOf, AgeBy: r.AgeBy, Buckets: []AgeingBucket{}, Rows: []AgeingRow{}, Totals: []AgeingTotal{},
		ControlAccounts: []ControlAccount{}}
	for _, b := range r.Buckets {
		v.Buckets = append(v.Buckets, AgeingBucket{b.Name, b.From, b.To})
	}
	texts := func(all []money.Decimal, currency string) []string {
		out := make([]string, len(all))
		for n, d := range all {
			out[n] = d.Fixed(currency)
		}
		return out
	}
	for _, row := range r.Rows {
		q := explain.Query{Report: "receivables-ageing", CustomerID: row.CustomerID, LegalEntityID: row.LegalEntityID, Currency: row.Currency,
			AsOf: r.AsOf}
		v.Rows = append(v.Rows, AgeingRow{CustomerID: row.CustomerID, CustomerName: row.CustomerName, LegalEntityID: row.LegalEntityID,
			Currency: row.Currency, OpenInvoices: row.Invoices, Due: texts(row.Due, row.Currency), Credits: row.Credits.Fixed(row.Currency),
			Total: row.Total.Fixed(row.Currency), Explain: q.String()})
	}
	for _, t := range r.Totals {
		total := AgeingTotal{LegalEntityID: t.LegalEntityID, Currency: t.Currency, Due: texts(t.Due, t.Currency),
			Credits: t.Credits.Fixed(t.Currency), Total: t.Total.Fixed(t.Currency)}
		if t.Ledger != nil {
			total.LedgerBalance, total.Difference = new(t.Ledger.Fixed(t.Currency)), new(t.Total.Sub(*t.Ledger).Fixed(t.Currency))
		}
		v.Totals = append(v.Totals, total)
	}
	for _, c := range r.Controls {
		v.ControlAccounts = append(v.ControlAccounts, ControlAccount{c.LegalEntityID, c.LedgerAccountID, c.Currency, c.Balance.Fixed(c.Currency)})
	}
	return v
}
