package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/rules/match"
)

const (
	cashPreviewMax = 3.0 // a preview among many open invoices to one among few
	cashApplyMax   = 1.5 // applying and voiding among many to among few
	cashRunMin     = 0.5 // the rate of a cash application run to that of a classification run that drafts
	cashMatchMax   = 50 * time.Millisecond
	cashFew        = 100
	cashWriters    = 8 // requests at a time that create invoices
)

// cash measures how the time to preview, apply and void a payment depends on the number of open invoices, and compares the rate of a cash
// application run with that of a classification run.
func (b *bench) cash(e engine) (figures []figure, err error) {
	customers := pick(b, 400, 80, 4)
	few, err := b.openCash(e, "cash-few", pick(b, cashFew, cashFew, 10), customers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, few.stop()) }()
	many, err := b.openCash(e, "cash-many", pick(b, 10_000, 2_000, 40), customers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, many.stop()) }()
	if figures, err = b.cashGrowth(e, few, many); err != nil {
		return nil, err
	}
	rate, drafts, applied, err := many.rates(b)
	if err != nil {
		return nil, err
	}
	return append(figures, figure{name: "cash application on " + e.name + ", deposits of a run to drafts of a classification run",
		value: fmt.Sprintf("%.2f", rate/drafts), target: fmt.Sprintf(">= %.1f", cashRunMin), verdict: b.judge(rate/drafts >= cashRunMin),
		note: fmt.Sprintf("%.0f/s to %.0f/s, %d each; %d were certain and applied", rate, drafts, len(many.invoices), applied)}), nil
}

// cashService is a running service with customers and open invoices.
type cashService struct {
	treasuryService
	database  database
	revenue   string
	entity    string
	customers []client.Customer
	invoices  []client.Invoice
}

// openCash creates a database with open invoices of some customers.
func (b *bench) openCash(e engine, name string, invoices, customers int) (*cashService, error) {
	k, err := b.create(e, name)
	if err != nil {
		return nil, err
	}
	s, err := b.serve(k)
	if err != nil {
		return nil, err
	}
	c := &cashService{treasuryService: treasuryService{server: s, api: s.client(), payees: 20}, database: k}
	if err = c.open(b.ctx); err == nil {
		err = errors.Join(c.bill(b.ctx, invoices, customers), b.analyze(k))
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return c, nil
}

// bill opens invoices with random amounts.
func (c *cashService) bill(ctx context.Context, count, customers int) error {
	for a, err := range c.api.LedgerAccounts(ctx, nil) {
		if err != nil {
			return err
		}
		if a.Type == "Revenue" && a.IsPostable && c.revenue == "" {
			c.revenue = a.ID
		}
	}
	for e, err := range c.api.LegalEntities(ctx) {
		if err != nil {
			return err
		}
		c.entity = e.ID
	}
	for i := range customers {
		made, err := c.api.CreateCustomer(ctx, client.CreateCustomer{Name: fmt.Sprintf("Firm%04d Trading Ltd", i)})
		if err != nil {
			return err
		}
		c.customers = append(c.customers, made)
	}
	r := rand.New(rand.NewPCG(3, 5))
	amounts := make([]string, count)
	for i := range amounts {
		amounts[i] = money.FromInt(1000+r.Int64N(2_000_000)).Quo(money.FromInt(100), 2).String()
	}
	c.invoices = make([]client.Invoice, count)
	return atOnce(cashWriters, count, func(i int) (err error) {
		c.invoices[i], err = c.api.CreateInvoice(ctx, client.CreateInvoice{LegalEntityID: c.entity, CustomerID: c.customers[i%customers].ID,
			Status: "open", InvoiceNumber: fmt.Sprintf("B-%06d", i), InvoiceDate: history.Format(time.DateOnly),
			Lines: []client.CreateInvoiceLine{{Description: "Services", UnitPrice: amounts[i], LedgerAccountID: c.revenue}}})
		return err
	})
}

// atOnce calls a function with the numbers below count, several at a time.
func atOnce(workers, count int, do func(int) error) error {
	var next atomic.Int64
	var all sync.WaitGroup
	failed := make([]error, workers)
	for w := range workers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < count && failed[w] == nil; i = int(next.Add(1)) - 1 {
				failed[w] = do(i)
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// deposit creates a deposit for each of some invoices, in their order. Every second one names the invoice.
func (c *cashService) deposit(ctx context.Context, invoices []client.Invoice) (out []client.Transaction, err error) {
	for from := 0; from < len(invoices); from += classifyBatch {
		var all []client.CreateTransaction
		for n, i := range invoices[from:min(from+classifyBatch, len(invoices))] {
			one := c.transaction(c.bank, "credit", "USD", i.AmountDue, i.AmountDue, history.AddDate(0, 1, 0).Add(time.Duration(from+n)*apart))
			one.Bank, one.External.Description = &client.TransactionBank{CounterpartyName: &i.CustomerName}, "Payment"
			if n%2 == 0 {
				one.External.Description += " of " + i.InvoiceNumber
			}
			all = append(all, one)
		}
		made, err := c.api.CreateTransactions(ctx, all...)
		if err != nil {
			return nil, err
		}
		out = append(out, made.Data...)
	}
	return out, nil
}

// cashGrowth compares requests among many invoices with the same among few.
func (b *bench) cashGrowth(e engine, few, many *cashService) ([]figure, error) {
	const payments = 4
	var deposits [2][]client.Transaction
	for n, c := range []*cashService{few, many} {
		var err error
		if deposits[n], err = c.deposit(b.ctx, c.invoices[:payments]); err != nil {
			return nil, err
		}
	}
	var previews, applies, voids [2]tally
	for round := range pick(b, 60, 30, 5) {
		for n, c := range []*cashService{few, many} {
			i, d := c.invoices[round%payments], deposits[n][round%payments]
			var made client.CashApplication
			for _, step := range []struct {
				to *tally
				do func() error
			}{
				{&previews[n], func() error {
					_, err := c.api.PreviewCashApplication(b.ctx, client.PreviewCashApplication{DepositTransactionID: d.ID})
					return err
				}},
				{&applies[n], func() (err error) {
					made, err = c.api.CreateCashApplication(b.ctx, client.CreateCashApplication{DepositTransactionID: d.ID,
						Allocations: []client.Allocation{{TargetType: "invoice", TargetID: i.ID, Amount: i.AmountDue}}})
					return err
				}},
				{&voids[n], func() error {
					_, err := c.api.VoidCashApplication(b.ctx, made.ID, client.VoidCashApplication{})
					return err
				}},
			} {
				t, err := repeat(func(t tally) bool { return len(t.latencies) < 1 }, step.do)
				if err != nil {
					return nil, err
				}
				if round > 3 { // the first ones warm up
					step.to.add(t)
				}
			}
		}
	}
	preview, apply := worst{limit: cashPreviewMax}, worst{limit: cashApplyMax}
	preview.add("preview", previews[1].at(0.5).Seconds(), previews[0].at(0.5).Seconds())
	apply.add("apply", applies[1].at(0.5).Seconds(), applies[0].at(0.5).Seconds())
	apply.add("void", voids[1].at(0.5).Seconds(), voids[0].at(0.5).Seconds())
	among := fmt.Sprintf(" among %d open invoices to %d", len(many.invoices), len(few.invoices))
	return []figure{
		preview.figure(b, "cash application on "+e.name+", a preview"+among),
		apply.figure(b, "cash application on "+e.name+", apply and void"+among),
	}, nil
}

// rates returns how many drafts a classification run books in a second, how many deposits a cash application run processes, and how many
// of them it applied.
func (c *cashService) rates(b *bench) (rate, drafts float64, applied int64, err error) {
	if err := c.rules(b.ctx); err != nil {
		return 0, 0, 0, err
	}
	count := len(c.invoices)
	later := history.AddDate(0, 6, 0)
	if err := c.pay(b.ctx, 2*count, later); err != nil { // every second payment has a rule
		return 0, 0, 0, err
	}
	deposits, err := c.deposit(b.ctx, c.invoices)
	if err := errors.Join(err, b.analyze(c.database)); err != nil {
		return 0, 0, 0, err
	}
	payments := map[string]any{"source_id": c.bank, "start_date": later.Format(time.RFC3339), "direction": "debit"}
	took, err := c.run(b.ctx, payments, "draft", false)
	if err != nil {
		return 0, 0, 0, err
	}
	drafts = float64(count) / took.Seconds()
	r, err := c.api.CreateCashApplicationRun(b.ctx, client.CreateCashApplicationRun{Filter: map[string]any{"source_id": c.bank,
		"start_date": deposits[0].External.Timestamp.Format(time.RFC3339)}})
	for err == nil && r.FinishedAt == nil {
		time.Sleep(20 * time.Millisecond)
		r, err = c.api.CashApplicationRun(b.ctx, r.ID)
	}
	if err == nil && (r.Status != "completed" || r.Counts["applied"]*10 < int64(count)*9) {
		err = fmt.Errorf("the run is %s and has applied %d of %d deposits", r.Status, r.Counts["applied"], count)
	}
	if err != nil {
		return 0, 0, 0, err
	}
	return float64(r.Progress.Done) / r.FinishedAt.Sub(*r.StartedAt).Seconds(), drafts, r.Counts["applied"], nil
}

// measureMatch measures matching a deposit with the invoices of one customer whose amounts make that as much work as possible.
func measureMatch(b *bench) ([]figure, error) {
	r := rand.New(rand.NewPCG(1, 2))
	count := pick(b, match.PoolMax, match.PoolMax, 200)
	slowest, found := time.Duration(0), ""
	for name, c := range map[string]struct {
		cents  func(n int) int64
		amount string
	}{
		"random amounts":                {func(int) int64 { return 1000 + r.Int64N(2_000_000) }, "31415.93"},
		"even amounts, an odd deposit":  {func(int) int64 { return 2 * (1 + r.Int64N(1_000_000)) }, "20000.01"},
		"nearly equal amounts":          {func(n int) int64 { return 100_000_000 + 2*int64(n) }, "5000000.01"},
		"small amounts, an odd deposit": {func(n int) int64 { return 2 * int64(n%1999+1) }, "119.99"},
	} {
		invoices := make([]match.Invoice, count)
		for n := range invoices {
			due := money.FromInt(c.cents(n)).Quo(money.FromInt(100), 2)
			at := history.Add(time.Duration(n) * apart)
			invoices[n] = match.Invoice{ID: fmt.Sprintf("inv_%05d", n), Number: fmt.Sprintf("B-%05d", n), CustomerID: "cus_1", Status: match.Open,
				Currency: "USD", Total: due, AmountDue: due, IssueDate: at, DueDate: at}
		}
		m := match.New([]match.Customer{{ID: "cus_1", Name: "Acme GmbH"}}, nil, invoices)
		d := match.Deposit{Amount: money.MustParse(c.amount), Currency: "USD", Date: history.AddDate(1, 0, 0), PayerName: "Acme GmbH"}
		var times []time.Duration
		for range pick(b, 21, 11, 1) {
			began := time.Now()
			m.Match(d, match.Policy{Tolerance: money.FromInt(5)})
			times = append(times, time.Since(began))
		}
		if took := median(times); took > slowest {
			slowest, found = took, name
		}
	}
	return []figure{{name: fmt.Sprintf("match, a deposit with %d invoices of its customer", count), value: rounded(slowest).String(),
		target: fmt.Sprintf("<= %s", cashMatchMax), verdict: b.judge(slowest <= cashMatchMax), note: "the slowest case: " + found}}, nil
}
