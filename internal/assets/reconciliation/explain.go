package reconciliation

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/reconcile"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

const (
	// transactionsMax is how many transactions are looked at for an explanation, the latest.
	transactionsMax = 1000

	// twinsBefore is how far before a span the first of two equal transactions may be.
	twinsBefore = 72 * time.Hour
)

// Explained is the figures of an asset, with what may explain their difference.
type Explained struct {
	Figures
	Candidates []reconcile.Candidate
	Truncated  bool // there were more transactions than were looked at
}

// explain finds what may explain the difference of some figures.
func (c *comparison) explain(ctx context.Context, tx *db.Tx, f Figures) (Explained, error) {
	out := Explained{Figures: f}
	if f.Status() != Differs {
		return out, nil
	}
	in := reconcile.Input{AssetType: f.AssetType, Difference: *f.Difference(), Pending: f.Pending, Waiting: f.Waiting}
	rounded, err := c.roundings(ctx, tx, f)
	if err != nil {
		return out, err
	}
	in.Rounding = rounded.left(f)
	if in.Steps, err = c.steps(ctx, tx, f, rounded); err != nil {
		return out, err
	}
	var waiting []transaction.Transaction
	if f.Waiting > 0 {
		waiting, err = transaction.Moving(ctx, tx, c.source.ID, f.AssetType, time.Time{}, f.ComparedAt, true, transactionsMax)
		if err != nil {
			return out, err
		}
	}
	after, until := spanOf(in.Steps, f.ComparedAt)
	if !after.IsZero() {
		after = after.Add(-twinsBefore)
	}
	some, err := transaction.Moving(ctx, tx, c.source.ID, f.AssetType, after, until, false, transactionsMax+1)
	if err != nil {
		return out, err
	}
	out.Truncated = rounded.truncated || len(some) > transactionsMax || f.Waiting > int64(len(waiting))
	some = some[:min(len(some), transactionsMax)]
	for _, t := range waiting {
		in.PendingIDs = append(in.PendingIDs, t.ID)
		if !slices.ContainsFunc(some, func(o transaction.Transaction) bool { return o.ID == t.ID }) {
			some = append(some, t)
		}
	}
	for _, t := range some {
		in.Transactions = append(in.Transactions, movesOf(t, f.AssetType)...)
	}
	out.Candidates = reconcile.Explain(in)
	return out, nil
}

// movesOf returns how a transaction moves an asset, as far as that is known.
func movesOf(t transaction.Transaction, asset string) (out []reconcile.Transaction) {
	for n, m := range t.Moves() {
		if m.AssetType != asset || m.Quantity == nil {
			continue
		}
		one := reconcile.Transaction{ID: t.ID, Name: t.SequenceNumber(), At: t.At, Quantity: *m.Quantity, Fee: m.Fee, OnlyFee: n > 0,
			Booked: t.Status == transaction.Posted}
		if t.Type == transaction.Fee && n == 0 && m.Fee.IsZero() {
			one.Fee, one.OnlyFee = m.Quantity.Abs(), true
		}
		out = append(out, one)
	}
	return out
}
