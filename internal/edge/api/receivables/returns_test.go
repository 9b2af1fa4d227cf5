package receivables_test

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// giveBack books a payment out as a return of an application.
func (l *ledger) giveBack(t *testing.T, a client.CashApplication, kind string, out client.Transaction, invoices []client.Invoice,
	amounts ...string) (client.CashApplication, error) {
	t.Helper()
	return l.Client.ReturnCashApplication(t.Context(), a.ID, client.ReturnCashApplication{TransactionID: out.ID, ReturnType: kind,
		Allocations: allocate(invoices, amounts...)})
}

// now returns an application as it is now: its amounts, and what went back of it.
func (l *ledger) now(t *testing.T, id string) string {
	t.Helper()
	a, err := l.Client.CashApplication(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return sums(a) + " " + a.ReturnedAmount
}

func TestAPaymentThatWentBackMakesItsInvoicesDueAgain(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-01-10", "4010 1000.00 20% 2050")
		j := l.invoice(t, "open", "2026-01-20", "4010 300.00")
		both := []client.Invoice{i, j}
		a := l.apply(t, l.deposit(t, "2026-02-01 Northwind 1600.00-25.00"), both, "1200.00", "300.00")
		var made []client.CashApplication
		for _, c := range []struct{ kind, out, amounts, sums, entry, states, after string }{
			{"chargeback", "2026-02-10 Northwind 265.00-15.00", "250.00", "applied -250.00 -250.00 0.00 0.00 0.00",
				"Dr Trade receivables 250.00; Dr 6220 15.00; Cr Bank USD 265.00", "open 250.00, paid 0.00",
				"applied 1600.00 1500.00 0.00 100.00 100.00 250.00"},
			{"", "2026-02-11 Northwind 60.00", "", "applied -60.00 0.00 0.00 -60.00 0.00", "Dr 2110 60.00; Cr Bank USD 60.00",
				"open 250.00, paid 0.00", "applied 1600.00 1500.00 0.00 100.00 40.00 250.00"},
			{"refund", "2026-02-12 Northwind 1290.00", "950.00 300.00", "applied -1290.00 -1250.00 0.00 -40.00 0.00",
				"Dr Trade receivables 950.00; Dr Trade receivables 300.00; Dr 2110 40.00; Cr Bank USD 1290.00", "open 1200.00, open 300.00",
				"applied 1600.00 1500.00 0.00 100.00 0.00 1500.00"},
		} {
			out := l.payOut(t, c.out)
			b, err := l.giveBack(t, a, c.kind, out, both, strings.Fields(c.amounts)...)
			if err != nil {
				t.Fatalf("%s: %v", c.out, err)
			}
			made = append(made, b)
			if got := sums(b); got != c.sums || *b.SourceApplicationID != a.ID || b.DepositTransactionID != out.ID {
				t.Errorf("%s: %s, want %s", c.out, got, c.sums)
			}
			if got := l.written(t, b.JournalEntryID); got != c.entry {
				t.Errorf("%s is booked as\n%s, want\n%s", c.out, got, c.entry)
			}
			if got := l.state(t, i) + ", " + l.state(t, j); got != c.states {
				t.Errorf("%s: %s, want %s", c.out, got, c.states)
			}
			if got := l.now(t, a.ID); got != c.after {
				t.Errorf("%s: %s, want %s", c.out, got, c.after)
			}
			e := l.Find(t, *b.JournalEntryID)
			if want := strings.ToUpper(cmp.Or(c.kind, "refund")); e.Classification != want || e.OriginatedBy != "cash_application" ||
				e.AccountingDate.Format(time.DateOnly) != c.out[:10] {
				t.Errorf("%+v", e)
			}
			if got, err := l.Client.CashApplication(t.Context(), b.ID); err != nil || apitest.JSON(t, got) != apitest.JSON(t, b) {
				t.Errorf("%+v %v, want %+v", got, err, b)
			}
			apitest.Verify(t, s.App)
		}
		_, err := l.Client.VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{})
		apitest.WantConflict(t, err, "100.00 of what")
		for n := len(made) - 1; n >= 0; n-- {
			if _, err := l.Client.VoidCashApplication(t.Context(), made[n].ID, client.VoidCashApplication{Reason: "Won"}); err != nil {
				t.Fatal(err)
			}
			apitest.Verify(t, s.App)
		}
		if got := l.now(t, a.ID) + ", " + l.state(t, i) + ", " + l.state(t, j); got !=
			"applied 1600.00 1500.00 0.00 100.00 100.00 0.00, paid 0.00, paid 0.00" {
			t.Errorf("after voiding all returns: %s", got)
		}
		if _, err := l.Client.VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{}); err != nil {
			t.Error(err)
		}
	})
}

func TestADigitalAssetThatIsRefundedConsumesItsLots(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		wallet := l.NewSource(t, client.CreateSource{SourceType: "wallet", Chain: "ethereum", Name: "Wallet", Address: "0x1"}).ID
		moved := func(day int, direction, quantity, gross, fee string) client.Transaction {
			made, err := l.Client.CreateTransactions(t.Context(), client.CreateTransaction{SourceID: wallet, ExternalID: client.NewIdempotencyKey(),
				External: client.CreateTransactionExternal{Timestamp: time.Date(2026, 2, day, 12, 0, 0, 0, time.UTC), Description: "Payment",
					Direction: direction, Quantity: &quantity, Currency: "ETH",
					ValueFiat: &client.ValuedFiat{Gross: gross, Fee: fee, Net: less(gross, fee), Currency: "USD"}}})
			if err != nil {
				t.Fatal(err)
			}
			return made.Data[0]
		}
		i := l.invoice(t, "open", "2026-01-10", "4010 1000.00")
		a := l.apply(t, moved(1, "credit", "1", "1000.00", "0"), []client.Invoice{i}, "1000.00")
		b, err := l.giveBack(t, a, "", moved(10, "debit", "0.5", "605.00", "5.00"), []client.Invoice{i}, "600.00")
		if err != nil {
			t.Fatal(err)
		}
		want := "Dr Trade receivables 600.00; Dr 6210 5.00; Cr Wallet 500.00; Cr 4510 105.00"
		if got := l.written(t, b.JournalEntryID); got != want || l.state(t, i) != "open 600.00" {
			t.Errorf("%s, %s, want %s", got, l.state(t, i), want)
		}
		apitest.Verify(t, s.App)
	})
}

func TestWhatCannotGoBackIsRefused(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i, j := l.invoice(t, "open", "2026-01-10", "4010 100.00"), l.invoice(t, "open", "2026-01-10", "4010 50.00")
		d := l.deposit(t, "2026-02-01 Northwind 120.00")
		a := l.apply(t, d, []client.Invoice{i}, "100.00")
		out := l.payOut(t, "2026-02-10 Northwind 110.00")
		euro := l.payOut(t, "2026-02-10 Northwind 110.00 EUR")
		booked := l.payOut(t, "2026-02-10 Northwind 110.00")
		if _, err := l.Client.BookTransactions(t.Context(), []client.BookTransaction{{TransactionID: booked.ID, TransactionType: "EXPENSE",
			LedgerAccountID: l.Accounts["6220"], AutoPost: true}}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name, transaction, kind, body, message, fields string
			status                                         int
		}{
			{"more than it paid", out.ID, "", alloc(i, "100.01"), "pays 100.00 of the invoice", "allocations[0].amount", 409},
			{"less than went back", out.ID, "", alloc(i, "80.00"), "only 20.00 USD are unapplied", "allocations", 409},
			{"more than went back", out.ID, "", alloc(i, "100.00") + "," + alloc(j, "20.00"), "", "allocations[1].amount allocations", 409},
			{"an invoice that it does not pay", out.ID, "", alloc(j, "1.00"), "pays 0.00 of the invoice", "allocations[0].amount allocations", 409},
			{"nothing", out.ID, "", alloc(i, "0"), "must be positive", "allocations[0].amount", 400},
			{"too many decimals", out.ID, "", alloc(i, "1.001"), "decimals", "allocations[0].amount", 400},
			{"another type", out.ID, "EXPENSE", alloc(i, "90.00"), "", "return_type", 400},
			{"a deposit", d.ID, "", alloc(i, "90.00"), "came in", "transaction_id", 409},
			{"booked", booked.ID, "", alloc(i, "90.00"), "has the journal entry", "transaction_id", 409},
			{"another currency", euro.ID, "", alloc(i, "90.00"), "is in EUR", "transaction_id", 409},
			{"nobody's", "txn_00000000000000000000000000", "", alloc(i, "90.00"), "", "transaction_id", 404},
		} {
			kind := ""
			if c.kind != "" {
				kind = fmt.Sprintf(`"return_type": %q, `, c.kind)
			}
			got := s.Send(t, apitest.Request{Key: l.Key, Method: http.MethodPost, Path: "/v1/cash-applications/" + a.ID + "/return",
				Body: fmt.Sprintf(`{%s"transaction_id": %q, "allocations": [%s]}`, kind, c.transaction, c.body)})
			if got.Status != c.status || !strings.Contains(string(got.Body), c.message) {
				t.Errorf("%s: %d %s", c.name, got.Status, got.Body)
			}
			for _, field := range strings.Fields(c.fields) {
				if !strings.Contains(string(got.Body), `"`+field+`"`) {
					t.Errorf("%s: %s does not name %s", c.name, got.Body, field)
				}
			}
		}
		if got := l.now(t, a.ID) + ", " + l.state(t, i); got != "applied 120.00 100.00 0.00 20.00 20.00 0.00, paid 0.00" {
			t.Errorf("a refusal changed something: %s", got)
		}
		b, err := l.giveBack(t, a, "", out, []client.Invoice{i}, "100.00")
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.giveBack(t, b, "", l.payOut(t, "2026-02-11 Northwind 10.00"), nil)
		apitest.WantConflict(t, err, "went back already")
		if _, err := l.Client.MarkInvoiceUncollectible(t.Context(), i.ID, client.MarkInvoiceUncollectible{}); err != nil {
			t.Fatal(err)
		}
		_, err = l.Client.VoidCashApplication(t.Context(), b.ID, client.VoidCashApplication{})
		apitest.WantConflict(t, err, "uncollectible")
		apitest.Verify(t, s.App)
	})
}

// alloc returns an allocation as it is sent.
func alloc(i client.Invoice, amount string) string {
	return fmt.Sprintf(`{"target_id": %q, "amount": %q}`, i.ID, amount)
}

func TestADryRunOfAnApplicationSaysThatNothingWasWritten(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i, d := l.invoice(t, "open", "2026-01-10", "4010 40.00"), l.deposit(t, "2026-02-01 Northwind 40.00")
		a, err := l.Client.CreateCashApplication(t.Context(), client.CreateCashApplication{DepositTransactionID: d.ID, DryRun: true,
			Allocations: allocate([]client.Invoice{i}, "40.00")})
		if err != nil || len(a.Guidance.AllowedActions) > 0 || len(a.Guidance.Warnings) != 1 ||
			!strings.Contains(a.Guidance.Warnings[0], "dry run") || l.state(t, i) != "open 40.00" {
			t.Errorf("%+v %v", a, err)
		}
	})
}
