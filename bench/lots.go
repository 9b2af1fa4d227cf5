package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bursarhq/bursar/client"
)

const (
	lotDisposalMax = 2.0  // a disposal against an entry of money
	lotLateMax     = 0.05 // a late event near the end against one at the beginning
	lotLateFromEnd = 1000
	lotBatch       = 1000
)

// treasury is a running service with a wallet full of lots, one that is traded from, and a bank.
type treasury struct {
	*server
	api                *client.Client
	full, traded, bank string // sources
	expense, equity    string // ledger accounts
	told               int
}

// lots measures what a disposal costs beside an entry of money, in a pool with many open lots, and what a late event costs.
func (b *bench) lots(engine string, k books) (figures []figure, err error) {
	if k, err = b.foundIn(k); err != nil {
		return nil, err
	}
	s, err := b.serve(k)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	t := &treasury{server: s, api: s.client()}
	if err := t.open(b.ctx); err != nil {
		return nil, err
	}
	count := pick(b, 100_000, 5_000)
	began := time.Now()
	if err := t.fill(b.ctx, t.full, count, func(int) string { return "credit" }); err != nil {
		return nil, err
	}
	rate := float64(count) / time.Since(began).Seconds()
	ratio, disposal, money, err := t.dispose(b.ctx, count, pick(b, 300, 60))
	if err != nil {
		return nil, err
	}
	figures = []figure{
		{name: "lots on " + engine + ", a disposal to an entry of money", value: fmt.Sprintf("%.2f", ratio),
			target: fmt.Sprintf("<= %.0f", lotDisposalMax), verdict: judge(ratio <= lotDisposalMax),
			note: fmt.Sprintf("p50 %s to %s over HTTP, one after the other, in a pool of %d open lots", brief(disposal), brief(money), count)},
		{name: "lots on " + engine + ", acquisitions booked in batches", value: fmt.Sprintf("%.0f/s", rate), target: "", verdict: informs,
			note: fmt.Sprintf("%d transactions brought in and booked, %d a request", count, lotBatch)},
	}
	if err := t.fill(b.ctx, t.traded, count, func(i int) string { return []string{"credit", "debit"}[i%2] }); err != nil {
		return nil, err
	}
	near, far, err := t.late(b.ctx, count, pick(b, 5, 3))
	if err != nil {
		return nil, err
	}
	share := near.Seconds() / far.Seconds()
	return append(figures, figure{name: "lots on " + engine + ", late near the end to late at the beginning",
		value: fmt.Sprintf("%.3f", share), target: fmt.Sprintf("<= %.2f", lotLateMax),
		verdict: judge(share <= lotLateMax || b.quick),
		note: fmt.Sprintf("dry runs of a late purchase: %s when %d events come after it, %s when %d do", brief(near),
			min(lotLateFromEnd, count/2), brief(far), count)}), nil
}

func (t *treasury) open(ctx context.Context) error {
	for _, s := range []struct {
		to   *string
		body client.CreateSource
	}{
		{&t.full, client.CreateSource{SourceType: "exchange", Name: "Full"}}, {&t.traded, client.CreateSource{SourceType: "exchange",
			Name: "Traded"}},
		{&t.bank, client.CreateSource{SourceType: "bank", Name: "Bank"}},
	} {
		for e, err := range t.api.LegalEntities(ctx) {
			if err != nil {
				return err
			}
			s.body.LegalEntityID = e.ID
		}
		made, err := t.api.CreateSource(ctx, s.body)
		if err != nil {
			return err
		}
		*s.to = made.ID
	}
	for a, err := range t.api.LedgerAccounts(ctx, nil) {
		if err != nil {
			return err
		}
		switch a.Name {
		case "Contractors":
			t.expense = a.ID
		case "Paid-in capital":
			t.equity = a.ID
		}
	}
	return nil
}

// history is when the first of the transactions happened; each comes so much later than the one before it.
var history = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

const apart = time.Minute

func (t *treasury) transaction(source, direction, currency, quantity, value string, at time.Time) client.CreateTransaction {
	t.told++
	return client.CreateTransaction{
		SourceID: source, ExternalID: fmt.Sprint("bench-", t.told), External: client.CreateTransactionExternal{
			Timestamp: at, Description: "bench", Direction: direction, Quantity: &quantity, Currency: currency,
			ValueFiat: &client.ValuedFiat{Gross: value, Fee: "0.00", Net: value, Currency: "USD"},
		},
	}
}

// entry asks for the entry of a transaction.
func (t *treasury) entry(id, direction string) map[string]any {
	kind, account := "DEPOSIT", t.equity
	if direction == "debit" {
		kind, account = "EXPENSE", t.expense
	}
	return map[string]any{"transaction_id": id, "transaction_type": kind, "ledger_account_id": account, "auto_post": true}
}

// fill brings transactions of an asset into a source and books them.
func (t *treasury) fill(ctx context.Context, source string, count int, direction func(int) string) error {
	for from := 0; from < count; from += lotBatch {
		var all []client.CreateTransaction
		for i := from; i < min(from+lotBatch, count); i++ {
			all = append(all, t.transaction(source, direction(i), "ETH", "1", fmt.Sprintf("%d.00", 2000+i%500), history.Add(time.Duration(i)*apart)))
		}
		made, err := t.api.CreateTransactions(ctx, all...)
		if err != nil {
			return err
		}
		var entries []map[string]any
		for _, m := range made.Data {
			entries = append(entries, t.entry(m.ID, m.External.Direction))
		}
		call := client.Call{Method: http.MethodPost, Path: "/v1/journal-entries/batch", Body: map[string]any{"journal_entries": entries},
			IdempotencyKey: client.NewIdempotencyKey()}
		if err := t.api.Do(ctx, call, nil); err != nil {
			return err
		}
	}
	return nil
}

func (t *treasury) post(ctx context.Context, body map[string]any) (time.Duration, error) {
	began := time.Now()
	err := t.api.Do(ctx, client.Call{Method: http.MethodPost, Path: "/v1/journal-entries", Body: body,
		IdempotencyKey: client.NewIdempotencyKey()}, nil)
	return time.Since(began), err
}

// dispose books disposals and payments from the bank in turns.
func (t *treasury) dispose(ctx context.Context, after, rounds int) (ratio float64, disposal, money time.Duration, err error) {
	var all []client.CreateTransaction
	for i := range rounds {
		at := history.Add(time.Duration(after+i) * apart)
		all = append(all, t.transaction(t.full, "debit", "ETH", "1.5", "4000.00", at), t.transaction(t.bank, "debit", "USD", "4000.00",
			"4000.00", at))
	}
	made, err := t.api.CreateTransactions(ctx, all...)
	if err != nil {
		return 0, 0, 0, err
	}
	var disposals, payments []time.Duration
	for i, m := range made.Data {
		took, err := t.post(ctx, t.entry(m.ID, "debit"))
		if err != nil {
			return 0, 0, 0, err
		}
		switch {
		case i < 10: // warm up
		case i%2 == 0:
			disposals = append(disposals, took)
		default:
			payments = append(payments, took)
		}
	}
	disposal, money = median(disposals), median(payments)
	return disposal.Seconds() / money.Seconds(), disposal, money, nil
}

// late looks at what a late purchase would change, near the end and at the beginning.
func (t *treasury) late(ctx context.Context, count, rounds int) (near, far time.Duration, err error) {
	place := func(i int) time.Time { return history.Add(time.Duration(i)*apart - apart/2) }
	made, err := t.api.CreateTransactions(ctx, t.transaction(t.traded, "credit", "ETH", "1", "1999.00",
		place(count-min(lotLateFromEnd, count/2))),
		t.transaction(t.traded, "credit", "ETH", "1", "1999.00", place(0)))
	if err != nil {
		return 0, 0, err
	}
	var nears, fars []time.Duration
	for range rounds {
		for i, to := range []*[]time.Duration{&nears, &fars} {
			body := t.entry(made.Data[i].ID, "credit")
			body["dry_run"] = true
			took, err := t.post(ctx, body)
			if err != nil {
				return 0, 0, err
			}
			*to = append(*to, took)
		}
	}
	return median(nears), median(fars), nil
}
