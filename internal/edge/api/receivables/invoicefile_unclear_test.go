package receivables_test

import (
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// Invoices are written without their dates; the date of all is 2026-01-05, and they are due after 30 days.
func TestWhatAFileOfInvoicesLeavesUnclearIsAFault(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		l.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other", BaseCurrency: "EUR"})
		const lines = "Number,Customer,Date,Description,Qty,Amount\n"
		const plain = "Number,Customer,Date,Amount\n"
		const entity = "Number,Customer,Date,Description,Amount,Entity\n"
		const customer = "Number,Customer ID,Customer Name,Email,Date,Amount\n"
		l.imported(t, customer+"K1,k-1,Kay,kay@kay.example,2026-01-05,1\nL1,l-1,Ell,ell@ell.example,2026-01-05,1\n",
			client.ImportInvoices{LegalEntityID: l.LegalEntity.ID})
		for name, c := range map[string]struct {
			file string
			want string
		}{
			"a row with too few cells and a number": {lines + "A,Northwind,2026-01-05,One,1,10\nA,,,Two\nB,Northwind,2026-01-05,One,1,10\n",
				"4 B USD 1 10.00|3 -: the row has 4 cells"},
			"a row with a quote in the wrong place": {lines + "A,Northwind,2026-01-05,One,1,10\nA,,,T\"wo,1,5\n",
				"3 -: has a quote inside the cell"},
			"a row with an invalid character": {lines + "A,Northwind,2026-01-05,One,1,10\nA,,,T\x00wo,1,5\n", "3 Description: contains a NUL"},
			"an unreadable row without a number": {lines + "A,Northwind,2026-01-05,One,1,10\n,,,Two\n,,,Three,1,5\nB,Northwind,2026-01-05,One,1,10\n",
				"5 B USD 1 10.00|3 -: the row has 4 cells|4 Number: is empty"},
			"a shifted row whose number may be of an invoice above": {"Customer,Number,Date,Description,Amount\nNorthwind,A,2026-01-05,One,10\n" +
				"Northwind,B,2026-01-05,One,10\nNorthwind,C,2026-01-05,One,10\nA,Two,5\n",
				"3 B USD 1 10.00|2 Number: occurs on line 5, which cannot be read|5 -: the row has 3 cells"},
			"a row of a new invoice without a number": {lines + "A,Northwind,2026-01-05,One,1,10\n,Northwind,2026-01-05,One,1,7\n,,,Two,1,5\n",
				"2 A USD 1 10.00|3 Number: is empty|4 Number: is empty"},
			"a customer's email without a number": {"Number,Customer,Email,Date,Description,Amount\nA,Northwind,,2026-01-05,One,10\n" +
				",,x@x.example,,Two,7\n", "2 A USD 1 10.00|3 Number: is empty"},
			"a sum at the end": {lines + "A,Northwind,2026-01-05,One,1,10\n,,,Two,1,5\n,,,,,15\n", "2 A USD 2 15.00|4 Number: is empty"},
			"a sum that is called one": {lines + "A,Northwind,2026-01-05,One,1,10\n,,,Two,1,5\n,,,Total,,15\nB,Northwind,2026-01-05,One,1,1\n,,,Sum:,,1\n",
				"2 A USD 2 15.00|5 B USD 1 1.00"},
			"a sum with the number": {lines + "A,Northwind,2026-01-05,One,1,10\nA,,,Grand Total,,10\n", "2 A USD 1 10.00"},
			"a sum with taxes": {"Number,Customer,Date,Description,Amount,Tax Rate\nA,Northwind,2026-01-05,One,100,20\n,,,Subtotal,100,\n" +
				",,,Total,120,\n", "2 A USD 1 120.00"},
			"the sum of a report": {lines + "A,Northwind,2026-01-05,One,1,10\nB,Northwind,2026-01-05,One,1,5\n,,,Total,,15\n",
				"2 A USD 1 10.00|4 Description: the row is called a sum, but 15 is not the sum of the lines above it"},
			"a sum or a line": {lines + "A,Northwind,2026-01-05,One,1,10\n,,,Two,1,5\n,,,Three,,15\n",
				"4 Amount: 15 is the sum of the lines above: remove the row if it is that sum; if it is a line, repeat the invoice number"},
			"a line that is as much as those above": {lines + "A,Northwind,2026-01-05,One,1,10\n,,,Two,1,5\nA,,,Three,,15\n", "2 A USD 3 30.00"},
			"a total that decides it": {lines[:len(lines)-1] + ",Total\nA,Northwind,2026-01-05,One,1,10,30\n,,,Two,1,5,\n,,,Three,,15,\n",
				"2 A USD 3 30.00"},
			"two equal lines without a quantity": {lines + "A,Northwind,2026-01-05,January,,10\n,,,February,,10\n", "2 A USD 2 20.00"},
			"nothing due and no status": {plain[:len(plain)-1] + ",Amount Due\nA,Northwind,2026-01-05,1000,0\nB,Northwind,2026-01-05,5,5.00\n",
				"3 B USD 1 5.00"},
			"all paid and no status": {plain[:len(plain)-1] + ",Amount Paid\nA,Northwind,2026-01-05,1000,1000\nB,Northwind,2026-01-05,5,0\n",
				"3 B USD 1 5.00"},
			"nothing due on nothing": {plain[:len(plain)-1] + ",Amount Due\nA,Northwind,2026-01-05,0,0\n", "2 -: lines must add up to a positive total"},
			"nothing due and open": {plain[:len(plain)-1] + ",Amount Due,Status\nA,Northwind,2026-01-05,1000,0,sent\n",
				`2 Amount Due: nothing of 1000.00 is due, but the status is "sent": correct one of them`},
			"an entity once":        {entity + "A,Northwind,2026-01-05,One,10,Other\nA,,,Two,5,\n", "2 A EUR 2 15.00"},
			"an entity below":       {entity + "A,Northwind,2026-01-05,One,10,\nA,,,Two,5,other\n", "2 Entity: is empty, but stated on another line"},
			"the same entity below": {entity + "A,Northwind,2026-01-05,One,10,\nA,,,Two,5,ENTITY_NAME\n", "2 A USD 2 15.00"},
			"an entity two ways":    {entity + "A,Northwind,2026-01-05,One,10,ENTITY_ID\nA,,,Two,5,ENTITY_NAME\n", "2 A USD 2 15.00"},
			"another entity in a further line": {entity + "A,Northwind,2026-01-05,One,10,Other\nA,,,Two,5,ENTITY_ID\n",
				"3 Entity: is not that of the line above"},
			"one number in two entities": {entity + "A,Northwind,2026-01-05,One,10,Other\nA,Northwind,2026-01-05,Two,5,ENTITY_ID\n",
				"2 A EUR 1 10.00|3 A USD 1 5.00"},
			"another sign":   {plain + "A,Northwind,2026-01-05,€10\nB,Northwind,2026-01-05,$10\n", "3 B USD 1 10.00|2 Amount: has the sign €, but"},
			"another dollar": {"Number,Customer,Date,Amount,Entity\nA,Northwind,2026-01-05,$10,Other\n", "2 Amount: has the sign $, but"},
			"a balance": {plain[:len(plain)-1] + ",Open Balance\nA,Northwind,2026-01-05,1000,400\nB,Northwind,2026-01-05,5,5.00\n",
				"3 B USD 1 5.00|2 Open Balance: 400.00 of 1000.00 is due: a partly paid invoice cannot be imported"},
			"a remaining amount": {plain[:len(plain)-1] + ",Amount Due,Amount Remaining\nA,Northwind,2026-01-05,1000,1000,400\n",
				"2 Amount Remaining: 400.00 of 1000.00 is due"},
			"a paid amount": {plain[:len(plain)-1] + ",Amount Paid,Status\nA,Northwind,2026-01-05,1000,600,open\nB,Northwind,2026-01-05,5,5,paid\n",
				"2 Amount Paid: 600.00 of 1000.00 is paid: a partly paid invoice cannot be imported"},
			"an amount that no unit price makes": {lines + "A,Northwind,2026-01-05,One,3000000,1000\n", "2 A USD 1 1000.00"},
			"nothing of something":               {"Number,Customer,Date,Qty,Price\nA,Northwind,2026-01-05,0,10\n", "2 Qty: is 0, and there is no amount"},
			"the same customer three times":      {customer + "A,k-1,Kay,kay@kay.example,2026-01-05,1\n", "2 A USD 1 1.00"},
			"the id and name of two customers":   {customer + "A,k-1,Ell,,2026-01-05,1\n", `2 Customer Name: "Ell" is another customer than "k-1"`},
			"the name and email of two customers": {customer + "A,,Kay,ell@ell.example,2026-01-05,1\n",
				`2 Email: "ell@ell.example" is another customer than "Kay"`},
			"an unknown id of a known name": {customer + "A,k-2,Kay,,2026-01-05,1\n", `2 Customer ID: "k-2" is not an id of the customer`},
			"an id that is too long":        {customer + "A," + strings.Repeat("k", 300) + ",New,,2026-01-05,1\n", "2 Customer ID: must have"},
			"a fraction as a rate": {plain[:len(plain)-1] + ",Tax Rate\nA,Northwind,2026-01-05,100,0.19\nB,Northwind,2026-01-05,100,0.5%\n",
				"3 B USD 1 100.50|2 Tax Rate: 0.19 may mean 19% or 0.19%: write 19 or 19%"},
			"an invoice twice": {lines + "A,Northwind,2026-01-05,One,1,10\nB,Northwind,2026-01-05,One,1,10\nA,Northwind,2026-01-05,One,1,10\n",
				"3 B USD 1 10.00|4 Number: the row is the same as line 2"},
			"two equal lines": {lines + "A,Northwind,2026-01-05,One,1,10\nA,Northwind,2026-01-05,One,1,10\n", "2 A USD 2 20.00"},
			"a late hour": {plain + "A,Northwind,2026-01-05T23:30:00-05:00,1\nB,Northwind,2026-01-05T00:30:00+09:00,1\n",
				"2 A USD 1 1.00|3 B USD 1 1.00"},
		} {
			file := strings.NewReplacer("ENTITY_ID", l.LegalEntity.ID, "ENTITY_NAME", l.LegalEntity.Name).Replace(c.file)
			_, invoices, faults := l.imported(t, file, client.ImportInvoices{LegalEntityID: l.LegalEntity.ID, DryRun: true})
			for k, i := range invoices {
				f := strings.Fields(i)
				if n := len(f); f[n-5] != "2026-01-05" || f[n-4] != "2026-02-04" {
					t.Errorf("%s: the dates of %s are wrong", name, i)
				} else {
					invoices[k] = strings.Join([]string{f[0], f[1], f[n-3], f[n-2], f[n-1]}, " ")
				}
			}
			got, want := append(invoices, faults...), strings.Split(c.want, "|")
			matches := len(got) == len(want)
			for k := 0; matches && k < len(got); k++ {
				matches = strings.HasPrefix(got[k], want[k])
			}
			if !matches {
				t.Errorf("%s:\n got %s\nwant %s", name, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
			}
		}
	})
}

func TestAnInvoiceThatExistsAsVoidOrAsADraftIsNotADuplicateOfAnOpenOne(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		const file = "Number,Customer,Date,Amount\nA,Northwind,2026-01-05,10\n"
		l.imported(t, file, client.ImportInvoices{})
		id := ""
		for i, err := range l.Client.Invoices(t.Context(), nil) {
			if id = i.ID; err != nil {
				t.Fatal(err)
			}
		}
		counts, _, faults := l.imported(t, file, client.ImportInvoices{Status: "open"})
		wantCounts(t, "a draft", counts, "0 0 0 1 0")
		same(t, "a draft", faults, "2 Number: the invoice A exists as a draft: open it with POST /v1/invoices/"+id+"/open")
		if _, err := l.Client.VoidInvoice(t.Context(), id, client.VoidInvoice{}); err != nil {
			t.Fatal(err)
		}
		counts, _, faults = l.imported(t, file, client.ImportInvoices{})
		wantCounts(t, "void", counts, "0 0 0 1 0")
		same(t, "void", faults, "2 Number: the invoice A exists and is void: to create it anew, first give the void one another number with "+
			"PATCH /v1/invoices/"+id)
	})
}
