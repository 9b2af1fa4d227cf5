package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/bursarhq/bursar/client"
)

const (
	classifyDryMax   = 2.0 // a dry run to reading the same transactions
	classifyDraftMin = 0.5 // the rate of drafts by a run to that of drafts created in batches
	classifyRules    = 1000
	classifyBatch    = 1000
)

// classify compares a dry run with reading the same transactions, and a run that drafts entries with creating drafts in batches.
func (b *bench) classify(e engine) (figures []figure, err error) {
	k, err := b.create(e, "classify")
	if err != nil {
		return nil, err
	}
	s, err := b.serve(k)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	t := &treasuryService{server: s, api: s.client(), payees: 2 * pick(b, classifyRules, classifyRules, 20)}
	if err := t.open(b.ctx); err != nil {
		return nil, err
	}
	if err := t.rules(b.ctx); err != nil {
		return nil, err
	}
	count := pick(b, 100_000, 5_000, 100)
	if err := t.pay(b.ctx, count, history); err != nil {
		return nil, err
	}
	filter := map[string]any{"source_id": t.bank}
	var dry, read []time.Duration
	for range pick(b, 3, 2, 1) { // alternately
		took, err := t.run(b.ctx, filter, "suggest", true)
		if err != nil {
			return nil, err
		}
		dry = append(dry, took)
		if took, err = t.list(b.ctx, count); err != nil {
			return nil, err
		}
		read = append(read, took)
	}
	ratio := median(dry).Seconds() / median(read).Seconds()
	figures = append(figures, figure{name: "classification on " + e.name + ", a dry run to reading", value: fmt.Sprintf("%.2f", ratio),
		target: fmt.Sprintf("<= %.0f", classifyDryMax), verdict: b.judge(ratio <= classifyDryMax),
		note: fmt.Sprintf("%s to %s over HTTP in pages of 100, %d transactions and %d rules", rounded(median(dry)), rounded(median(read)),
			count, t.payees/2)})
	drafts := pick(b, 10_000, 2_000, 50)
	rate, batch, err := t.drafts(b.ctx, drafts)
	if err != nil {
		return nil, err
	}
	return append(figures, figure{name: "classification on " + e.name + ", drafts of a run to drafts in batches",
		value: fmt.Sprintf("%.2f", rate/batch), target: fmt.Sprintf(">= %.1f", classifyDraftMin),
		verdict: b.judge(rate/batch >= classifyDraftMin), note: fmt.Sprintf("%.0f/s to %.0f/s, %d each, %d a request", rate, batch, drafts,
			classifyBatch)}), nil
}

// rules creates a rule for every second payee.
func (t *treasuryService) rules(ctx context.Context) error {
	for i := range t.payees / 2 {
		body := map[string]any{"rule_type": "classification", "memo_contains": t.payee(i), "ledger_account_id": t.expense,
			"transaction_type": "EXPENSE"}
		call := client.Call{Method: http.MethodPut, Path: "/v1/memory/file", Query: url.Values{"kind": {"rule"}}, Body: body}
		if err := t.api.Do(ctx, call, nil); err != nil {
			return err
		}
	}
	return nil
}

// payee returns one of the names that the bank pays. The first half of them has a rule each.
func (t *treasuryService) payee(i int) string { return fmt.Sprintf("supplier %04d ltd", i%t.payees) }

// pay creates payments from the bank, about half of which match a rule.
func (t *treasuryService) pay(ctx context.Context, count int, from time.Time) error {
	for done := 0; done < count; done += classifyBatch {
		var all []client.CreateTransaction
		for i := done; i < min(done+classifyBatch, count); i++ {
			one := t.transaction(t.bank, "debit", "USD", "40.00", "40.00", from.Add(time.Duration(i)*apart))
			one.External.Description = fmt.Sprintf("Payment %d to %s, thank you", i, t.payee(i))
			all = append(all, one)
		}
		if _, err := t.api.CreateTransactions(ctx, all...); err != nil {
			return err
		}
	}
	return nil
}

// run creates a classification run, waits for its end and returns how long it worked.
func (t *treasuryService) run(ctx context.Context, filter map[string]any, action string, dry bool) (time.Duration, error) {
	r, err := t.api.CreateClassificationRun(ctx, client.CreateClassificationRun{Filter: filter, Action: action, DryRun: dry})
	for err == nil && r.FinishedAt == nil {
		time.Sleep(20 * time.Millisecond)
		r, err = t.api.ClassificationRun(ctx, r.ID)
	}
	if err == nil && r.Status != "completed" {
		err = fmt.Errorf("the run is %s", r.Status)
	}
	if err != nil {
		return 0, err
	}
	return r.FinishedAt.Sub(*r.StartedAt), nil
}

// list reads all transactions of the bank.
func (t *treasuryService) list(ctx context.Context, want int) (time.Duration, error) {
	began, n := time.Now(), 0
	for _, err := range t.api.Transactions(ctx, url.Values{"source_id": {t.bank}, "limit": {"100"}}) {
		if err != nil {
			return 0, err
		}
		n++
	}
	if n != want {
		return 0, fmt.Errorf("read %d transactions, want %d", n, want)
	}
	return time.Since(began), nil
}

// drafts creates drafts of similar transactions by a run and by batches, and returns both rates.
func (t *treasuryService) drafts(ctx context.Context, count int) (run, batch float64, err error) {
	later := history.AddDate(0, 6, 0)
	for _, from := range []time.Time{later, later.AddDate(0, 1, 0)} {
		if err := t.pay(ctx, 2*count, from); err != nil {
			return 0, 0, err
		}
	}
	took, err := t.run(ctx, map[string]any{"source_id": t.bank, "start_date": later.Format(time.RFC3339),
		"end_date": later.Add(time.Duration(2*count-1) * apart).Format(time.RFC3339)}, "draft", false)
	if err != nil {
		return 0, 0, err
	}
	var entries []map[string]any
	for one, err := range t.api.Transactions(ctx, url.Values{"source_id": {t.bank},
		"start_date": {later.AddDate(0, 1, 0).Format(time.RFC3339)}, "sort_order": {"asc"}, "limit": {"100"}}) {
		if err != nil {
			return 0, 0, err
		}
		if len(entries) < count {
			entries = append(entries, map[string]any{"transaction_id": one.ID, "transaction_type": "EXPENSE", "ledger_account_id": t.expense})
		}
	}
	began := time.Now()
	for from := 0; from < count; from += classifyBatch {
		body := map[string]any{"journal_entries": entries[from:min(from+classifyBatch, count)]}
		if err := t.api.Do(ctx, client.Call{Method: http.MethodPost, Path: "/v1/journal-entries/batch", Body: body,
			IdempotencyKey: client.NewIdempotencyKey()}, nil); err != nil {
			return 0, 0, err
		}
	}
	return float64(count) / took.Seconds(), float64(count) / time.Since(began).Seconds(), nil
}
