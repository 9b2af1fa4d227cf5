package receivables_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// imported imports a file and returns the counts (created, duplicates, skipped, faulty, new customers), the first invoices and the errors.
func (l *ledger) imported(t *testing.T, file string, p client.ImportInvoices) (counts string, invoices, faults []string) {
	t.Helper()
	p.File, p.FileName = strings.NewReader(file), "invoices.csv"
	if p.LedgerAccountID == "" {
		p.LedgerAccountID, p.TaxLedgerAccountID = l.Accounts["4010"], l.Accounts["2050"]
	}
	r, err := l.Client.ImportInvoices(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range r.Invoices {
		invoices = append(invoices, fmt.Sprintf("%d %s %s %s %s %s %s %d %s", i.Line, i.InvoiceNumber, i.CustomerName, i.Status, i.InvoiceDate,
			i.DueDate, i.Currency, i.LineCount, i.TotalAmount))
	}
	for _, e := range r.Errors {
		column := "-"
		if e.Column != nil {
			column = *e.Column
		}
		faults = append(faults, fmt.Sprintf("%d %s: %s", e.Line, column, e.Message))
	}
	c := r.Counts
	return fmt.Sprint(c.Created, c.Duplicates, c.Skipped, c.Faulty, c.CustomersCreated), invoices, faults
}

func wantCounts(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: created, duplicates, skipped, faulty, new customers are %s, want %s", what, got, want)
	}
}

// The shapes are those of what Stripe, QuickBooks and Xero export; the data is made up.
func TestFilesOfTheUsualShapesAreImportedWithoutAMapping(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		for name, c := range map[string]struct {
			file, counts string
			want         []string
		}{
			"Stripe": {"id,Amount Due,Billing,Currency,Customer,Customer Email,Customer Name,Date (UTC),Due Date (UTC),Number,Paid,Subtotal,Tax," +
				"Tax Percent,Total,Status\n" +
				"in_1,\"1,200.00\",send_invoice,usd,cus_A1,ap@one.example,One Ltd,2026-01-05 10:00:00,2026-02-04 10:00:00,A1-0001,FALSE," +
				"\"1,000.00\",200.00,20,\"1,200.00\",open\n" +
				"in_2,0.00,send_invoice,usd,cus_A1,ap@one.example,One Ltd,2026-01-06 10:00:00,,A1-0002,TRUE,50.00,,,50.00,paid\n",
				"1 0 1 0 1", []string{"2 A1-0001 One Ltd open 2026-01-05 2026-02-04 USD 1 1200.00"}},
			"QuickBooks": {"*InvoiceNo,*Customer,*InvoiceDate,*DueDate,Terms,Memo,Item(Product/Service),ItemDescription,ItemQuantity,ItemRate," +
				"*ItemAmount\n" +
				"1001,Two Inc,01/15/2026,02/14/2026,Net 30,Thanks,Hours,Consulting,10,150,1500\n1001,,,,,,Travel,Flight,1,300.50,300.50\n" +
				"1002,Two Inc,01/16/2026,02/15/2026,Net 30,,Hours,Consulting,0.5,150,75\n",
				"2 0 0 0 1", []string{"2 1001 Two Inc open 2026-01-15 2026-02-14 USD 2 1800.50",
					"4 1002 Two Inc open 2026-01-16 2026-02-15 USD 1 75.00"}},
			"Xero": {"ContactName;EmailAddress;InvoiceNumber;InvoiceDate;DueDate;Total;Description;Quantity;UnitAmount;LineAmount;AccountCode;" +
				"TaxAmount;Currency;Status\n" +
				"Drei GmbH;a@drei.example;RE-7;31.01.2026;14.02.2026;1.428,00;Wartung;2;600,00;1.200,00;4020;228,00;USD;Authorised\n" +
				"Drei GmbH;a@drei.example;RE-8;01.02.2026;15.02.2026;10,00;Rest;1;10,00;10,00;4020;0,00;USD;Draft\n",
				"2 0 0 0 1", []string{"2 RE-7 Drei GmbH open 2026-01-31 2026-02-14 USD 1 1428.00",
					"3 RE-8 Drei GmbH draft 2026-02-01 2026-02-15 USD 1 10.00"}},
		} {
			counts, invoices, faults := l.imported(t, c.file, client.ImportInvoices{Status: "open", DryRun: true})
			wantCounts(t, name+", dry run", counts, c.counts)
			same(t, name+", dry run", append(invoices, faults...), c.want...)
			counts, invoices, faults = l.imported(t, c.file, client.ImportInvoices{Status: "open"})
			wantCounts(t, name, counts, c.counts)
			same(t, name, append(invoices, faults...), c.want...)
			counts, _, _ = l.imported(t, c.file, client.ImportInvoices{Status: "open"})
			created := strings.Fields(c.counts)
			wantCounts(t, name+", again", counts, "0 "+created[0]+" "+created[2]+" 0 0")
		}
		for i, err := range l.Client.Invoices(t.Context(), nil) {
			if err != nil || (i.Status == "open") != (i.JournalEntryID != nil) {
				t.Fatalf("%+v %v", i, err)
			}
			if i.InvoiceNumber == "RE-7" {
				if got := l.written(t, i.JournalEntryID); got != "Dr Trade receivables 1428.00; Cr 4020 1200.00; Cr 2050 228.00" {
					t.Errorf("RE-7 is booked as %s", got)
				}
			}
		}
	})
}

func TestADryRunOfAFileOfInvoicesWritesNothing(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		count := func() (n int) {
			for _, err := range l.Client.Invoices(t.Context(), nil) {
				if n++; err != nil {
					t.Fatal(err)
				}
			}
			for _, err := range l.Client.Customers(t.Context(), nil) {
				if n++; err != nil {
					t.Fatal(err)
				}
			}
			return n
		}
		before := count()
		counts, _, _ := l.imported(t, "Number,Customer,Date,Amount\nA,Somebody new,2026-01-01,5\n",
			client.ImportInvoices{DryRun: true, Status: "open"})
		if wantCounts(t, "dry run", counts, "1 0 0 0 1"); count() != before {
			t.Errorf("%d records, %d before", count(), before)
		}
	})
}

func TestFaultsOfAFileOfInvoicesNameLineAndColumn(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		l.NewCustomer(t, "Twice")
		l.NewCustomer(t, "Twice")
		const header = "Number,Customer,Date,Due Date,Currency,Qty,Price,Amount,Tax Rate,Total,Account,Status,Entity\n"
		for row, want := range map[string]string{
			"A,Northwind,2026-01-01,,USD,1,x,,,,,,":                         `2 Price: "x" is not a number`,
			"A,Northwind,2026-02-30,,USD,1,1,,,,,,":                         `2 Date: "2026-02-30" is a day that does not exist`,
			"A,Northwind,2026-01-02,2026-01-01,USD,1,1,,,,,,":               "2 Due Date: must not be before invoice_date",
			"A,Northwind,2026-01-02,,XXY,1,1,,,,,,":                         "2 Currency: must be an ISO 4217 currency such as USD",
			"A,Northwind,2026-01-02,,USD,2,10,21,,,,,":                      "2 Amount: is 21, but the quantity of 2 times the unit price of 10 is 20",
			"A,Northwind,2026-01-02,,USD,-1,10,,,,,,":                       "2 Qty: must be positive: a discount has a negative unit_price",
			"A,Northwind,2026-01-02,,USD,1,10,,200,,,,":                     "2 Tax Rate: must be between 0 and 100",
			"A,Northwind,2026-01-02,,USD,1,10,,,12,,,":                      "2 Total: must be what the lines add up to: 10.00",
			"A,Northwind,2026-01-02,,USD,1,10,,,,9999,,":                    `2 Account: "9999" is not the code, the name or the id of a ledger account`,
			"A,Northwind,2026-01-02,,USD,1,10,,,,1010,,":                    "2 Account: must be an account of type",
			"A,Northwind,2026-01-02,,USD,1,10,,,,,perhaps,":                 `2 Status: "perhaps" is not a known status`,
			"A,Northwind,2026-01-02,,USD,1,10,,,,,,Nobody":                  `2 Entity: "Nobody" is not the name or the id of one legal entity`,
			"A,twice,2026-01-02,,USD,1,10,,,,,,":                            `2 Customer: several customers have "twice"`,
			"A,,2026-01-02,,USD,1,10,,,,,,":                                 "2 Customer: is empty: name the customer",
			",Northwind,2026-01-02,,USD,1,10,,,,,,":                         "2 Number: is empty",
			"A,Northwind,,,USD,1,10,,,,,,":                                  "2 Date: is empty",
			"A,Northwind,2026-01-02,,USD,1,,,,,,,":                          "2 Amount: is empty: every line needs an amount or a unit price",
			"A,Northwind,2026-01-02,,USD,1,10":                              "2 -: the row has 7 cells, but there are 13 columns",
			"A,Northwind,2026-01-02,,USD,1,10,,,,,,\nA,Nobody,,,,1,5,,,,,,": `3 Customer: is "Nobody", but "Northwind" on line 2`,
		} {
			counts, invoices, faults := l.imported(t, header+row+"\nOK,Northwind,2026-01-01,,USD,1,10,,,,,,\n", client.ImportInvoices{DryRun: true})
			if wantCounts(t, row, counts, "1 0 0 1 0"); len(faults) != 1 || !strings.Contains(faults[0], want) || len(invoices) != 1 {
				t.Errorf("%s: %v %v, want %s", row, invoices, faults, want)
			}
		}
	})
}

func TestANumberThatExistsWithOtherContentIsAConflict(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		const header = "Number,Customer,Date,Amount\n"
		counts, _, _ := l.imported(t, header+"A,Northwind,2026-01-01,10\n", client.ImportInvoices{Customers: "existing"})
		wantCounts(t, "first", counts, "1 0 0 0 0")
		for row, want := range map[string]string{
			"A,Northwind,2026-01-01,11":                          "2 Number: the invoice A exists with another total_amount, line 1",
			"A,Northwind,2026-01-02,10":                          "2 Number: the invoice A exists with another invoice_date, due_date",
			"A,Northwind,2026-01-01,4\nA,Northwind,2026-01-01,6": "2 Number: the invoice A exists with another number of lines",
		} {
			counts, _, faults := l.imported(t, header+row+"\n", client.ImportInvoices{})
			wantCounts(t, row, counts, "0 0 0 1 0")
			if len(faults) != 1 || !strings.HasPrefix(faults[0], want+": to correct the draft, edit it with PATCH /v1/invoices/inv_") {
				t.Errorf("%s: %s, want %s", row, faults, want)
			}
		}
		_, _, faults := l.imported(t, header+"B,Nobody,2026-01-01,11\n", client.ImportInvoices{Customers: "existing"})
		same(t, "no such customer", faults, `2 Customer: there is no customer "Nobody"`)
	})
}

func TestAMappingReadsWhateverTheColumnsAreCalled(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		columns := map[string]any{"invoice_number": "Beleg", "customer_name": "#2", "invoice_date": "Am", "amount": "Netto", "tax_rate": "MwSt"}
		mapping := map[string]any{"columns": columns, "date_layouts": []string{"DD.MM.YYYY"}, "decimal": ",", "currency": "USD"}
		counts, invoices, faults := l.imported(t, "Beleg;Wer;Am;Netto;MwSt\nR1;Northwind;03.02.2026;1.000,50;19%\n",
			client.ImportInvoices{Mapping: mapping})
		wantCounts(t, "mapped", counts, "1 0 0 0 0")
		same(t, "mapped", append(invoices, faults...), "2 R1 Northwind draft 2026-02-03 2026-03-05 USD 1 1190.60")

		for _, c := range []struct {
			p      client.ImportInvoices
			fields []string
		}{
			{client.ImportInvoices{}, []string{"mapping", "mapping.columns.customer_name", "mapping.columns.invoice_date",
				"mapping.columns.invoice_number"}},
			{client.ImportInvoices{Mapping: map[string]any{"columns": map[string]any{"invoice_number": "Nummer", "customer_name": "Wer",
				"invoice_date": "Am", "amount": "Netto"}}}, []string{"mapping.columns.invoice_number"}},
			{client.ImportInvoices{Mapping: map[string]any{"decimal": "x"}}, []string{"mapping.decimal"}},
			{client.ImportInvoices{Status: "paid"}, []string{"status"}},
		} {
			c.p.File, c.p.FileName = strings.NewReader("Beleg;Wer;Am;Netto\nR1;Northwind;03.02.2026;1\n"), "a.csv"
			_, err := l.Client.ImportInvoices(t.Context(), c.p)
			apitest.WantError(t, fmt.Sprint(c.fields), err, 400, c.fields, "")
		}
	})
}

func TestALimitedKeyImportsOnlyForItsLegalEntities(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		other := l.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other", BaseCurrency: "USD"})
		mine := *l.Ledger.Tenant
		limited := &ledger{Ledger: &apitest.Ledger{Tenant: &mine, Accounts: l.Accounts}, customer: l.customer}
		mine.Client = client.New(s.URL, l.Limited(t, l.LegalEntity.ID))
		const header = "Number,Customer,Date,Amount,Entity\n"
		counts, invoices, _ := limited.imported(t, header+"A,Northwind,2026-01-01,10,\n", client.ImportInvoices{})
		wantCounts(t, "the only one that it sees", counts, "1 0 0 0 0")
		if len(invoices) != 1 {
			t.Errorf("%v", invoices)
		}
		_, _, faults := limited.imported(t, header+"B,Northwind,2026-01-01,10,Other\nC,New one,2026-01-01,10,\n", client.ImportInvoices{})
		same(t, "of another", faults, `2 Entity: "Other" is not the name or the id of one legal entity`,
			`3 Customer: there is no customer "New one", and a key that is limited to legal entities cannot create one`)
		_, err := mine.Client.ImportInvoices(t.Context(), client.ImportInvoices{File: strings.NewReader(header), FileName: "a.csv",
			LegalEntityID: other.ID})
		apitest.WantError(t, "another legal entity", err, 404, []string{"legal_entity_id"}, "")
	})
}
