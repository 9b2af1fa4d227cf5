package receivables_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

func TestAnApplicationBooksTheDepositAndPaysItsInvoices(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-01-10", "4010 1000.00 20% 2050")
		j := l.invoice(t, "open", "2026-01-20", "4010 300.00")
		for _, c := range []struct{ deposit, amounts, sums, entry, states string }{
			{"2026-02-01 Northwind 500.00", "400.00 100.00", "applied 500.00 500.00 0.00 0.00 0.00",
				"Cr Trade receivables 400.00; Cr Trade receivables 100.00; Dr Bank USD 500.00", "open 800.00, open 200.00"},
			{"2026-02-02 Northwind 1000.00-14.50", "800.00 150.00", "applied 1000.00 950.00 0.00 50.00 50.00",
				"Cr Trade receivables 800.00; Cr Trade receivables 150.00; Cr 2110 50.00; Dr 6220 14.50; Dr Bank USD 985.50",
				"paid 0.00, open 50.00"},
		} {
			d := l.deposit(t, c.deposit)
			a := l.apply(t, d, []client.Invoice{i, j}, strings.Fields(c.amounts)...)
			if got := sums(a); got != c.sums {
				t.Errorf("%s: %s, want %s", c.deposit, got, c.sums)
			}
			if got := l.written(t, a.JournalEntryID); got != c.entry {
				t.Errorf("%s is booked as\n%s, want\n%s", c.deposit, got, c.entry)
			}
			if got := l.state(t, i) + ", " + l.state(t, j); got != c.states {
				t.Errorf("%s: %s, want %s", c.deposit, got, c.states)
			}
			e := l.Find(t, *a.JournalEntryID)
			if e.OriginatedBy != "cash_application" || *e.Lines[0].Memo != i.InvoiceNumber || *e.Lines[1].Memo != j.InvoiceNumber ||
				e.AccountingDate.Format(time.DateOnly) != c.deposit[:10] {
				t.Errorf("%+v", e)
			}
			now, err := l.Client.Transaction(t.Context(), d.ID)
			if err != nil || now.Internal.Status != "posted" || *now.Internal.JournalEntryID != e.ID {
				t.Errorf("%+v %v", now, err)
			}
			if got, err := l.Client.CashApplication(t.Context(), a.ID); err != nil || apitest.JSON(t, got) != apitest.JSON(t, a) {
				t.Errorf("%+v %v, want %+v", got, err, a)
			}
		}
	})
}

func TestVoidingAnApplicationUndoesEverything(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-01-10", "4010 100.00")
		d := l.deposit(t, "2026-02-01 Northwind 120.00")
		a := l.apply(t, d, []client.Invoice{i}, "100.00")
		for _, way := range []func() error{
			func() error {
				_, err := l.Client.ReverseJournalEntry(t.Context(), *a.JournalEntryID, client.ReverseJournalEntry{})
				return err
			},
			func() error {
				_, err := l.Client.CorrectBooking(t.Context(), *a.JournalEntryID, client.CorrectBooking{TransactionType: "INCOME",
					LedgerAccountID: new(l.Accounts["4010"])})
				return err
			},
			func() error { _, err := l.Client.UnpostJournalEntry(t.Context(), *a.JournalEntryID); return err },
			func() error {
				_, err := l.Client.CorrectJournalEntry(t.Context(), *a.JournalEntryID, client.UpdateJournalEntry{Memo: new("x")})
				return err
			},
		} {
			apitest.WantConflict(t, way(), "books the cash application "+a.ID, "/void")
		}
		_, err := l.Client.VoidInvoice(t.Context(), i.ID, client.VoidInvoice{})
		apitest.WantConflict(t, err, "settled")
		_, err = l.Client.IfMatch("no such version").VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{})
		apitest.WantConflict(t, err, "has changed", a.ETag)
		void, err := l.Client.IfMatch(a.ETag).VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{Reason: "Wrong customer"})
		if err != nil || sums(void) != "voided 120.00 100.00 0.00 20.00 0.00" || *void.VoidReason != "Wrong customer" || void.ETag == a.ETag ||
			void.ErrorMessage != nil {
			t.Fatalf("%+v %v", void, err)
		}
		if e := l.Find(t, *a.JournalEntryID); e.ReversalChain.NextEntryID == nil {
			t.Errorf("the entry is not reversed: %+v", e)
		}
		now, err := l.Client.Transaction(t.Context(), d.ID)
		if err != nil || now.Internal.Status != "pending" || now.Internal.JournalEntryID != nil || l.state(t, i) != "open 100.00" {
			t.Errorf("%+v %v %s", now, err, l.state(t, i))
		}
		_, err = l.Client.VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{})
		apitest.WantConflict(t, err, "voided already")
		_, err = l.Client.ConfirmCashApplication(t.Context(), a.ID)
		apitest.WantConflict(t, err, "voided and cannot be confirmed")
		if again := l.apply(t, d, []client.Invoice{i}, "100.00"); again.Status != "applied" || l.state(t, i) != "paid 0.00" {
			t.Errorf("%+v", again)
		}
	})
}

func TestVoidingInAClosedPeriodPostsTheReversalLater(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-01-10", "4010 100.00")
		a := l.apply(t, l.deposit(t, "2026-01-20 Northwind 60.00"), []client.Invoice{i}, "60.00")
		l.Close(t, "", "2026-01")
		late := l.apply(t, l.deposit(t, "2026-01-25 Northwind 40.00"), []client.Invoice{i}, "40.00")
		if e := l.Find(t, *late.JournalEntryID); !e.PeriodAutoReassigned || e.AccountingDate.Format(time.DateOnly) != "2026-02-01" {
			t.Errorf("%+v", e)
		}
		if _, err := l.Client.VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{}); err != nil {
			t.Fatal(err)
		}
		e := l.Find(t, *a.JournalEntryID)
		if r := l.Find(t, *e.ReversalChain.NextEntryID); r.AccountingDate.Format("2006-01") == "2026-01" || l.state(t, i) != "open 60.00" {
			t.Errorf("%+v %s", r, l.state(t, i))
		}
	})
}

func TestWhatIsUnappliedIsUsedLater(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		d := l.deposit(t, "2026-01-05 Northwind 150.00")
		first := l.apply(t, d, nil)
		if sums(first) != "applied 150.00 0.00 0.00 150.00 150.00" || l.written(t, first.JournalEntryID) != "Cr 2110 150.00; Dr Bank USD 150.00" {
			t.Fatalf("%s %s", sums(first), l.written(t, first.JournalEntryID))
		}
		i := l.invoice(t, "open", "2026-02-10", "4010 100.00")
		preview, err := l.Client.PreviewCashApplication(t.Context(), client.PreviewCashApplication{DepositTransactionID: d.ID})
		if err != nil || preview.Deposit.Amount != "150.00" || len(preview.Suggestions) != 1 ||
			preview.Suggestions[0].MatchType != "overpayment" {
			t.Errorf("%+v %v", preview, err)
		}
		second := l.apply(t, d, []client.Invoice{i}, "100.00")
		if sums(second) != "applied 100.00 100.00 0.00 0.00 0.00" || *second.SourceApplicationID != first.ID ||
			l.written(t, second.JournalEntryID) != "Cr Trade receivables 100.00; Dr 2110 100.00" || l.state(t, i) != "paid 0.00" {
			t.Fatalf("%s %s", sums(second), l.written(t, second.JournalEntryID))
		}
		now, err := l.Client.CashApplication(t.Context(), first.ID)
		if err != nil || sums(now) != "applied 150.00 0.00 0.00 150.00 50.00" || now.ETag == first.ETag {
			t.Errorf("%s %v", sums(now), err)
		}
		_, err = l.Client.VoidCashApplication(t.Context(), first.ID, client.VoidCashApplication{})
		apitest.WantConflict(t, err, "later cash applications use or pay back 100.00")
		j := l.invoice(t, "open", "2026-02-11", "4010 80.00")
		_, err = l.Client.CreateCashApplication(t.Context(), client.CreateCashApplication{DepositTransactionID: d.ID,
			Allocations: allocate([]client.Invoice{j}, "80.00")})
		apitest.WantError(t, "more than is left", err, 409, []string{"allocations"}, "only 50.00 USD of the deposit are left")
		_, err = l.Client.CreateCashApplication(t.Context(), client.CreateCashApplication{DepositTransactionID: d.ID})
		apitest.WantError(t, "nothing", err, 400, []string{"allocations"}, "unapplied already")
		if _, err := l.Client.VoidCashApplication(t.Context(), second.ID, client.VoidCashApplication{}); err != nil {
			t.Fatal(err)
		}
		void, err := l.Client.VoidCashApplication(t.Context(), first.ID, client.VoidCashApplication{})
		if err != nil || void.Status != "voided" || l.state(t, i) != "open 100.00" {
			t.Errorf("%+v %v", void, err)
		}
	})
}

func TestAShortfallWithinTheLimitIsWrittenOff(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-01-10", "4010 100.00")
		d := l.deposit(t, "2026-02-01 Northwind 98.50")
		short := client.CreateCashApplication{DepositTransactionID: d.ID, Allocations: allocate([]client.Invoice{i}, "100.00")}
		_, err := l.Client.CreateCashApplication(t.Context(), short)
		apitest.WantError(t, "no limit", err, 409, []string{"allocations"}, "at most 0.00 USD are written off")
		if _, err := l.Client.UpdateSettings(t.Context(), client.UpdateSettings{WriteOffLimit: new("2.00")}); err != nil {
			t.Fatal(err)
		}
		preview, err := l.Client.PreviewCashApplication(t.Context(), client.PreviewCashApplication{DepositTransactionID: d.ID})
		if err != nil || len(preview.Suggestions) == 0 || preview.Suggestions[0].Delta != "-1.50" ||
			preview.Suggestions[0].TotalAmount != "100.00" {
			t.Fatalf("%+v %v", preview, err)
		}
		short.Allocations = preview.Suggestions[0].Allocations
		a, err := l.Client.CreateCashApplication(t.Context(), short)
		if err != nil || sums(a) != "applied 98.50 100.00 1.50 0.00 0.00" || a.MatchType != "customer_exact" || l.state(t, i) != "paid 0.00" ||
			l.written(t, a.JournalEntryID) != "Cr Trade receivables 100.00; Dr Bad debts 1.50; Dr Bank USD 98.50" {
			t.Fatalf("%+v %v %s", a, err, l.written(t, a.JournalEntryID))
		}
		_, err = l.Client.VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{})
		if err != nil || l.state(t, i) != "open 100.00" {
			t.Errorf("%v %s", err, l.state(t, i))
		}
		_, err = l.Client.UpdateSettings(t.Context(), client.UpdateSettings{WriteOffLimit: new("-1")})
		apitest.WantError(t, "negative", err, 400, []string{"write_off_limit"}, "must not be negative")
	})
}

// rule stores a rule about payments for the lines of invoices with a text.
func (l *ledger) rule(t *testing.T, action, matcher, mode, accountID string) {
	t.Helper()
	if err := l.tryRule(t, action, matcher, mode, accountID); err != nil {
		t.Fatal(err)
	}
}

func (l *ledger) tryRule(t *testing.T, action, matcher, mode, accountID string) error {
	t.Helper()
	r := client.PutMemoryRule{RuleType: "cash_application", Name: new("R " + matcher), Statement: new("See " + matcher),
		Action: new(action), Matcher: new(matcher), MatchMode: new(mode)}
	if accountID != "" {
		a, err := l.Client.LedgerAccount(t.Context(), accountID)
		if err != nil {
			t.Fatal(err)
		}
		r.LedgerAccountID, r.LedgerAccountName = new(a.ID), new(a.Name)
	}
	_, err := l.Client.PutMemoryRule(t.Context(), "", r)
	return err
}

// An application that waits for its review uses the rest of a deposit: nobody else can, and the one that left it cannot be voided.
func TestAReviewReservesTheRestOfADeposit(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		l.rule(t, "require_human_review", "Special deal", "exact", "")
		d := l.deposit(t, "2026-02-01 Northwind 100.00")
		first := l.apply(t, d, []client.Invoice{l.invoice(t, "open", "2026-01-10", "4010 40.00")}, "40.00")
		p := l.params("open", "2026-01-11", "4010 10.00")
		p.Lines[0].Description = "Special deal"
		special, other := l.NewInvoice(t, p), l.invoice(t, "open", "2026-01-12", "4010 55.00")
		available := func(want string) {
			t.Helper()
			a, err := l.Client.CashApplication(t.Context(), first.ID)
			if err != nil || a.AvailableAmount != want {
				t.Errorf("%s is available, want %s: %v", a.AvailableAmount, want, err)
			}
		}
		for _, confirmed := range []bool{false, true} {
			wait := l.apply(t, d, []client.Invoice{special}, "10.00")
			if wait.Status != "pending" {
				t.Fatalf("%+v", wait)
			}
			available("50.00")
			_, err := l.Client.CreateCashApplication(t.Context(), client.CreateCashApplication{DepositTransactionID: d.ID,
				Allocations: allocate([]client.Invoice{other}, "55.00")})
			apitest.WantError(t, "more than is left", err, 409, []string{"allocations"}, "only 50.00 USD of the deposit are left")
			_, err = l.Client.VoidCashApplication(t.Context(), first.ID, client.VoidCashApplication{})
			apitest.WantConflict(t, err, "void those first")
			if confirmed {
				if wait, err = l.Client.ConfirmCashApplication(t.Context(), wait.ID); err != nil || *wait.SourceApplicationID != first.ID ||
					l.written(t, wait.JournalEntryID) != "Cr Trade receivables 10.00; Dr 2110 10.00" {
					t.Fatalf("%+v %v", wait, err)
				}
				available("50.00")
			}
			if _, err := l.Client.VoidCashApplication(t.Context(), wait.ID, client.VoidCashApplication{}); err != nil {
				t.Fatal(err)
			}
			available("60.00")
		}
		if _, err := l.Client.VoidCashApplication(t.Context(), first.ID, client.VoidCashApplication{}); err != nil {
			t.Error(err)
		}
	})
}

func TestRulesCannotRouteToAccountsThatApplicationsExplain(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-01-10", "4010 40.00")
		a := l.apply(t, l.deposit(t, "2026-02-01 Northwind 100.00"), []client.Invoice{i}, "40.00")
		refused := 0
		for _, line := range l.Find(t, *a.JournalEntryID).Lines {
			if line.CreditOrDebit == "CREDIT" {
				refused++
				err := l.tryRule(t, "route_to_account", "Anything", "contains", line.LedgerAccountID)
				apitest.WantError(t, line.LedgerAccountID, err, 400, []string{"ledger_account_id"}, "choose another account")
			}
		}
		if refused != 2 {
			t.Errorf("%d accounts are credited", refused)
		}
	})
}

func TestRulesRouteAndDemandReviews(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		l.rule(t, "route_to_account", "Validator", "contains", l.Accounts["4020"])
		l.rule(t, "require_human_review", "special  DEAL", "exact", "")
		p := l.params("open", "2026-01-10", "4010 30.00; 4010 70.00 20% 2050")
		p.Lines[1].Product = "Validator fees"
		i := l.NewInvoice(t, p)
		a := l.apply(t, l.deposit(t, "2026-02-01 Northwind 57.00"), []client.Invoice{i}, "57.00")
		if got := l.written(t, a.JournalEntryID); got !=
			"Cr Trade receivables 57.00; Cr 4020 35.00; Dr 4010 35.00; Dr Bank USD 57.00" {
			t.Errorf("routed as %s", got)
		}
		p = l.params("open", "2026-01-11", "4010 10.00")
		p.Lines[0].Description = "Special deal"
		j := l.NewInvoice(t, p)
		d := l.deposit(t, "2026-02-02 Northwind 10.00")
		wait := l.apply(t, d, []client.Invoice{j}, "10.00")
		if sums(wait) != "pending 10.00 10.00 0.00 0.00 0.00" || wait.JournalEntryID != nil || l.state(t, j) != "open 10.00" ||
			!strings.Contains(*wait.ReviewReason, "R special  DEAL") {
			t.Fatalf("%+v", wait)
		}
		other := l.deposit(t, "2026-02-03 Northwind 10.00")
		_, err := l.Client.CreateCashApplication(t.Context(), client.CreateCashApplication{DepositTransactionID: other.ID,
			Allocations: allocate([]client.Invoice{j}, "10.00")})
		apitest.WantError(t, "reserved", err, 409, []string{"allocations[0].target_id"}, wait.ID)
		_, err = l.Client.VoidInvoice(t.Context(), j.ID, client.VoidInvoice{})
		apitest.WantConflict(t, err, wait.ID)
		_, err = l.Client.MarkInvoiceUncollectible(t.Context(), j.ID, client.MarkInvoiceUncollectible{})
		apitest.WantConflict(t, err, wait.ID)
		_, err = l.Client.CreateCreditNote(t.Context(), client.CreateCreditNote{CustomerID: l.customer.ID, InvoiceID: j.ID,
			LegalEntityID: l.LegalEntity.ID, CreditNoteDate: "2026-02-01", Lines: l.lines("4010 1.00")})
		apitest.WantConflict(t, err, wait.ID)
		_, err = l.Client.CreateCashApplication(t.Context(), client.CreateCashApplication{DepositTransactionID: d.ID})
		apitest.WantError(t, "waits", err, 409, []string{"deposit_transaction_id"}, "confirm or void it")
		done, err := l.Client.IfMatch(wait.ETag).ConfirmCashApplication(t.Context(), wait.ID)
		if err != nil || done.Status != "confirmed" || done.JournalEntryID == nil || l.state(t, j) != "paid 0.00" || done.ConfirmedAt == nil {
			t.Errorf("%+v %v", done, err)
		}
		_, err = l.Client.VoidCashApplication(t.Context(), done.ID, client.VoidCashApplication{})
		if err != nil || l.state(t, j) != "open 10.00" {
			t.Errorf("%v %s", err, l.state(t, j))
		}
	})
}

func TestWhatCannotBeAppliedIsRefused(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		l.AddEntity(t, "DE", "EUR")
		open := l.invoice(t, "open", "2026-01-10", "4010 100.00")
		draft := l.invoice(t, "draft", "2026-01-10", "4010 100.00")
		void := l.invoice(t, "draft", "2026-01-10", "4010 100.00")
		if _, err := l.Client.VoidInvoice(t.Context(), void.ID, client.VoidInvoice{}); err != nil {
			t.Fatal(err)
		}
		paid := l.invoice(t, "open", "2026-01-10", "4010 10.00")
		applied := l.deposit(t, "2026-01-20 Northwind 10.00")
		l.apply(t, applied, []client.Invoice{paid}, "10.00")
		p := l.params("open", "2026-01-10", "4010 100.00")
		p.LegalEntityID = l.Names["DE"]
		p.Currency = "USD"
		if _, err := l.Client.StoreFXRates(t.Context(), apitest.Rates("USD EUR 2026-01-10 0.9", "EUR USD 2026-01-10 1.1")); err != nil {
			t.Fatal(err)
		}
		german := l.NewInvoice(t, p)
		p = l.params("open", "2026-01-10", "4010 100.00")
		p.Currency = "EUR"
		euro := l.NewInvoice(t, p)
		later := l.invoice(t, "open", "2026-03-01", "4010 100.00")
		d := l.deposit(t, "2026-02-01 Northwind 100.00")
		spam := l.deposit(t, "2026-02-01 Northwind 100.00")
		if _, err := l.Client.UpdateTransaction(t.Context(), spam.ID, client.UpdateTransaction{Status: new("spam")}); err != nil {
			t.Fatal(err)
		}
		booked := l.deposit(t, "2026-02-01 Northwind 100.00")
		if _, err := l.Client.BookTransaction(t.Context(), client.BookTransaction{TransactionID: booked.ID, TransactionType: "INCOME",
			LedgerAccountID: l.Accounts["4010"], AutoPost: true}); err != nil {
			t.Fatal(err)
		}
		out := l.NewOutflow(t, l.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", Address: "0x1"}).ID, "1")
		before := l.AuditCount(t)
		target, amount, deposit := []string{"allocations[0].target_id"}, []string{"allocations[0].amount"}, []string{"deposit_transaction_id"}
		for what, c := range map[string]struct {
			deposit, invoice, amount string
			status                   int
			fields                   []string
			says                     string
		}{
			"negative":         {d.ID, open.ID, "-1.00", 400, amount, "must be positive"},
			"zero":             {d.ID, open.ID, "0", 400, amount, "must be positive"},
			"decimals":         {d.ID, open.ID, "0.001", 400, amount, "more decimals"},
			"more than is due": {d.ID, open.ID, "100.01", 409, []string{"allocations", "allocations[0].amount"}, "100.00 is due"},
			"other currency":   {d.ID, euro.ID, "10.00", 409, target, "in EUR, the deposit in USD"},
			"paid":             {d.ID, paid.ID, "10.00", 409, target, "is paid"},
			"void":             {d.ID, void.ID, "10.00", 409, target, "is void"},
			"draft":            {d.ID, draft.ID, "10.00", 409, target, "is a draft"},
			"other entity":     {d.ID, german.ID, "10.00", 409, target, "another legal entity"},
			"later invoice":    {d.ID, later.ID, "10.00", 409, target, "its rest to the invoice later"},
			"unknown invoice":  {d.ID, apitest.UnknownID(open.ID), "10.00", 404, target, "not found"},
			"unknown deposit":  {apitest.UnknownID(d.ID), open.ID, "10.00", 404, deposit, "not found"},
			"spam":             {spam.ID, open.ID, "10.00", 409, deposit, "is spam"},
			"booked elsewhere": {booked.ID, open.ID, "10.00", 409, deposit, "has the journal entry"},
			"already applied":  {applied.ID, open.ID, "10.00", 409, deposit, "is applied already"},
			"outflow":          {out.ID, open.ID, "10.00", 409, deposit, "left the source"},
		} {
			_, err := l.Client.CreateCashApplication(t.Context(), client.CreateCashApplication{DepositTransactionID: c.deposit,
				Allocations: []client.Allocation{{TargetID: c.invoice, Amount: c.amount}}})
			apitest.WantError(t, what, err, c.status, c.fields, c.says)
		}
		_, err := l.Client.CreateCashApplication(t.Context(), client.CreateCashApplication{DepositTransactionID: d.ID,
			Allocations: allocate([]client.Invoice{open, open}, "1.00", "2.00")})
		apitest.WantError(t, "twice", err, 400, []string{"allocations[1].target_id"}, "twice")
		_, err = l.Client.PreviewCashApplication(t.Context(), client.PreviewCashApplication{DepositTransactionID: spam.ID})
		apitest.WantError(t, "preview of spam", err, 409, deposit, "is spam")
		if after := l.AuditCount(t); after != before {
			t.Errorf("%d records were written", after-before)
		}
	})
}
