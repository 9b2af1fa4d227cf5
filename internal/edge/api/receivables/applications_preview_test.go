package receivables_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
)

// suggestions writes what a preview suggests: the type, the confidence, the numbers of invoices with amounts, and the difference.
func (l *ledger) suggestions(t *testing.T, d client.Transaction) string {
	t.Helper()
	p, err := l.Client.PreviewCashApplication(t.Context(), client.PreviewCashApplication{DepositTransactionID: d.ID})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	if p.DerivedCustomer != nil {
		out = append(out, p.DerivedCustomer.Name+" by "+p.DerivedCustomer.Basis)
	}
	for _, s := range p.Suggestions {
		text := fmt.Sprintf("%s %v", s.MatchType, s.Confidence)
		for _, a := range s.Allocations {
			text += " " + a.InvoiceNumber + " " + a.Amount
		}
		if s.Delta != "0.00" {
			text += " rest " + s.Delta
		}
		if s.Certain {
			text += " certain"
		}
		if len(s.Reasons) == 0 || s.Certain != (len(s.Doubts) == 0) {
			t.Errorf("%s: reasons %v, doubts %v", text, s.Reasons, s.Doubts)
		}
		out = append(out, text)
	}
	return strings.Join(append(out, fmt.Sprintf("of %d", p.CandidatePoolSize)), "; ")
}

// contents returns everything that is stored, except what is written about requests that are not answered from it.
func contents(t *testing.T, s *apitest.Service) string {
	t.Helper()
	var out strings.Builder
	for _, table := range db.Tables {
		if table.Kind == db.Local || strings.HasPrefix(table.Name, "rate_") {
			continue
		}
		rows, err := s.App.DB.Jobs().QueryContext(t.Context(), "SELECT * FROM "+table.Name)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for rows.Next() {
			values := make([]any, len(columns))
			for n := range values {
				values[n] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				t.Fatal(err)
			}
			line := table.Name
			for _, v := range values {
				line += fmt.Sprintf("|%v", *v.(*any))
			}
			lines = append(lines, line)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		slices.Sort(lines)
		out.WriteString(strings.Join(lines, "\n"))
	}
	return out.String()
}

func TestAPreviewFindsInvoicesAndWritesNothing(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		for _, amount := range []string{"100.00", "250.00", "400.00"} {
			l.invoice(t, "open", "2026-01-10", "4010 "+amount)
		}
		other := l.NewCustomer(t, "Globex")
		p := l.params("open", "2026-01-10", "4010 70.00")
		p.CustomerID = other.ID
		l.NewInvoice(t, p)
		l.invoice(t, "draft", "2026-01-10", "4010 70.00")
		for deposit, want := range map[string]string{
			"2026-02-01 Northwind 250.00":              "Northwind by payer_name; customer_exact 0.97 INV-2 250.00 certain; of 4",
			"2026-02-01 Somebody 350.00: INV-1, INV-2": "Northwind by invoice_number; exact 0.99 INV-1 100.00 INV-2 250.00 certain; of 4",
			"2026-02-01 Northwind 750.00":              "Northwind by payer_name; combination 0.95 INV-1 100.00 INV-2 250.00 INV-3 400.00 certain; of 4",
			"2026-02-01 Somebody 70.00":                "exact 0.9 INV-4 70.00; of 4",
			"2026-02-01 Northwind 900.00":              "Northwind by payer_name; overpayment 0.5 INV-1 100.00 INV-2 250.00 INV-3 400.00 rest 150.00; of 4",
			"2026-02-01 Somebody 1.23":                 "of 4",
			"2026-01-01 Somebody 70.00":                "of 0",
		} {
			d := l.deposit(t, deposit)
			before := contents(t, s)
			if got := l.suggestions(t, d); got != want {
				t.Errorf("%s:\n%s, want\n%s", deposit, got, want)
			}
			if contents(t, s) != before {
				t.Errorf("%s: the preview has changed the database", deposit)
			}
		}
	})
}

func TestAPayerIsRecognizedByConfirmedApplications(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-01-10", "4010 100.00")
		l.invoice(t, "open", "2026-01-11", "4010 55.00")
		a := l.apply(t, l.deposit(t, "2026-02-01 Holding XY 100.00"), []client.Invoice{i}, "100.00")
		next := l.deposit(t, "2026-02-02 HOLDING  xy 55.00")
		if got := l.suggestions(t, next); !strings.HasPrefix(got, "exact 0.9") {
			t.Errorf("not confirmed, but recognized: %s", got)
		}
		if _, err := l.Client.IfMatch(a.ETag).ConfirmCashApplication(t.Context(), a.ID); err != nil {
			t.Fatal(err)
		}
		if got := l.suggestions(t, next); !strings.HasPrefix(got, "Northwind by earlier_deposits; customer_exact 0.97") {
			t.Errorf("confirmed: %s", got)
		}
		if _, err := l.Client.VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{}); err != nil {
			t.Fatal(err)
		}
		if got := l.suggestions(t, next); strings.Contains(got, "earlier_deposits") {
			t.Errorf("voided: %s", got)
		}
	})
}

func TestADigitalAssetPaysByItsValueAndForeignMoneySettlesItsRate(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		if _, err := l.Client.StoreFXRates(t.Context(), apitest.Rates("EUR USD 2026-01-10 1.10", "EUR USD 2026-02-01 1.20")); err != nil {
			t.Fatal(err)
		}
		wallet := l.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", Name: "Wallet", Address: "0x1"})
		crypto := func(gross, currency string) client.Transaction {
			made, err := l.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: wallet.ID,
				ExternalID: client.NewIdempotencyKey(),
				External: client.CreateTransactionExternal{Timestamp: time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC), Description: "Payment",
					Direction: "credit", Quantity: new("2"), Currency: "ETH", ValueFiat: &client.ValuedFiat{Gross: gross, Fee: "0.00", Net: gross,
						Currency: currency}}})
			if err != nil {
				t.Fatal(err)
			}
			return made.Data[0]
		}
		usd := l.invoice(t, "open", "2026-01-10", "4010 5000.00")
		p := l.params("open", "2026-01-10", "4010 1000.00")
		p.Currency = "EUR"
		eur := l.NewInvoice(t, p)
		d := crypto("5000.00", "USD")
		if got := l.suggestions(t, d); got != "exact 0.9 "+usd.InvoiceNumber+" 5000.00; of 1" {
			t.Error(got)
		}
		a := l.apply(t, d, []client.Invoice{usd}, "5000.00")
		if got := l.written(t, a.JournalEntryID); got != "Cr Trade receivables 5000.00; Dr Wallet 5000.00" {
			t.Error(got)
		}
		_, err := l.Client.CreateCashApplication(t.Context(), client.CreateCashApplication{DepositTransactionID: crypto("900.00", "USD").ID,
			Allocations: allocate([]client.Invoice{eur}, "900.00")})
		apitest.WantError(t, "other currency", err, 409, []string{"allocations[0].target_id"}, "in EUR, the deposit in USD")

		bank := l.apply(t, l.deposit(t, "2026-02-01 Northwind 400.00 EUR"), []client.Invoice{eur}, "300.00")
		if got := l.written(t, bank.JournalEntryID); got !=
			"Cr Trade receivables 330.00; Cr 2110 120.00; Dr Bank EUR 480.00; Cr 4530 30.00" {
			t.Errorf("euros are booked as %s", got)
		}
		coin := l.apply(t, crypto("700.00", "EUR"), []client.Invoice{eur}, "700.00")
		if got := l.written(t, coin.JournalEntryID); got != "Cr Trade receivables 770.00; Dr Wallet 840.00; Cr 4530 70.00" {
			t.Errorf("a digital asset worth euros is booked as %s", got)
		}
		if got := l.state(t, eur); got != "paid 0.00" {
			t.Error(got)
		}
		for _, a := range []client.CashApplication{coin, bank, a} {
			if _, err := l.Client.VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{}); err != nil {
				t.Error(err)
			}
		}
		if got := l.state(t, eur) + " " + l.state(t, usd); got != "open 1000.00 open 5000.00" {
			t.Error(got)
		}
	})
}

func TestLotsThatWereSoldKeepAnApplicationFromBeingVoided(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		wallet := l.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", Name: "Wallet", Address: "0x1"})
		i := l.invoice(t, "open", "2026-01-10", "4010 100.00")
		made, err := l.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: wallet.ID, ExternalID: "in",
			External: client.CreateTransactionExternal{Timestamp: time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC), Description: "Payment",
				Direction: "credit", Quantity: new("2"), Currency: "ETH", ValueFiat: &client.ValuedFiat{Gross: "100.00", Fee: "0.00", Net: "100.00",
					Currency: "USD"}}},
			client.CreateTransaction{SourceID: wallet.ID, ExternalID: "out", External: client.CreateTransactionExternal{
				Timestamp: time.Date(2026, 2, 2, 12, 0, 0, 0, time.UTC), Description: "Gift", Direction: "debit", Quantity: new("1"), Currency: "ETH",
				ValueFiat: &client.ValuedFiat{Gross: "60.00", Fee: "0.00", Net: "60.00", Currency: "USD"}}})
		if err != nil {
			t.Fatal(err)
		}
		a := l.apply(t, made.Data[0], []client.Invoice{i}, "100.00")
		sold, err := l.Client.BookTransaction(t.Context(), client.BookTransaction{TransactionID: made.Data[1].ID, TransactionType: "EXPENSE",
			LedgerAccountID: l.NewExpenseAccount(t, "Gifts").ID, AutoPost: true})
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.Client.VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{})
		apitest.WantConflict(t, err, "cannot be voided", "used by later entries")
		if _, err := l.Client.ReverseJournalEntry(t.Context(), sold.ID, client.ReverseJournalEntry{}); err != nil {
			t.Fatal(err)
		}
		_, err = l.Client.VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{})
		if err != nil || l.state(t, i) != "open 100.00" {
			t.Errorf("%v %s", err, l.state(t, i))
		}
	})
}

func TestOfTwoApplicationsThatRaceOneWins(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		for range 3 {
			i := l.invoice(t, "open", "2026-01-10", "4010 100.00")
			j := l.invoice(t, "open", "2026-01-10", "4010 100.00")
			one, two, three := l.deposit(t, "2026-02-01 Northwind 100.00"), l.deposit(t, "2026-02-01 Northwind 100.00"),
				l.deposit(t, "2026-02-01 Northwind 100.00")
			for _, pair := range [][2]client.CreateCashApplication{
				{{DepositTransactionID: one.ID, Allocations: allocate([]client.Invoice{i}, "100.00")},
					{DepositTransactionID: two.ID, Allocations: allocate([]client.Invoice{i}, "100.00")}},
				{{DepositTransactionID: three.ID, Allocations: allocate([]client.Invoice{j}, "60.00")},
					{DepositTransactionID: three.ID, Allocations: allocate([]client.Invoice{j}, "70.00")}},
			} {
				var wait sync.WaitGroup
				var errs [2]error
				for n := range pair {
					wait.Go(func() { _, errs[n] = l.Client.CreateCashApplication(context.WithoutCancel(t.Context()), pair[n]) })
				}
				wait.Wait()
				if (errs[0] == nil) == (errs[1] == nil) {
					t.Fatalf("%v and %v", errs[0], errs[1])
				}
				for _, err := range errs {
					if err != nil {
						apitest.WantConflict(t, err)
					}
				}
			}
		}
	})
}

func TestMirroredInvoicesArePaidOnTheirReceivable(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		mirror := invoice.MirrorParams{Provider: "stripe", ExternalID: "in_1", Number: "S-1", Customer: customer.Reference{Provider: "stripe",
			ExternalID: "cus_9"}, CustomerName: "Initech", Status: invoice.Open, Currency: "USD", Date: time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC),
			DueDate: time.Date(2026, 2, 10, 0, 0, 0, 0, time.UTC), AmountDue: money.MustParse("100"), Lines: []invoice.Line{{Description: "Seats",
				Quantity: money.FromInt(1), UnitPrice: money.MustParse("100"), Amount: money.MustParse("100")}}}
		kept, err := s.App.Invoices.Mirror(l.Context(t), mirror)
		if err != nil {
			t.Fatal(err)
		}
		i := client.Invoice{ID: kept.ID}
		a := l.apply(t, l.deposit(t, "2026-02-01 Initech 60.00"), []client.Invoice{i}, "60.00")
		if a.StripeStatus != "pending" || l.written(t, a.JournalEntryID) != "Cr 1310 60.00; Dr Bank USD 60.00" || l.state(t, i) != "open 40.00" {
			t.Errorf("%+v %s %s", a, l.written(t, a.JournalEntryID), l.state(t, i))
		}
		if _, err := s.App.Invoices.Mirror(l.Context(t), mirror); err != nil || l.state(t, i) != "open 40.00" {
			t.Errorf("after the provider stated it again: %v %s", err, l.state(t, i))
		}
		_, err = l.Client.VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{})
		if err != nil || l.state(t, i) != "open 100.00" {
			t.Errorf("%v %s", err, l.state(t, i))
		}
	})
}

func TestAnApplicationIsSeenByKeysOfItsLegalEntityOnly(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		l.AddEntity(t, "DE", "EUR")
		a := l.NewCashApplication(t)
		foreign, own := l.Limited(t, l.Names["DE"]), l.Limited(t, l.LegalEntity.ID)
		for path, status := range map[string]int{"": http.StatusNotFound, "/confirm": http.StatusNotFound, "/void": http.StatusNotFound} {
			method := http.MethodPost
			if path == "" {
				method = http.MethodGet
			}
			if got := s.Send(t, apitest.Request{Key: foreign, Method: method, Path: "/v1/cash-applications/" + a.ID + path}); got.Status != status {
				t.Errorf("%s: %d %s", path, got.Status, got.Body)
			}
		}
		got := s.Send(t, apitest.Request{Key: foreign, Method: http.MethodGet, Path: "/v1/cash-applications"})
		if strings.Contains(string(got.Body), a.ID) {
			t.Errorf("listed: %s", got.Body)
		}
		got = s.Send(t, apitest.Request{Key: own, Method: http.MethodPost, Path: "/v1/cash-applications/" + a.ID + "/void"})
		if got.Status != http.StatusOK {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	})
}

func TestTheRestOfADepositIsSuggestedOnlyForWhatItCanPay(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		if _, err := l.Client.UpdateSettings(t.Context(), client.UpdateSettings{WriteOffLimit: new("5.00")}); err != nil {
			t.Fatal(err)
		}
		l.invoice(t, "open", "2026-01-10", "4010 100.00")
		d := l.deposit(t, "2026-02-01 Northwind 97.00")
		if got := l.suggestions(t, d); !strings.Contains(got, "INV-1 100.00 rest -3.00") {
			t.Errorf("the deposit: %s", got)
		}
		l.apply(t, d, nil)
		if got := l.suggestions(t, d); strings.Contains(got, "100.00") || !strings.Contains(got, "INV-1 97.00") {
			t.Errorf("its rest: %s", got)
		}
	})
}
