package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
)

func TestAFileOfInvoicesIsCheckedInADryRunAndThenImportedOnce(t *testing.T) {
	t.Parallel()
	dbtest.EachConfig(t, func(t *testing.T, c db.Config) {
		b := withSource(t, c)
		write := func(name, text string) string {
			file := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return file
		}
		run := func(args ...string) result {
			return inside(on(c, append([]string{"import", "invoices"}, args...)...)...)
		}
		const header = "Number,Customer,Date,Qty,Price\n"
		file := write("a.csv", header+"A-1,Northwind,2026-01-05,2,50.00\nA-1,,,1,20.00\nA-2,Acme,2026-01-06,1,7.00\n")
		types := write("t.csv", "Number,Customer,Date,Amount,Terms,Type,Tax\nC-1,Acme,2026-01-05,5,Net 30,Invoice,1\n"+
			"C-2,Acme,2026-01-05,5,,Quote,\n")
		for _, step := range []struct {
			args  []string
			wants []string
		}{
			{[]string{file, "--account", "4010", "--dry-run"}, []string{`"invoice_number": "Number"`, "line 2: A-1, Northwind, 120.00 USD, draft",
				"2 invoices and 2 customers would be created; 0 invoices exist already"}},
			{[]string{file, "--account", "4010", "--status", "open"}, []string{"line 4: A-2, Acme, 7.00 USD, open",
				"2 invoices and 2 customers created"}},
			{[]string{file, "--account", "4010"}, []string{"0 invoices and 0 customers created; 2 invoices exist already", "exists already"}},
			{[]string{types, "--account", "2050", "--tax-account", "2050", "--dry-run"}, []string{"line 2: C-1, Acme, 6.00 USD, draft",
				"Columns that are not used: Terms\n",
				"Line 3 is of the type \"Quote\" and not an invoice, and is left out.\n",
				"1 invoice and 0 customers would be created; 0 invoices exist already, 1 skipped, 0 left out"}},
		} {
			got := run(step.args...).mustDo(t).out
			for _, want := range step.wants {
				if !strings.Contains(got, want) {
					t.Errorf("%v: %q does not say %q", step.args, got, want)
				}
			}
		}
		for _, c := range []struct {
			args  []string
			wants []string
		}{
			{[]string{write("b.csv", header+"B-1,Northwind,x,1,1\nB-2,Acme,2026-02-01,1,1\n"), "--account", "4010"},
				[]string{"1 invoice has faults"}},
			{[]string{file, "--account", "9999"}, []string{`there is no ledger account with the code or the id "9999"`}},
			{[]string{file, "--legal-entity", "Nobody"}, []string{`there is no legal entity "Nobody"`}},
			{[]string{file, "--status", "paid"}, []string{"--status must be draft or open"}},
			{[]string{file, "--mapping", write("n.json", `{"columns": {"invoice_number": "Number", "customer_name": "Customer", "invoice_date": "Date",
				"unit_price": "Nope"}}`)}, []string{`mapping.columns.unit_price is "Nope", but the file has no such column`}},
			{[]string{file, "--mapping", write("m.json", `{"colums": {}}`)}, []string{"is not a mapping"}},
			{[]string{write("a.xlsx", "PK\x03\x04\x14\x00\x06\x00")}, []string{"is an Excel workbook"}},
			{[]string{}, []string{"bursar import invoices needs one argument, FILE"}},
		} {
			r := run(c.args...)
			for _, want := range c.wants {
				if r.code == 0 || !strings.Contains(r.err, want) {
					t.Errorf("%v: %d %q does not say %q", c.args, r.code, r.err, want)
				}
			}
		}
		const accounts = "Number,Customer,Date,Amount,Tax,Account\nD-1,Acme,2026-01-05,5,1,\nD-2,Acme,2026-01-05,5,,77\n"
		r := run(write("d.csv", accounts), "--dry-run")
		for _, want := range []string{"or set --account\n", "or set --tax-account\n",
			"set a --mapping without ledger_account, so that --account decides\n"} {
			if !strings.Contains(r.out, want) {
				t.Errorf("%q does not say %q", r.out, want)
			}
		}
		found, err := b.Invoices.List(b.ctx, invoice.Filter{}, page.Request{Limit: 10})
		if err != nil || len(found.Items) != 3 {
			t.Errorf("%+v %v", found, err)
		}
	})
}
