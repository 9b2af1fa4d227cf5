package receivables

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/receivables/invoicefile"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

// ImportInvoices is a form with a file of invoices.
type ImportInvoices struct {
	File               *wire.File            `json:"file" doc:"The CSV file; at most 32 MiB and 50,000 rows." example:"invoices.csv"`
	LegalEntityID      string                `json:"legal_entity_id,omitempty" maxLength:"64" doc:"Legal entity of the rows that name none. May be omitted if there is only one."`
	LedgerAccountID    string                `json:"ledger_account_id,omitempty" maxLength:"64" doc:"Ledger account to credit for lines that name none."`
	TaxLedgerAccountID string                `json:"tax_ledger_account_id,omitempty" maxLength:"64" doc:"Ledger account to credit for the taxes of lines that name none."`
	Status             string                `json:"status,omitempty" enum:"draft,open" doc:"Status of the invoices. Open ones are booked. Those that are drafts according to the file are drafts. Defaults to draft."`
	Customers          string                `json:"customers,omitempty" enum:"create,existing" doc:"create: create the customers that do not exist. existing: a customer that does not exist is an error. Defaults to create."`
	Mapping            *InvoiceImportMapping `json:"mapping,omitempty" doc:"How to read the file, as JSON. Detected if omitted."`
	DryRun             bool                  `json:"dry_run,omitempty" doc:"If true, return what would be imported without writing anything. Defaults to false."`
}

// InvoiceImportMapping describes how a file of invoices is read.
type InvoiceImportMapping struct {
	Encoding    string               `json:"encoding,omitempty" enum:"utf-8,utf-16le,utf-16be,windows-1252" doc:"Character encoding of files without a byte order mark."`
	Delimiter   string               `json:"delimiter,omitempty" maxLength:"1" doc:"Separator between cells: comma, semicolon, tab or vertical bar." example:";"`
	HeaderRow   int64                `json:"header_row,omitempty" minimum:"-1" maximum:"1000000" doc:"Line with the column names. 0: detect. -1: there is none."`
	Columns     InvoiceImportColumns `json:"columns,omitempty" doc:"Column of each field, by its name or by its number such as #3. Omit to detect all of them."`
	DateLayouts []string             `json:"date_layouts,omitempty" maxItems:"10" doc:"Date formats, tried in order, such as DD/MM/YYYY or auto." example:"DD.MM.YYYY"`
	Decimal     string               `json:"decimal,omitempty" maxLength:"4" doc:"Decimal separator: a point, a comma or auto." example:","`
	Currency    string               `json:"currency,omitempty" maxLength:"3" doc:"ISO 4217 currency of all amounts, if no column has it. Defaults to that of the legal entity." example:"USD"`
}

// InvoiceImportColumns holds the column of each field.
type InvoiceImportColumns map[string]string

// invoiceColumnWords describes the fields whose names do not describe themselves.
var invoiceColumnWords = map[intake.Field]string{
	intake.FieldDocumentType:     "type of the document; rows of other types than invoices are left out",
	intake.FieldCustomerID:       "identifier of the customer, its own or one at a provider",
	intake.FieldCurrency:         "ISO 4217 currency",
	intake.FieldDescription:      "description of the line",
	intake.FieldAmount:           "amount of the line, without tax",
	intake.FieldDiscountRate:     "discount of the line in percent",
	intake.FieldDiscountAmount:   "discount of the line",
	intake.FieldTaxRate:          "tax rate of the line in percent",
	intake.FieldTaxAmount:        "tax of the line",
	intake.FieldTotal:            "total of the invoice, with tax, which is compared with the lines",
	intake.FieldAmountDue:        "amount that is still due on the invoice, which must be its total",
	intake.FieldAmountPaid:       "amount that is paid on the invoice, which must be zero",
	intake.FieldStatus:           "status of the invoice",
	intake.FieldLegalEntity:      "legal entity, by its name or identifier",
	intake.FieldLedgerAccount:    "ledger account of the line, by its code, name or identifier",
	intake.FieldTaxLedgerAccount: "ledger account of the tax, by its code, name or identifier",
}

// Schema lists the fields.
func (InvoiceImportColumns) Schema(huma.Registry) *huma.Schema {
	return wire.ColumnsSchema(intake.InvoiceFields, invoiceColumnWords)
}

// InvoiceImport is what became of a file of invoices.
type InvoiceImport struct {
	DryRun        bool                  `json:"dry_run" doc:"Whether nothing was written."`
	FileName      string                `json:"file_name" doc:"Name of the file."`
	Mapping       InvoiceImportMapping  `json:"mapping" doc:"How the file was read, as given or detected. Correct what is wrong and send it with the file."`
	Reasons       []string              `json:"reasons" doc:"Reasons for what was detected and for what was left out, in sentences."`
	UnusedColumns []string              `json:"unused_columns" doc:"Columns with values that were not read. Map those that matter."`
	RowsRead      int64                 `json:"rows_read" minimum:"0" doc:"Number of rows of the file."`
	Counts        InvoiceImportCounts   `json:"counts" doc:"Counts of invoices."`
	Invoices      []InvoiceImportResult `json:"invoices" doc:"First 20 invoices that were created, would be created, or exist already."`
	Errors        []InvoiceImportError  `json:"errors" doc:"First 1,000 errors."`
}

// InvoiceImportCounts counts invoices by result.
type InvoiceImportCounts struct {
	Created          int64 `json:"created" minimum:"0" doc:"Number of new invoices."`
	Duplicates       int64 `json:"duplicates" minimum:"0" doc:"Number of invoices that exist already, with the same content."`
	Skipped          int64 `json:"skipped" minimum:"0" doc:"Number of invoices on which nothing is due according to the file: paid, void or uncollectible ones, those with an amount due of zero, drafts without a number, and documents that are no invoices, such as credit notes."`
	Faulty           int64 `json:"faulty" minimum:"0" doc:"Number of invoices that were left out because of errors."`
	Errors           int64 `json:"errors" minimum:"0" doc:"Number of errors."`
	CustomersCreated int64 `json:"customers_created" minimum:"0" doc:"Number of new customers."`
}

// InvoiceImportResult is an invoice of the file.
type InvoiceImportResult struct {
	Line          int64   `json:"line" minimum:"0" doc:"Line of the file on which the invoice begins."`
	Duplicate     bool    `json:"duplicate" doc:"Whether it existed already."`
	InvoiceID     *string `json:"invoice_id" doc:"Identifier of the invoice; null if it was not created."`
	InvoiceNumber string  `json:"invoice_number" doc:"Number of the invoice."`
	CustomerName  string  `json:"customer_name" doc:"Name of the customer."`
	Status        string  `json:"status" enum:"draft,open,paid,void,uncollectible" doc:"Status of the invoice."`
	Currency      string  `json:"currency" doc:"ISO 4217 currency."`
	InvoiceDate   string  `json:"invoice_date" format:"date" doc:"Date of the invoice."`
	DueDate       string  `json:"due_date" format:"date" doc:"Date on which it is due."`
	LineCount     int64   `json:"line_count" minimum:"0" doc:"Number of its lines."`
	TotalAmount   string  `json:"total_amount" format:"decimal" doc:"Total with tax."`
}

// InvoiceImportError is an error of a row.
type InvoiceImportError struct {
	Line    int64   `json:"line" minimum:"0" doc:"Line of the file." example:"17"`
	Column  *string `json:"column" doc:"Name of the column in the file; null if the error concerns the whole row or a column that the file does not have." example:"Amount"`
	Message string  `json:"message" doc:"What is wrong." example:"is not a number"`
}

func (h handlers) importInvoices(ctx context.Context, in *struct{ Form ImportInvoices }) (wire.Data[InvoiceImport], error) {
	f := in.Form
	if info, err := f.File.Stat(); err != nil {
		return wire.Data[InvoiceImport]{}, err
	} else if info.Size() > invoicefile.FileMax {
		return wire.Data[InvoiceImport]{}, fault.Invalidf("file", "must have at most %d MiB: divide it", invoicefile.FileMax>>20)
	}
	p := invoicefile.Params{FileName: f.File.FileName, LegalEntityID: f.LegalEntityID, AccountID: f.LedgerAccountID,
		TaxAccountID: f.TaxLedgerAccountID, Status: invoice.Status(cmp.Or(f.Status, string(invoice.Draft))),
		ExistingOnly: f.Customers == "existing", DryRun: f.DryRun}
	if f.Mapping != nil {
		p.Mapping = &intake.InvoiceMapping{}
		text, _ := json.Marshal(f.Mapping) // texts and numbers encode
		_ = json.Unmarshal(text, p.Mapping)
	}
	r, err := h.app.InvoiceFiles.Import(ctx, p, f.File)
	if err != nil {
		return wire.Data[InvoiceImport]{}, err
	}
	return wire.DataOf(viewInvoiceImport(r, f.File.FileName)), nil
}

func viewInvoiceImport(r invoicefile.Result, name string) InvoiceImport {
	out := InvoiceImport{DryRun: r.DryRun, FileName: name,
		Reasons: wire.NonNil(append(r.Reasons, r.LeftOut()...)), UnusedColumns: wire.NonNil(r.Unused), RowsRead: r.Counts.Rows,
		Counts: InvoiceImportCounts{Created: r.Counts.Created, Duplicates: r.Counts.Duplicates, Skipped: r.Counts.Skipped,
			Faulty: r.Counts.Faulty, Errors: r.Counts.Faults, CustomersCreated: r.Counts.Customers},
		Invoices: make([]InvoiceImportResult, len(r.Invoices)), Errors: make([]InvoiceImportError, len(r.Faults))}
	text, _ := json.Marshal(r.Mapping)
	_ = json.Unmarshal(text, &out.Mapping)
	for n, one := range r.Invoices {
		i := one.Invoice
		v := InvoiceImportResult{Line: int64(one.Line), Duplicate: one.Duplicate, InvoiceID: db.OrNull(i.ID), InvoiceNumber: i.Number,
			CustomerName: i.CustomerName, Status: string(i.Status), Currency: i.Currency,
			InvoiceDate: i.Date.UTC().Format(time.DateOnly), DueDate: i.DueDate.UTC().Format(time.DateOnly),
			LineCount: int64(len(i.Lines)), TotalAmount: i.Total.Fixed(i.Currency)}
		if r.DryRun && !one.Duplicate {
			v.InvoiceID = nil
		}
		out.Invoices[n] = v
	}
	for n, f := range r.Faults {
		out.Errors[n] = InvoiceImportError{int64(f.Line), db.OrNull(f.Column), f.Message}
	}
	return out
}
