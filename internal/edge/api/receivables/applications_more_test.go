package receivables_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/match"
)

func TestAFailureOfTheLedgerProviderIsReportedAndDoesNotPreventVoiding(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		a := l.NewCashApplication(t)
		var asked string
		s.App.Applications.WithUnpost(func(_ context.Context, _ *db.Tx, entryID string) error {
			asked = entryID
			return errors.New("the period is locked there")
		})
		void, err := l.Client.VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{Reason: "Wrong"})
		if err != nil || void.Status != "voided" || asked != *a.JournalEntryID || void.ErrorMessage == nil ||
			!strings.Contains(*void.ErrorMessage, "the period is locked there") {
			t.Errorf("%+v %v", void, err)
		}
	})
}

func TestTheEventOfAVoidedApplicationHasTheReason(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		a := l.NewCashApplication(t)
		if _, err := l.Client.IfMatch(a.ETag).ConfirmCashApplication(t.Context(), a.ID); err != nil {
			t.Fatal(err)
		}
		_, err := l.Client.IfMatch(a.ETag).ConfirmCashApplication(t.Context(), a.ID)
		apitest.WantError(t, "stale etag", err, 409, []string{"If-Match"}, "has changed")
		if _, err := l.Client.VoidCashApplication(t.Context(), a.ID, client.VoidCashApplication{Reason: "Paid twice"}); err != nil {
			t.Fatal(err)
		}
		var types []string
		err = s.App.DB.Read(t.Context(), l.Organization.ID, func(ctx context.Context, tx *db.Tx) error {
			rows, err := db.All[struct {
				Type string `db:"type"`
				Data string `db:"data"`
			}](ctx, tx, "SELECT type, data FROM events "+
				"WHERE organization_id = @org ORDER BY sequence")
			for _, r := range rows {
				if strings.HasPrefix(r.Type, "cash_application.") && strings.Contains(r.Data, a.ID) {
					types = append(types, strings.TrimPrefix(r.Type, "cash_application."))
					if strings.Contains(r.Data, "Paid twice") != (r.Type == "cash_application.voided") {
						t.Errorf("%s: %s", r.Type, r.Data)
					}
				}
			}
			return err
		})
		if err != nil || strings.Join(types, " ") != "applied confirmed voided" {
			t.Errorf("%v %v", types, err)
		}
	})
}

func TestARepeatedRequestAppliesAndVoidsOnce(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		i := l.invoice(t, "open", "2026-01-10", "4010 100.00")
		d := l.deposit(t, "2026-02-01 Northwind 100.00")
		send := func(path, body, key string) apitest.Answer {
			return s.Send(t, apitest.Request{Key: l.Key, Method: http.MethodPost, Path: "/v1/cash-applications" + path, Body: body,
				Header: http.Header{"Idempotency-Key": {key}}})
		}
		body := fmt.Sprintf(`{"deposit_transaction_id": %q, "allocations": [{"target_id": %q, "amount": "100.00"}]}`, d.ID, i.ID)
		first, again := send("", body, "one"), send("", body, "one")
		if first.Status != http.StatusCreated || again.Status != http.StatusCreated || string(first.Body) != string(again.Body) {
			t.Fatalf("%d %s, then %d %s", first.Status, first.Body, again.Status, again.Body)
		}
		var a client.CashApplication
		for one, err := range l.Client.CashApplications(t.Context(), nil) {
			if err != nil || a.ID != "" {
				t.Fatalf("%v, or applied twice", err)
			}
			a = one
		}
		first, again = send("/"+a.ID+"/void", `{"reason": "x"}`, "two"), send("/"+a.ID+"/void", `{"reason": "x"}`, "two")
		if first.Status != http.StatusOK || string(first.Body) != string(again.Body) {
			t.Errorf("%d %s, then %d %s", first.Status, first.Body, again.Status, again.Body)
		}
	})
}

// mirrorMany stores open invoices of many customers, which book nothing.
func mirrorMany(t *testing.T, s *apitest.Service, n *apitest.Tenant, from, to, customers int) {
	t.Helper()
	err := s.App.DB.WriteAlone(n.Context(t), n.Organization.ID, func(ctx context.Context, _ *db.Tx) error {
		for i := from; i < to; i++ {
			who := i % customers
			amount := money.FromInt(int64(1000+i*7)).Quo(money.FromInt(100), 2)
			_, err := s.App.Invoices.Mirror(ctx, invoice.MirrorParams{Provider: "stripe", ExternalID: fmt.Sprint("in_", i),
				Number: fmt.Sprintf("ST-%05d", i), Customer: customer.Reference{Provider: "stripe", ExternalID: fmt.Sprint("cus_", who)},
				CustomerName: fmt.Sprintf("Customer %c%c Nr %d", 'A'+who%26, 'a'+who/26, who), LegalEntityID: n.LegalEntity.ID, Status: invoice.Open,
				Currency: "USD", Date: time.Date(2026, 1, 1+i%28, 0, 0, 0, 0, time.UTC), DueDate: time.Date(2026, 2, 1+i%28, 0, 0, 0, 0, time.UTC),
				AmountDue: amount, Lines: []invoice.Line{{Description: "Seats", Quantity: money.FromInt(1), UnitPrice: amount, Amount: amount}}})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A preview reads few invoices. It must find what it would find if it compared the deposit with all of them.
func TestAPreviewFindsWhatAMatcherOfAllInvoicesFinds(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		mirrorMany(t, s, l.Tenant, 0, 120, 9)
		all := map[string]client.Invoice{}
		var invoices []match.Invoice
		var customers []match.Customer
		err := s.App.DB.Read(t.Context(), l.Organization.ID, func(ctx context.Context, tx *db.Tx) (err error) {
			customers, err = customer.Matching(ctx, tx)
			return err
		})
		for i, failed := range l.Client.Invoices(t.Context(), nil) {
			if err = errors.Join(err, failed); err != nil {
				t.Fatal(err)
			}
			all[i.ID] = i
			date, _ := time.Parse(time.DateOnly, i.InvoiceDate)
			due, _ := time.Parse(time.DateOnly, i.DueDate)
			invoices = append(invoices, match.Invoice{ID: i.ID, Number: i.InvoiceNumber, CustomerID: i.CustomerID, LegalEntityID: l.LegalEntity.ID,
				Status: match.Status(i.Status), Currency: i.Currency, Total: money.MustParse(i.TotalAmount), AmountDue: money.MustParse(i.AmountDue),
				IssueDate: date, DueDate: due})
		}
		m, random := match.New(customers, nil, invoices), rand.New(rand.NewPCG(7, 7))
		for range 40 {
			var amount money.Decimal
			memo, payer := "", customers[random.IntN(len(customers))].Name
			for range 1 + random.IntN(3) {
				v := invoices[random.IntN(len(invoices))]
				if amount = amount.Add(v.AmountDue); random.IntN(2) == 0 {
					memo += " " + v.Number
				}
			}
			switch random.IntN(6) {
			case 0:
				payer = "Somebody else"
			case 1:
				memo += " ST-99999"
			case 2:
				amount = amount.Add(money.MustParse("0.5"))
			}
			d := l.deposit(t, fmt.Sprintf("2026-02-20 %s %s: Payment%s", payer, amount, memo))
			want := m.Match(match.Deposit{Amount: amount, Currency: "USD", Date: d.External.Timestamp, LegalEntityID: l.LegalEntity.ID,
				PayerName: payer, Memo: d.External.Description}, match.Policy{})
			got, err := l.Client.PreviewCashApplication(t.Context(), client.PreviewCashApplication{DepositTransactionID: d.ID})
			if err != nil {
				t.Fatal(err)
			}
			describe := func(kind string, confidence any, certain bool, ids []string) string {
				return fmt.Sprint(kind, " ", confidence, " ", certain, " ", ids)
			}
			var expected, found []string
			for _, g := range want.Suggestions {
				var ids []string
				for _, a := range g.Allocations {
					ids = append(ids, a.InvoiceNumber+" "+a.Amount.Fixed("USD"))
				}
				expected = append(expected, describe(string(g.Type), g.Confidence, g.Certain(), ids))
			}
			for _, g := range got.Suggestions {
				var ids []string
				for _, a := range g.Allocations {
					ids = append(ids, a.InvoiceNumber+" "+a.Amount)
				}
				found = append(found, describe(g.MatchType, g.Confidence, g.Certain, ids))
			}
			if !slices.Equal(found, expected) || got.CandidatePoolSize != int64(want.PoolSize) || len(got.Notes) != len(want.Notes) {
				t.Errorf("%s %s %s:\n%s of %d, want\n%s of %d", payer, amount, memo, strings.Join(found, "\n"), got.CandidatePoolSize,
					strings.Join(expected, "\n"), want.PoolSize)
			}
		}
	})
}

// How long a preview takes must not depend on how many invoices are open.
func TestAPreviewAmongManyInvoicesTakesAsLongAsAmongFew(t *testing.T) {
	if testing.Short() {
		t.Skip("stores many invoices")
	}
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		const customers = 50
		mirrorMany(t, s, l.Tenant, 0, 100, customers)
		d := l.deposit(t, "2026-02-20 Customer Ab Nr 26 11.82: ST-00026")
		fastest := func() time.Duration {
			if err := s.App.DB.VacuumAnalyze(t.Context(), "invoices"); err != nil { // PostgreSQL would do so within a minute
				t.Fatal(err)
			}
			best := time.Hour
			for range 15 {
				began := time.Now()
				p, err := l.Client.PreviewCashApplication(t.Context(), client.PreviewCashApplication{DepositTransactionID: d.ID})
				if err != nil || len(p.Suggestions) == 0 {
					t.Fatalf("%+v %v", p, err)
				}
				best = min(best, time.Since(began))
			}
			return best
		}
		few := fastest()
		mirrorMany(t, s, l.Tenant, 100, 2000, customers)
		many := fastest()
		t.Logf("%s among 100 open invoices, %s among 2000: %.1f times", few, many, float64(many)/float64(few))
		if many > 3*few+5*time.Millisecond {
			t.Errorf("%s among 100 open invoices, %s among 2000", few, many)
		}
	})
}
