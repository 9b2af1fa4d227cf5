package intake

import (
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// invoiceHeader returns the line of the row with the most known or stated column names.
func invoiceHeader(sample []sheetRow, stated map[Field]string) int {
	best, most := sample[0].line, 0
	for i := range min(len(sample), headerSearch) {
		s, known := sheet{header: cleanHeader(sample[i].cells)}, 0
		for _, column := range stated {
			if s.find(column) >= 0 {
				known++
			}
		}
		for _, h := range s.header {
			if len(stated) == 0 && isInvoiceColumn(joinedName(h)) {
				known++
			}
		}
		if known > most {
			best, most = sample[i].line, known
		}
	}
	return best
}

// joined returns a folded name without spaces: TaxRate and Tax Rate are the same.
func joined(plain string) string { return strings.ReplaceAll(plain, " ", "") }

// joinedName returns the name of a column without a currency, spaces and punctuation.
func joinedName(name string) string {
	plain, _ := cutCurrency(name)
	return joined(plain)
}

// guess maps columns by their names.
func (f *InvoiceFile) guess(s *sheet, below []sheetRow) error {
	g := &guess{header: s.header, rows: below, taken: map[int]bool{}, facts: make([]columnFacts, len(s.header))}
	g.p.Mapping.Columns = map[Field]string{}
	for i := range s.header {
		g.collectFacts(i)
	}
	for _, known := range invoiceSynonyms {
		for _, name := range strings.Split(known.names, "|") {
			i := slices.IndexFunc(s.header, func(h string) bool { return joinedName(h) == joined(name) })
			if i < 0 || g.taken[i] || g.p.Mapping.Columns[known.field] != "" || !g.suitsInvoice(known.field, i) {
				continue
			}
			g.assign(known.field, i)
			g.because("the name of the column %q means %s", s.header[i], known.field)
			if _, currency := cutCurrency(s.header[i]); currency != "" && f.Mapping.Currency == "" {
				f.Mapping.Currency = currency
			}
		}
	}
	f.Mapping.Columns, f.Reasons, f.Columns = g.p.Mapping.Columns, g.p.Reasons, g.p.Columns
	var faults fault.List
	requireInvoiceColumns(&faults, f.Mapping.Columns)
	if err := faults.Err(); err != nil {
		faults.Addf("mapping", "is required, because the names of the columns do not say enough: they are %s",
			shorten(strings.Join(s.header, ", ")))
		return faults.Err()
	}
	return nil
}

// suitsInvoice reports whether the values of a column can belong to a field; some may be faulty. An empty column suits every field.
func (g *guess) suitsInvoice(field Field, i int) bool {
	f := &g.facts[i]
	switch {
	case field == FieldDocumentType && joinedName(g.header[i]) == "type":
		return slices.ContainsFunc(g.rows, func(r sheetRow) bool { _, known := IsInvoiceType(cellOf(&r, i)); return known })
	case field == FieldDiscountRate && joinedName(g.header[i]) == "discount": // Xero, which exports ContactName, means percent
		return g.percent(i) || slices.ContainsFunc(g.header, func(h string) bool { return joinedName(h) == "contactname" })
	case f.filled == 0:
		return true
	case field == FieldInvoiceDate || field == FieldDueDate:
		return f.dates.dates > 0
	case field == FieldCustomerID:
		return plainName(g.header[i]) != "customer" || !slices.ContainsFunc(g.rows, func(r sheetRow) bool {
			text := strings.TrimSpace(cellOf(&r, i))
			return text != "" && !strings.HasPrefix(text, "cus_")
		})
	case field == FieldCurrency:
		return f.codes == f.filled || !slices.ContainsFunc(g.rows, func(r sheetRow) bool {
			text := strings.TrimSpace(cellOf(&r, i))
			return text != "" && !isFiat(cleanCurrency(text))
		})
	case field == FieldTaxRate || field == FieldTaxAmount:
		percent := g.percent(i)
		if percent || field == FieldTaxRate && slices.Contains(taxNames, joinedName(g.header[i])) {
			return percent && field == FieldTaxRate
		}
		return f.numbers.numbers > 0
	case slices.Contains(invoiceNumbers, field):
		return f.numbers.numbers > 0
	}
	return true
}

// percent reports whether a value of a column is a percentage.
func (g *guess) percent(i int) bool {
	return slices.ContainsFunc(g.rows, func(r sheetRow) bool { return strings.HasSuffix(strings.TrimSpace(cellOf(&r, i)), "%") })
}

// invoiceSigns are column names, without spaces, that files of transactions do not have together.
var invoiceSigns = [][]string{{"invoicenumber", "invoiceno", "invoicenum", "num", "no"}, {"invoicedate"}, {"duedate", "duedateutc"},
	{"amountdue", "invoiceamountdue", "openbalance", "balancedue", "amountremaining"}, {"customer", "customername", "contactname"}}

// askInvoices asks about a file of transactions whose columns are those of invoices.
func (g *guess) askInvoices() {
	var found []string
	for _, names := range invoiceSigns {
		if i := slices.IndexFunc(g.header, func(h string) bool { return slices.Contains(names, joinedName(h)) }); i >= 0 {
			found = append(found, g.header[i])
		}
	}
	if len(found) > 1 {
		g.ask("columns such as %s are those of invoices; import invoices with \"bursar import invoices\" or POST /v1/invoices/import, "+
			"and state a mapping only if these are transactions of a source", strings.Join(found, " and "))
	}
}
