package receivables_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
)

// offered returns what a key is told about the invoices that a deposit may pay: those of the list, those of the preview with the size of
// its pool and the doubts about its first suggestion, and the outcome of a run with the invoices of its first suggestion.
func (l *ledger) offered(t *testing.T, s *apitest.Service, c *client.Client, deposit client.Transaction) string {
	t.Helper()
	listed, err := eligible(t, &apitest.Tenant{Client: c}, "")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(listed)
	p, err := c.PreviewCashApplication(t.Context(), client.PreviewCashApplication{DepositTransactionID: deposit.ID})
	if err != nil {
		t.Fatal(err)
	}
	previewed := []string{fmt.Sprint(p.CandidatePoolSize)}
	for n, g := range p.Suggestions {
		for _, a := range g.Allocations {
			previewed = append(previewed, a.InvoiceNumber)
		}
		for _, d := range g.Doubts {
			if n == 0 {
				previewed = append(previewed, d.Code)
			}
		}
	}
	made, err := c.CreateCashApplicationRun(t.Context(), client.CreateCashApplicationRun{TransactionIDs: []string{deposit.ID}, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.App.CashRuns.Run(l.Context(t), l.Organization.ID, made.ID, nil); err != nil {
		t.Fatal(err)
	}
	var ran []string
	for r, err := range c.CashApplicationResults(t.Context(), made.ID, nil) {
		if err != nil {
			t.Fatal(err)
		}
		ran = append(ran, r.Outcome)
		for _, g := range r.Suggestions {
			for _, a := range g.Allocations {
				ran = append(ran, a.InvoiceNumber)
			}
		}
	}
	return strings.Join(listed, " ") + "; " + strings.Join(previewed, " ") + "; " + strings.Join(ran, " ")
}

// An invoice of no legal entity belongs to the whole organization: a limited key neither sees nor pays it, and is not certain of another
// one because of that. What an application has paid that the key sees, it can take back.
func TestALimitedKeyIsOfferedOnlyInvoicesThatItCanApplyADepositTo(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		ofNone, err := s.App.Invoices.Mirror(l.Context(t), mirrored("S-1", invoice.Open, "80.00"))
		if err != nil {
			t.Fatal(err)
		}
		d := l.deposit(t, "2026-02-10 Southwind 80.00")
		limited := client.New(s.URL, l.Limited(t, l.LegalEntity.ID))
		offers := func(name, whole, some string) {
			t.Helper()
			if got := l.offered(t, s, l.Client, d); got != whole {
				t.Errorf("%s: a key for all legal entities is offered %q, want %q", name, got, whole)
			}
			if got := l.offered(t, s, limited, d); got != some {
				t.Errorf("%s: a limited key is offered %q, want %q", name, got, some)
			}
		}
		offers("only one of none", "S-1; 1 S-1; certain S-1", "; 0; unmatched")
		p := l.params("open", "2026-02-03", "4010 80.00")
		p.InvoiceNumber, p.CustomerID = "own", ofNone.CustomerID
		own := l.NewInvoice(t, p)
		offers("one of each", "S-1 own; 2 S-1 low_confidence not_unique own; suggested S-1 own", "own; 1 own invoices_not_visible; suggested own")

		_, err = limited.CreateCashApplication(t.Context(), client.CreateCashApplication{DepositTransactionID: d.ID,
			Allocations: []client.Allocation{{TargetType: "invoice", TargetID: ofNone.ID, Amount: "80.00"}}})
		apitest.WantError(t, "of none", err, 404, []string{"allocations[0].target_id"}, "")

		l.rule(t, "require_human_review", "Plan", "exact", "")
		a := l.apply(t, d, []client.Invoice{{ID: ofNone.ID}}, "80.00")
		if a, err = limited.ConfirmCashApplication(t.Context(), a.ID); err != nil || a.Status != "confirmed" {
			t.Fatalf("%+v %v", a, err)
		}
		b, err := limited.ReturnCashApplication(t.Context(), a.ID, client.ReturnCashApplication{
			TransactionID: l.payOut(t, "2026-02-11 Southwind 30.00").ID,
			Allocations:   []client.Allocation{{TargetType: "invoice", TargetID: ofNone.ID, Amount: "30.00"}}})
		if err != nil || sums(b) != "applied -30.00 -30.00 0.00 0.00 0.00" {
			t.Fatalf("%+v %v", b, err)
		}
		for _, id := range []string{b.ID, a.ID} {
			if _, err := limited.VoidCashApplication(t.Context(), id, client.VoidCashApplication{}); err != nil {
				t.Fatal(err)
			}
		}
		made, err := limited.CreateCashApplication(t.Context(), client.CreateCashApplication{DepositTransactionID: d.ID,
			Allocations: allocate([]client.Invoice{own}, "80.00")})
		if err != nil || made.MatchType != "customer_exact" {
			t.Errorf("%+v %v", made, err)
		}
		apitest.Verify(t, s.App)
	})
}

func TestASuggestionPaysNoMoreInvoicesThanAnApplicationCan(t *testing.T) {
	t.Parallel()
	apitest.EachSampled(t, func(t *testing.T, s *apitest.Service) {
		l := openLedger(t, s)
		const invoices = 503
		file := strings.Builder{}
		file.WriteString("Number,Customer,Date,Amount\n")
		for n := range invoices {
			fmt.Fprintf(&file, "I-%03d,Northwind,2026-01-05,1.00\n", n)
		}
		l.imported(t, file.String(), client.ImportInvoices{Status: "open"})
		d := l.deposit(t, "2026-02-01 Northwind 503.00")
		for _, want := range []struct {
			allocations  int
			total, delta string
			truncated    bool
		}{{500, "500.00", "3.00", true}, {3, "3.00", "0.00", false}} {
			p, err := l.Client.PreviewCashApplication(t.Context(), client.PreviewCashApplication{DepositTransactionID: d.ID})
			if err != nil || len(p.Suggestions) == 0 {
				t.Fatalf("%+v %v", p, err)
			}
			g := p.Suggestions[0]
			if len(g.Allocations) != want.allocations || g.TotalAmount != want.total || g.Delta != want.delta || p.Truncated != want.truncated ||
				want.truncated != slices.ContainsFunc(g.Doubts, func(d client.MatchReason) bool { return d.Code == "search_incomplete" }) {
				t.Errorf("%d invoices, %s, %s left, truncated %v %v", len(g.Allocations), g.TotalAmount, g.Delta, p.Truncated, g.Doubts)
			}
			a, err := l.Client.CreateCashApplication(t.Context(), client.CreateCashApplication{DepositTransactionID: d.ID,
				Allocations: g.Allocations})
			if err != nil || a.MatchType != "combination" {
				t.Fatalf("%s %v", a.MatchType, err)
			}
		}
	})
}
