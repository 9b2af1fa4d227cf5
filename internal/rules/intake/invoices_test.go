package intake

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/fault"
)

// The columns are named as in the exports of the programs, and as people name them.
func TestTheColumnsOfInvoicesAreRecognized(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"Stripe": {"id,Amount Due,Currency,Customer,Customer Email,Date (UTC),Due Date (UTC),Number,Subtotal,Tax,Tax Percent,Total,Status\n" +
			"in_1,12,usd,cus_1,a@b.example,2026-01-05 10:00,2026-02-05 10:00,A-1,10,2,20,12,open\n",
			"amount=Subtotal amount_due=Amount Due currency=Currency customer_email=Customer Email customer_id=Customer " +
				"due_date=Due Date (UTC) invoice_date=Date (UTC) invoice_number=Number status=Status tax_amount=Tax " +
				"tax_rate=Tax Percent total_amount=Total"},
		"QuickBooks": {"*InvoiceNo,*Customer,*InvoiceDate,*DueDate,Item(Product/Service),ItemDescription,ItemQuantity,ItemRate,*ItemAmount\n" +
			"1,One,01/15/2026,02/14/2026,Hours,Work,1,2,2\n",
			"amount=*ItemAmount customer_name=*Customer description=ItemDescription due_date=*DueDate invoice_date=*InvoiceDate " +
				"invoice_number=*InvoiceNo product=Item(Product/Service) quantity=ItemQuantity unit_price=ItemRate"},
		"Xero": {"*ContactName,EmailAddress,*InvoiceNumber,*InvoiceDate,*DueDate,Total,*Description,*Quantity,*UnitAmount,*AccountCode," +
			"TaxAmount,Currency\n" +
			"One,,1,2026-01-02,2026-02-02,2,Work,1,2,200,0,USD\n",
			"currency=Currency customer_email=EmailAddress customer_name=*ContactName description=*Description due_date=*DueDate " +
				"invoice_date=*InvoiceDate invoice_number=*InvoiceNumber ledger_account=*AccountCode quantity=*Quantity tax_amount=TaxAmount " +
				"total_amount=Total unit_price=*UnitAmount"},
		"German": {"Umsätze\n\nRechnungsnummer;Kunde;Rechnungsdatum;Fällig am;Nettobetrag (EUR);MwSt\n" +
			"R1;Eins;31.01.2026;14.02.2026;1.000,50;19%\n",
			"amount=Nettobetrag (EUR) customer_name=Kunde due_date=Fällig am invoice_date=Rechnungsdatum invoice_number=Rechnungsnummer " +
				"tax_rate=MwSt"},
	} {
		f, err := ReadInvoices("a.csv", strings.NewReader(c.file), InvoiceMapping{}, 10)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, field := range slices.Sorted(maps.Keys(f.Mapping.Columns)) {
			got = append(got, string(field)+"="+f.Mapping.Columns[field])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, strings.Join(got, " "), c.want)
		}
		if len(f.Rows) != 1 || len(f.Rows[0].Faults) > 0 {
			t.Errorf("%s: %+v", name, f.Rows)
		}
		if name == "German" {
			r := f.Rows[0]
			if r.Line != 4 || r.Texts[FieldInvoiceDate] != "2026-01-31" || r.Texts[FieldCurrency] != "EUR" || r.Amount.String() != "1000.5" ||
				r.TaxRate.String() != "19" {
				t.Errorf("%+v", r)
			}
		}
	}
}

func TestFilesThatCannotBeInvoicesAreRefused(t *testing.T) {
	t.Parallel()
	for file, field := range map[string]string{
		"": "file", "a,b\n1,2\n": "mapping.columns.invoice_number", "Number,Customer,Date,Amount\n1,a,2026-01-01,1\n2,a,2026-01-01,1\n": "file",
		"PK\x03\x04\x14\x00\x06\x00": "file",
	} {
		_, err := ReadInvoices("a.csv", strings.NewReader(file), InvoiceMapping{}, 1)
		if fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), field) {
			t.Errorf("%q: %v does not name %s", file, err, field)
		}
	}
	for field, m := range map[string]InvoiceMapping{
		"mapping.columns.vat":    {Columns: map[Field]string{"vat": "x"}},
		"mapping.columns.amount": {HeaderRow: -1, Columns: map[Field]string{FieldAmount: "x"}},
		"mapping.columns":        {HeaderRow: -1},
		"mapping.delimiter":      {Delimiter: "x"},
	} {
		if err := m.Validate(); fault.KindOf(err) != fault.Invalid || !strings.Contains(err.Error(), field+" ") {
			t.Errorf("%+v: %v does not name %s", m, err, field)
		}
	}
	_, err := ReadInvoices("a.csv", strings.NewReader("a,b\n1,2\n"), InvoiceMapping{Columns: map[Field]string{FieldInvoiceNumber: "c"}}, 1)
	for _, want := range []string{`invoice_number is "c", but the file has no such column`, "customer_name must be mapped", "amount must be mapped"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
}
