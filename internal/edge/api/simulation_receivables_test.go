package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/client"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/edge/api/apitest"
)

// clerk invoices a customer, applies deposits to the invoices, itself and by runs, voids applications and pays back, in an organization of
// its own. It knows what is due on each invoice and what is left of each deposit.
type clerk struct {
	sender
	org, entity, bank, customer, revenue string
	invoices, deposits                   []string
	numbers                              map[string]string        // by invoice
	due, left                            map[string]money.Decimal // by invoice, by deposit
	booked                               []client.CashApplication // that stand
	paidOut                              *payback                 // that is not booked yet
	running                              string                   // a run whose results are not known yet
}

// payback is a payment that goes back to a customer.
type payback struct{ transactionID, applicationID, invoiceID, amount string }

func (w *world) newClerk() user {
	n := w.newTenant("receivables")
	c := &clerk{sender: sender{world: w, key: n.Key, name: "clerk"}, org: n.Organization.ID, entity: n.LegalEntity.ID,
		numbers: map[string]string{}, due: map[string]money.Decimal{}, left: map[string]money.Decimal{}}
	c.bank = c.make("/v1/sources", `{"name":"Bank","source_type":"bank","legal_entity_id":"`+c.entity+`"}`)
	c.customer = c.make("/v1/customers", `{"name":"Northwind"}`)
	c.revenue = c.make("/v1/ledger-accounts", `{"name":"Node operation","type":"Revenue"}`)
	return c
}

// make creates a record and returns its id.
func (c *clerk) make(path, body string) (id string) {
	r := c.random(0)
	c.do(r, &operation{method: http.MethodPost, path: path, body: body,
		known: func(a apitest.Answer) { id = decode[withID](c.world, a.Body).ID }})
	c.settle(r)
	return id
}

func (c *clerk) act(r *rand.Rand) {
	if c.running != "" { // it changes what the clerk knows
		c.collect(func(path string) ([]byte, bool) { return c.get(r, path) })
		return
	}
	switch n := r.IntN(9); {
	case c.paidOut != nil:
		c.giveBack(r)
	case n == 0 || len(c.invoices) == 0:
		c.invoice(r)
	case n == 1 || len(c.deposits) == 0:
		c.deposit(r)
	case n == 8:
		c.run(r)
	case n < 5:
		c.apply(r)
	case len(c.booked) == 0:
	case n == 5:
		c.void(r)
	default:
		c.payOut(r)
	}
}

// send sends an operation that must succeed, and calls made with what it answers.
func (c *clerk) send(r *rand.Rand, path, body string, status int, made func(apitest.Answer)) {
	c.do(r, &operation{method: http.MethodPost, path: path, body: body, known: func(a apitest.Answer) {
		if a.Status != status {
			c.Errorf("seed %d, round %d: %s %s is answered %d %s", c.seed, c.round, path, body, a.Status, a.Body)
			return
		}
		made(a)
	}})
}

func (c *clerk) invoice(r *rand.Rand) {
	amount := money.FromInt(int64(1 + r.IntN(500)))
	c.send(r, "/v1/invoices", fmt.Sprintf(`{"legal_entity_id":"%s","customer_id":"%s","status":"open","invoice_date":"%s","lines":[`+
		`{"description":"Nodes","unit_price":"%s","ledger_account_id":"%s"}]}`, c.entity, c.customer,
		c.began.AddDate(0, 0, -r.IntN(20)).Format(time.DateOnly), amount, c.revenue), http.StatusCreated, func(a apitest.Answer) {
		made := decode[client.Invoice](c.world, a.Body)
		c.invoices, c.due[made.ID], c.numbers[made.ID] = append(c.invoices, made.ID), amount, made.InvoiceNumber
	})
}

// transaction returns the body of a payment.
func (c *clerk) transaction(direction, memo string, amount money.Decimal) string {
	return fmt.Sprintf(`{"transactions":[{"source_id":"%s","external_id":"%s %d","external":{"timestamp":"%s","description":"%s",`+
		`"direction":"%s","currency":"USD","quantity":"%s"},"bank":{"counterparty_name":"Northwind"}}]}`, c.bank, c.name, c.sent,
		c.paymentDate().Format(time.RFC3339), memo, direction, amount)
}

// paymentDate returns when a payment is made.
func (c *clerk) paymentDate() time.Time { return c.today.Add(-time.Hour) }

// deposit adds a deposit: of any amount, or what is due on an invoice that it names, so that a run is certain of it.
func (c *clerk) deposit(r *rand.Rand) {
	amount, memo := money.FromInt(int64(1+r.IntN(900))), "Payment"
	if id := c.invoices[r.IntN(len(c.invoices))]; r.IntN(2) == 0 && !c.due[id].IsZero() {
		amount, memo = c.due[id], c.numbers[id]
	}
	c.send(r, "/v1/transactions", c.transaction("credit", memo, amount), http.StatusCreated, func(a apitest.Answer) {
		id := decode[[]withID](c.world, a.Body)[0].ID
		c.deposits, c.left[id] = append(c.deposits, id), amount
	})
}

func (c *clerk) apply(r *rand.Rand) {
	deposit := c.deposits[r.IntN(len(c.deposits))]
	rest, lines := c.left[deposit], []string{}
	for _, i := range r.Perm(len(c.invoices)) {
		id := c.invoices[i]
		amount := c.due[id]
		if amount.Cmp(rest) > 0 {
			amount = rest
		}
		if amount.Sign() > 0 && len(lines) < 3 {
			lines, rest = append(lines, fmt.Sprintf(`{"target_id":"%s","amount":"%s"}`, id, amount)), rest.Sub(amount)
		}
	}
	if len(lines) == 0 {
		return
	}
	c.send(r, "/v1/cash-applications", fmt.Sprintf(`{"deposit_transaction_id":"%s","allocations":[%s]}`, deposit, strings.Join(lines, ",")),
		http.StatusCreated, func(a apitest.Answer) {
			made := decode[client.CashApplication](c.world, a.Body)
			c.booked, c.left[deposit] = append(c.booked, made), rest
			c.settles(made, 1)
		})
}

// settles changes what is due by an application, or undoes that if the sign is negative.
func (c *clerk) settles(a client.CashApplication, sign int64) {
	for _, l := range a.Allocations {
		c.due[l.TargetID] = c.due[l.TargetID].Sub(money.MustParse(l.Amount).Mul(money.FromInt(sign)))
	}
}

// standsAlone reports whether no other application uses or takes back what one left or applied.
func (c *clerk) standsAlone(a client.CashApplication) bool {
	return !slices.ContainsFunc(c.booked, func(o client.CashApplication) bool {
		return o.SourceApplicationID != nil && *o.SourceApplicationID == a.ID
	})
}

func (c *clerk) void(r *rand.Rand) {
	n := r.IntN(len(c.booked))
	old := c.booked[n]
	if !c.standsAlone(old) || strings.HasPrefix(old.TotalAmount, "-") {
		return
	}
	c.send(r, "/v1/cash-applications/"+old.ID+"/void", `{"reason":"a mistake"}`, http.StatusOK, func(apitest.Answer) {
		c.booked = slices.Delete(c.booked, n, n+1)
		c.settles(old, -1)
		c.left[old.DepositTransactionID] = c.left[old.DepositTransactionID].Add(money.MustParse(old.AppliedAmount))
	})
}

// payOut pays back what an application applied to its first invoice.
func (c *clerk) payOut(r *rand.Rand) {
	a := c.booked[r.IntN(len(c.booked))]
	if !c.standsAlone(a) || strings.HasPrefix(a.TotalAmount, "-") {
		return
	}
	if day := c.paymentDate().Format(time.DateOnly); a.SourceApplicationID != nil && day < a.CreatedAt[:len(day)] {
		return // it cannot go back before the rest was applied
	}
	l := a.Allocations[0]
	body := c.transaction("debit", "Payment", money.MustParse(l.Amount))
	c.send(r, "/v1/transactions", body, http.StatusCreated, func(answer apitest.Answer) {
		c.paidOut = &payback{decode[[]withID](c.world, answer.Body)[0].ID, a.ID, l.TargetID, l.Amount}
	})
}

// giveBack books what was paid back.
func (c *clerk) giveBack(r *rand.Rand) {
	p := *c.paidOut
	c.paidOut = nil
	c.send(r, "/v1/cash-applications/"+p.applicationID+"/return", fmt.Sprintf(`{"transaction_id":"%s","return_type":"chargeback",`+
		`"allocations":[{"target_id":"%s","amount":"%s"}]}`, p.transactionID, p.invoiceID, p.amount), http.StatusCreated,
		func(a apitest.Answer) {
			back := decode[client.CashApplication](c.world, a.Body)
			c.booked = append(c.booked, back)
			c.settles(back, 1) // its amounts are negative
		})
}

// run starts a run over all deposits and leaves it to the operator.
func (c *clerk) run(r *rand.Rand) {
	c.send(r, "/v1/cash-application-runs", `{"filter":{}}`, http.StatusCreated, func(a apitest.Answer) {
		id := decode[withID](c.world, a.Body).ID
		c.running = id
		c.addTask(func(ctx context.Context, s *apitest.Service) error {
			_, err := s.App.CashRuns.Run(ctx, c.org, id, nil)
			return err
		})
	})
}

// collect adds what a run has applied to what the clerk knows, if it is over and a node answers.
func (c *clerk) collect(get func(path string) ([]byte, bool)) {
	path := "/v1/cash-application-runs/" + c.running
	body, known := get(path)
	if !known || decode[client.CashApplicationRun](c.world, body).Status != "completed" {
		return
	}
	var made []client.CashApplication
	for cursor := ""; ; {
		if body, known = get(path + "/results?outcome=applied&limit=100" + cursor); !known {
			return
		}
		for _, one := range decode[[]client.CashApplicationResult](c.world, body) {
			if body, known := get("/v1/cash-applications/" + *one.CashApplicationID); known {
				made = append(made, decode[client.CashApplication](c.world, body))
			} else {
				return
			}
		}
		var page struct {
			NextCursor *string `json:"next_cursor"`
		}
		if err := json.Unmarshal(body, &page); err != nil || page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	for _, a := range made {
		c.booked, c.left[a.DepositTransactionID] = append(c.booked, a), money.Decimal{}
		c.settles(a, 1)
	}
	c.running = ""
}

// check compares what is due on each invoice and left of each deposit.
func (c *clerk) check() {
	c.Helper()
	if c.running != "" {
		c.collect(func(path string) ([]byte, bool) { return c.mustGet(path), true })
	}
	if c.running != "" {
		c.Errorf("seed %d, round %d: the run %s is not completed", c.seed, c.round, c.running)
	}
	for _, id := range c.invoices {
		i := decode[client.Invoice](c.world, c.mustGet("/v1/invoices/"+id))
		if !money.MustParse(i.AmountDue).Equal(c.due[id]) || (i.Status == "paid") != c.due[id].IsZero() {
			c.Errorf("seed %d, round %d: the invoice %s is %s with %s due, want %s", c.seed, c.round, id, i.Status, i.AmountDue, c.due[id])
		}
	}
	for _, a := range c.booked {
		now := decode[client.CashApplication](c.world, c.mustGet("/v1/cash-applications/"+a.ID))
		if want := c.left[a.DepositTransactionID]; a.SourceApplicationID == nil && !money.MustParse(now.AvailableAmount).Equal(want) {
			c.Errorf("seed %d, round %d: %s of %s is available, want %s", c.seed, c.round, now.AvailableAmount, a.ID, want)
		}
	}
}
