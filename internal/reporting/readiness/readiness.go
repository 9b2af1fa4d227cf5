// Package readiness holds the readiness checks of an accounting period that need more than the journal: unposted
// transactions, lot deficits, lots without a cost basis, missing prices, revaluations that are out of date, balances that sources
// stated and the books do not have, and deposits that are not applied.
// Package period runs them, next to its own, before it closes a period.
package readiness

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
	"github.com/bursarhq/bursar/internal/treasury/transfers"
)

// The checks.
const (
	CodeUnposted     = "unposted_transactions"
	CodeLotDeficit   = "lot_deficit"
	CodeBasisPending = "basis_pending"
	CodeMissingPrice = "missing_price"
	CodeLotsDiffer   = "lots_differ"
	CodeUnitsDiffer  = "units_differ"
	CodeRevaluation  = "revaluation"

	CodeSourceBalances = "source_balances"

	CodePendingApplications = "pending_cash_applications"
	CodeUnappliedCash       = "unapplied_cash"
)

// samplesMax is the maximum number of records that a message names.
const samplesMax = 5

// Checks returns the checks of this package.
func Checks() []period.ReadinessCheck {
	return []period.ReadinessCheck{inspectUnposted, forEach(inspectDeficits), forEach(inspectPendingBasis), forEach(inspectLotBalances),
		forEach(inspectUnits), inspectMeasurement, inspectSourceBalances, inspectPendingApplications, inspectUnappliedCash}
}

// forEach returns a check that runs a function for each legal entity.
func forEach(inspect func(context.Context, *db.Tx, period.Period, entity.LegalEntity) (period.CheckResult, error)) period.ReadinessCheck {
	return func(ctx context.Context, tx *db.Tx, p period.Period, entities []entity.LegalEntity) ([]period.CheckResult, error) {
		out := make([]period.CheckResult, len(entities))
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

// sample names the first few records and says how many more there are.
func sample(names []string, count int) string {
	shown := names[:min(samplesMax, len(names))]
	text := strings.Join(shown, ", ")
	if more := count - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// inspectUnposted requires every transaction of the period to be posted, unless it is spam.
func inspectUnposted(ctx context.Context, tx *db.Tx, p period.Period, entities []entity.LegalEntity) ([]period.CheckResult, error) {
	unposted, err := countUnposted(ctx, tx, p)
	if err != nil {
		return nil, err
	}
	out := make([]period.CheckResult, len(entities))
	for i, e := range entities {
		var ids, numbers []string
		found := unposted[e.ID]
		if found.count > 0 {
			first, err := transaction.FirstPending(ctx, tx, p.Start, p.End, found.sources, samplesMax)
			if err != nil {
				return nil, err
			}
			for _, t := range first {
				ids, numbers = append(ids, t.ID), append(numbers, t.SequenceNumber)
			}
		}
		beyond, err := transfers.CountPendingBeyond(ctx, tx, p.Start, p.End, found.sources)
		if err != nil {
			return nil, err
		}
		out[i] = period.NewCheckResult(e, CodeUnposted, found.count, ids, "all transactions of the period are posted or marked as spam",
			"transactions of the period are not posted: "+sample(numbers, int(found.count))+
				". Post or apply them, mark them as spam, or close with an override_reason"+period.OthersMust("post", beyond))
		out[i].Overridable = true
	}
	return out, nil
}

// unposted is how many transactions of a period are not posted, and the sources that have them.
type unposted struct {
	count   int64
	sources []string
}

// countUnposted counts the unposted transactions of a period by legal entity, which is that of their source.
func countUnposted(ctx context.Context, tx *db.Tx, p period.Period) (map[string]unposted, error) {
	counts, err := transaction.CountPendingBySource(ctx, tx, p.Start, p.End)
	if err != nil || len(counts) == 0 {
		return nil, err
	}
	sources, err := source.FindSomeUnchecked(ctx, tx, slices.Sorted(maps.Keys(counts)))
	out := map[string]unposted{}
	for id, n := range counts {
		u := out[sources[id].LegalEntityID]
		u.count, u.sources = u.count+n, append(u.sources, id)
		out[sources[id].LegalEntityID] = u
	}
	return out, err
}

// inspectDeficits requires every disposal to be covered by lots.
func inspectDeficits(ctx context.Context, tx *db.Tx, p period.Period, e entity.LegalEntity) (period.CheckResult, error) {
	deficits, err := selectDeficits(ctx, tx, p, e.ID)
	if err != nil {
		return period.CheckResult{}, err
	}
	var ids, texts []string
	for _, d := range deficits {
		ids, texts = append(ids, d.EntryID), append(texts, fmt.Sprintf("%s %s on %s", d.Quantity, d.AssetType, d.At.Format(time.DateOnly)))
	}
	return period.NewCheckResult(e, CodeLotDeficit, int64(len(ids)), ids[:min(samplesMax, len(ids))], "every disposal is covered by lots",
		"disposals exceed the lots held: "+sample(texts, len(texts))+". Import and post the missing acquisitions"), nil
}

// inspectPendingBasis requires the cost basis of every lot to be known.
func inspectPendingBasis(ctx context.Context, tx *db.Tx, p period.Period, e entity.LegalEntity) (period.CheckResult, error) {
	lots, err := selectPending(ctx, tx, p, e.ID)
	if err != nil {
		return period.CheckResult{}, err
	}
	var ids, texts []string
	for _, l := range lots {
		ids, texts = append(ids, l.ID), append(texts, fmt.Sprintf("%s %s of %s", l.Quantity, l.AssetType, l.At.Format(time.DateOnly)))
	}
	return period.NewCheckResult(e, CodeBasisPending, int64(len(ids)), ids[:min(samplesMax, len(ids))], "the cost basis of every lot is known",
		"the cost basis of lots is unknown until the other half of their transfer is booked or their value is stated: "+
			sample(texts, len(texts))+". Post the other transaction, state the value (of an opening balance with "+
			"PATCH /v1/assets/{asset_id}), or book these as something else"), nil
}

// inspectLotBalances requires the balances of asset accounts to equal the cost basis of their lots.
func inspectLotBalances(ctx context.Context, tx *db.Tx, p period.Period, e entity.LegalEntity) (period.CheckResult, error) {
	found, err := selectDiffering(ctx, tx, p, e.ID)
	if err != nil {
		return period.CheckResult{}, err
	}
	names := map[string]string{}
	if len(found) > 0 {
		all, err := snapshot.Accounts(ctx, tx)
		if err != nil {
			return period.CheckResult{}, err
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
	return period.NewCheckResult(e, CodeLotsDiffer, int64(len(ids)), ids[:min(samplesMax, len(ids))],
		"the balances of asset accounts equal the cost basis of their lots",
		"the balances of asset accounts differ from the cost basis of their lots: "+sample(texts, len(texts))+
			". Correct manual entries on these accounts, or run bursar verify"), nil
}

// inspectMeasurement requires a price for everything that is measured at the end of the period, and a revaluation that is up to date.
func inspectMeasurement(ctx context.Context, tx *db.Tx, p period.Period, entities []entity.LegalEntity) ([]period.CheckResult, error) {
	var out []period.CheckResult
	for _, e := range entities {
		found, err := revaluation.Inspect(ctx, tx, p, e.ID)
		if err != nil {
			return nil, err
		}
		stale := int64(0)
		if found.Stale != "" {
			stale = 1
		}
		out = append(out, period.NewCheckResult(e, CodeMissingPrice, int64(len(found.Unpriced)), nil,
			"everything that is measured has a price at the end of the period",
			fmt.Sprintf("no price in %s at the end of the period: %s. Add the prices, then run the revaluation", e.BaseCurrency,
				sample(found.Unpriced, len(found.Unpriced)))),
			period.NewCheckResult(e, CodeRevaluation, stale, nil, "the revaluation of the period is up to date", found.Stale))
	}
	return out, nil
}
