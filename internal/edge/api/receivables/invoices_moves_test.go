package receivables_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
)

func TestVoidingReversesAndWritingOffExpensesWhatIsDue(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-01-31", "4010 100.00 20% 2050")
		for _, date := range []string{"2026-01-30", "2031-01-01"} {
			_, err := l.Client.MarkInvoiceUncollectible(t.Context(), i.ID, client.MarkInvoiceUncollectible{AccountingDate: date})
			apitest.WantError(t, date, err, 400, []string{"accounting_date"}, "must")
		}
		lost, err := l.Client.MarkInvoiceUncollectible(t.Context(), i.ID, client.MarkInvoiceUncollectible{AccountingDate: "2026-02-28"})
		if err != nil || lost.Status != "uncollectible" || lost.AmountDue != "120.00" ||
			l.written(t, lost.WriteOffJournalEntryID) != "Dr Bad debts 120.00; Cr Trade receivables 120.00" {
			t.Fatalf("%+v %v", lost, err)
		}
		if at := l.Find(t, *lost.WriteOffJournalEntryID).AccountingDate.Format("2006-01-02"); at != "2026-02-28" {
			t.Errorf("written off on %s", at)
		}
		_, err = l.Client.MarkInvoiceUncollectible(t.Context(), i.ID, client.MarkInvoiceUncollectible{})
		apitest.WantConflict(t, err, "only an open one")
		back, err := l.Client.ReopenInvoice(t.Context(), i.ID)
		if err != nil || back.Status != "open" || back.WriteOffJournalEntryID != nil {
			t.Errorf("%+v %v", back, err)
		}
		if e := l.Find(t, *lost.WriteOffJournalEntryID); e.ReversalChain.NextEntryID == nil {
			t.Errorf("the entry that wrote it off is not reversed: %+v", e)
		}
		_, err = l.Client.ReopenInvoice(t.Context(), i.ID)
		apitest.WantConflict(t, err, "only an uncollectible one")
		again, err := l.Client.MarkInvoiceUncollectible(t.Context(), i.ID, client.MarkInvoiceUncollectible{LedgerAccountID: l.Accounts["1390"]})
		if err != nil || l.written(t, again.WriteOffJournalEntryID) != "Dr 1390 120.00; Cr Trade receivables 120.00" {
			t.Errorf("%+v %v", again, err)
		}
		void, err := l.Client.VoidInvoice(t.Context(), i.ID, client.VoidInvoice{Reason: "Twice"})
		if err != nil || void.Status != "void" || *void.VoidReason != "Twice" || void.AmountDue != "0.00" || void.TotalAmount != "120.00" {
			t.Fatalf("%+v %v", void, err)
		}
		for _, id := range []string{*void.JournalEntryID, *void.WriteOffJournalEntryID} {
			reversed := l.Find(t, id)
			if reversed.ReversalChain.NextEntryID == nil {
				t.Fatalf("%s is not reversed", reversed.SequenceNumber)
			}
			if r := l.Find(t, *reversed.ReversalChain.NextEntryID); !r.AccountingDate.Equal(reversed.AccountingDate) {
				t.Errorf("reversed on %s, not on the date of the entry", r.AccountingDate)
			}
		}
		_, err = l.Client.VoidInvoice(t.Context(), i.ID, client.VoidInvoice{})
		apitest.WantConflict(t, err, "void already")
		_, err = l.Client.UpdateInvoice(t.Context(), i.ID, client.UpdateInvoice{Memo: client.Set("x")})
		apitest.WantConflict(t, err, "is void")
	})
}

func TestAnInvoiceIsNotWrittenOffToWhatItIsDueOn(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-01-31", "4010 100.00")
		for _, line := range l.Find(t, *i.JournalEntryID).Lines {
			if line.LedgerAccountID == l.Accounts["4010"] {
				continue
			}
			_, err := l.Client.MarkInvoiceUncollectible(t.Context(), i.ID, client.MarkInvoiceUncollectible{LedgerAccountID: line.LedgerAccountID})
			var problem *client.Error
			if !errors.As(err, &problem) || problem.Status != http.StatusBadRequest || !strings.Contains(err.Error(), "choose another account") {
				t.Errorf("%v", err)
			}
		}
	})
}

func TestInvoicesOfClosedPeriodsAreBookedAndReversedInOpenOnes(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-01-15", "4010 100.00")
		l.Close(t, "", "2026-01")
		late := l.Find(t, *l.invoice(t, "open", "2026-01-20", "4010 5.00").JournalEntryID)
		if !late.PeriodAutoReassigned || late.AccountingDate.Format("2006-01-02") != "2026-02-01" {
			t.Errorf("%+v", late)
		}
		if _, err := l.Client.VoidInvoice(t.Context(), i.ID, client.VoidInvoice{}); err != nil {
			t.Fatal(err)
		}
		e := l.Find(t, *i.JournalEntryID)
		if r := l.Find(t, *e.ReversalChain.NextEntryID); r.AccountingDate.Format("2006-01") == "2026-01" {
			t.Errorf("reversed in the closed period: %+v", r)
		}
	})
}

func TestForeignCurrencyIsTranslatedAndTheControlAccountAgreesAfterARevaluation(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		if _, err := l.Client.StoreFXRates(t.Context(), apitest.Rates("EUR USD 2026-01-15 1.10", "EUR USD 2026-01-31 1.20",
			"EUR USD 2026-02-10 1.15")); err != nil {
			t.Fatal(err)
		}
		p := l.params("open", "2026-01-15", "4010 100.01 20% 2050")
		p.Currency = "EUR"
		i := l.NewInvoice(t, p)
		if i.Currency != "EUR" || amounts(i) != "100.01 20.00 120.01 120.01" {
			t.Errorf("%+v", i)
		}
		january := l.Period(t, "2026-01").ID
		if _, err := l.Client.CreateRevaluation(t.Context(), client.CreateRevaluation{AccountingPeriodID: january}); err != nil {
			t.Fatal(err)
		}
		apitest.Verify(t, s.App)
		lost, err := l.Client.MarkInvoiceUncollectible(t.Context(), i.ID, client.MarkInvoiceUncollectible{AccountingDate: "2026-02-10"})
		if err != nil || l.written(t, lost.WriteOffJournalEntryID) != "Dr Bad debts 144.01; Cr Trade receivables 144.01" { // as of January
			t.Errorf("%+v %v", lost, err)
		}
		apitest.Verify(t, s.App)
	})
}

func TestTheEntryOfAnInvoiceChangesOnlyWithTheInvoice(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-01-31", "4010 100.00")
		lost := l.invoice(t, "open", "2026-01-31", "4010 100.00")
		lost, err := l.Client.MarkInvoiceUncollectible(t.Context(), lost.ID, client.MarkInvoiceUncollectible{})
		if err != nil {
			t.Fatal(err)
		}
		for entry, says := range map[string]string{*i.JournalEntryID: "void that with POST /v1/invoices/" + i.ID + "/void",
			*lost.WriteOffJournalEntryID: "reopen that with POST /v1/invoices/" + lost.ID + "/reopen"} {
			_, err = l.Client.ReverseJournalEntry(t.Context(), entry, client.ReverseJournalEntry{})
			apitest.WantConflict(t, err, says)
			_, err = l.Client.UnpostJournalEntry(t.Context(), entry)
			apitest.WantConflict(t, err, says)
			_, err = l.Client.CorrectJournalEntry(t.Context(), entry, client.UpdateJournalEntry{Memo: new("x")})
			apitest.WantConflict(t, err, says)
			if e := l.Find(t, entry); len(e.Guidance.AllowedActions) != 0 || !strings.Contains(e.Guidance.Warnings[0], "invoice") {
				t.Errorf("%+v", e.Guidance)
			}
		}
		control := l.Find(t, *i.JournalEntryID).Lines[0].LedgerAccountID
		_, err = l.Client.CreateJournalEntry(t.Context(), l.Entry("2026-01-31", "draft", "Dr "+control+" 1.00; Cr 4010 1.00"))
		apitest.WantError(t, "by hand", err, 400, []string{"lines[0].ledger_account_id"}, "kept by invoices")
	})
}

// settle settles a part of an invoice, or undoes that, with an entry on the control account, as the application of a deposit does.
func settle(t *testing.T, l *ledger, id, amount string) (invoice.Invoice, error) {
	t.Helper()
	var out invoice.Invoice
	err := l.Service().App.DB.Write(l.Context(t), l.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
		out, err = invoice.Settle(ctx, tx, id, money.MustParse(amount))
		return err
	})
	return out, err
}

func TestWhatIsDueIsSettledAndDueAgainWithinTheTotal(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		id := l.invoice(t, "open", "2026-01-31", "4010 100.00").ID
		for _, x := range []struct{ amount, want string }{
			{"40.00", "open 60.00"}, {"60.01", "60.00 is due on the invoice INV-1, which is less than 60.01"}, {"0.001", "more decimals"},
			{"60.00", "paid 0.00"}, {"0.01", "is paid"}, {"-100.01", "100.00 of the invoice INV-1 are settled"}, {"-0.01", "open 0.01"},
			{"-59.99", "open 60.00"}, {"-40.00", "open 100.00"},
		} {
			got, err := settle(t, l, id, x.amount)
			text := string(got.Status) + " " + got.AmountDue.Fixed("USD")
			if err != nil {
				text = err.Error()
			}
			if !strings.Contains(text, x.want) {
				t.Errorf("%s: %s, want %s", x.amount, text, x.want)
			}
			if x.amount == "40.00" {
				_, err := l.Client.VoidInvoice(t.Context(), id, client.VoidInvoice{})
				apitest.WantConflict(t, err, "40.00 of the invoice INV-1 are settled")
			}
		}
	})
}

func TestVerificationNamesReceivablesThatDifferFromTheInvoices(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		id := l.invoice(t, "open", "2026-01-31", "4010 100.00").ID
		var found []string
		undo := errors.New("undo")
		err := s.App.DB.Write(l.Context(t), l.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
			if _, err = invoice.Settle(ctx, tx, id, money.MustParse("30")); err != nil {
				return err
			}
			if found, err = invoice.Verify(ctx, tx); err != nil {
				return err
			}
			return undo
		})
		want := "the trade receivables of the legal entity " + l.LegalEntity.ID + " are 100 USD, but the invoices are 70"
		if !errors.Is(err, undo) || len(found) != 2 || !strings.Contains(found[0], "the entries of "+id+" do not add up to what is due on it") ||
			!strings.HasPrefix(strings.ReplaceAll(found[1], ".00", ""), want) {
			t.Errorf("%v %q, want %s", err, found, want)
		}
	})
}

func TestASourceCannotHaveAnAccountThatInvoicesOrApplicationsKeep(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		a := l.apply(t, l.deposit(t, "2026-02-01 Northwind 100.00"), []client.Invoice{l.invoice(t, "open", "2026-01-10", "4010 40.00")}, "40.00")
		own := l.NewSource(t, client.CreateSource{})
		for _, line := range l.Find(t, *a.JournalEntryID).Lines {
			if line.CreditOrDebit != "CREDIT" {
				continue
			}
			_, err := l.Client.CreateSource(t.Context(), client.CreateSource{SourceType: "bank", Name: "x", LegalEntityID: l.LegalEntity.ID,
				Currency: "USD", LedgerAccountID: line.LedgerAccountID})
			apitest.WantError(t, "a new one", err, 400, []string{"ledger_account_id"}, "kept by invoices")
			_, err = l.Client.UpdateSource(t.Context(), own.ID, client.UpdateSource{LedgerAccountID: &line.LedgerAccountID})
			apitest.WantError(t, "a changed one", err, 400, []string{"ledger_account_id"}, "kept by invoices")
		}
	})
}
