package glsync

import (
	"context"
	"fmt"
	"strings"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/period"
	"github.com/bursarhq/bursar/internal/books/snapshot"
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
	b, err := snapshot.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, e := range entities {
		books, all := booksOf(connections, e.ID)
		if len(books) == 0 {
			continue
		}
		sent := map[string]entity.LegalEntity{e.ID: e}
		if all {
			sent = b.Entities
		}
		unsent, err := selectUnsent(ctx, tx, p, e.ID, books, tooFineIn(sent), samplesMax)
		if err != nil {
			return nil, err
		}
		drifted, err := selectDrifted(ctx, tx, p, e.ID, books, samplesMax)
		if err != nil {
			return nil, err
		}
		good, bad := pick(unsent, false), pick(unsent, true)
		v := period.NewCheckResult(e, CodeUnsent, total(good)+total(bad)+total(drifted), samples(bad, good, drifted),
			"all entries of "+e.Name+" are in its general ledger", describe(e, good, bad, drifted))
		if v.Status == period.Fail {
			v.Status = period.Warn
		}
		out = append(out, v)
	}
	return out, nil
}

// booksOf returns the general ledgers that a legal entity is sent to: its own or, if it has none, those of all legal entities. It reports
// whether they are of all.
func booksOf(connections []connection.Connection, legalEntityID string) (out []string, all bool) {
	for _, of := range []string{legalEntityID, ""} {
		for _, c := range connections {
			if c.LegalEntityID == of {
				out = append(out, bookOf(c))
			}
		}
		if len(out) > 0 {
			return out, of == ""
		}
	}
	return nil, false
}

// tooFineIn returns the patterns of amounts with too many decimals, without zeros at their end, with the legal entities whose base currency
// they are of.
func tooFineIn(entities map[string]entity.LegalEntity) map[string][]string {
	out := map[string][]string{}
	for id, e := range entities {
		places, _ := money.MinorUnits(e.BaseCurrency)
		pattern := "%." + strings.Repeat("_", int(places)+1) + "%"
		out[pattern] = append(out[pattern], id)
	}
	return out
}

// pick returns the entries that cannot be sent because of their amounts, or the others.
func pick(rows []foundRow, bad bool) (out []foundRow) {
	for _, r := range rows {
		if r.Bad == bad {
			out = append(out, r)
		}
	}
	return out
}

// total returns how many entries there are of which some are given.
func total(rows []foundRow) int64 {
	if len(rows) == 0 {
		return 0
	}
	return rows[0].Total
}

// samples returns some of the entries, of each kind the first ones.
func samples(kinds ...[]foundRow) (out []string) {
	for n := range samplesMax {
		for _, rows := range kinds {
			if n < len(rows) && len(out) < samplesMax {
				out = append(out, rows[n].ID)
			}
		}
	}
	return out
}

// describe says which entries are not in the general ledger as they should be, a sentence for each kind, and what to do with them.
func describe(e entity.LegalEntity, good, bad, drifted []foundRow) string {
	var sentences []string
	for _, of := range []struct {
		rows     []foundRow
		has, fix string
	}{
		{good, "are not in its general ledger", "send them with POST /v1/gl-sync-runs"},
		{bad, "cannot be sent to its general ledger, because an amount has more decimals than its currency has",
			"unpost them and correct the amounts"},
		{drifted, "somebody has changed in its general ledger, as a check found", "correct them there, and check once more"},
	} {
		if len(of.rows) == 0 {
			continue
		}
		numbers := make([]string, len(of.rows))
		for n, r := range of.rows {
			numbers[n] = fmt.Sprintf("JE-%d", r.Number)
		}
		sentences = append(sentences, fmt.Sprintf("%s has entries that %s: %d, among them %s; %s", e.Name, of.has, total(of.rows),
			strings.Join(numbers, ", "), of.fix))
	}
	return strings.Join(sentences, ". ")
}
