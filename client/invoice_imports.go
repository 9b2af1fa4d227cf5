package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// ImportInvoices is a CSV file of invoices to import; the service detects what is left empty.
type ImportInvoices struct {
	File               io.ReadSeeker
	FileName           string
	LegalEntityID      string
	LedgerAccountID    string
	TaxLedgerAccountID string
	Status             string
	Customers          string
	Mapping            any // is encoded as the mapping
	DryRun             bool
}

// InvoiceImport is what became of a file of invoices.
type InvoiceImport struct {
	DryRun        bool                  `json:"dry_run"`
	FileName      string                `json:"file_name"`
	Mapping       json.RawMessage       `json:"mapping"`
	Reasons       []string              `json:"reasons"`
	UnusedColumns []string              `json:"unused_columns"`
	RowsRead      int64                 `json:"rows_read"`
	Counts        InvoiceImportCounts   `json:"counts"`
	Invoices      []InvoiceImportResult `json:"invoices"`
	Errors        []ImportError         `json:"errors"`
}

// InvoiceImportCounts counts invoices by outcome.
type InvoiceImportCounts struct {
	Created          int64 `json:"created"`
	Duplicates       int64 `json:"duplicates"`
	Skipped          int64 `json:"skipped"`
	Faulty           int64 `json:"faulty"`
	Errors           int64 `json:"errors"`
	CustomersCreated int64 `json:"customers_created"`
}

// InvoiceImportResult is an invoice of the file.
type InvoiceImportResult struct {
	Line          int64   `json:"line"`
	Duplicate     bool    `json:"duplicate"`
	InvoiceID     *string `json:"invoice_id"`
	InvoiceNumber string  `json:"invoice_number"`
	CustomerName  string  `json:"customer_name"`
	Status        string  `json:"status"`
	Currency      string  `json:"currency"`
	InvoiceDate   string  `json:"invoice_date"`
	DueDate       string  `json:"due_date"`
	LineCount     int64   `json:"line_count"`
	TotalAmount   string  `json:"total_amount"`
}

// ImportInvoices imports a file of invoices. It can be repeated, because an invoice that exists is not created again.
func (c *Client) ImportInvoices(ctx context.Context, i ImportInvoices) (InvoiceImport, error) {
	f := &Form{File: i.File, FileName: i.FileName, Fields: url.Values{}}
	for name, value := range map[string]string{"legal_entity_id": i.LegalEntityID, "ledger_account_id": i.LedgerAccountID,
		"tax_ledger_account_id": i.TaxLedgerAccountID, "status": i.Status, "customers": i.Customers} {
		if value != "" {
			f.Fields.Set(name, value)
		}
	}
	if i.Mapping != nil {
		text, err := json.Marshal(i.Mapping)
		if err != nil {
			return InvoiceImport{}, err
		}
		f.Fields.Set("mapping", string(text))
	}
	if i.DryRun {
		f.Fields.Set("dry_run", strconv.FormatBool(true))
	}
	return one[InvoiceImport](ctx, c, Call{Method: http.MethodPost, Path: "/v1/invoices/import", Form: f})
}
