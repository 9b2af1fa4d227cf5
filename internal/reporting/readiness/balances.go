package readiness

import (
	"context"
	"fmt"

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
		var differing, open balanceSample
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
		if n := len(open.ids); len(differing.ids) == 0 && n > 0 {
			out[i].Status, out[i].Count, out[i].SampleIDs = period.Warn, int64(n), open.first()
			out[i].Message = "the books have what these sources stated, but nobody has marked them as reconciled: " + sample(open.names, n) +
				". Do so with POST /v1/sources/{source_id}/reconciliations"
		}
	}
	return out, nil
}

// balanceSample collects sources with their names.
type balanceSample struct{ ids, names []string }

func (s *balanceSample) add(id, name string) {
	s.ids, s.names = append(s.ids, id), append(s.names, name)
}

func (s *balanceSample) first() []string { return s.ids[:min(samplesMax, len(s.ids))] }
