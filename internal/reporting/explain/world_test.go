package explain_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursarhq/bursar/internal/assets/holdings"
	"github.com/bursarhq/bursar/internal/assets/revaluation"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/reporting/explain"
	"github.com/bursarhq/bursar/internal/reporting/statements"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/tenancy/companytest"
)

// world is a company with a subsidiary, and explanations of its figures.
type world struct {
	*companytest.Company
	*explain.Service
	entries []string // in the order they were booked
}

// each runs a test on each engine, with books of its own.
func each(t *testing.T, test func(w *world)) {
	t.Helper()
	t.Parallel()
	companytest.Each(t, func(c *companytest.Company) {
		c.AddSubsidiary()
		test(&world{Company: c, Service: explain.NewService(c.DB, statements.NewService(c.DB), holdings.NewService(c.DB), c.Revaluations)})
	})
}

// book books lines of an accountant's day book. A transaction at a source, with what it is booked as and against:
//
//	2025-10-01 A in 2 ETH = 4000.00 : SWAP Bank
//
// or a manual journal entry:
//
//	2025-10-01 Dr 1010 100.00; Cr 4010 100.00
//
// or a price, or the revaluation of a period:
//
//	2025-10-31 price ETH 2100
//	2025-10 revalue
func (w *world) book(lines ...string) {
	w.Helper()
	for _, line := range lines {
		day, rest, _ := strings.Cut(line, " ")
		f := strings.Fields(rest)
		switch f[0] {
		case "Dr", "Cr":
			w.post(day, rest)
		case "price":
			w.AddPrice(f[1], day, f[2])
		case "revalue":
			_, err := w.Revaluations.Run(w.Ctx, revaluation.RunParams{PeriodID: w.Period(day).ID})
			w.Must(err)
		default:
			_, entryID := w.Transact(line)
			w.entries = append(w.entries, entryID)
		}
	}
}

func (w *world) post(day, text string) {
	w.Helper()
	p := journal.CreateParams{LegalEntityID: w.EntityID, AccountingDate: day, Status: journal.Posted, OriginatedBy: journal.ByHand}
	for _, part := range strings.Split(text, ";") {
		f := strings.Fields(part)
		side := book.Debit
		if f[0] == "Cr" {
			side = book.Credit
		}
		p.Lines = append(p.Lines, journal.LineParams{LedgerAccountID: w.Account(f[1]).ID, Side: side, Amount: f[2]})
	}
	e, err := w.Journal.Create(w.Ctx, p)
	w.Must(err)
	w.entries = append(w.entries, e.ID)
}

// query reads the notation "balance-sheet closing_balance account=1010 period=2025-10": a report, a column, and names
// with values, of which accounts, sources and periods are written as people know them.
func (w *world) query(text string) explain.Query {
	w.Helper()
	f := strings.Fields(text)
	q := explain.Query{Report: f[0]}
	for _, word := range f[1:] {
		name, value, named := strings.Cut(word, "=")
		if !named {
			q.Column = word
			continue
		}
		switch name {
		case "account":
			q.LedgerAccountID = w.Account(value).ID
		case "period":
			q.PeriodID = w.Period(value).ID
		case "row":
			q.Row = value
		case "source":
			q.SourceID, q.LegalEntityID = w.Source(value).ID, w.Source(value).LegalEntityID
		case "entity":
			q.LegalEntityID = map[string]string{"us": w.EntityID, "sub": w.SubsidiaryID}[value]
		case "asset":
			q.AssetType = value
		case "lot":
			q.AssetID = value
		case "entry":
			q.JournalEntryID = value
		case "line":
			q.JournalLineID = value
		case "revaluation":
			q.RevaluationID = value
		case "as_of":
			q.AsOf = value
		default:
			w.Fatalf("%q names nothing", word)
		}
	}
	return q
}

// explained explains a figure with all pages of its list.
func (w *world) explained(ctx context.Context, q explain.Query, limit int) (*explain.Explanation, error) {
	x, err := w.Explain(ctx, q, page.Request{Limit: limit})
	if err != nil {
		return nil, err
	}
	for next := x; next.HasMore; {
		if next, err = w.Explain(ctx, q, page.Request{Limit: limit, Cursor: next.NextCursor}); err != nil {
			return nil, err
		}
		x.Lines, x.Lots, x.Uses = append(x.Lines, next.Lines...), append(x.Lots, next.Lots...), append(x.Uses, next.Uses...)
	}
	return x, nil
}

// formula explains a figure and returns how it adds up, or the error.
func (w *world) formula(text string) string {
	w.Helper()
	x, err := w.Explain(w.Ctx, w.query(text), page.Request{Limit: 100})
	if err != nil {
		return err.Error()
	}
	return x.Formula
}
