package intake

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
)

// The fields of an invoice. Those of a line differ from row to row of an invoice; the others are the same in all of them, or empty.
const (
	FieldInvoiceNumber    Field = "invoice_number"
	FieldDocumentType     Field = "document_type"
	FieldCustomerID       Field = "customer_id"
	FieldCustomerName     Field = "customer_name"
	FieldCustomerEmail    Field = "customer_email"
	FieldInvoiceDate      Field = "invoice_date"
	FieldDueDate          Field = "due_date"
	FieldStatus           Field = "status"
	FieldLegalEntity      Field = "legal_entity"
	FieldTotal            Field = "total_amount"
	FieldProduct          Field = "product"
	FieldQuantity         Field = "quantity"
	FieldUnitPrice        Field = "unit_price"
	FieldDiscountRate     Field = "discount_rate"
	FieldDiscountAmount   Field = "discount_amount"
	FieldTaxRate          Field = "tax_rate"
	FieldTaxAmount        Field = "tax_amount"
	FieldAmountDue        Field = "amount_due"
	FieldAmountPaid       Field = "amount_paid"
	FieldLedgerAccount    Field = "ledger_account"
	FieldTaxLedgerAccount Field = "tax_ledger_account"
)

// InvoiceFields are all fields of an invoice, in the order in which to offer them. The amount of a line is without tax, and the total
// is that of the invoice, with tax.
var InvoiceFields = []Field{
	FieldInvoiceNumber, FieldDocumentType, FieldCustomerID, FieldCustomerName, FieldCustomerEmail, FieldInvoiceDate, FieldDueDate,
	FieldCurrency, FieldDescription, FieldProduct, FieldQuantity, FieldUnitPrice, FieldAmount, FieldDiscountRate, FieldDiscountAmount,
	FieldTaxRate, FieldTaxAmount, FieldTotal, FieldAmountDue, FieldAmountPaid, FieldStatus, FieldLegalEntity, FieldLedgerAccount,
	FieldTaxLedgerAccount, FieldMemo,
}

// invoiceNumbers are the fields that hold numbers.
var invoiceNumbers = []Field{FieldQuantity, FieldUnitPrice, FieldAmount, FieldDiscountRate, FieldDiscountAmount, FieldTaxRate,
	FieldTaxAmount, FieldTotal, FieldAmountDue, FieldAmountPaid}

// InvoiceMapping states how to read a file of invoices. What is not stated is detected.
type InvoiceMapping struct {
	Encoding    string           `json:"encoding,omitempty"`
	Delimiter   string           `json:"delimiter,omitempty"`
	HeaderRow   int              `json:"header_row,omitempty"`
	Columns     map[Field]string `json:"columns,omitempty"`
	DateLayouts []string         `json:"date_layouts,omitempty"`
	Decimal     string           `json:"decimal,omitempty"`
	Currency    string           `json:"currency,omitempty"` // of all amounts, if no column has it
}

// settings returns what the mapping has in common with one of transactions.
func (m InvoiceMapping) settings() *Mapping {
	return &Mapping{Encoding: m.Encoding, Delimiter: m.Delimiter, HeaderRow: m.HeaderRow, DateLayouts: m.DateLayouts,
		Decimal: m.Decimal, Currency: m.Currency}
}

// Validate returns every fault of the mapping that can be found without the file.
func (m InvoiceMapping) Validate() error {
	var faults fault.List
	_ = faults.Merge(m.settings().Validate()) // which are faults of fields only
	for _, field := range slices.Sorted(maps.Keys(m.Columns)) {
		name, column := "mapping.columns."+string(field), m.Columns[field]
		switch {
		case !slices.Contains(InvoiceFields, field):
			faults.Addf(name, "is not a field of an invoice")
		case strings.TrimSpace(column) == "":
			faults.Addf(name, "must name a column")
		case m.HeaderRow == -1 && columnNumber(column) < 0:
			faults.Addf(name, "must be the number of a column, such as #3, because there is no header")
		}
	}
	if len(m.Columns) == 0 && m.HeaderRow == -1 {
		faults.Addf("mapping.columns", "must be stated, because there is no header")
	}
	return faults.Err()
}

// requireInvoiceColumns adds a fault for each field without which rows cannot be invoices.
func requireInvoiceColumns(faults *fault.List, columns map[Field]string) {
	has := func(some ...Field) bool {
		return slices.ContainsFunc(some, func(f Field) bool { return columns[f] != "" })
	}
	if !has(FieldInvoiceNumber) {
		faults.Addf("mapping.columns.invoice_number", "must be mapped: an invoice is recognized by its number")
	}
	if !has(FieldCustomerID, FieldCustomerName, FieldCustomerEmail) {
		faults.Addf("mapping.columns.customer_name", "must be mapped, or customer_id or customer_email must be")
	}
	if !has(FieldInvoiceDate) {
		faults.Addf("mapping.columns.invoice_date", "must be mapped")
	}
	if !has(FieldAmount, FieldUnitPrice, FieldTotal) {
		faults.Addf("mapping.columns.amount", "must be mapped, or unit_price or total_amount must be")
	}
}

// InvoiceRow is a row of a file of invoices, as it is written. An amount that is not stated is nil.
type InvoiceRow struct {
	Line       int
	Texts      map[Field]string // those that are not numbers; dates are written as 2026-01-31
	Quantity   *money.Decimal
	UnitPrice  *money.Decimal
	Amount     *money.Decimal
	Rebate     *money.Decimal // the discount in percent
	Discount   *money.Decimal // the discount as an amount
	TaxRate    *money.Decimal
	TaxAmount  *money.Decimal
	Total      *money.Decimal
	Due        *money.Decimal
	Paid       *money.Decimal
	Signs      map[Field]string // the currencies beside amounts of a row that states no currency
	Faults     []Fault
	Omitted    string   // why the row is no part of an invoice, as a predicate; empty if it is
	Cells      []string // of an unreadable row whose number is not certain: one of them may be the number
	unreadable bool
}

// Unreadable reports whether it is not known what the row says, except the number of its invoice if that is among its texts.
func (r InvoiceRow) Unreadable() bool { return r.unreadable }

// InvoiceFile is a file of invoices.
type InvoiceFile struct {
	Mapping InvoiceMapping // completed with what was detected
	Reasons []string       // why columns were guessed
	Columns []Column       // the columns of the file
	Unused  []string       // the columns with values that no field is read from
	Rows    []InvoiceRow
}

// Column returns the column of a field as the file names it, or an empty text.
func (f InvoiceFile) Column(field Field) string { return f.Mapping.Columns[field] }

// ReadInvoices reads a file of invoices with at most some rows. It returns the faults of the mapping, field by field, or an error about
// the file as a whole; faults of rows are with the rows.
func ReadInvoices(name string, r io.Reader, m InvoiceMapping, rowsMax int) (InvoiceFile, error) {
	out := InvoiceFile{Mapping: m}
	if err := m.Validate(); err != nil {
		return out, err
	}
	t, err := openText(name, r, encodings[m.Encoding])
	if err != nil {
		return out, err
	}
	head, whole := t.head()
	if problem := DescribeBinary(head); problem != "" {
		return out, fault.Invalidf("file", "%s", problem)
	}
	if out.Mapping.Delimiter == "" {
		out.Mapping.Delimiter = string(guessDelimiter(head))
	}
	sample := sampleCSV(head, whole, out.Mapping.Delimiter[0])
	rows := newCSVRows(t, out.Mapping.Delimiter[0])
	s, below, err := out.header(rows, sample)
	if err != nil {
		return out, err
	}
	p, err := newInvoicePlan(&out.Mapping, s, below)
	if err != nil {
		return out, err
	}
	for {
		raw, err := rows.next()
		if errors.Is(err, io.EOF) {
			out.Unused = p.unused()
			return out, nil
		}
		if err != nil {
			return out, err
		}
		if len(out.Rows) == rowsMax {
			return out, fault.Invalidf("file", "has more than %d rows: divide it, keeping the rows of an invoice together", rowsMax)
		}
		out.Rows = append(out.Rows, p.read(raw))
	}
}

// header finds the names of the columns and reads past them, and guesses which columns are meant unless they are stated. It also returns
// the rows of the sample below them.
func (f *InvoiceFile) header(rows *csvRows, sample []sheetRow) (*sheet, []sheetRow, error) {
	m := &f.Mapping
	if len(sample) == 0 {
		return nil, nil, fault.Invalidf("file", "has no rows")
	}
	if m.HeaderRow == -1 {
		return &sheet{header: make([]string, len(sample[0].cells))}, sample, nil
	}
	if m.HeaderRow == 0 {
		m.HeaderRow = invoiceHeader(sample, m.Columns)
	}
	for {
		row, err := rows.next()
		if errors.Is(err, io.EOF) {
			return nil, nil, fault.Invalidf("mapping.header_row", "is line %d, but the file has no row there", m.HeaderRow)
		}
		if err != nil {
			return nil, nil, err
		}
		if row.line < m.HeaderRow {
			continue
		}
		s := &sheet{header: cleanHeader(row.cells)}
		below := slices.DeleteFunc(sample, func(r sheetRow) bool { return r.line <= m.HeaderRow || r.broken != "" })
		if len(m.Columns) > 0 {
			return s, below, nil
		}
		return s, below, f.guess(s, below)
	}
}

// invoicePlan reads the rows of a file by a mapping.
type invoicePlan struct {
	sheet    *sheet
	currency string
	indexes  map[Field]int
	numbers  map[Field]numeric
	clock    clock
	filled   map[int]bool // the columns with values
}

func newInvoicePlan(m *InvoiceMapping, s *sheet, samples []sheetRow) (*invoicePlan, error) {
	p := &invoicePlan{sheet: s, currency: m.Currency, indexes: map[Field]int{}, numbers: map[Field]numeric{}, clock: m.settings().clock(),
		filled: map[int]bool{}}
	var faults fault.List
	for _, field := range slices.Sorted(maps.Keys(m.Columns)) {
		index, err := s.resolve(field, m.Columns[field])
		if rest := faults.Merge(err); rest != nil {
			return nil, rest
		}
		p.indexes[field] = index
	}
	requireInvoiceColumns(&faults, m.Columns)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	mark := m.settings().decimal()
	var shared numberEvidence
	var dates dateEvidence
	for i := range samples {
		for _, field := range invoiceNumbers {
			if index, mapped := p.indexes[field]; mapped {
				shared.observe(strings.TrimSuffix(strings.TrimSpace(cellOf(&samples[i], index)), "%"))
			}
		}
		for _, field := range []Field{FieldInvoiceDate, FieldDueDate} {
			if index, mapped := p.indexes[field]; mapped {
				dates.observe(cellOf(&samples[i], index))
			}
		}
	}
	if mark == markUnknown {
		mark = shared.mark()
	}
	for _, field := range invoiceNumbers {
		if index, mapped := p.indexes[field]; mapped {
			p.numbers[field] = numeric{index: index, mark: mark}
		}
	}
	p.clock.order = dates.order()
	return p, nil
}

// read returns a row.
func (p *invoicePlan) read(raw *sheetRow) InvoiceRow {
	out := InvoiceRow{Line: raw.line, Texts: map[Field]string{}}
	e := entry{sheet: p.sheet, row: raw, idColumn: -1}
	if out.Omitted = p.omitted(&e); out.Omitted != "" {
		return out
	}
	if raw.broken != "" {
		e.faultf(raw.column, "%s", raw.broken)
	}
	if raw.broken != "" || !(&Reader{}).validateWidth(&e) {
		out.Faults, out.unreadable = e.faults, true
		p.readNumber(raw, &out)
		return out
	}
	for index := range raw.cells {
		p.filled[index] = p.filled[index] || e.text(index) != ""
	}
	for field, index := range p.indexes {
		if text := e.text(index); text != "" && !slices.Contains(invoiceNumbers, field) {
			out.Texts[field] = text
		}
	}
	currency := p.currency
	if text := out.Texts[FieldCurrency]; text != "" {
		currency = cleanCurrency(text)
	}
	if out.Texts[FieldCurrency] = currency; currency == "" {
		delete(out.Texts, FieldCurrency)
	}
	for _, field := range []Field{FieldInvoiceDate, FieldDueDate} {
		if text := out.Texts[field]; text != "" {
			at, err := p.clock.day(text)
			if err != nil {
				e.faultf(p.indexes[field], "%q %v", shorten(text), err)
			}
			out.Texts[field] = at.UTC().Format(time.DateOnly)
		}
	}
	percent := map[Field]bool{}
	for _, field := range []Field{FieldTaxRate, FieldDiscountRate} {
		if index, mapped := p.indexes[field]; mapped && index < len(raw.cells) {
			raw.cells[index], percent[field] = strings.CutSuffix(strings.TrimSpace(raw.cells[index]), "%")
		}
	}
	for field, into := range map[Field]**money.Decimal{FieldQuantity: &out.Quantity, FieldUnitPrice: &out.UnitPrice, FieldAmount: &out.Amount,
		FieldDiscountRate: &out.Rebate, FieldDiscountAmount: &out.Discount, FieldTaxRate: &out.TaxRate, FieldTaxAmount: &out.TaxAmount,
		FieldTotal: &out.Total, FieldAmountDue: &out.Due, FieldAmountPaid: &out.Paid} {
		if c, mapped := p.numbers[field]; mapped {
			*into = e.invoiceNumber(c, field, currency, &out)
		}
	}
	if rate := out.TaxRate; rate != nil && !percent[FieldTaxRate] && rate.Sign() > 0 && rate.Cmp(money.FromInt(1)) < 0 {
		whole := rate.Mul(money.FromInt(100))
		e.faultf(p.indexes[FieldTaxRate], "%s may mean %s%% or %s%%: write %s or %s%%", rate, whole, rate, whole, whole)
	}
	slices.SortFunc(e.faults, func(a, b Fault) int { return strings.Compare(a.Column, b.Column) })
	out.Faults = e.faults
	return out
}

// unused returns the columns with values that no field is read from.
func (p *invoicePlan) unused() (out []string) {
	for _, index := range slices.Sorted(maps.Keys(p.filled)) {
		if used := slices.Contains(slices.Collect(maps.Values(p.indexes)), index); p.filled[index] && !used {
			out = append(out, cmp.Or(p.sheet.name(index), fmt.Sprintf("#%d", index+1)))
		}
	}
	return out
}

// reportFooter matches the line with the time of the report at the end of an export of QuickBooks.
var reportFooter = regexp.MustCompile(`(?i)^(mon|tues|wednes|thurs|fri|satur|sun)day,?` +
	` [a-z]+\.? \d{1,2},? \d{4},? \d{1,2}:\d{2}(:\d{2})?( ?[ap]\.?m\.?)?` +
	` ?(gmt|utc)\S*( ?- ?(accrual|cash) basis)?$`)

// omitted returns why a row of a report is no part of an invoice: it states the sum of the report, or its time.
func (p *invoicePlan) omitted(e *entry) string {
	var filled []int
	var texts []string
	for index := range e.row.cells {
		if text := e.text(index); text != "" {
			filled, texts = append(filled, index), append(texts, text)
		}
	}
	if reportFooter.MatchString(strings.Join(texts, ", ")) {
		return "is the time of the report"
	}
	if len(filled) < 2 || e.row.broken != "" || !IsSum(texts[0]) || e.text(p.indexes[FieldInvoiceNumber]) != "" {
		return ""
	}
	for _, field := range []Field{FieldDescription, FieldProduct} {
		if index, mapped := p.indexes[field]; mapped && index == filled[0] {
			return "" // may be the sum of an invoice
		}
	}
	for _, text := range texts[1:] {
		var n numberEvidence
		if n.observe(text); n.notNumbers > 0 {
			return ""
		}
	}
	return "is the sum of the report"
}

// readNumber reads the number of the invoice from an unreadable row. It is certain if the cells before it are whole: those in front of a
// quote in the wrong place, or all others if one has invalid characters. Cells may have shifted if there are too many or too few.
func (p *invoicePlan) readNumber(raw *sheetRow, out *InvoiceRow) {
	index, certain := p.indexes[FieldInvoiceNumber], len(raw.cells)
	switch {
	case raw.broken != "" && raw.column < 0:
		certain--
	case len(raw.cells) != len(p.sheet.header):
		certain = 1
	}
	e := entry{sheet: p.sheet, row: raw}
	text := e.text(index)
	if index < certain && text != "" && utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
		out.Texts[FieldInvoiceNumber] = text
		return
	}
	for i := range raw.cells {
		out.Cells = append(out.Cells, e.text(i))
	}
}

// invoiceNumber parses a cell; an empty one is nil. If the row states no currency, a sign such as € beside an amount is kept, to be
// compared with the currency that the invoice gets.
func (e *entry) invoiceNumber(c numeric, field Field, currency string, row *InvoiceRow) *money.Decimal {
	if currency != "" {
		return e.number(c, currency)
	}
	n, ok := e.parseCell(c)
	if !ok {
		return nil
	}
	if n.code != "" && field != FieldQuantity && field != FieldTaxRate && field != FieldDiscountRate {
		if row.Signs == nil {
			row.Signs = map[Field]string{}
		}
		row.Signs[field] = n.code
	}
	return &n.value
}

// dollars are the currencies that are written with a dollar sign.
const dollars = "USD AUD CAD NZD SGD HKD TWD MXN ARS CLP COP BRL UYU DOP " +
	"BMD BSD BBD BZD BND FJD GYD JMD KYD LRD NAD SBD SRD TTD XCD CUP NIO TOP"

// MeansCurrency reports whether a code or sign beside an amount can mean a currency.
func MeansCurrency(sign, currency string) bool {
	if sign == "$" {
		return strings.Contains(dollars, currency)
	}
	return matchesCurrency(sign, currency)
}
