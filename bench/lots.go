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
	lotDisposalMax = 2.0  // a disposal to an entry of money
	lotLateMax     = 0.05 // a late event near the end to one at the beginning
	lotLateFromEnd = 1000
	lotBatch       = 1000
)

// treasuryService is a running service with an exchange account full of lots, one that trades, and a bank account.
type treasuryService struct {
	*server
	api                *client.Client
	full, traded, bank string // sources
	expense, equity    string // ledger accounts
	sent               int    // transactions created, which numbers them
	payees             int    // that the bank pays
}

// lots compares a disposal from a pool with many open lots with an entry of money, and late events near the end and at the
// beginning of a history.
func (b *bench) lots(e engine) (figures []figure, err error) {
	k, err := b.create(e, "lots")
	if err != nil {
		return nil, err
	}
	s, err := b.serve(k)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	t := &treasuryService{server: s, api: s.client()}
	if err := t.open(b.ctx); err != nil {
		return nil, err
	}
	count := pick(b, 100_000, 5_000, 60)
	began := time.Now()
	if err := t.fill(b.ctx, t.full, 0, count, func(int) string { return "credit" }); err != nil {
		return nil, err
	}
	rate := float64(count) / time.Since(began).Seconds()
	ratio, disposal, money, err := t.dispose(b.ctx, count, pick(b, 300, 60, 10))
	if err != nil {
		return nil, err
	}
	figures = []figure{
		{name: "lots on " + e.name + ", a disposal to an entry of money", value: fmt.Sprintf("%.2f", ratio),
			target: fmt.Sprintf("<= %.0f", lotDisposalMax), verdict: b.judge(ratio <= lotDisposalMax),
			note: fmt.Sprintf("p50 %s to %s over HTTP, one after the other, in a pool of %d open lots", rounded(disposal), rounded(money), count)},
		{name: "lots on " + e.name + ", acquisitions booked in batches", value: fmt.Sprintf("%.0f/s", rate), target: "", verdict: noTarget,
			note: fmt.Sprintf("%d transactions created and booked, %d per request", count, lotBatch)},
	}
	if err := t.fill(b.ctx, t.traded, 0, count, func(i int) string { return []string{"credit", "debit"}[i%2] }); err != nil {
		return nil, err
	}
	near, far, err := t.late(b.ctx, count, pick(b, 5, 3, 1))
	if err != nil {
		return nil, err
	}
	share := near.Seconds() / far.Seconds()
	return append(figures, figure{name: "lots on " + e.name + ", late near the end to late at the beginning",
		value: fmt.Sprintf("%.3f", share), target: fmt.Sprintf("<= %.2f", lotLateMax),
		verdict: b.judgeFrom(full, share <= lotLateMax),
		note: fmt.Sprintf("dry runs of a late purchase: %s when %d events come after it, %s when %d do", rounded(near),
			min(lotLateFromEnd, count/2), rounded(far), count)}), nil
}

func (t *treasuryService) open(ctx context.Context) error {
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

// history is the time of the first transaction; each of the others comes apart after the one before it.
var history = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

const apart = time.Minute

func (t *treasuryService) transaction(source, direction, currency, quantity, value string, at time.Time) client.CreateTransaction {
	t.sent++
	return client.CreateTransaction{
		SourceID: source, ExternalID: fmt.Sprint("bench-", t.sent), External: client.CreateTransactionExternal{
			Timestamp: at, Description: "bench", Direction: direction, Quantity: &quantity, Currency: currency,
			ValueFiat: &client.ValuedFiat{Gross: value, Fee: "0.00", Net: value, Currency: "USD"},
		},
	}
}

// entry returns the request body that books a transaction.
func (t *treasuryService) entry(id, direction string) map[string]any {
	kind, account := "DEPOSIT", t.equity
	if direction == "debit" {
		kind, account = "EXPENSE", t.expense
	}
	return map[string]any{"transaction_id": id, "transaction_type": kind, "ledger_account_id": account, "auto_post": true}
}

// fill creates transactions of an asset at a source and books them.
func (t *treasuryService) fill(ctx context.Context, source string, first, count int, direction func(int) string) error {
	for from := first; from < first+count; from += lotBatch {
		var all []client.CreateTransaction
		for i := from; i < min(from+lotBatch, first+count); i++ {
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

func (t *treasuryService) post(ctx context.Context, body map[string]any) (time.Duration, error) {
	began := time.Now()
	err := t.api.Do(ctx, client.Call{Method: http.MethodPost, Path: "/v1/journal-entries", Body: body,
		IdempotencyKey: client.NewIdempotencyKey()}, nil)
	return time.Since(began), err
}

// dispose books disposals and bank payments alternately.
func (t *treasuryService) dispose(ctx context.Context, after, rounds int) (ratio float64, disposal, money time.Duration, err error) {
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

// late measures dry runs of a late purchase, near the end and at the beginning.
func (t *treasuryService) late(ctx context.Context, count, rounds int) (near, far time.Duration, err error) {
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
