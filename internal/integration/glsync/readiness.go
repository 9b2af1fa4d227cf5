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

// InspectPeriod warns if posted entries of a period are not in the general ledger of a legal entity that they have lines of, or if a check
// found that they were changed there. Legal entities without a general ledger have no result. It is a period.ReadinessCheck.
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
		unsent, err := selectUnsent(ctx, tx, p, e, books, samplesMax)
		if err != nil {
			return nil, err
		}
		drifted, err := selectDrifted(ctx, tx, p, e.ID, books, samplesMax)
		if err != nil {
			return nil, err
		}
		count, ids, failed := describeUnsent(e, unsent)
		if n, more, text := describeDrifted(e, drifted); n > 0 {
			if count > 0 {
				text = "E" + text[1:]
			}
			count, ids, failed = count+n, append(ids, more...), append(failed, text)
		}
		v := period.NewCheckResult(e, CodeUnsent, count, ids[:min(len(ids), samplesMax)],
			"all entries of "+e.Name+" are in its general ledger", strings.Join(failed, ". "))
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

// describeUnsent returns how many entries are not in the general ledger, some of them, and sentences about them.
func describeUnsent(e entity.LegalEntity, rows []unsentRow) (count int64, ids, sentences []string) {
	var bad int64
	var numbers, badNumbers []string
	for _, r := range rows {
		number := fmt.Sprintf("JE-%d", r.Number)
		if count, bad = r.Total, r.BadTotal; r.Bad {
			badNumbers = append(badNumbers, number)
		}
		ids, numbers = append(ids, r.ID), append(numbers, number)
	}
	if count == 0 {
		return 0, nil, nil
	}
	sentences = []string{fmt.Sprintf("entries of %s that are not in its general ledger: %d, among them %s; send them with "+
		"POST /v1/gl-sync-runs", e.Name, count, strings.Join(numbers, ", "))}
	if bad > 0 {
		sentences = append(sentences, fmt.Sprintf("Of these, entries that cannot be sent, because an amount has more decimals than %s has: %d, "+
			"among them %s; reverse each, and create another one with rounded amounts", e.BaseCurrency, bad, strings.Join(badNumbers, ", ")))
	}
	return count, ids, sentences
}

// describeDrifted returns how many entries were changed in the general ledger by hand, some of them, and a sentence about them.
func describeDrifted(e entity.LegalEntity, rows []driftedRow) (count int64, ids []string, sentence string) {
	var numbers []string
	for _, r := range rows {
		count, ids, numbers = r.Total, append(ids, r.ID), append(numbers, fmt.Sprintf("JE-%d", r.Number))
	}
	return count, ids, fmt.Sprintf("entries of %s that somebody has changed in its general ledger, as a check found: %d, among them %s; "+
		"correct them there, and check once more", e.Name, count, strings.Join(numbers, ", "))
}
