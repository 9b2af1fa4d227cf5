package demo_test

import (
	"context"
	"testing"

	"github.com/bursarhq/bursar/internal/app"
	"github.com/bursarhq/bursar/internal/app/demo"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/db/dbtest"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/tenancy/organization"
)

// kinds are the kinds of deposits in their order, with the match that a preview suggests first; empty if it suggests none.
var kinds = []struct{ name, match string }{
	{"by reference", "exact"}, {"of the amount of one invoice", "customer_exact"}, {"of several invoices", "exact"},
	{"short by a fee", "exact"},
	{"short-paid", "partial"}, {"overpaid", "overpayment"}, {"paid", "exact"}, {"paid again", "exact"}, {"under another name", "exact"},
	{"in a digital asset", "exact"}, {"of somebody unknown", ""},
}

func TestTheReceivablesOfTheDemoCompany(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		a := app.New(d, nil)
		f, err := a.Org.Create(t.Context(), organization.CreateParams{Name: "Demo", Email: "demo@example.com", Currency: "USD",
			Timezone: "America/New_York"})
		if err != nil {
			t.Fatal(err)
		}
		const invoices, rounds = 240, 8
		made, err := demo.AddReceivables(t.Context(), a, f, invoices, t.Logf)
		if err != nil {
			t.Fatal(err)
		}
		ctx := actor.With(t.Context(), actor.Actor{OrganizationID: f.Organization.ID})
		count := len(everything(t, func(r page.Request) (page.Page[invoice.Invoice], error) {
			return a.Invoices.List(ctx, invoice.Filter{Statuses: []invoice.Status{invoice.Open}}, r)
		}))
		customers := len(everything(t, func(r page.Request) (page.Page[customer.Customer], error) {
			return a.Customers.List(ctx, customer.Filter{}, r)
		}))
		if count != invoices || customers != 10*rounds || len(made.Deposits) != rounds*len(kinds) {
			t.Errorf("%d invoices of %d customers and %d deposits", count, customers, len(made.Deposits))
		}
		all := make([]application.Params, len(made.Deposits))
		for n, id := range made.Deposits {
			kind, first := kinds[n%len(kinds)], ""
			p, err := a.Applications.Preview(ctx, id)
			if err != nil {
				t.Fatalf("%s: %v", kind.name, err)
			}
			all[n].DepositID = id
			if len(p.Suggestions) > 0 {
				first = string(p.Suggestions[0].Type)
				for _, l := range p.Suggestions[0].Allocations {
					all[n].Allocations = append(all[n].Allocations, application.AllocationParams{TargetID: l.InvoiceID, Amount: l.Amount.String()})
				}
			}
			if first != kind.match {
				t.Errorf("a deposit %s, %s: the first suggestion is %q instead of %q", kind.name, id, first, kind.match)
			}
		}
		for n, p := range all[:len(kinds)] { // one of each kind as suggested
			_, err := a.Applications.Apply(ctx, p)
			if again := kinds[n].name == "paid again"; (err != nil) != again {
				t.Errorf("a deposit %s: %v", kinds[n].name, err)
			} else if !again {
				made.Deposits[n] = ""
			}
		}
		canBeClosed(t, a, ctx, made.Deposits)
		found, err := a.Verify(context.WithoutCancel(ctx), nil)
		for _, f := range found {
			t.Error(f.Text)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// canBeClosed applies the deposits that are left, each to nothing, and fails unless the readiness checks of the months then find nothing
// but that the last month is not over, that earlier ones are open, and what is to be measured.
func canBeClosed(t *testing.T, a *app.App, ctx context.Context, deposits []string) {
	t.Helper()
	for _, id := range deposits {
		if id == "" {
			continue
		}
		if _, err := a.Applications.Apply(ctx, application.Params{DepositID: id}); err != nil {
			t.Error(err)
		}
	}
	measured := map[string]bool{period.CodeNotOver: true, period.CodePreviousOpen: true, "missing_price": true, "revaluation": true}
	for _, p := range everything(t, func(r page.Request) (page.Page[period.State], error) {
		return a.Periods.List(ctx, period.Filter{}, r)
	}) {
		r, err := a.Periods.Readiness(ctx, p.ID, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Checks {
			if c.Status == period.Fail && !measured[c.Code] {
				t.Errorf("%s: %s: %s", p.Key, c.Code, c.Message)
			}
		}
	}
}
