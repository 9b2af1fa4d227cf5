package interchange

import (
	"context"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/area/account"
	"github.com/bursarhq/bursar/internal/area/actor"
	"github.com/bursarhq/bursar/internal/area/books"
	"github.com/bursarhq/bursar/internal/area/fx"
	"github.com/bursarhq/bursar/internal/area/journal"
	"github.com/bursarhq/bursar/internal/area/tag"
	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// Service holds the use cases.
type Service struct {
	db      *db.DB
	journal *journal.Service
}

// NewService makes one.
func NewService(d *db.DB, j *journal.Service) *Service { return &Service{d, j} }

// roots are the names other programs know the types of accounts by.
var roots = map[account.Type]string{
	account.Asset: "Assets", account.Liability: "Liabilities", account.Equity: "Equity", account.Revenue: "Revenue", account.Expense: "Expenses",
}

// ExportParams narrow what is written.
type ExportParams struct {
	LegalEntityID string // empty is all; an entry is written whole or not at all
	WithoutDrafts bool
}

// Export writes an organization's chart, rates and journal, from one snapshot, and tells how far it is.
func (s *Service) Export(ctx context.Context, p ExportParams, w *notation.Writer, progress func(done, total int64)) error {
	return s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		x, err := newExporter(ctx, tx, p)
		if err != nil {
			return err
		}
		if err := x.declare(ctx, tx, w); err != nil {
			return err
		}
		return journal.Each(ctx, tx, func(e journal.Entry, last int64) error {
			progress(e.Number, last)
			if e.Status == journal.Draft && p.WithoutDrafts || !x.wants(e) {
				return nil
			}
			return w.Entry(x.entry(e))
		})
	})
}

type exporter struct {
	ExportParams
	books *books.Books
	tags  map[string]tag.Tag
	paths map[string][]string
}

func newExporter(ctx context.Context, tx *db.Tx, p ExportParams) (*exporter, error) {
	x := &exporter{ExportParams: p, tags: map[string]tag.Tag{}}
	var err error
	if x.books, err = books.Read(ctx, tx); err != nil {
		return nil, err
	}
	if _, there := x.books.Entities[p.LegalEntityID]; p.LegalEntityID != "" && !there {
		return nil, fault.Missing("legal entity")
	}
	tags, err := tag.All(ctx, tx)
	for _, t := range tags {
		x.tags[t.ID] = t
	}
	x.paths = pathsOf(x.books.Accounts)
	return x, err
}

// pathsOf names every account from its type down. Two that would have the same path are told apart by their code, or else their number.
func pathsOf(accounts map[string]account.Account) map[string][]string {
	paths, taken := map[string][]string{}, map[string]string{}
	var path func(a account.Account) []string
	path = func(a account.Account) []string {
		if p, done := paths[a.ID]; done {
			return p
		}
		above := []string{roots[a.Type]}
		if parent, there := accounts[a.ParentID]; there {
			above = path(parent)
		}
		p := append(slices.Clone(above), a.Name)
		if other, twice := taken[strings.Join(p, "\x00")]; twice && other != a.ID {
			p[len(p)-1] += " (" + label(a) + ")"
		}
		taken[strings.Join(p, "\x00")], paths[a.ID] = a.ID, p
		return p
	}
	ordered := make([]account.Account, 0, len(accounts))
	for _, a := range accounts {
		ordered = append(ordered, a)
	}
	slices.SortFunc(ordered, func(a, b account.Account) int { return int(a.SequenceNumber - b.SequenceNumber) })
	for _, a := range ordered {
		path(a)
	}
	return paths
}

func (x *exporter) declare(ctx context.Context, tx *db.Tx, w *notation.Writer) error {
	ordered := make([]account.Account, 0, len(x.books.Accounts))
	for _, a := range x.books.Accounts {
		ordered = append(ordered, a)
	}
	slices.SortFunc(ordered, func(a, b account.Account) int { return slices.Compare(x.paths[a.ID], x.paths[b.ID]) })
	for _, a := range ordered {
		if err := w.Account(&notation.Account{Path: x.paths[a.ID], Type: string(a.Type), Code: a.Code, ID: a.ID}); err != nil {
			return err
		}
	}
	return fx.Each(ctx, tx, func(q fx.Quotation) error {
		return w.Price(&notation.Price{Date: q.Date, Base: q.Base, Quote: q.Quote, Rate: q.Rate})
	})
}

// wants tells whether an entry is asked for: it is when one of its lines is of the legal entity.
func (x *exporter) wants(e journal.Entry) bool {
	return x.LegalEntityID == "" || slices.ContainsFunc(e.Lines, func(l journal.Line) bool { return l.LegalEntityID == x.LegalEntityID })
}

func (x *exporter) entry(e journal.Entry) *notation.Entry {
	out := &notation.Entry{
		ID: e.ID, Number: e.SequenceNumber(), Date: calendar.DateOf(e.AccountingDate, x.books.Zone), Instant: clock.Format(e.AccountingDate), Posted: e.Status == journal.Posted,
		Memo: e.Memo, Entity: x.books.Entities[e.LegalEntityID].Name, Tags: x.labels(e.TagIDs), Classification: e.Classification, OriginatedBy: e.OriginatedBy,
		Previous: e.PreviousID, Next: e.NextID,
	}
	for _, l := range e.Lines {
		out.Postings = append(out.Postings, x.posting(e, l))
	}
	return out
}

func (x *exporter) posting(e journal.Entry, l journal.Line) notation.Posting {
	out := notation.Posting{
		Account: x.paths[l.LedgerAccountID], Debit: l.Side == book.Debit, Amount: l.Amount, Currency: l.Currency, Memo: l.Memo, Tags: x.labels(l.TagIDs),
	}
	entity := x.books.Entities[l.LegalEntityID]
	if l.LegalEntityID != e.LegalEntityID {
		out.Entity = entity.Name
	}
	if l.Base != nil && l.Currency != entity.BaseCurrency {
		out.Base, out.BaseCurrency = l.Base, entity.BaseCurrency
	}
	return out
}

func (x *exporter) labels(ids []string) (out []notation.Tag) {
	for _, id := range ids {
		out = append(out, notation.Tag{Kind: string(x.tags[id].Kind), Name: x.tags[id].Name})
	}
	return out
}

// label tells an account from another one of the same name.
func label(a account.Account) string {
	if a.Code != "" {
		return a.Code
	}
	return "#" + strings.TrimLeft(a.ID[len(a.ID)-6:], "0")
}
