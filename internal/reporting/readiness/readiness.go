// Package readiness looks at what must be in order before a period is closed and is no matter of the journal alone:
// transactions that are not booked, lots that are missing or whose cost is not known, and prices.
package readiness

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/assets/assetpolicy"
	"github.com/bursarhq/bursar/internal/assets/price"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// The checks.
const (
	CodeUnposted     = "unposted_transactions"
	CodeLotDeficit   = "lot_deficit"
	CodeBasisPending = "basis_pending"
	CodeMissingPrice = "missing_price"
	CodeLotsDiffer   = "lots_differ"
	CodeRevaluation  = "revaluation"
)

// samplesMax is how many of what was counted are named.
const samplesMax = 5

// Inspectors are the checks of this package.
func Inspectors() []period.Inspector {
	return []period.Inspector{Unposted, each(deficits), each(pending), each(unpriced), each(differing), each(stale)}
}

// each makes an inspector of what looks at one legal entity.
func each(inspect func(context.Context, *db.Tx, period.Period, entity.LegalEntity) (period.Verdict, error)) period.Inspector {
	return func(ctx context.Context, tx *db.Tx, p period.Period, entities []entity.LegalEntity) ([]period.Verdict, error) {
		out := make([]period.Verdict, len(entities))
		for i, e := range entities {
			v, err := inspect(ctx, tx, p, e)
			if err != nil {
				return nil, err
			}
			out[i] = v
		}
		return out, nil
	}
}

// few names the first of many.
func few(names []string) string {
	shown := names[:min(samplesMax, len(names))]
	text := strings.Join(shown, ", ")
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Unposted checks that every transaction of the period is booked, unless it is spam.
func Unposted(ctx context.Context, tx *db.Tx, p period.Period, entities []entity.LegalEntity) ([]period.Verdict, error) {
	counts, err := countUnposted(ctx, tx, p)
	if err != nil {
		return nil, err
	}
	out := make([]period.Verdict, len(entities))
	for i, e := range entities {
		var ids, numbers []string
		if counts[e.ID] > 0 {
			found, err := selectUnposted(ctx, tx, p, e.ID, samplesMax)
			if err != nil {
				return nil, err
			}
			for _, t := range found {
				ids, numbers = append(ids, t.ID), append(numbers, transaction.SequenceNumber(t.Number))
			}
		}
		if more := counts[e.ID] - int64(len(numbers)); more > 0 {
			numbers[len(numbers)-1] += fmt.Sprintf(" and %d more", more)
		}
		out[i] = period.Judge(e, CodeUnposted, counts[e.ID], ids, "every transaction of the period is posted or spam",
			"transactions of the period are not posted: post them or mark them as spam, or close with an override_reason: "+
				strings.Join(numbers, ", "))
		out[i].Overridable = true
	}
	return out, nil
}

// deficits checks that everything that was disposed of was there.
func deficits(ctx context.Context, tx *db.Tx, p period.Period, e entity.LegalEntity) (period.Verdict, error) {
	missing, err := selectDeficits(ctx, tx, p, e.ID)
	var ids, texts []string
	for _, m := range missing {
		ids, texts = append(ids, m.EntryID), append(texts, fmt.Sprintf("%s %s on %s", m.Quantity, m.AssetType, m.At.Format(time.DateOnly)))
	}
	return period.Judge(e, CodeLotDeficit, int64(len(ids)), ids[:min(samplesMax, len(ids))], "no disposal lacks lots",
		"more was disposed of than there was: bring in and post what is missing: "+few(texts)), err
}

// pending checks that the cost of every lot is known.
func pending(ctx context.Context, tx *db.Tx, p period.Period, e entity.LegalEntity) (period.Verdict, error) {
	lots, err := selectPending(ctx, tx, p, e.ID)
	var ids, texts []string
	for _, l := range lots {
		ids, texts = append(ids, l.ID), append(texts, fmt.Sprintf("%s %s of %s", l.Quantity, l.AssetType, l.At.Format(time.DateOnly)))
	}
	return period.Judge(e, CodeBasisPending, int64(len(ids)), ids[:min(samplesMax, len(ids))], "the cost of every lot is known",
		"the cost of lots waits for the other half of a transfer: post that, or book them as something else: "+few(texts)), err
}

// unpriced checks that there is a price of everything that is measured at the end of the period. What is carried at
// cost needs none, nor does what cost nothing where only impairment is looked for.
func unpriced(ctx context.Context, tx *db.Tx, p period.Period, e entity.LegalEntity) (period.Verdict, error) {
	wanted, err := measured(ctx, tx, p, e)
	if err != nil {
		return period.Verdict{}, err
	}
	found, err := price.Many(ctx, tx, wanted)
	var missing []string
	for i, q := range found {
		if q == nil {
			missing = append(missing, wanted[i].AssetType)
		}
	}
	return period.Judge(e, CodeMissingPrice, int64(len(missing)), nil, "there is a price of everything that is measured",
		"prices in "+e.BaseCurrency+" at the end of the period are missing: "+few(missing)), err
}

// measured lists the prices that a legal entity's measurement needs.
func measured(ctx context.Context, tx *db.Tx, p period.Period, e entity.LegalEntity) (wanted []price.Wanted, err error) {
	if e.Measurement == entity.MeasuredAtCost {
		return nil, nil
	}
	if begun, err := journal.Begun(ctx, tx, e.ID, p.End); err != nil || !begun {
		return nil, err
	}
	held, err := selectHeld(ctx, tx, p, e.ID)
	if err != nil {
		return nil, err
	}
	symbols := make([]string, len(held))
	for i, h := range held {
		symbols[i] = h.AssetType
	}
	policies, err := assetpolicy.Of(ctx, tx, symbols)
	for _, h := range held {
		policy := policies[h.AssetType]
		fair := e.Measurement == entity.MeasuredAtFairValue && (policy.InScope || e.Framework == entity.FrameworkIFRS)
		if !policy.OwnToken && (fair || !h.Basis.IsZero()) {
			wanted = append(wanted, price.Wanted{AssetType: h.AssetType, Currency: e.BaseCurrency, At: p.End.Add(-time.Millisecond)})
		}
	}
	return wanted, err
}

// differing checks that what stands on the accounts of assets is what their lots cost.
func differing(ctx context.Context, tx *db.Tx, p period.Period, e entity.LegalEntity) (period.Verdict, error) {
	found, err := selectDiffering(ctx, tx, p, e.ID)
	if err != nil {
		return period.Verdict{}, err
	}
	names := map[string]string{}
	if len(found) > 0 {
		all, err := snapshot.Accounts(ctx, tx)
		if err != nil {
			return period.Verdict{}, err
		}
		for _, a := range all {
			names[a.ID] = a.String()
		}
	}
	var ids, texts []string
	for _, d := range found {
		ids, texts = append(ids, d.LedgerAccountID), append(texts, fmt.Sprintf("%s on %s (%s in the books, %s in lots)", d.Unit,
			names[d.LedgerAccountID], d.Ledger.Fixed(e.BaseCurrency), d.Lots.Fixed(e.BaseCurrency)))
	}
	return period.Judge(e, CodeLotsDiffer, int64(len(ids)), ids[:min(samplesMax, len(ids))],
		"what stands on the accounts of assets is what their lots cost",
		"what stands on accounts is not what their lots cost: "+few(texts)), nil
}

// stale checks that what is held was measured, and that nothing changed since. Before the books began there was nothing to measure.
func stale(ctx context.Context, tx *db.Tx, p period.Period, e entity.LegalEntity) (period.Verdict, error) {
	begun, err := journal.Begun(ctx, tx, e.ID, p.End)
	if err != nil {
		return period.Verdict{}, err
	}
	missing, why, err := revaluation.Stale(ctx, tx, p, e.ID)
	count := int64(0)
	if missing && begun {
		count = 1
	}
	return period.Judge(e, CodeRevaluation, count, nil, "what is held is measured as it is now", why), err
}
