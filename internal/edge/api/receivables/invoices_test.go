package receivables_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func TestAnOpenInvoiceIsBookedByLineAndTax(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		for _, x := range []struct{ lines, amounts, entry string }{
			{"4010 100.00", "100.00 0.00 100.00 100.00", "Dr Trade receivables 100.00; Cr 4010 100.00"},
			{"4010 10x100.00 20% 2050", "1000.00 200.00 1200.00 1200.00",
				"Dr Trade receivables 1200.00; Cr 4010 1000.00; Cr 2050 200.00"},
			{"4010 3x33.335 19% 2050; 2120 50.00 tax 1.23 2050", "150.00 20.23 170.23 170.23", // 100.005 and 19.00 are rounded half-even
				"Dr Trade receivables 170.23; Cr 4010 100.00; Cr 2120 50.00; Cr 2050 20.23"},
			{"4010 100.00 10% 2050; 4080 -30.00 10% 2050; 4020 0.00", "70.00 7.00 77.00 77.00", // a discount, and a line for nothing
				"Dr Trade receivables 77.00; Cr 4010 100.00; Dr 4080 30.00; Cr 2050 7.00"},
			{"4010 0.00000001x123456789.00", "1.23 0.00 1.23 1.23", "Dr Trade receivables 1.23; Cr 4010 1.23"},
		} {
			draft := l.invoice(t, "draft", "2026-01-31", x.lines)
			if amounts(draft) != x.amounts || draft.JournalEntryID != nil || draft.Status != "draft" {
				t.Errorf("%s: %s, want %s", x.lines, amounts(draft), x.amounts)
			}
			open, err := l.Client.OpenInvoice(t.Context(), draft.ID)
			if err != nil || open.Status != "open" || amounts(open) != x.amounts {
				t.Fatalf("%s: %+v %v", x.lines, open, err)
			}
			if got := l.written(t, open.JournalEntryID); got != x.entry {
				t.Errorf("%s: %s, want %s", x.lines, got, x.entry)
			}
			at := l.Find(t, *open.JournalEntryID)
			if at.OriginatedBy != "invoice" || at.Classification != "INVOICE" || at.AccountingDate.Format("2006-01-02") != "2026-01-31" ||
				!strings.Contains(*at.Memo, open.InvoiceNumber) {
				t.Errorf("%+v", at)
			}
		}
	})
}

func TestEveryFaultOfAnInvoiceIsNamedAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		l.invoice(t, "open", "2026-01-31", "4010 1.00")
		before := l.AuditCount(t)
		with := func(change func(*client.CreateInvoice)) error {
			p := l.params("open", "2026-01-31", "4010 10.00 20% 2050")
			change(&p)
			_, err := l.Client.CreateInvoice(t.Context(), p)
			return err
		}
		for name, x := range map[string]struct {
			change func(*client.CreateInvoice)
			status int
			fields string
			says   string
		}{
			"dates": {func(p *client.CreateInvoice) { p.InvoiceDate, p.DueDate = "2026-02-30", "31.01.2026" }, 400, "invoice_date due_date", "a date such as"},
			"due":   {func(p *client.CreateInvoice) { p.DueDate = "2026-01-30" }, 400, "due_date", "before"},
			"terms": {func(p *client.CreateInvoice) { p.DueDate, p.PaymentTermsDays = "2026-02-01", new(3) }, 400, "payment_terms_days", "omitted"},
			"total": {func(p *client.CreateInvoice) { p.TotalAmount = "12.01" }, 400, "total_amount", "add up to: 12.00"},
			"zero":  {func(p *client.CreateInvoice) { p.Lines[0].UnitPrice = "0" }, 400, "lines", "positive total"},
			"negative": {func(p *client.CreateInvoice) { p.Lines[0].Quantity, p.Lines[0].TaxRate = "-1", "101" }, 400,
				"lines[0].quantity lines[0].tax_rate", "positive"},
			"huge": {func(p *client.CreateInvoice) {
				p.Lines[0].Quantity, p.Lines[0].UnitPrice = "99999999999999", "99999999999999"
			}, 400,
				"lines[0].unit_price", "less than"},
			"no tax account":  {func(p *client.CreateInvoice) { p.Lines[0].TaxLedgerAccountID = "" }, 400, "lines[0].tax_ledger_account_id", "required"},
			"both taxes":      {func(p *client.CreateInvoice) { p.Lines[0].TaxAmount = "1.00" }, 400, "lines[0].tax_amount", "omitted"},
			"part of a cent":  {func(p *client.CreateInvoice) { p.Lines[0].TaxRate, p.Lines[0].TaxAmount = "", "1.001" }, 400, "lines[0].tax_amount", "decimals"},
			"an asset":        {func(p *client.CreateInvoice) { p.Lines[0].LedgerAccountID = l.Accounts["1010"] }, 400, "lines[0].ledger_account_id", "of type"},
			"a group":         {func(p *client.CreateInvoice) { p.Lines[0].LedgerAccountID = l.Accounts["4000"] }, 400, "lines[0].ledger_account_id", "not postable"},
			"an unknown one":  {func(p *client.CreateInvoice) { p.Lines[0].LedgerAccountID = "lac_1" }, 404, "lines[0].ledger_account_id", "not found"},
			"currency":        {func(p *client.CreateInvoice) { p.Currency = "XYZ" }, 400, "currency", "ISO 4217"},
			"number":          {func(p *client.CreateInvoice) { p.InvoiceNumber = "INV-1" }, 409, "invoice_number", "INV-1 already"},
			"customer":        {func(p *client.CreateInvoice) { p.CustomerID = "cus_1" }, 404, "customer_id", "not found"},
			"no rate":         {func(p *client.CreateInvoice) { p.Currency = "EUR" }, 409, "lines", "no rate from EUR to USD is stored for 2026-01-31"},
			"several at once": {func(p *client.CreateInvoice) { p.CustomerID, p.Currency, p.InvoiceDate = "cus_1", "XYZ", "1900-01-01" }, 400, "customer_id currency invoice_date", ""},
		} {
			apitest.WantError(t, name, with(x.change), x.status, strings.Fields(x.fields), x.says)
		}
		if after := l.AuditCount(t); after != before {
			t.Errorf("%d changes were made by refused requests", after-before)
		}
	})
}

func TestNumbersFollowEachOtherInEachLegalEntity(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		l.AddEntity(t, "DE", "USD")
		number := func(entity, given string) string {
			p := l.params("draft", "2026-01-31", "4010 1.00")
			p.LegalEntityID, p.InvoiceNumber = l.Names[entity], given
			return l.NewInvoice(t, p).InvoiceNumber
		}
		first := l.invoice(t, "draft", "2026-01-31", "4010 1.00")
		if err := l.Client.DeleteInvoice(t.Context(), first.ID); err != nil { // its number stays
			t.Fatal(err)
		}
		for _, x := range [][3]string{{"US", "", "INV-2"}, {"US", " INV-3 ", "INV-3"}, {"US", "", "INV-4"}, {"DE", "", "INV-1"},
			{"DE", "INV-4", "INV-4"}, {"DE", "", "INV-2"}} {
			if got := number(x[0], x[1]); got != x[2] {
				t.Errorf("%s %q: %s, want %s", x[0], x[1], got, x[2])
			}
		}
	})
}

func TestOnlyDueDateAndMemoChangeOnceAnInvoiceIsOpen(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "draft", "2026-01-31", "4010 10.00")
		if i.DueDate != "2026-03-02" { // 30 days
			t.Errorf("due on %s", i.DueDate)
		}
		lines := l.lines("4020 2x7.00")
		changed, err := l.Client.UpdateInvoice(t.Context(), i.ID, client.UpdateInvoice{Lines: &lines, InvoiceDate: new("2026-02-01"),
			InvoiceNumber: new("A-1"), TotalAmount: new("14.00")})
		if err != nil || amounts(changed) != "14.00 0.00 14.00 14.00" || changed.InvoiceNumber != "A-1" || changed.DueDate != "2026-03-02" ||
			changed.InvoiceDate != "2026-02-01" {
			t.Errorf("%+v %v", changed, err)
		}
		before := l.AuditCount(t)
		if _, err := l.Client.UpdateInvoice(t.Context(), i.ID, client.UpdateInvoice{Lines: &lines}); err != nil || l.AuditCount(t) != before {
			t.Errorf("%v: nothing changed, but something was written", err)
		}
		open, err := l.Client.OpenInvoice(t.Context(), i.ID)
		if err != nil || l.written(t, open.JournalEntryID) != "Dr Trade receivables 14.00; Cr 4020 14.00" {
			t.Errorf("%+v %v", open, err)
		}
		_, err = l.Client.UpdateInvoice(t.Context(), i.ID, client.UpdateInvoice{Lines: &lines, Memo: client.Set("x")})
		apitest.WantError(t, "lines", err, 409, []string{"lines"}, "only its due_date and memo")
		later, err := l.Client.UpdateInvoice(t.Context(), i.ID, client.UpdateInvoice{DueDate: new("2026-05-01"), Memo: client.Set("Please")})
		if err != nil || later.DueDate != "2026-05-01" || *later.Memo != "Please" || *later.JournalEntryID != *open.JournalEntryID {
			t.Errorf("%+v %v", later, err)
		}
		_, err = l.Client.OpenInvoice(t.Context(), i.ID)
		apitest.WantConflict(t, err, "only a draft can be opened")
	})
}

func TestADraftOnAnArchivedAccountIsNotOpened(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "draft", "2026-01-31", "4030 10.00")
		if _, err := l.Client.ArchiveLedgerAccount(t.Context(), l.Accounts["4030"]); err != nil {
			t.Fatal(err)
		}
		_, err := l.Client.OpenInvoice(t.Context(), i.ID)
		apitest.WantConflict(t, err, "is archived", "edit it first")
		apitest.WantConflict(t, l.Client.DeleteLedgerAccount(t.Context(), l.Accounts["4030"]), "invoice line")
		lines := l.lines("4010 10.00")
		if _, err := l.Client.UpdateInvoice(t.Context(), i.ID, client.UpdateInvoice{Lines: &lines}); err != nil {
			t.Error(err)
		}
		if got, err := l.Client.OpenInvoice(t.Context(), i.ID); err != nil || !slices.Contains(got.Guidance.AllowedActions, "void") {
			t.Errorf("%+v %v", got, err)
		}
	})
}
