package interchange

import (
	"context"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/books/fx"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/notation"
)

// Service exports and imports journals.
type Service struct {
	db      *db.DB
	journal *journal.Service
}

// NewService returns a Service.
func NewService(d *db.DB, j *journal.Service) *Service { return &Service{d, j} }

// ExportParams select what is exported.
type ExportParams struct {
	LegalEntity   string // id or name; empty means all; an entry is written whole or not at all
	WithoutDrafts bool
	Progress      func(done, total int64) // called with the progress; may be nil
}

// Export writes the chart, exchange rates and journal of an organization, read from one snapshot.
func (s *Service) Export(ctx context.Context, p ExportParams, w *notation.Writer) error {
	return s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		x, err := newExporter(ctx, tx, p)
		if err != nil {
			return err
		}
		if err := x.writeDeclarations(ctx, tx, w); err != nil {
			return err
		}
		total := int64(0)
		tell := func(done int64) {
			if p.Progress != nil && total > 0 {
				p.Progress(done, total)
			}
		}
		err = journal.Each(ctx, tx, func(e journal.Entry, last int64) error {
			total = last
			tell(e.Number)
			if e.Status == journal.Draft && p.WithoutDrafts || !x.includes(e) {
				return nil
			}
			return w.Entry(x.entry(e))
		})
		tell(total) // the last entries may be deleted
		return err
	})
}

type exporter struct {
	entityID string // id of the requested legal entity, or empty
	zone     *time.Location
	entities map[string]entity.LegalEntity
	labels   map[string]string
	tags     map[string]tag.Tag
	accounts []account.Account
	paths    map[string][]string
}

func newExporter(ctx context.Context, tx *db.Tx, p ExportParams) (*exporter, error) {
	x := &exporter{entities: map[string]entity.LegalEntity{}, tags: map[string]tag.Tag{}}
	entities, err := snapshot.Entities(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, e := range entities {
		x.entities[e.ID] = e
	}
	if x.labels = labelsOf(entities); p.LegalEntity != "" {
		if x.entityID, err = entity.Resolve(entities, p.LegalEntity); err != nil {
			return nil, err
		}
	}
	if x.zone, err = snapshot.Zone(ctx, tx); err != nil {
		return nil, err
	}
	tags, err := tag.All(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, t := range tags {
		x.tags[t.ID] = t
	}
	x.accounts, err = snapshot.Accounts(ctx, tx)
	x.paths = pathsOf(x.accounts)
	return x, err
}

// writeDeclarations writes the accounts, in the order of the chart, and the exchange rates.
func (x *exporter) writeDeclarations(ctx context.Context, tx *db.Tx, w *notation.Writer) error {
	roles, byID := rolesOf(x.labels), map[string]account.Account{}
	for _, a := range x.accounts {
		byID[a.ID] = a
	}
	for _, a := range x.accounts {
		path := x.paths[a.ID]
		if err := w.Account(&notation.Account{Path: path, Type: string(a.Type), Code: a.Code, ID: a.ID,
			Tags: factsOf(a, byID[a.ParentID], path, roles)}); err != nil {
			return err
		}
	}
	return fx.Each(ctx, tx, func(q fx.Quotation) error {
		return w.Price(&notation.Price{Date: q.Date, Base: q.Base, Quote: q.Quote, Rate: q.Rate, Source: q.Source})
	})
}

// includes reports whether an entry is exported: one of its lines must belong to the requested legal entity.
func (x *exporter) includes(e journal.Entry) bool {
	return x.entityID == "" || slices.ContainsFunc(e.Lines, func(l journal.Line) bool { return l.LegalEntityID == x.entityID })
}

func (x *exporter) entry(e journal.Entry) *notation.Entry {
	out := &notation.Entry{
		ID: e.ID, Number: e.SequenceNumber(), Date: calendar.DateOf(e.AccountingDate, x.zone),
		Instant: clock.Format(e.AccountingDate), Posted: e.Status == journal.Posted,
		Memo: e.Memo, Entity: x.labels[e.LegalEntityID], Tags: x.tagsOf(e.TagIDs), Classification: e.Classification, OriginatedBy: e.OriginatedBy,
		Previous: e.PreviousID, Next: e.NextID,
	}
	if e.IntendedDate != nil {
		out.Intended = clock.Format(*e.IntendedDate)
	}
	for _, l := range e.Lines {
		out.Postings = append(out.Postings, x.posting(e, l))
	}
	return out
}

func (x *exporter) posting(e journal.Entry, l journal.Line) notation.Posting {
	out := notation.Posting{
		Account: x.paths[l.LedgerAccountID], Debit: l.Side == book.Debit, Amount: l.Amount, Currency: l.Currency, Memo: l.Memo,
		Tags: x.tagsOf(l.TagIDs),
	}
	if l.LegalEntityID != e.LegalEntityID {
		out.Entity = x.labels[l.LegalEntityID]
	}
	if own := x.entities[l.LegalEntityID].BaseCurrency; l.Base != nil && l.Currency != own {
		out.Base, out.BaseCurrency = l.Base, own
	}
	return out
}

func (x *exporter) tagsOf(ids []string) (out []notation.Tag) {
	for _, id := range ids {
		out = append(out, notation.Tag{Kind: string(x.tags[id].Kind), Name: x.tags[id].Name})
	}
	return out
}
