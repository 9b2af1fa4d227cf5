package receivables_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// unapplied returns the unapplied cash on a day: the deposits, the customers, and the totals with what the ledger has. Every figure must be
// what its explanation says.
func (l *ledger) unapplied(t *testing.T, query string) (rows, customers, totals []string) {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Client.UnappliedCash(t.Context(), values)
	if err != nil {
		t.Fatal(err)
	}
	text := func(s *string) string {
		if s == nil {
			return "-"
		}
		return *s
	}
	for _, row := range r.Rows {
		rows = append(rows, strings.Join([]string{row.SequenceNumber, text(row.PayerName), text(row.CustomerName), row.Currency,
			row.UnappliedAmount}, " "))
		l.explained(t, row.Explain, row.UnappliedAmount)
	}
	for _, c := range r.Customers {
		customers = append(customers, text(c.CustomerName)+" "+c.Currency+" "+c.UnappliedAmount)
		if (c.Explain == nil) != (c.CustomerID == nil) {
			t.Errorf("%+v", c)
		} else if c.Explain != nil {
			l.explained(t, *c.Explain, c.UnappliedAmount)
		}
	}
	for _, total := range r.Totals {
		text := total.Currency + " " + total.UnappliedAmount
		if total.LedgerBalance != nil {
			text += " " + *total.LedgerBalance + " " + *total.Difference
		}
		totals = append(totals, text)
		l.explained(t, total.Explain, total.UnappliedAmount)
	}
	return rows, customers, totals
}

func TestUnappliedCashOnAnyDayIsTheLedger(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i, j := l.invoice(t, "open", "2026-01-05", "4010 100.00"), l.invoice(t, "open", "2026-01-06", "4010 30.00")
		l.NewCustomer(t, "Acme GmbH")
		a := l.apply(t, l.deposit(t, "2026-02-10 Parent Holding 150.00"), []client.Invoice{i}, "100.00")
		known := l.apply(t, l.deposit(t, "2026-02-12 ACME  gmbh 20.00"), nil)
		nobody := l.apply(t, l.deposit(t, "2026-03-01 Somebody 7.50"), nil)
		number := func(c client.CashApplication) string {
			d, err := l.Client.Transaction(t.Context(), c.DepositTransactionID)
			if err != nil {
				t.Fatal(err)
			}
			return d.SequenceNumber
		}
		check := func(when, query string, rows, customers []string, totals ...string) {
			t.Helper()
			gotRows, gotCustomers, gotTotals := l.unapplied(t, query)
			same(t, when+", deposits", gotRows, rows...)
			same(t, when+", customers", gotCustomers, customers...)
			same(t, when+", totals", gotTotals, totals...)
		}
		one := func(c client.CashApplication, text string) string { return number(c) + " " + text }
		check("before everything", "as_of=2026-02-09", nil, nil)
		check("after the first", "as_of=2026-02-10", []string{one(a, "Parent Holding Northwind USD 50.00")}, []string{"Northwind USD 50.00"},
			"USD 50.00 50.00 0.00")
		all := []string{one(a, "Parent Holding Northwind USD 50.00"), one(known, "ACME gmbh Acme GmbH USD 20.00"),
			one(nobody, "Somebody - USD 7.50")}
		customers := []string{"Acme GmbH USD 20.00", "Northwind USD 50.00", "- USD 7.50"}
		check("all", "as_of=2026-03-31", all, customers, "USD 77.50 77.50 0.00")
		check("of a customer", "as_of=2026-03-31&customer_id="+i.CustomerID, all[:1], customers[1:2], "USD 50.00")
		check("of nobody", "customer_id=cus_unknown", nil, nil)
		check("in another currency", "currency=EUR", nil, nil)

		used := l.apply(t, client.Transaction{ID: a.DepositTransactionID}, []client.Invoice{j}, "30.00")
		check("used today", "", []string{one(a, "Parent Holding Northwind USD 20.00"), all[1], all[2]},
			[]string{customers[0], "Northwind USD 20.00", customers[2]}, "USD 47.50 47.50 0.00")
		check("before it was used", "as_of=2026-03-31", all, customers, "USD 77.50 77.50 0.00")
		for _, id := range []string{used.ID, nobody.ID} {
			if _, err := l.Client.VoidCashApplication(t.Context(), id, client.VoidCashApplication{}); err != nil {
				t.Fatal(err)
			}
		}
		for when, query := range map[string]string{"voided": "", "a voided one never was": "as_of=2026-03-31"} {
			check(when, query, all[:2], customers[:2], "USD 70.00 70.00 0.00")
		}
	})
}

// The rest of a deposit that a review has reserved is unapplied until the review.
func TestUnappliedCashIncludesWhatWaitsForAReview(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		l.rule(t, "require_human_review", "Special deal", "exact", "")
		p := l.params("open", "2026-01-11", "4010 10.00")
		p.Lines[0].Description = "Special deal"
		i := l.NewInvoice(t, p)
		d := l.deposit(t, "2026-02-01 Northwind 100.00")
		l.apply(t, d, nil)
		wait := l.apply(t, d, []client.Invoice{i}, "10.00")
		_, _, totals := l.unapplied(t, "")
		same(t, wait.Status, totals, "USD 100.00 100.00 0.00")
		if _, err := l.Client.ConfirmCashApplication(t.Context(), wait.ID); err != nil {
			t.Fatal(err)
		}
		_, _, totals = l.unapplied(t, "")
		same(t, "confirmed", totals, "USD 90.00 90.00 0.00")
	})
}

// A refund takes from what was unapplied of the deposit that it goes back of, on its own day.
func TestARefundIsNoLongerUnapplied(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		a := l.apply(t, l.deposit(t, "2026-02-01 Northwind 100.00"), nil)
		back, err := l.giveBack(t, a, "refund", l.payOut(t, "2026-02-11 Northwind 60.00"), nil)
		if err != nil {
			t.Fatal(err)
		}
		rows, customers, totals := l.unapplied(t, "as_of=2026-02-28")
		same(t, "after it", slices.Concat(rows, customers, totals), "OT-1 Northwind Northwind USD 40.00", "Northwind USD 40.00",
			"USD 40.00 40.00 0.00")
		_, _, totals = l.unapplied(t, "as_of=2026-02-10")
		same(t, "before it", totals, "USD 100.00 100.00 0.00")
		if _, err := l.Client.VoidCashApplication(t.Context(), back.ID, client.VoidCashApplication{}); err != nil {
			t.Fatal(err)
		}
		_, _, totals = l.unapplied(t, "")
		same(t, "voided", totals, "USD 100.00 100.00 0.00")
	})
}

func TestUnappliedCashByCurrencyAndWhatWasBookedByHand(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		if _, err := l.Client.StoreFXRates(t.Context(), apitest.Rates("EUR USD 2026-02-01 1.20")); err != nil {
			t.Fatal(err)
		}
		l.apply(t, l.deposit(t, "2026-02-01 Northwind 10.00 EUR"), nil)
		l.apply(t, l.deposit(t, "2026-02-02 Northwind 8.00"), nil)
		_, customers, totals := l.unapplied(t, "as_of=2026-02-28")
		same(t, "customers", customers, "Northwind EUR 10.00", "Northwind USD 8.00")
		same(t, "by currency", totals, "EUR 10.00 10.00 0.00", "USD 8.00 8.00 0.00")
		a := s.Send(t, apitest.Request{Path: "/v1/reports/explain?report=unapplied-cash&legal_entity_id=" + l.LegalEntity.ID, Key: l.Key})
		if a.Status != http.StatusBadRequest || !strings.Contains(string(a.Body), `"currency"`) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		l.Post(t, "2026-02-20", "Dr 2110 3.00; Cr 1010 3.00")
		_, _, totals = l.unapplied(t, "as_of=2026-02-28")
		same(t, "after a refund by hand", totals, "EUR 10.00 10.00 0.00", "USD 8.00 5.00 3.00")
		_, _, totals = l.unapplied(t, "as_of=2026-02-19")
		same(t, "before it", totals, "EUR 10.00 10.00 0.00", "USD 8.00 8.00 0.00")
	})
}

func TestUnappliedCashRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		d := l.deposit(t, "2026-02-02 Northwind 8.00")
		l.apply(t, d, nil)
		for path, field := range map[string]string{
			"unapplied-cash?as_of=tomorrow": "as_of", "unapplied-cash?as_of=2026-02-30&currency=ETH": "as_of", "unapplied-cash?currency=ETH": "currency",
			"explain?report=unapplied-cash": "legal_entity_id",
			"explain?report=unapplied-cash&customer_id=" + l.customer.ID + "&document_id=" + d.ID: "customer_id",
			"explain?report=unapplied-cash&bucket=current&document_id=" + d.ID:                    "bucket",
			"explain?report=unapplied-cash&as_of=x&document_id=" + d.ID:                           "as_of",
		} {
			a := s.Send(t, apitest.Request{Path: "/v1/reports/" + path, Key: l.Key})
			if a.Status != http.StatusBadRequest || !strings.Contains(string(a.Body), `"`+field+`"`) {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
		for _, path := range []string{"unapplied-cash?legal_entity_ids=le_unknown", "explain?report=unapplied-cash&document_id=txn_unknown",
			"explain?report=unapplied-cash&as_of=2026-02-01&document_id=" + d.ID,
			"explain?report=unapplied-cash&customer_id=cus_unknown&legal_entity_id=" + l.LegalEntity.ID} {
			if a := s.Send(t, apitest.Request{Path: "/v1/reports/" + path, Key: l.Key}); a.Status != http.StatusNotFound {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
	})
}

func TestUnappliedCashShowsALimitedKeyNothingOfOtherLegalEntities(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		other := l.NewLegalEntity(t, client.CreateLegalEntity{Name: "Other", BaseCurrency: "USD"})
		d := l.deposit(t, "2026-02-02 Northwind 77.00")
		l.apply(t, d, nil)
		key := l.Limited(t, other.ID)
		for _, query := range []string{"", "as_of=2026-01-01", "as_of=2026-02-02&currency=USD"} {
			a := s.Send(t, apitest.Request{Path: "/v1/reports/unapplied-cash?" + query, Key: key})
			if a.Status != http.StatusOK || strings.Contains(string(a.Body), d.ID) || strings.Contains(string(a.Body), "77.00") {
				t.Errorf("%s: %d %s", query, a.Status, a.Body)
			}
		}
		a := s.Send(t, apitest.Request{Path: "/v1/reports/explain?report=unapplied-cash&document_id=" + d.ID, Key: key})
		if a.Status != http.StatusNotFound {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
}

func TestVerifyFindsEntriesThatLeaveAnotherAmountUnapplied(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-01-05", "4010 30.00")
		d := l.deposit(t, "2026-02-02 Northwind 77.00")
		l.apply(t, d, nil)
		used := l.apply(t, d, []client.Invoice{i}, "30.00")
		apitest.Verify(t, s.App)
		change := func(to string) {
			err := s.App.DB.WriteAcross(t.Context(), "a test does damage", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, "UPDATE journal_entries SET originated_by = ? WHERE journal_entry_id = ?", to, *used.JournalEntryID)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		change("manual")
		found, err := s.App.Verify(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, f := range found {
			texts = append(texts, f.Text)
		}
		if all := strings.Join(texts, "\n"); !strings.Contains(all, "unapplied cash: ") {
			t.Errorf("verify found only %s", all)
		}
		change("cash_application")
	})
}
