package run_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/application"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/receivables/run"
	"github.com/bursarhq/bursar/internal/tenancy/companytest"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// world is a company with customers and invoices.
type world struct {
	*companytest.Company
	*run.Service
	applications *application.Service
	customers    *customer.Service
	invoices     *invoice.Service
	periods      *period.Service
	rules        []application.Rule
	sales        string
	byName       map[string]string // customers
}

// each runs a test in a world of each engine, and verifies the data at the end.
func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	companytest.Each(t, func(c *companytest.Company) {
		w := &world{Company: c, customers: customer.NewService(c.DB),
			invoices: invoice.NewService(c.DB, c.Journal).WithApplied(application.AppliedTo),
			periods:  period.NewService(c.DB).WithTransit(holdings.InTransit), byName: map[string]string{}}
		w.applications = application.NewService(c.DB, c.Journal, c.Bookings,
			func(context.Context, *db.Tx) ([]application.Rule, error) { return slices.Clone(w.rules), nil })
		w.Service = run.NewService(c.DB, w.applications)
		made, err := account.NewService(c.DB).Create(c.Ctx, account.CreateParams{Name: "Sales of tests", Type: account.Revenue})
		c.Must(err)
		w.sales = made.ID
		test(w)
		if found := w.findings(); len(found) > 0 {
			w.Errorf("check: %v", found)
		}
	})
}

// bill opens invoices, "INV-1 Northwind 100.00 Seats": the number, the customer, the amount and perhaps what it is for.
func (w *world) bill(lines ...string) {
	w.Helper()
	for _, line := range lines {
		f := strings.Fields(line + " Services")
		if w.byName[f[1]] == "" {
			made, err := w.customers.Create(w.Ctx, customer.CreateParams{Name: f[1]})
			w.Must(err)
			w.byName[f[1]] = made.ID
		}
		_, err := w.invoices.Create(w.Ctx, invoice.Params{LegalEntityID: w.EntityID, CustomerID: w.byName[f[1]], Number: f[0],
			Date: "2025-11-01", Lines: []invoice.LineParams{{Description: f[3], UnitPrice: f[2], AccountID: w.sales}}}, invoice.Open)
		w.Must(err)
	}
}

// pay adds deposits, "Northwind 100.00 INV-1": who paid, how much, and the memo. A negative amount leaves the bank.
func (w *world) pay(lines ...string) (ids []string) {
	w.Helper()
	for n, line := range lines {
		f := strings.Fields(line)
		p := transaction.Params{Currency: "USD", Direction: transaction.Credit, Description: strings.Join(f[2:], " "),
			Bank: &transaction.Bank{CounterpartyName: f[0]}}
		amount := money.MustParse(strings.TrimPrefix(f[1], "-"))
		if p.Quantity = &amount; strings.HasPrefix(f[1], "-") {
			p.Direction = transaction.Debit
		}
		ids = append(ids, w.AddTransaction("Bank", fmt.Sprintf("2025-11-%02d", 2+n%27), p).ID)
	}
	return ids
}

// execute creates a run over all deposits and executes it.
func (w *world) execute(p run.CreateParams) run.Run {
	w.Helper()
	if p.TransactionIDs == nil && p.Filter == nil {
		p.Filter = &transaction.Filter{}
	}
	r, err := w.Create(w.Ctx, p)
	w.Must(err)
	return w.finish(r.ID)
}

func (w *world) finish(runID string) run.Run {
	w.Helper()
	r, err := w.Service.Run(w.Context(), w.OrganizationID, runID, nil)
	w.Must(err)
	if r.Status != batchrun.Completed {
		w.Fatalf("%+v", r)
	}
	return r
}

func (w *world) results(runID string, outcome batchrun.Outcome) (out []run.Result) {
	w.Helper()
	cursor := ""
	for {
		got, err := w.Results(w.Ctx, run.ResultFilter{RunID: runID, Outcome: outcome}, page.Request{Limit: 7, Cursor: cursor})
		w.Must(err)
		out = append(out, got.Items...)
		if cursor = got.NextCursor; cursor == "" {
			return out
		}
	}
}

// lines returns the results of a run: each deposit with its outcome, the invoices of its first suggestion and the message.
func (w *world) lines(runID string) (out []string) {
	w.Helper()
	for _, r := range w.results(runID, "") {
		parts := []string{transaction.SequenceNumber(r.Number), string(r.Outcome)}
		if len(r.Suggestions) > 0 {
			s := r.Suggestions[0]
			parts = append(parts, s.Type)
			for _, l := range s.Allocations {
				parts = append(parts, l.Number+":"+l.Amount)
			}
			if !s.Certain && len(s.Doubts) > 0 {
				parts = append(parts, "but "+s.Doubts[0].Code)
			}
		}
		if r.Message != "" {
			parts = append(parts, "because "+r.Message)
		}
		out = append(out, strings.Join(parts, " "))
	}
	return out
}

func (w *world) says(name string, got []string, want ...string) {
	w.Helper()
	if !slices.Equal(got, want) {
		w.Errorf("%s:\n\t%s\nwant\n\t%s", name, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// due returns the numbers of the open invoices with what is due on them.
func (w *world) due() (out []string) {
	w.Helper()
	got, err := w.invoices.List(w.Ctx, invoice.Filter{Statuses: []invoice.Status{invoice.Open}}, page.Request{Limit: 100})
	w.Must(err)
	for _, i := range got.Items {
		out = append(out, i.Number+":"+i.AmountDue.Fixed("USD"))
	}
	slices.Sort(out)
	return out
}

// applied returns how many applications stand.
func (w *world) applied() int {
	w.Helper()
	got, err := w.applications.List(w.Ctx, application.Filter{Statuses: []application.Status{application.Applied, application.Confirmed}},
		page.Request{Limit: 100})
	w.Must(err)
	return len(got.Items)
}

// findings returns what verification finds.
func (w *world) findings() (found []string) {
	w.Helper()
	w.Read(func(ctx context.Context, tx *db.Tx) error {
		for _, check := range []func(context.Context, *db.Tx) ([]string, error){run.Verify, application.Verify, invoice.Verify, booking.Verify,
			transaction.Verify, journal.Verify} {
			some, err := check(ctx, tx)
			if err != nil {
				return err
			}
			found = append(found, some...)
		}
		return nil
	})
	return found
}
