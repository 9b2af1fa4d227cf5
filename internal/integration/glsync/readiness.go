package glsync

import (
	"context"
	"fmt"
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
		books := booksOf(connections, e.ID)
		if len(books) == 0 {
			continue
		}
		rows, err := selectUnsent(ctx, tx, p.ID, e.ID, books, samplesMax)
		if err != nil {
			return nil, err
		}
		var count int64
		var ids, numbers []string
		for _, r := range rows {
			count, ids, numbers = r.Total, append(ids, r.ID), append(numbers, fmt.Sprintf("JE-%d", r.Number))
		}
		failed := fmt.Sprintf("entries of %s that are not in its general ledger: %d, among them %s; send them with POST /v1/gl-sync-runs", e.Name,
			count, strings.Join(numbers, ", "))
		v := period.NewCheckResult(e, CodeUnsent, count, ids, "all entries of "+e.Name+" are in its general ledger", failed)
		if v.Status == period.Fail {
			v.Status = period.Warn
		}
		out = append(out, v)
	}
	return out, nil
}

// booksOf returns the general ledgers that a legal entity is sent to: its own or, if it has none, those of all legal entities.
func booksOf(connections []connection.Connection, legalEntityID string) (out []string) {
	for _, of := range []string{legalEntityID, ""} {
		for _, c := range connections {
			if c.LegalEntityID == of {
				out = append(out, bookOf(c))
			}
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}
