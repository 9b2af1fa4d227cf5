package receivables_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
)

func TestAReturnIsBookedToTheAccountsThatTheApplicationHasCredited(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		l.rule(t, "route_to_account", "Validator", "contains", l.Accounts["4020"])
		p := l.params("open", "2026-01-10", "4010 30.01; 4010 70.02 20% 2050")
		p.Lines[1].Product = "Validator fees"
		i := l.NewInvoice(t, p)
		a := l.apply(t, l.deposit(t, "2026-02-01 Northwind 100.00"), []client.Invoice{i}, "57.00")
		rest := l.apply(t, client.Transaction{ID: a.DepositTransactionID}, []client.Invoice{i}, "43.00")

		stripe := l.NewSource(t, client.CreateSource{Name: "Stripe", Currency: "USD"})
		moved := func(day int, direction, amount string) client.Transaction {
			made, err := l.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: stripe.ID, ExternalID: direction,
				External: client.CreateTransactionExternal{Timestamp: time.Date(2026, 2, day, 12, 0, 0, 0, time.UTC), Description: "Stripe",
					Direction: direction, Quantity: &amount, Currency: "USD"}})
			if err != nil {
				t.Fatal(err)
			}
			return made.Data[0]
		}
		kept := mirrored("S-1", invoice.Open, "80.00")
		kept.TransactionID = moved(3, "credit", "80.00").ID
		mirror, err := s.App.Invoices.Mirror(l.Context(t), kept)
		if err != nil {
			t.Fatal(err)
		}
		m := []client.Invoice{{ID: mirror.ID}}
		ofStripe := l.apply(t, l.deposit(t, "2026-02-04 Southwind 80.00"), m, "80.00")
		if got := l.written(t, ofStripe.JournalEntryID); got != "Cr Stripe 80.00; Dr Bank USD 80.00" {
			t.Fatal(got)
		}
		l.rule(t, "route_to_account", "Validator fees", "contains", l.Accounts["4030"]) // precedes the other one from now on
		l.rule(t, "route_to_account", "Pro", "contains", l.Accounts["4030"])
		back := func(of client.CashApplication, paid client.Transaction, i client.Invoice, amount, want string) client.CashApplication {
			t.Helper()
			made, err := l.giveBack(t, of, "", paid, []client.Invoice{i}, amount)
			if err != nil {
				t.Fatal(err)
			}
			if got := l.written(t, made.JournalEntryID); got != want {
				t.Errorf("%s of %s is booked as\n%s, want\n%s", amount, of.ID, got, want)
			}
			apitest.Verify(t, s.App)
			return made
		}
		if got := l.written(t, a.JournalEntryID); got !=
			"Cr Trade receivables 57.00; Cr 4020 35.00; Dr 4010 35.00; Cr 2110 43.00; Dr Bank USD 100.00" {
			t.Fatal(got)
		}
		first := back(a, l.payOut(t, "2026-02-10 Northwind 19.00"), i, "19.00",
			"Dr Trade receivables 19.00; Dr 4020 11.67; Cr 4010 11.67; Cr Bank USD 19.00")
		back(a, l.payOut(t, "2026-02-11 Northwind 19.00"), i, "19.00",
			"Dr Trade receivables 19.00; Dr 4020 11.66; Cr 4010 11.66; Cr Bank USD 19.00")
		if _, err := l.Client.VoidCashApplication(t.Context(), first.ID, client.VoidCashApplication{}); err != nil {
			t.Fatal(err)
		}
		back(a, l.payOut(t, "2026-02-12 Northwind 38.00"), i, "38.00",
			"Dr Trade receivables 38.00; Dr 4020 23.34; Cr 4010 23.34; Cr Bank USD 38.00")
		if got := l.written(t, rest.JournalEntryID); got != "Cr Trade receivables 43.00; Cr 4020 26.40; Dr 4010 26.40; Dr 2110 43.00" {
			t.Fatal(got)
		}
		today := l.Find(t, *rest.JournalEntryID).AccountingDate.Format(time.DateOnly)
		back(rest, l.payOut(t, today+" Northwind 43.00"), i, "43.00",
			"Dr Trade receivables 43.00; Dr 4020 26.40; Cr 4010 26.40; Cr Bank USD 43.00")

		back(ofStripe, moved(13, "debit", "50.00"), m[0], "50.00", "Dr Stripe 50.00; Cr Stripe 50.00")
	})
}

func TestAReturnTakesBackNoMoreThanWasPaid(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		if _, err := l.Client.UpdateSettings(t.Context(), client.UpdateSettings{WriteOffLimit: new("5.00")}); err != nil {
			t.Fatal(err)
		}
		i := l.invoice(t, "open", "2026-01-10", "4010 100.00")
		a := l.apply(t, l.deposit(t, "2026-02-01 Northwind 95.00"), []client.Invoice{i}, "100.00")
		for _, c := range []struct{ out, amounts, sums, entry, due, refused string }{
			{"2026-02-10 Northwind 100.00", "100.00", "", "", "", "account for 95.00 USD of the 100.00 USD that went back"},
			{"2026-02-10 Northwind 97.00", "97.00", "", "", "", "95.00 USD were paid and 5.00 USD written off"},
			{"2026-02-10 Northwind 95.00", "97.00", "", "", "", "95.00 USD were paid and 5.00 USD written off"},
			{"2026-02-10 Northwind 95.00", "95.00", "applied -95.00 -95.00 0.00 0.00 0.00", "Dr Trade receivables 95.00; Cr Bank USD 95.00",
				"open 95.00", ""},
			{"2026-02-10 Northwind 95.00", "100.00", "applied -95.00 -100.00 -5.00 0.00 0.00",
				"Dr Trade receivables 100.00; Cr Bad debts 5.00; Cr Bank USD 95.00", "open 100.00", ""},
		} {
			made, err := l.giveBack(t, a, "chargeback", l.payOut(t, c.out), []client.Invoice{i}, c.amounts)
			if c.refused != "" {
				apitest.WantError(t, c.out+" for "+c.amounts, err, 409, []string{"allocations"}, c.refused)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			entry := l.written(t, made.JournalEntryID)
			if sums(made) != c.sums || entry != c.entry || l.state(t, i) != c.due {
				t.Errorf("%s: %s, %s, %s, want %s, %s, %s", c.amounts, sums(made), entry, l.state(t, i), c.sums, c.entry, c.due)
			}
			now, err := l.Client.CashApplication(t.Context(), a.ID)
			if err != nil || strings.Contains(strings.Join(now.Guidance.AllowedActions, " "), "return") {
				t.Errorf("%v %v: nothing is left that could go back", now.Guidance.AllowedActions, err)
			}
			apitest.Verify(t, s.App)
			if _, err := l.Client.VoidCashApplication(t.Context(), made.ID, client.VoidCashApplication{}); err != nil {
				t.Fatal(err)
			}
			if l.state(t, i) != "paid 0.00" {
				t.Error(l.state(t, i))
			}
			apitest.Verify(t, s.App)
		}
	})
}

func TestAPaymentCannotGoBackBeforeItCameIn(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-01-10", "4010 100.00")
		a := l.apply(t, l.deposit(t, "2026-02-01 Northwind 100.00"), []client.Invoice{i}, "60.00")
		rest := l.apply(t, client.Transaction{ID: a.DepositTransactionID}, []client.Invoice{i}, "40.00")
		_, err := l.giveBack(t, a, "", l.payOut(t, "2026-01-31 Northwind 10.00"), []client.Invoice{i}, "10.00")
		apitest.WantError(t, "before the deposit", err, 409, []string{"transaction_id"},
			"dated 2026-01-31, but on 2026-02-01 the deposit came in")
		_, err = l.giveBack(t, rest, "", l.payOut(t, "2026-02-02 Northwind 10.00"), []client.Invoice{i}, "10.00")
		apitest.WantError(t, "before the rest was applied", err, 409, []string{"transaction_id"}, "the rest of the deposit was applied")
		if _, err = l.giveBack(t, a, "", l.payOut(t, "2026-02-01 Northwind 10.00"), []client.Invoice{i}, "10.00"); err != nil {
			t.Error(err)
		}
	})
}
