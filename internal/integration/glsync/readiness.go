package glsync

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/treasury/connection"
)

// CodeUnsent is the readiness check of entries that are not in the general ledger.
const CodeUnsent = "gl_sync"

// samplesMax is the maximum number of entries that a message names.
const samplesMax = 5

// InspectPeriod warns if posted entries of a period are not in the general ledger of their legal entity. Legal entities without a general
// ledger have no result. It is a period.ReadinessCheck.
func (s *Service) InspectPeriod(ctx context.Context, tx *db.Tx, p period.Period, entities []entity.LegalEntity) (out []period.CheckResult,
	err error) {
	connections, err := s.connections.Ledgers(ctx, tx)
	if err != nil || len(connections) == 0 {
		return nil, err
	}
	for _, e := range entities {
		if !slices.ContainsFunc(connections, func(c connection.Connection) bool { return c.LegalEntityID == "" || c.LegalEntityID == e.ID }) {
			continue
		}
		rows, err := selectUnsent(ctx, tx, p.ID, e.ID)
		if err != nil {
			return nil, err
		}
		var ids, numbers []string
		for _, r := range rows[:min(len(rows), samplesMax)] {
			ids, numbers = append(ids, r.ID), append(numbers, fmt.Sprintf("JE-%d", r.Number))
		}
		failed := fmt.Sprintf("entries of %s that are not in its general ledger: %d, among them %s; send them with POST /v1/gl-sync-runs", e.Name,
			len(rows), strings.Join(numbers, ", "))
		v := period.NewCheckResult(e, CodeUnsent, int64(len(rows)), ids, "all entries of "+e.Name+" are in its general ledger", failed)
		if v.Status == period.Fail {
			v.Status = period.Warn
		}
		out = append(out, v)
	}
	return out, nil
}
