package readiness

import (
	"context"
	"fmt"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/reconciliation"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
)

// inspectSourceBalances requires the books to have what the sources stated last in the period, and warns of sources that nobody has
// reconciled since. A source that stated nothing in the period cannot be compared, and passes.
func inspectSourceBalances(ctx context.Context, tx *db.Tx, p period.Period, entities []entity.LegalEntity) ([]period.CheckResult, error) {
	all, err := reconciliation.InPeriod(ctx, tx, p.Start, p.End)
	if err != nil {
		return nil, err
	}
	out := make([]period.CheckResult, len(entities))
	for i, e := range entities {
		var differing, open, unknown balanceSample
		assets := 0
		for _, one := range all {
			if one.Source.LegalEntityID != e.ID {
				continue
			}
			if n := len(one.Differing); n > 0 {
				assets += n
				f := one.Differing[0]
				text := fmt.Sprintf("%s (%s %s", one.Source.Name, f.Difference().Fixed(f.AssetType), f.AssetType)
				if n > 1 {
					text += fmt.Sprintf(" and %d more", n-1)
				}
				differing.add(one.Source.ID, text+")")
			} else if len(one.Unknown) > 0 {
				unknown.add(one.Source.ID, one.Source.Name)
			} else if !one.Reconciled {
				open.add(one.Source.ID, one.Source.Name)
			}
		}
		out[i] = period.NewCheckResult(e, CodeSourceBalances, int64(len(differing.ids)), differing.first(),
			"the books have what the sources stated at the end of the period",
			fmt.Sprintf("the books differ from what sources stated, in %d of their balances: %s. GET "+
				"/v1/sources/{source_id}/reconciliation explains the "+
				"differences; correct them, or accept them with POST /v1/sources/{source_id}/reconciliations", assets,
				sample(differing.names, len(differing.names))))
		out[i].Overridable = true
		if len(differing.ids) == 0 {
			out[i] = warnOfBalances(out[i], open, unknown)
		}
	}
	return out, nil
}

// warnOfBalances warns of sources that nobody has reconciled, and of those that cannot be compared.
func warnOfBalances(r period.CheckResult, open, unknown balanceSample) period.CheckResult {
	both := balanceSample{ids: slices.Concat(unknown.ids, open.ids)}
	if len(both.ids) == 0 {
		return r
	}
	r.Status, r.Count, r.SampleIDs, r.Message = period.Warn, int64(len(both.ids)), both.first(), ""
	if n := len(unknown.ids); n > 0 {
		r.Message = "it is not known whether the books have what these sources stated, because other sources have their ledger account: " +
			sample(unknown.names, n) + ". Give each source an account of its own"
	}
	if n := len(open.ids); n > 0 {
		if r.Message != "" {
			r.Message += "; "
		}
		r.Message += "the books have what these sources stated, but nobody has marked them as reconciled: " + sample(open.names, n) +
			". Do so with POST /v1/sources/{source_id}/reconciliations"
	}
	return r
}

// balanceSample collects sources with their names.
type balanceSample struct{ ids, names []string }

func (s *balanceSample) add(id, name string) {
	s.ids, s.names = append(s.ids, id), append(s.names, name)
}

func (s *balanceSample) first() []string { return s.ids[:min(samplesMax, len(s.ids))] }
