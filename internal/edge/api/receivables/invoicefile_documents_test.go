package receivables_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/edge/api"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// Each file is answered with its counts (created, skipped, faulty, new customers), then the invoices, what is left out, the unused columns
// and the errors. Of those the beginnings are compared.
func TestOnlyTheInvoicesOfAFileAreImported(t *testing.T) {
	t.Parallel()
	l := openLedger(t, apitest.Start(t, dbtest.Open(t, dbtest.SQLite(t)), api.Config{}))
	const list = "Acme LLC\nInvoice List\n\nDate,Transaction Type,Num,Name,Due Date,Amount,Open Balance\n"
	const xero = "ContactName,InvoiceNumber,InvoiceDate,DueDate,Total,InvoiceAmountDue,Description,Quantity,UnitAmount,Discount,LineAmount," +
		"AccountCode,TaxAmount,Type,Status\n"
	const stripe = "id,Amount Due,Currency,Customer,Date (UTC),Number,Paid,Subtotal,Total Discount Amount,Tax,Total,Status,Customer Name\n"
	const plain = "Number,Customer,Date,Amount\n"
	for name, c := range map[string]struct{ file, want string }{
		"a list of QuickBooks": {list + "01/31/2026,Invoice,1,One,03/02/2026,362.07,362.07\n02/05/2026,Invoice,2,Two,03/07/2026,78.60,0.00\n" +
			"02/08/2026,Credit Memo,1,One,,50.00,50.00\n02/08/2026,Credit Memo,4,One,,50.00,50.00\n02/08/2026,Payment,,One,,50.00,0.00\n" +
			"TOTAL,,,,,\"$1,182.45\",$889.57\n\n\nTuesday, Nov 17, 2026 01:00 PM GMT-8 - Accrual Basis\n",
			"1 4 0 1|5 1 One 362.07|Line 6 is paid, because nothing is due on it|" +
				"Line 7 is of the type \"Credit Memo\" and not an invoice, and is left out, and so is another one.|" +
				"Line 9 is of the type \"Payment\"|Line 10 is the sum of the report|Line 13 is the time of the report"},
		"other documents": {list + "01/31/2026,Estimate,1,One,,1,1\n01/31/2026,Sales Receipt,2,One,,1,1\n01/31/2026,Bill,3,One,,1,1\n" +
			"01/31/2026,Gift,4,One,,1,1\n",
			"0 3 1 0|Line 5 is of the type \"Estimate\"|Line 6 is of the type \"Sales Receipt\"|Line 7 is of the type \"Bill\"|" +
				"8 Transaction Type: \"Gift\" is not a known type of document: write invoice if it is one, or remove the row"},
		"a type of something else": {"Number,Customer,Date,Amount,Type\n1,One,2026-01-31,5,Service\n", "1 0 0 1|2 1 One 5.00|unused Type"},
		"a credit note with lines": {"Number,Customer,Date,Description,Amount,Type\n1,One,2026-01-31,A,5,Credit note\n,,,B,6,\n1,,,C,7,\n" +
			"1,One,2026-01-31,D,8,Credit note\n2,One,2026-01-31,A,5,Invoice\n,,,B,6,\n",
			"1 1 0 1|6 2 One 11.00|Line 2 is of the type \"Credit note\" and not an invoice, and is left out."},
		"a sales list": {"Date,Type,No.,Customer,Amount,Status\n10/12/2026,Invoice,1,One,$85.00,Overdue on 11/11/2026\n" +
			"10/13/2026,Invoice,2,One,\"$1,629.10\",Paid (Not Deposited)\n10/14/2026,Invoice,3,One,$81.00,\"Due in 5 days, Sent\"\n" +
			"10/14/2026,Invoice,4,One,$81.00,Partially paid\n10/14/2026,Invoice,5,One,$81.00,Voided\n10/14/2026,Invoice,6,One,$81.00,Closed\n" +
			"10/14/2026,Invoice,7,One,$81.00,Paid half\n",
			"2 3 2 1|2 1 One 85.00|4 3 One 81.00|Line 3 is paid, and is left out, and so is another one|Line 6 is void|" +
				"5 Status: is \"Partially paid\": a partly paid invoice cannot be imported as such: write open here to import it in full|" +
				"8 Status: \"Paid half\" is not a known status"},
		"the template of QuickBooks": {"*InvoiceNo,*Customer,*InvoiceDate,ItemQuantity,ItemRate,*ItemAmount,Taxable,TaxRate\n" +
			"1,One,01/31/2026,4,75.00,300.00,Y,8%\n1,One,01/31/2026,1,35.00,35.00,N,\n", "1 0 0 1|2 1 One 359.00|unused Taxable"},
		"sales tax": {"Number,Customer,Date,Amount,Sales Tax\n1,One,2026-01-31,100,8.25\n", "1 0 0 1|2 1 One 108.25"},
		"a discount in percent": {xero + "One,1,13/01/2026,,90.00,90.00,A,1.0000,100.0000,10,90.00,4010,0.00,Sales invoice,Awaiting Approval\n" +
			"One,2,13/01/2026,,,,A,3,10.0000,5,,,,ACCREC,Authorised\nOne,3,13/01/2026,,,,A,1,100,10,95,,,ACCREC,Authorised\n" +
			"One,4,13/01/2026,,,,A,1,100,110,,,,ACCREC,Authorised\nTwo,5,13/01/2026,,,,A,1,100,,,200,,ACCREC,Authorised\n",
			"2 0 3 1|2 1 One 90.00|3 2 One 28.50|4 LineAmount: is 95, but the quantity of 1 times the unit price of 100 less 10% is 90|" +
				"5 Discount: must be between 0 and 100|6 AccountCode: \"200\" is not the code, the name or the id of a ledger account: correct it, " +
				"or send a mapping without ledger_account, so that ledger_account_id decides"},
		"a discount as an amount": {stripe + "in_1,90,usd,cus_1,2026-01-03,1,FALSE,100.00,10.00,0,90.00,open,One\n" +
			"in_2,98,usd,cus_1,2026-01-03,2,FALSE,90.00,10.00,8,98.00,open,One\n" +
			"in_3,95,usd,cus_1,2026-01-03,3,FALSE,100.00,10.00,0,95.00,open,One\n" +
			"in_4,108,usd,cus_1,2026-01-03,4,FALSE,108.00,0,8,108.00,open,One\nin_5,20,usd,cus_2,2026-01-03,,FALSE,20,0,0,20,draft,Two\n",
			"2 1 2 1|2 1 One 90.00|3 2 One 98.00|Line 6 is a draft and has no number, and is left out.|unused id, Paid|" +
				"4 Total Discount Amount: is 10, but neither the unit price nor the total shows whether the amount contains the discount|" +
				"5 Subtotal: the amounts contain the tax, because they add up to the total of 108"},
		"a price, an amount and a discount": {"Number,Customer,Date,Qty,Price,Discount,Amount\n1,One,2026-01-31,2,50,10,90\n1,One,2026-01-31,1,5,,5\n" +
			"2,One,2026-01-31,2,50,10,95\n3,One,2026-01-31,2,50,10,\n",
			"1 0 2 1|2 1 One 95.00|4 Amount: is 95, but the quantity of 2 times the unit price of 50 less the discount of 10 is 90|" +
				"5 Discount: is 10, but neither the unit price nor the total shows"},
		"no name of the customer": {"Number,Customer,Date,Amount\n1,cus_9,2026-01-31,5\n",
			"0 0 1 0|2 Customer: \"cus_9\" is not the id of a customer, and the file has no name to create it: export the names"},
		"a negative total": {plain + "1,One,2026-01-31,-5\n", "0 0 1 0|2 Amount: the total of -5 is negative: it looks like a credit note"},
		"too many decimals": {plain[:len(plain)-1] + ",Total\n1,One,2026-01-31,12.345,\n2,Two,2026-01-31,,1.005\n3,One,2026-01-31,12.3400,\n",
			"1 0 2 1|4 3 One 12.34|2 Amount: is 12.345, but amounts in USD have at most 2 decimals|3 Total: is 1.005, but"},
		"customers of faulty invoices": {plain[:len(plain)-1] + ",Total\n1,One,2026-01-31,5,6\n2,Two,2026-01-31,5,5\n3,One,2026-01-31,5,7\n",
			"1 0 2 1|3 2 Two 5.00|2 Total: must be what the lines add up to: 5.00|4 Total: must be"},
		"no rate": {plain[:len(plain)-1] + ",Currency\n1,One,2026-01-31,5,GBP\n", "0 0 1 0|2 -: no rate from GBP to USD is stored"},
	} {
		got := l.described(t, c.file)
		want := strings.Split(c.want, "|")
		matches := len(got) == len(want)
		for k := 0; matches && k < len(got); k++ {
			matches = strings.HasPrefix(got[k], want[k])
		}
		if !matches {
			t.Errorf("%s:\n got %s\nwant %s", name, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
}

// described returns what a dry run of a file says.
func (l *ledger) described(t *testing.T, file string) (out []string) {
	t.Helper()
	r, err := l.Client.ImportInvoices(t.Context(), client.ImportInvoices{File: strings.NewReader(file), FileName: "a.csv", DryRun: true,
		Status: "open", LedgerAccountID: l.Accounts["4010"], TaxLedgerAccountID: l.Accounts["2050"]})
	if err != nil {
		return []string{err.Error()}
	}
	out = append(out, fmt.Sprint(r.Counts.Created, r.Counts.Skipped, r.Counts.Faulty, r.Counts.CustomersCreated))
	for _, i := range r.Invoices {
		out = append(out, fmt.Sprintf("%d %s %s %s", i.Line, i.InvoiceNumber, i.CustomerName, i.TotalAmount))
	}
	for _, reason := range r.Reasons {
		if strings.HasPrefix(reason, "Line") {
			out = append(out, reason)
		}
	}
	if len(r.UnusedColumns) > 0 {
		out = append(out, "unused "+strings.Join(r.UnusedColumns, ", "))
	}
	for _, e := range r.Errors {
		column := "-"
		if e.Column != nil {
			column = *e.Column
		}
		out = append(out, fmt.Sprintf("%d %s: %s", e.Line, column, e.Message))
	}
	return out
}

func TestAnInvoiceThatWasImportedWronglyIsVoidedRenumberedAndImportedAnew(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		const header = "Number,Customer,Date,Amount\n"
		l.imported(t, header+"A,Northwind,2026-01-05,10\n", client.ImportInvoices{Status: "open"})
		var wrong client.Invoice
		for i, err := range l.Client.Invoices(t.Context(), nil) {
			if wrong = i; err != nil {
				t.Fatal(err)
			}
		}
		_, _, faults := l.imported(t, header+"A,Northwind,2026-01-05,12\n", client.ImportInvoices{Status: "open"})
		same(t, "open", faults, "2 Number: the invoice A exists with another total_amount, line 1: to correct it, void it, give the void one "+
			"another number with PATCH /v1/invoices/"+wrong.ID+", and create it anew")
		number := func(text string) client.UpdateInvoice { return client.UpdateInvoice{InvoiceNumber: &text} }
		_, err := l.Client.UpdateInvoice(t.Context(), wrong.ID, number("A-wrong"))
		apitest.WantError(t, "while it is open", err, 409, []string{"invoice_number"}, "")
		if _, err := l.Client.VoidInvoice(t.Context(), wrong.ID, client.VoidInvoice{}); err != nil {
			t.Fatal(err)
		}
		_, err = l.Client.UpdateInvoice(t.Context(), wrong.ID, number(" "))
		apitest.WantError(t, "no number", err, 400, []string{"invoice_number"}, "")
		_, err = l.Client.UpdateInvoice(t.Context(), wrong.ID, client.UpdateInvoice{DueDate: new("2026-03-01")})
		apitest.WantConflict(t, err, "is void: only its number can change")
		if got, err := l.Client.UpdateInvoice(t.Context(), wrong.ID, number("A-wrong")); err != nil || got.InvoiceNumber != "A-wrong" ||
			got.Status != "void" {
			t.Fatalf("%+v %v", got, err)
		}
		counts, invoices, faults := l.imported(t, header+"A,Northwind,2026-01-05,12\n", client.ImportInvoices{Status: "open"})
		wantCounts(t, "anew", counts, "1 0 0 0 0")
		same(t, "anew", append(invoices, faults...), "2 A Northwind open 2026-01-05 2026-02-04 USD 1 12.00")
		_, err = l.Client.UpdateInvoice(t.Context(), wrong.ID, number("A"))
		apitest.WantError(t, "the number of another", err, 409, []string{"invoice_number"}, "")

		own, err := l.Client.CreateInvoice(t.Context(), l.params("draft", "2026-01-31", "4010 10.00"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Client.VoidInvoice(t.Context(), own.ID, client.VoidInvoice{}); err != nil {
			t.Fatal(err)
		}
		_, err = l.Client.UpdateInvoice(t.Context(), own.ID, number("other"))
		apitest.WantConflict(t, err, "its number was chosen by Bursar")
	})
}
